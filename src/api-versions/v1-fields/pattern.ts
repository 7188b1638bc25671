import { z } from 'zod';
import { maxPatternLength } from '../../model/pattern.ts';
import { withRules } from '../rules.ts';

/** A repetition count above 128, but not the code point in `\x{1F433}`. The same syntax in RE2 and in JavaScript. */
const largeCount = String.raw`(?:^|[^x]|[^\\]x)[{](?:[0-9]+,)?(?:129|1[3-9][0-9]|[2-9][0-9][0-9]|[0-9]{4,})(?:,[0-9]*)?[}]`;
const hasLargeCount = new RegExp(largeCount);

/** An RE2 expression. How much it compiles to is beyond CEL, but not the counts in it, which make a short text a large program. */
export const pattern = (what: string) =>
  withRules(z.string().min(1).max(maxPatternLength).describe(what), [
    {
      rule: `!self.matches(r'${largeCount}')`,
      message: 'write repetition counts of at most 128, the length of the longest tag',
      holds: (self) => !hasLargeCount.test(String(self)),
    },
  ]);
