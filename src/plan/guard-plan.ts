import type { ContainerChange } from '../model/workload.ts';
import { countReversions } from './guards/reverted.ts';
import type { Guard, GuardContext } from './guards/guard.ts';
import { imageOwner } from './guards/image-owner.ts';
import { guards } from './guards/index.ts';
import type { KeptContainer, TargetPlan, UpdatePlan, Blocked } from './plan-update.ts';

/**
 * Applies the guards to a plan. A target that a guard refuses gets a problem with the guard's reason and is not changed; changes that a guard keeps back or
 * delays are blocked.
 */
export function guardPlan(plan: UpdatePlan, context: GuardContext, chain: readonly Guard[] = guards): UpdatePlan {
  const reverted = plan.targets.flatMap((target) => countReversions(target, context));
  const targets = plan.targets.map((target) => guardTarget(target, context, chain));
  return { ...plan, targets, ...(reverted.length > 0 && { reverted }) };
}

/** The guards that also apply to a rollback; whoever asks for one has already decided what the other guards protect. */
export const rollbackGuards: readonly Guard[] = guards.filter(({ bindsRollback }) => bindsRollback);

function guardTarget(target: TargetPlan, context: GuardContext, chain: readonly Guard[]): TargetPlan {
  let left = target;
  for (const guard of chain) {
    if (left.changes.length === 0) return left;
    const verdict = guard.judge(left, context);
    if (verdict === undefined) continue;
    const { containers, ...found } = verdict;
    if (found.kind === 'refused') return { ...left, changes: [], problem: { reason: found.reason, message: found.message } };
    const isMeant = ({ container }: ContainerChange) => containers === undefined || containers.includes(container);
    left = block(left, { ...found, changes: left.changes.filter(isMeant) });
  }
  return left;
}

function block(target: TargetPlan, blocked: Blocked): TargetPlan {
  const { reason, message, changes } = blocked;
  const kept = changes.map((change): KeptContainer => {
    const { container, from } = change;
    const owner = imageOwner(target.workload, change)?.imageOwner;
    return { container, image: from, reason, message, ...(owner !== undefined && { owner }) };
  });
  return {
    ...target,
    changes: target.changes.filter((change) => !changes.includes(change)),
    kept: [...target.kept, ...kept],
    blocked: [...(target.blocked ?? []), blocked],
  };
}
