import { defined } from '../../model/defined.ts';
import type { TargetPlan } from '../plan-update.ts';
import { type Reversion, maxListed } from '../../model/policy-status.ts';
import { toTime } from '../../model/text.ts';
import { formatWorkload, refOf } from '../../model/workload.ts';
import { actionAnnotations } from '../../model/policy-actions.ts';
import { foreignChanges, type ForeignChange } from './foreign-change.ts';
import type { Guard, GuardContext } from './guard.ts';
import { isOf } from './last-change.ts';
import { isNewerImage } from '../../select/select-tag.ts';
import { holdDecision, isReleased } from './released.ts';

/** How often a GitOps tool may revert the same image before the workload is left alone. */
const maxReversions = 2;

/** Refuses an image that a GitOps tool reverts each time, because the tool would go on doing so. */
export const reverted: Guard = {
  id: 'reverted',
  bindsRollback: false,
  check(target, context) {
    const { policy, now } = context;
    const last = countReversions(target, context).find(({ count }) => count >= maxReversions);
    if (last === undefined) return undefined;
    const who = foreignChanges(target, context).find(({ change }) => change.container === last.container)?.who;
    const message =
      `${who} has put ${formatWorkload(target.target)} back ${last.count} times after it was changed to ${last.tag}: write the image where ${who} ` +
      `reads it, let it ignore the field, or try once more with the annotation ${actionAnnotations.release}: "<time>"`;
    const decision = holdDecision({ reason: 'ChangeReverted', message }, policy.actions, now);
    return decision.kind === 'waits' ? decision : { ...decision, kind: 'refused' };
  },
};

/**
 * The reversions of the candidate that are seen now, with their counts so far. A reversion is recorded in the status when we apply the image again, or when it
 * reaches the maximum, so each counts once, however often it is evaluated.
 */
export function countReversions(target: TargetPlan, context: GuardContext): Reversion[] {
  const { candidate, spec } = context;
  return foreignChanges(target, context)
    .filter(({ by, last }) => by === 'gitOps' && !isNewerImage(candidate, last, spec))
    .map((foreign) => count(foreign, target, context));
}

function count({ change, last }: ForeignChange, { target }: TargetPlan, { policy, now }: GuardContext): Reversion {
  const { tag, digest } = last;
  const ofImage = (policy.status?.reverted ?? []).filter((one) => one.tag === tag && one.digest === digest);
  // If more containers were reverted than the status can list, the recorded ones count for all. Otherwise counting would start again each time and never end.
  const [any] = ofImage.length >= maxListed ? ofImage : [];
  const before = ofImage.find((one) => isOf(one, target, change.container)) ?? any;
  const isOver = before === undefined || isReleased(new Date(before.at), policy.actions, now);
  const image = { ...refOf(target), container: change.container, tag, ...defined({ digest }) };
  if (!isOver && before.count >= maxReversions) return { ...image, count: before.count, at: before.at };
  return { ...image, count: (isOver ? 0 : before.count) + 1, at: toTime(now) };
}
