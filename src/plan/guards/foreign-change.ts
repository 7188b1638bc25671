import type { ContainerChange } from '../../model/workload.ts';
import { fieldManager } from '../../model/field-manager.ts';
import type { TargetPlan } from '../plan-update.ts';
import { isGitOpsManager } from './git-ops.ts';
import type { GuardContext } from './guard.ts';
import { imageOwner } from './image-owner.ts';
import { lastChange, type LastChange } from './last-change.ts';

/** A container that runs something else than what we made of it, by somebody else's hand. */
export interface ForeignChange {
  readonly change: ContainerChange;
  readonly last: LastChange;
  readonly by: 'human' | 'gitOps';
  /** Who it was, for sentences. */
  readonly who: string;
  /** When it was, where managedFields tell. */
  readonly at?: Date;
}

/**
 * By the owner of the image field: ours is ours whatever the value is (a crash between patch and status, admission that rewrites). Where no owner is
 * recorded, what runs is compared with what we had made of it, and the object tells whether a GitOps tool has it.
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
