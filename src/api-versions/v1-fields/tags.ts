import { z } from 'zod';
import { maxPatternLength } from '../../model/pattern.ts';
import { has, withChecks, withRules } from '../rules.ts';
import { checkExtract } from '../validation/check-extract.ts';
import { pattern } from './pattern.ts';

/** `spec.tags`. */
export const tags = withChecks(
  withRules(
    z
      .object({
        allow: pattern('An RE2 expression that must match the whole tag; named groups can be used in extract.').optional(),
        extract: z
          .string()
          .min(1)
          .max(maxPatternLength)
          .optional()
          .describe('What of the tag is compared: "$version" is the group "version" of allow. Without it the whole tag.'),
        ignore: z
          .array(pattern('An RE2 expression.'))
          .max(32)
          .optional()
          .describe('RE2 expressions; a tag in which one of them is found is no candidate.'),
      })
      .describe(
        'Which tags are candidates, before one of them is chosen. A pattern may compile to 1,000 instructions, all patterns of a policy to 2,000 together; "[a-z]{1,128}" is 257.',
      ),
    [
      {
        rule: '!has(self.extract) || has(self.allow)',
        message: 'extract takes its groups from allow: write allow as well, such as "^v(?P<version>.*)$" with extract "$version"',
        holds: (self) => !has(self, 'extract') || has(self, 'allow'),
      },
    ],
  ),
  checkExtract,
);
