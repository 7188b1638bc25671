import { z } from 'zod';
import { PermanentError } from '../../../src/core/model/errors.ts';
import { filterTags } from '../../../src/core/select/filter-tags.ts';
import { missingPlatforms } from '../../../src/core/select/missing-platforms.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import { family } from '../family.ts';

/** What of which tags passes a filter. */
export const tagFilters = family(
  'tag-filters',
  z.strictObject({
    tags: z.array(z.string()),
    filter: z.strictObject({ allow: z.string().optional(), extract: z.string().optional(), ignore: z.array(z.string()).optional() }),
  }),
  ({ tags, filter }) => {
    try {
      const strategy = filterTags(strategies.alphabetical(), filter);
      return tags.filter((tag) => strategy.reject(tag) === undefined).map((tag) => strategy.partOf?.(tag) ?? tag);
    } catch (error) {
      if (error instanceof PermanentError) return 'invalid';
      throw error;
    }
  },
);

/** Whether an image has the wanted platforms. */
export const platforms = family(
  'platforms',
  z.strictObject({ want: z.array(z.string()), have: z.array(z.string()) }),
  ({ want, have }) => missingPlatforms(want, have).length === 0,
);
