/** Whether an image that a push or the like has named is older than the one that the status is about. A reconcile that has evaluated all tags does not ask. */
import { resultCondition } from '../model/decisive-condition.ts';
import { isUsable, type ImagePolicy } from '../model/image-policy.ts';
import { isOrderedByName } from '../model/tag-strategy.ts';
import { isPending } from '../plan/pending-candidate.ts';
import { compareTags } from '../select/select-tag.ts';

/** Whether the policy has selected a newer tag, as far as the names show it. */
export function isOlderThanSelected({ spec, status }: ImagePolicy, tag: string): boolean {
  return isOlder(spec, tag, status.latest?.tag);
}

/** Whether the status is about a newer image than one that a push or the like has named: the selected one, or one that is refused or waits for its signature. */
export function isOlderThanShown(policy: ImagePolicy, tag: string): boolean {
  return isOlderThanSelected(policy, tag) || isOlder(policy.spec, tag, stoppedTag(policy));
}

/** The tag of the image that is refused or that a retry awaits, if the conditions are about it and the present spec. */
export function stoppedTag({ generation, status: { conditions = [], refused, waiting } }: ImagePolicy): string | undefined {
  const shown = resultCondition(conditions);
  if (shown?.observedGeneration !== generation) return undefined;
  if (shown.type === 'Stalled') return refused?.tag;
  return shown.type === 'Reconciling' && shown.reason === waiting?.reason && !isPending(waiting) ? waiting.tag : undefined;
}

/** Whether a tag is older than one that the policy selects, as far as their names show it. */
export function isOlder(spec: ImagePolicy['spec'], tag: string, known: string | undefined): boolean {
  if (known === undefined || !isUsable(spec)) return false;
  const { strategy } = spec;
  // Names of tags without an order do not show which image is newer.
  if (!isOrderedByName(strategy) || strategy.reject(known) !== undefined || strategy.reject(tag) !== undefined) return false;
  return compareTags(strategy, tag, known) < 0;
}
