/** docs/tutorial-base-images.md, as it stands. */
import { testTutorial } from './tutorial-page.ts';

testTutorial('base', ['bases init', 'apply', '"rebase"', 'status.rejected', 'condition=Ready', 'explain', 'allow-policies-from=nobody']);
