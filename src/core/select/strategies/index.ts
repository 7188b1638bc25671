/** The list of strategies. A new strategy is a file here, a line here and a test. */
import { alphabetical } from './alphabetical.ts';
import { digest } from './digest.ts';
import { newest } from './newest.ts';
import { numerical } from './numerical.ts';
import { replace } from './replace.ts';
import { semver } from './semver.ts';

export const strategies = { alphabetical, digest, newest, numerical, replace, semver } as const;
