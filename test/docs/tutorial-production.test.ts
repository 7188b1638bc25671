/** docs/tutorial-production.md, as it stands. */
import { testTutorial } from './tutorial-page.ts';

testTutorial('production', ['proven', 'lint', 'status.healthy', '--broken', 'RejectedDigest', 'explain']);
