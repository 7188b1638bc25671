import type { AppliedChange, PlanInput, TargetPlan } from '../plan-update.ts';
import { fieldManager, lastUpdateOf, updatedTag } from '../../model/last-update.ts';
import type { ImagePolicy } from '../../model/image-policy.ts';
import { tryParseImageReference } from '../../model/image-reference.ts';
import type { TriggerSource } from '../../model/policy-status.ts';
import { findContainer, isSameObject, isSameWorkload, type Workload, type WorkloadRef } from '../../model/workload.ts';
import type { GuardContext } from './guard.ts';

/** The image that the policy last applied to a container. */
export interface LastChange {
  readonly image: string;
  readonly tag: string;
  readonly digest?: string;
  /** Absent if it was applied in this reconcile. */
  readonly at?: string;
}

/** A change of an earlier reconcile. */
interface RecordedChange extends LastChange {
  readonly from?: string;
  readonly trigger: TriggerSource;
}

/**
 * Found in the changes of this reconcile, in the history, or, where that is too short, in the workload's annotation; undefined if the policy never changed the
 * container, or so long ago that no record is left.
 */
export function lastChange(
  { target, workload }: Pick<TargetPlan, 'target' | 'workload'>,
  container: string,
  { applied = [], candidate, policy }: Pick<GuardContext, 'applied' | 'candidate' | 'policy'>,
): LastChange | undefined {
  const isHere = (change: AppliedChange) => isSameObject(change.workload, workload ?? target) && change.container === container;
  const now = applied.findLast(isHere);
  return now === undefined ? recordedChange(target, workload, container, policy) : { ...candidate, image: now.became ?? now.to };
}

/** What planning needs to know of a policy's earlier changes. */
export function pastOf(policy: Pick<ImagePolicy, 'uid' | 'status'>): Pick<PlanInput, 'hasApplied' | 'hasAppliedTo' | 'startsOver'> {
  const { history = [], lastAppliedTag } = policy.status;
  return {
    hasApplied: history.length > 0 || lastAppliedTag !== undefined,
    hasAppliedTo: (workload, container) => lastUpdateOf(workload, container)?.policy === policy.uid,
    startsOver: (workload, container, image) => {
      const last = recordedChange(workload, workload, container, policy);
      // Changes to an object of this name with another uid: the workload was created anew.
      if (last === undefined) return history.some((entry) => isOf(entry, workload, container)) ? {} : undefined;
      const isRunning = image === last.image || image.startsWith(`${last.image}@`);
      if (!isRunning || last.trigger !== 'Rollback') return undefined;
      const left = tryParseImageReference(last.from ?? '')?.tag;
      return left === undefined ? {} : { left };
    },
  };
}

function recordedChange(
  target: WorkloadRef,
  workload: Workload | undefined,
  container: string,
  policy: Partial<Pick<ImagePolicy, 'uid' | 'status'>>,
): RecordedChange | undefined {
  const entry = policy.status?.history?.find((one) => isOf(one, target, container) && isSameObject(one, workload ?? target));
  const found = workload && findContainer(workload, container);
  const update = workload && lastUpdateOf(workload, container);
  if (update !== undefined && update.policy === policy.uid && (entry === undefined || Date.parse(update.at) > Date.parse(entry.at))) {
    const { at, to, digest, trigger, from } = update;
    // Admission may have rewritten the image that we wrote.
    const image = found?.imageOwner === fieldManager ? found.image : to;
    return { image, tag: updatedTag(update), at, trigger, from, ...(digest !== undefined && { digest }) };
  }
  if (entry === undefined) return undefined;
  const { to, tag, digest, at, trigger, from } = entry;
  return { image: to, tag, at, trigger, ...(from !== undefined && { from }), ...(digest !== undefined && { digest }) };
}

/** Whether an entry of the history is about this container. */
export function isOf(
  entry: TargetPlan['target'] & { readonly container: string },
  target: TargetPlan['target'],
  container: string,
): boolean {
  return entry.container === container && isSameWorkload(entry, target);
}
