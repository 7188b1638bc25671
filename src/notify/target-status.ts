/** The status of a NotificationTarget: whether messages can be sent to it, and are accepted. Pure. */
import type { TargetReason, TargetStatus } from '../core/model/notification-target.ts';
import { toCondition } from '../core/model/to-condition.ts';

/** Whether a target accepts messages, and why not. */
export interface TargetState {
  readonly reason: TargetReason;
  readonly message: string;
}

const good: ReadonlySet<TargetReason> = new Set(['Configured', 'Delivered', 'Suspended']);
/** Reasons whose cause is outside of the target, so that it is checked again. */
const checkedAgain: ReadonlySet<string> = new Set<TargetReason>(['SecretNotUsable', 'TooManyTargets', 'HostNotAllowed']);

/** The condition `Ready` of a status; undefined if it was not written yet. */
export function readyOf({ conditions = [] }: TargetStatus) {
  return conditions.find(({ type }) => type === 'Ready');
}

/** Whether the state of a target must be found again: its spec has changed, or what is wrong may be corrected elsewhere. */
export function isCheckDue(status: TargetStatus, generation: number): boolean {
  return status.observedGeneration !== generation || checkedAgain.has(readyOf(status)?.reason ?? '');
}

/** The status for a state. A target with a delivered message stays Delivered when it is checked again. */
export function nextTargetStatus(status: TargetStatus, generation: number, { reason, message }: TargetState, now: Date): TargetStatus {
  const isKept = reason === 'Configured' && readyOf(status)?.reason === 'Delivered' && status.observedGeneration === generation;
  if (isKept) return status;
  const { conditions = [] } = status;
  const ready = toCondition({ type: 'Ready', status: good.has(reason) ? 'True' : 'False', reason, message }, conditions, generation, now);
  return {
    ...status,
    observedGeneration: generation,
    conditions: [ready, ...conditions.filter(({ type }) => type !== 'Ready')],
  };
}
