import type { AppliedChange, TargetPlan } from '../plan-update.ts';
import { fieldManager } from '../field-manager.ts';
import { tryParseImageReference } from '../image-reference.ts';
import { findContainer, isSameWorkload } from '../workload.ts';
import type { GuardContext } from './guard.ts';

/** What we made of a container last. */
export interface LastChange {
  readonly image: string;
  readonly tag: string;
  readonly digest?: string;
  /** Absent where it was in this very look. */
  readonly at?: string;
}

/**
 * By what was done in this look, by the history, or, where that is too short, by what the workload remembers; undefined where the policy never changed the
 * container, or too long ago to know.
 */
export function lastChange(
  { target, workload }: Pick<TargetPlan, 'target' | 'workload'>,
  container: string,
  { applied = [], candidate, policy }: Pick<GuardContext, 'applied' | 'candidate' | 'policy'>,
): LastChange | undefined {
  const isHere = (change: AppliedChange) => isSameWorkload(change.workload, target) && change.container === container;
  const now = applied.findLast(isHere);
  if (now !== undefined) return { ...candidate, image: now.became ?? now.to };
  const entry = policy.status?.history?.find((one) => isOf(one, target, container));
  const found = workload && findContainer(workload, container);
  const update = found?.lastUpdate;
  if (update !== undefined && update.policy === policy.uid && (entry === undefined || Date.parse(update.at) > Date.parse(entry.at))) {
    const { at, to, digest } = update;
    // What runs by our hand is what the cluster made of it.
    const image = found?.imageOwner === fieldManager ? found.image : to;
    return { image, tag: tryParseImageReference(to)?.tag ?? '', at, ...(digest !== undefined && { digest }) };
  }
  if (entry === undefined) return undefined;
  const { to, tag, digest, at } = entry;
  return { image: to, tag, at, ...(digest !== undefined && { digest }) };
}

/** Whether an entry of the history is about this container. */
export function isOf(
  entry: TargetPlan['target'] & { readonly container: string },
  target: TargetPlan['target'],
  container: string,
): boolean {
  return entry.container === container && isSameWorkload(entry, target);
}
