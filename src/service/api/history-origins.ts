/** Where the images of the history of a policy were built from. */
import { defined } from '../../core/model/defined.ts';
import { isUsable, type ImagePolicy } from '../../core/model/image-policy.ts';
import type { Origins } from '../../core/model/image-origin.ts';
import { sameRepository, tryParseImageReference } from '../../core/model/image-reference.ts';
import { type HistoryEntry, maxListed } from '../../core/model/policy-status.ts';
import type { OriginMeans } from './pending-origins.ts';

/** The origins of the two images of a change. */
export interface ChangeOrigins extends Pick<HistoryEntry, 'from' | 'to' | 'digest' | 'trigger'> {
  readonly origins: Origins;
}

/**
 * Creates the finder of the origins of the newest changes, each combination of images once. It answers at once: what is not known yet is absent. Only digests are looked up, because a tag of the
 * past may be another image today. A rollback has the origin of its image alone: Git hosts compare forwards.
 */
export function createHistoryOrigins({ find, sourceOf, mayUseRegistry, aliases }: OriginMeans): (policy: ImagePolicy) => ChangeOrigins[] {
  return (policy) => {
    const { spec, status } = policy;
    const history = (status.history ?? []).slice(0, maxListed);
    if (history.length === 0 || !isUsable(spec) || mayUseRegistry?.(spec.repository.registry) === false) return [];
    const source = sourceOf(policy, spec);
    const originOf = (image: string, recorded: string | undefined) => {
      const found = tryParseImageReference(image, aliases);
      if (found === undefined || !sameRepository(found.repository, spec.repository)) return undefined;
      const digest = recorded ?? found.digest;
      return digest === undefined ? undefined : find(source, digest);
    };
    return distinct(history).flatMap(({ from, to, digest, trigger, before }) => {
      const now = originOf(to, digest);
      if (now === undefined) return [];
      const old = from === undefined || trigger === 'Rollback' ? undefined : originOf(from, before);
      return [{ to, trigger, ...defined({ from, digest }), origins: { now, ...defined({ before: old }) } }];
    });
  };
}

/** The changes whose images differ, each with the digest of the image that it replaced, as the change before it recorded that. */
function distinct(history: readonly HistoryEntry[]): (HistoryEntry & { readonly before?: string | undefined })[] {
  return history.flatMap((change, index) => {
    if (history.slice(0, index).some((one) => isSameChange(one, change))) return [];
    return [{ ...change, before: history.slice(index + 1).find(({ to }) => to === change.from)?.digest }];
  });
}

/** Whether two changes are between the same images. Pure. */
export function isSameChange(a: Omit<ChangeOrigins, 'origins'>, b: Omit<ChangeOrigins, 'origins'>): boolean {
  return a.from === b.from && a.to === b.to && a.digest === b.digest && a.trigger === b.trigger;
}
