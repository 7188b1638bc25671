import { defined } from '../../model/defined.ts';
import type { AppliedChange, PlanInput, TargetPlan } from '../plan-update.ts';
import type { ImagePolicy } from '../../model/image-policy.ts';
import { tryParseImageReference } from '../../model/image-reference.ts';
import { lastUpdateOf, updatedTag } from '../../model/last-update.ts';
import { isSameObject, isSameWorkload } from '../../model/workload.ts';
import { changesTo } from '../past.ts';
import type { GuardContext } from './guard.ts';

/** The image that was last applied to a container, by this policy or by another one of the same container. */
export interface LastChange {
  readonly image: string;
  readonly tag: string;
  readonly digest?: string;
  /** When the image was applied; absent if it was in this reconcile. */
  readonly at?: string;
  /** Present if another policy applied the image. */
  readonly isOfOther?: true;
}

/** Finds the last change in this reconcile, in the history, or in the container's record. Undefined if there is none, or it is too old to be recorded. */
export function lastChange(
  { target, workload }: Pick<TargetPlan, 'target' | 'workload'>,
  container: string,
  { applied = [], candidate, policy }: GuardContext,
): LastChange | undefined {
  const isHere = (change: AppliedChange) => isSameObject(change.workload, workload ?? target) && change.container === container;
  const now = applied.findLast(isHere);
  if (now !== undefined) return { ...candidate, image: now.became ?? now.to };
  const [own] = changesTo(policy, workload ?? target, container);
  const recorded = workload && lastUpdateOf(workload, container);
  const isOfOther = recorded !== undefined && recorded.policy !== policy.uid && !(Date.parse(recorded.at) < Date.parse(own?.at ?? ''));
  const last = isOfOther ? { ...recorded, tag: updatedTag(recorded) } : own;
  if (last === undefined) return undefined;
  const { to, tag, digest, at } = last;
  return { image: to, tag, at, ...defined({ digest }), ...(isOfOther && { isOfOther }) };
}

/** The parts of a policy's earlier changes that planning needs. */
export function pastOf(policy: ImagePolicy): Pick<PlanInput, 'hasApplied' | 'hasAppliedTo' | 'startsOver'> {
  const { history = [], lastAppliedTag } = policy.status;
  return {
    hasApplied: history.length > 0 || lastAppliedTag !== undefined,
    hasAppliedTo: (workload, container) => changesTo(policy, workload, container).length > 0,
    startsOver: (workload, container, image) => {
      const [last] = changesTo(policy, workload, container);
      // The history has changes to an object of this name with another uid, so the workload was created again.
      if (last === undefined) return history.some((entry) => isOf(entry, workload, container)) ? {} : undefined;
      const isRunning = image === last.to || image.startsWith(`${last.to}@`);
      if (!isRunning || last.trigger !== 'Rollback') return undefined;
      const left = tryParseImageReference(last.from ?? '')?.tag;
      return left === undefined ? {} : { left };
    },
  };
}

/** Whether an entry of the history is about this container. */
export function isOf(
  entry: TargetPlan['target'] & { readonly container: string },
  target: TargetPlan['target'],
  container: string,
): boolean {
  return entry.container === container && isSameWorkload(entry, target);
}
