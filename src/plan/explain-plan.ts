import type { GuardContext } from './guards/guard.ts';
import { guards } from './guards/index.ts';
import type { KeptContainer, TargetPlan, TargetProblem, UpdatePlan } from './plan-update.ts';
import type { Reason } from '../model/reasons.ts';
import type { WorkloadRef, ContainerChange } from '../model/workload.ts';

/** The decision of one guard about one target. */
export interface Opinion {
  readonly guard: string;
  readonly verdict: 'fine' | 'refused' | 'waits' | 'kept';
  readonly reason?: Reason;
  readonly message?: string;
  /** RFC 3339. */
  readonly until?: string;
}

/** What would happen to one target, and what each guard decides; guards evaluate changes only. */
export interface TargetExplanation {
  readonly target: WorkloadRef;
  readonly changes: readonly ContainerChange[];
  readonly kept: readonly KeptContainer[];
  readonly problem?: TargetProblem;
  readonly guards: readonly Opinion[];
}

/** Explains a plan before guards narrow it: every guard is evaluated, including those that another guard would hide. */
export function explainPlan(plan: UpdatePlan, context: GuardContext): TargetExplanation[] {
  return plan.targets.map((planned) => {
    const { target, changes, kept, problem } = planned;
    const opinions = changes.length === 0 ? [] : guards.map((guard) => opinionOf(guard, planned, context));
    return { target, changes, kept, guards: opinions, ...(problem !== undefined && { problem }) };
  });
}

/** Whether everything selected is running, or will be at the next reconcile. */
export function isAllowed(explanations: readonly TargetExplanation[]): boolean {
  const isFine = ({ problem, kept, guards: opinions }: TargetExplanation) =>
    problem === undefined && kept.every(({ reason }) => reason === 'UpToDate') && opinions.every(({ verdict }) => verdict === 'fine');
  return explanations.every(isFine);
}

function opinionOf({ id, judge }: (typeof guards)[number], target: TargetPlan, context: GuardContext): Opinion {
  const verdict = judge(target, context);
  if (verdict === undefined) return { guard: id, verdict: 'fine' };
  const { kind, reason, message } = verdict;
  // A running image that the cluster rewrote is not a problem.
  if (reason === 'UpToDate') return { guard: id, verdict: 'fine', reason, message };
  return { guard: id, verdict: kind, reason, message, ...(verdict.kind === 'waits' && { until: verdict.until.toISOString() }) };
}
