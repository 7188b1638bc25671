import type { TargetPlan } from '../plan-update.ts';
import { type Reversion, maxListed } from '../../model/policy-status.ts';
import { toSeconds } from '../../model/status-text.ts';
import { formatWorkload, refOf } from '../../model/workload.ts';
import { actionAnnotations } from '../../model/policy-actions.ts';
import { foreignChanges, type ForeignChange } from './foreign-change.ts';
import type { Guard, GuardContext } from './guard.ts';
import { isOf } from './last-change.ts';
import { isNewerImage } from '../../select/select-tag.ts';
import { holdVerdict, isReleased } from './released.ts';

/** How often a GitOps tool may put the same image back before it is left alone. */
const maxReversions = 2;

/** A GitOps tool that has put back what we changed is right, because it does so again and again: no fight. */
export const reverted: Guard = {
  id: 'reverted',
  bindsRollback: false,
  judge(target, context) {
    const { policy, now } = context;
    const last = countReversions(target, context).find(({ count }) => count >= maxReversions);
    if (last === undefined) return undefined;
    const who = foreignChanges(target, context).find(({ change }) => change.container === last.container)?.who;
    const message =
      `${who} has put ${formatWorkload(target.target)} back ${last.count} times after it was changed to ${last.tag}: write the image where ${who} ` +
      `reads it, let it ignore the field, or try once more with the annotation ${actionAnnotations.release}: "<time>"`;
    const verdict = holdVerdict({ reason: 'ChangeReverted', message }, policy.actions, now);
    return verdict.kind === 'waits' ? verdict : { ...verdict, kind: 'refused' };
  },
};

/**
 * The reversions of the candidate that are seen now, and how many there were with them. One becomes part of the status when it was answered by a change, or
 * when it was the last one: so each counts once, however often it is looked at.
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
  // Where there are more of them than the status has room for, those that are in it speak for all: counted anew each time, the fight would never end.
  const [any] = ofImage.length >= maxListed ? ofImage : [];
  const before = ofImage.find((one) => isOf(one, target, change.container)) ?? any;
  const isOver = before === undefined || isReleased(new Date(before.at), policy.actions, now);
  const image = { ...refOf(target), container: change.container, tag, ...(digest !== undefined && { digest }) };
  if (!isOver && before.count >= maxReversions) return { ...image, count: before.count, at: before.at };
  return { ...image, count: (isOver ? 0 : before.count) + 1, at: toSeconds(now) };
}
