import { actionAnnotations } from '../../model/policy-actions.ts';
import { formatWorkload } from '../../model/workload.ts';
import { foreignChanges } from './foreign-change.ts';
import type { Guard } from './guard.ts';
import { isNewerImage } from '../../select/select-tag.ts';
import { holdDecision, isReleased } from './released.ts';

/** Keeps an image that somebody set manually in place of ours, until there is a newer one, or until it is released. */
export const held: Guard = {
  id: 'held',
  bindsRollback: false,
  check(target, context) {
    const { candidate, policy, spec, now } = context;
    const holding = foreignChanges(target, context).filter(({ by, last, at }) => {
      const since = at ?? (last.at === undefined ? undefined : new Date(last.at));
      // The image of another policy may be no candidate of this one, and then has no place in its order.
      const isNewer = isNewerImage(candidate, last, spec) && !(last.isOfOther && spec.strategy.reject(last.tag) !== undefined);
      return by === 'human' && !isNewer && !isReleased(since, policy.actions, now);
    });
    if (holding.length === 0) return undefined;
    const what = holding.map(({ change, last, who }) => `${who} changed ${change.container} from ${last.image} to ${change.from}`);
    const message =
      `${formatWorkload(target.target)} is held: ${what.join('; ')}. It is changed again when there is something newer than ` +
      `${holding[0]?.last.tag}, or when it is released: annotation ${actionAnnotations.release}: "<time>"`;
    const containers = holding.map(({ change }) => change.container);
    return holdDecision({ reason: 'Held', message, containers }, policy.actions, now);
  },
};
