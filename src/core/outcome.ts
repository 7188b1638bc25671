import type { ContainerChange, TargetPlan, UpdatePlan } from './plan-update.ts';
import type { Reason } from './reasons.ts';
import { formatWorkload, type WorkloadRef } from './workload.ts';

/** How one policy's look at a push (or a poll, or its own change) ended. An expected ending is a value, never an exception. */
export interface Outcome {
  readonly kind: OutcomeKind;
  readonly reason: Reason;
  readonly message: string;
  readonly tag?: string;
  readonly digest?: string;
  readonly changes?: readonly AppliedChange[];
  /** The tag that runs by our hand, now or already. */
  readonly appliedTag?: string;
  /** What each target runs, for the Ready condition. */
  readonly running?: string;
}

/** updated: a workload was changed · unchanged: nothing to do · ignored: the push is not for this policy · stalled: the user must act. */
export type OutcomeKind = 'updated' | 'unchanged' | 'ignored' | 'stalled';

export interface AppliedChange extends ContainerChange {
  readonly workload: WorkloadRef;
}

/** The name under which the API server records our changes; it tells them from a human's. */
export const fieldManager = 'image-watcher';

/** The outcome of a plan once its changes were made (`applied`; empty when there were none). */
export function outcomeOf(plan: UpdatePlan, applied: readonly AppliedChange[]): Outcome {
  const { tag, digest } = plan.candidate;
  const candidate = { tag, ...(digest !== undefined && { digest }) };
  const problems = plan.targets.flatMap((target) => (target.problem === undefined ? [] : [target.problem]));
  const kept = plan.targets.flatMap((target) => target.kept);
  const ours = applied.length > 0 || kept.some((container) => container.reason === 'UpToDate' && container.owner === fieldManager);
  const details = {
    ...candidate,
    running: describeRunning(plan, applied),
    ...(applied.length > 0 && { changes: applied }),
    ...(ours && { appliedTag: tag }),
  };
  const problem = problems[0] ?? kept.find((container) => container.reason === 'NotComparable');
  if (problem !== undefined) return { kind: 'stalled', ...pick(problem), ...details };
  if (applied.length > 0) return { kind: 'updated', reason: 'Updated', message: applied.map(describeChange).join('; '), ...details };
  const notable = kept.find((container) => container.reason !== 'UpToDate') ?? kept[0];
  return { kind: 'unchanged', ...(notable ? pick(notable) : { reason: 'UpToDate', message: 'nothing to change' }), ...details };
}

/** `Deployment shop/web: web from a:1 to a:2`. */
export function describeChange(change: AppliedChange): string {
  return `${formatWorkload(change.workload)}: ${change.container} from ${change.from} to ${change.to}`;
}

function describeRunning(plan: UpdatePlan, applied: readonly AppliedChange[]): string {
  return plan.targets
    .filter((target) => target.problem === undefined)
    .map((target) => `${formatWorkload(target.target)} runs ${imagesOf(target, applied).join(' and ')}`)
    .join('; ');
}

function imagesOf(target: TargetPlan, applied: readonly AppliedChange[]): string[] {
  const changed = target.changes.map((change) => (applied.some((done) => done.to === change.to) ? change.to : change.from));
  return [...new Set([...target.kept.map((container) => container.image), ...changed])];
}

function pick({ reason, message }: { reason: Reason; message: string }): { reason: Reason; message: string } {
  return { reason, message };
}
