/** The list of strategies. All steps to add one: test/structure/worked-examples/strategy.ts. */
import { alphabetical } from './alphabetical.ts';
import { digest } from './digest.ts';
import { newest } from './newest.ts';
import { numerical } from './numerical.ts';
import { proven } from './proven.ts';
import { replace } from './replace.ts';
import { semver } from './semver.ts';

export const strategies = { alphabetical, digest, newest, numerical, proven, replace, semver } as const;
