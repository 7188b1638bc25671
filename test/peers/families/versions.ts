import { z } from 'zod';
import { PermanentError } from '../../../src/core/model/errors.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import { family } from '../family.ts';

const { semver } = strategies;

/** Whether a range admits a tag. */
export const versionRanges = family(
  'version-ranges',
  z.strictObject({ range: z.string(), tag: z.string(), prereleases: z.boolean().optional() }),
  ({ range, tag, prereleases }) => {
    const strategy = built(() => semver({ range, ...(prereleases !== undefined && { prereleases }) }));
    return strategy === undefined ? 'invalid' : strategy.reject(tag) === undefined;
  },
);

/** Whether a text is a range. */
export const rangeSyntax = family(
  'range-syntax',
  z.strictObject({ range: z.string() }),
  ({ range }) => built(() => semver({ range })) !== undefined,
);

/** Whether a tag is a version, by the parser that its source calls strict, coercing or its own. */
export const versions = family(
  'versions',
  z.strictObject({ tag: z.string(), kind: z.enum(['strict', 'strict+v', 'coerced', 'keel']) }),
  ({ tag }) => isVersion(tag),
);

/** Which of two versions is later. */
export const versionOrder = family(
  'version-order',
  z.strictObject({ a: z.string(), b: z.string(), op: z.enum(['compare', 'gt', 'lt']) }),
  ({ a, b, op }) => {
    if (!isVersion(a) || !isVersion(b)) return 'invalid';
    const order = Math.sign(semver({ prereleases: true }).compare(a, b));
    return op === 'compare' ? order : op === 'gt' ? order > 0 : order < 0;
  },
);

function isVersion(tag: string): boolean {
  return semver({ prereleases: true }).reject(tag) === undefined;
}

function built<T>(build: () => T): T | undefined {
  try {
    return build();
  } catch (error) {
    if (error instanceof PermanentError) return undefined;
    throw error;
  }
}
