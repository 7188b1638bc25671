import type { AppliedChange } from './plan-update.ts';
import type { KeptContainer, TargetPlan, UpdatePlan } from './plan-update.ts';
import type { ContainerState } from '../model/policy-status.ts';
import { identityOf, workloadKey, type WorkloadRef } from '../model/workload.ts';

/** What each container of the targets runs once the plan's changes were made, for the status. A target with a problem gets one entry of its own. */
export function containerStates(plan: UpdatePlan, applied: readonly AppliedChange[]): ContainerState[] {
  const done = new Map(applied.map(({ workload, container, to, became }) => [doneKey(workload, container, to), became ?? to]));
  return plan.targets.flatMap((target) => statesOf(target, done));
}

function doneKey(workload: WorkloadRef, container: string, to: string): string {
  return JSON.stringify([workloadKey(workload), container, to]);
}

function statesOf({ target, workload, changes, kept, problem }: TargetPlan, done: ReadonlyMap<string, string>): ContainerState[] {
  const ref = identityOf({ ...target, ...(workload && { uid: workload.uid }) });
  const changed = changes.map(({ container, from, to }): ContainerState => {
    const made = done.get(doneKey(target, container, to));
    if (made !== undefined) return { ...ref, container, image: made, state: 'UpToDate' };
    return { ...ref, container, image: from, state: 'Kept', message: 'about to be changed' };
  });
  const stayed = kept.map((one): ContainerState => ({ ...ref, container: one.container, image: one.image, ...stateOf(one) }));
  return [...(problem === undefined ? [] : [{ ...ref, state: 'Problem' as const, message: problem.message }]), ...stayed, ...changed];
}

function stateOf({ reason, message }: KeptContainer): Pick<ContainerState, 'state' | 'message'> {
  if (reason === 'UpToDate') return { state: 'UpToDate' };
  return { state: reason === 'NotComparable' ? 'Problem' : 'Kept', message };
}
