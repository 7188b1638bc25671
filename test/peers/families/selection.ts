import { z } from 'zod';
import { readPolicy } from '../../../src/service/resources/read-policy.ts';
import { isUsable } from '../../../src/core/model/image-policy.ts';
import { selectTag } from '../../../src/core/select/select-tag.ts';
import { noAliases } from '../../core/model/samples.ts';
import { family } from '../family.ts';

/** The tag that a policy selects, null where it selects none; `select` and `filter` are as in a policy. */
export const selection = family(
  'selection',
  z.strictObject({
    select: z.record(z.string(), z.json()),
    filter: z.record(z.string(), z.json()).optional(),
    tags: z.array(z.string()),
    created: z.record(z.string(), z.string()).optional(),
  }),
  ({ select, filter, tags, created }) => {
    const targets = [{ kind: 'Deployment', name: 'web' }];
    const spec = { image: 'registry.example.com/shop/web', select, ...(filter && { tags: filter }), targets };
    const metadata = { namespace: 'shop', name: 'web', uid: 'u', resourceVersion: '1' };
    const context = { aliases: noAliases, customTargets: [], olderVersions: [] };
    const read = readPolicy({ metadata, spec }, context).spec;
    if (!isUsable(read)) return 'invalid';
    const times = new Map(Object.entries(created ?? {}).map(([tag, at]) => [tag, new Date(at)]));
    return selectTag(read.strategy.withCreationTimes?.(times) ?? read.strategy, tags) ?? null;
  },
);
