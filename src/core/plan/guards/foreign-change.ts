import type { ContainerChange } from '../../model/workload.ts';
import { fieldManager } from '../../model/last-update.ts';
import type { TargetPlan } from '../plan-update.ts';
import { isGitOpsManager } from './git-ops.ts';
import type { GuardContext } from './guard.ts';
import { imageOwner } from './image-owner.ts';
import { lastChange, type LastChange } from './last-change.ts';

/** A container whose image somebody else changed, so that it runs another one than we applied. */
export interface ForeignChange {
  readonly change: ContainerChange;
  readonly last: LastChange;
  readonly by: 'human' | 'gitOps';
  /** The author of the change, for messages. */
  readonly who: string;
  /** When somebody else changed the image, if managedFields contain the time. */
  readonly at?: Date;
}

/**
 * Finds foreign changes by the owner of the image field. If we own it, the image is ours whatever its value (after a crash between patch and status, or when
 * admission rewrites it). Without a recorded owner, the running image is compared with the one that we applied, and the object shows whether a GitOps tool
 * manages it.
 */
export function foreignChanges(target: TargetPlan, context: GuardContext): ForeignChange[] {
  return target.changes.flatMap((change): ForeignChange[] => {
    const written = imageOwner(target.workload, change);
    if (written === undefined || written.imageOwner === fieldManager) return [];
    const last = lastChange(target, change.container, context);
    if (last === undefined || last.image === change.from) return [];
    const { imageOwner: owner, imageSetAt } = written;
    const tool = target.workload?.gitOps;
    const isGitOps = owner === undefined ? tool !== undefined : isGitOpsManager(owner);
    const who = owner ?? tool ?? 'somebody';
    const at = imageSetAt === undefined ? undefined : new Date(imageSetAt);
    return [{ change, last, by: isGitOps ? 'gitOps' : 'human', who, ...(at !== undefined && !Number.isNaN(at.getTime()) && { at }) }];
  });
}
