import { defined } from '../model/defined.ts';
import type { ContainerChange, WorkloadRef } from '../model/workload.ts';
import { countReversions } from './guards/reverted.ts';
import type { Guard, GuardContext } from './guards/guard.ts';
import { imageOwner } from './guards/image-owner.ts';
import { guards } from './guards/index.ts';
import type { Blocked, TargetPlan, TargetProblem, UnchangedContainer, UpdatePlan } from './plan-update.ts';
import type { Reason } from '../model/reasons.ts';
import { planWave, wave } from './guards/wave.ts';

/**
 * Applies the guards to a plan. A target that a guard refuses gets a problem with the guard's reason and is not changed. Changes that a
 * guard blocks or delays are moved to `blocked`.
 */
export function guardPlan(plan: UpdatePlan, context: GuardContext, chain: readonly Guard[] = guards): UpdatePlan {
  const reverted = plan.targets.flatMap((target) => countReversions(target, context));
  const narrowed = plan.targets.map((target) => guardTarget(target, context, chain));
  const planned = chain.includes(wave) ? planWave(narrowed, context) : undefined;
  const targets = planned === undefined ? narrowed : narrowed.map((target) => guardTarget(target, { ...context, wave: planned }, [wave]));
  return { ...plan, targets, ...(reverted.length > 0 && { reverted }) };
}

/** The guards that also apply to a rollback. A user who requests one has already decided about the others. */
export const rollbackGuards: readonly Guard[] = guards.filter(({ bindsRollback }) => bindsRollback);

function guardTarget(target: TargetPlan, context: GuardContext, chain: readonly Guard[]): TargetPlan {
  let left = target;
  for (const guard of chain) {
    if (left.changes.length === 0) return left;
    const decision = guard.check(left, context);
    if (decision === undefined) continue;
    const { containers, ...found } = decision;
    if (found.kind === 'refused') return refuse(left, { reason: found.reason, message: found.message });
    // A workload never runs a part of a set.
    const isWhole = containers === undefined || context.spec.alongside !== undefined;
    const isBlocked = ({ container }: ContainerChange) => isWhole || containers.includes(container);
    left = block(left, { ...found, changes: left.changes.filter(isBlocked) });
  }
  return left;
}

/** Reasons for which unchanged containers are not shown: without the consent of the owners they may not be seen. */
const hiding: ReadonlySet<Reason> = new Set(['NoConsent', 'CrossNamespaceDenied']);

/** The target with a problem. Its containers are not changed. */
export function refuse(target: TargetPlan, problem: TargetProblem): TargetPlan {
  const { changes, companions, ...left } = target;
  if (hiding.has(problem.reason)) return { ...left, changes: [], problem };
  const unchanged = [...left.unchanged, ...keep(target, changes, problem)];
  return { ...left, changes: [], unchanged, ...defined({ companions: keptBeside(companions, problem) }), problem };
}

function block(target: TargetPlan, blocked: Blocked): TargetPlan {
  const { changes } = blocked;
  return {
    ...target,
    changes: target.changes.filter((change) => !changes.includes(change)),
    unchanged: [...target.unchanged, ...keep(target, changes, blocked)],
    ...defined({ companions: keptBeside(target.companions, blocked) }),
    blocked: [...(target.blocked ?? []), blocked],
  };
}

function keep({ workload }: TargetPlan, changes: readonly ContainerChange[], { reason, message }: TargetProblem): UnchangedContainer[] {
  return changes.map((change) => {
    const { container, from } = change;
    const owner = imageOwner(workload, change)?.imageOwner;
    return { container, image: from, reason, message, ...defined({ owner }) };
  });
}

/** The companions of images that are not changed: they stay as well. */
function keptBeside(companions: TargetPlan['companions'], { message }: TargetProblem): TargetPlan['companions'] {
  return companions?.map(({ to, ...one }) => (to === undefined ? one : { ...one, message }));
}

/** The decision of one guard about one target. */
export interface Opinion {
  readonly guard: string;
  readonly result: 'pass' | 'refused' | 'waits' | 'blocked';
  readonly reason?: Reason;
  readonly message?: string;
  /** When the guard permits the change, RFC 3339. */
  readonly until?: string;
}

/** The changes of one target, and the decision of each guard. Guards evaluate changes only. */
export interface TargetExplanation {
  readonly target: WorkloadRef;
  readonly changes: readonly ContainerChange[];
  readonly unchanged: readonly UnchangedContainer[];
  readonly problem?: TargetProblem;
  readonly guards: readonly Opinion[];
}

/** Explains a plan before guards narrow it. Every guard is evaluated, including those whose result another guard would hide. */
export function explainPlan(plan: UpdatePlan, context: GuardContext): TargetExplanation[] {
  const narrowed = plan.targets.map((target) => guardTarget(target, context, guards));
  const next = planWave(narrowed, context);
  const full = { ...context, ...defined({ wave: next }) };
  return plan.targets.map((planned) => {
    const { target, changes, unchanged, problem } = planned;
    const opinions = changes.length === 0 ? [] : guards.map((guard) => opinionOf(guard, planned, full));
    return { target, changes, unchanged, guards: opinions, ...defined({ problem }) };
  });
}

/** Whether all targets run the selected image, or will after the next reconcile. */
export function isAllowed(explanations: readonly TargetExplanation[]): boolean {
  const isFine = ({ problem, unchanged, guards: opinions }: TargetExplanation) =>
    problem === undefined && unchanged.every(({ reason }) => reason === 'UpToDate') && opinions.every(({ result }) => result === 'pass');
  return explanations.every(isFine);
}

function opinionOf({ id, check }: (typeof guards)[number], target: TargetPlan, context: GuardContext): Opinion {
  const decision = check(target, context);
  if (decision === undefined) return { guard: id, result: 'pass' };
  const { kind, reason, message } = decision;
  // A running image that admission has rewritten is not a problem.
  if (reason === 'UpToDate') return { guard: id, result: 'pass', reason, message };
  return { guard: id, result: kind, reason, message, ...(decision.kind === 'waits' && { until: decision.until.toISOString() }) };
}
