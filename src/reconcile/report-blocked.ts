import { policyKey, type ImagePolicy } from '../model/image-policy.ts';
import type { Outcome } from '../plan/outcome.ts';
import { describeBlocked } from '../status/condition-states.ts';
import { toObject, type ObjectEvent } from './object-event.ts';
import type { ReportPorts } from './report.ts';

/** Records an Event when the guards block something new, not each time that they block it, and when a rollback could not be done. */
export function reportBlocked(policy: ImagePolicy, outcome: Outcome, ports: Pick<ReportPorts, 'recordEvent' | 'logger'>): void {
  const event = noticeOf(policy, outcome);
  if (event === undefined) return;
  ports.logger.info({ policy: policyKey(policy), reason: event.reason, why: event.message }, 'update blocked');
  ports.recordEvent({ ...event, regarding: toObject(policy), action: 'Guard' });
}

function noticeOf({ status }: ImagePolicy, outcome: Outcome): Pick<ObjectEvent, 'type' | 'reason' | 'message'> | undefined {
  const { reason, message } = outcome;
  if (reason === 'NoEarlierImage') return { type: 'Warning', reason, message };
  // A change that waits for a time is reported like every wait.
  if (outcome.kind === 'waiting' || outcome.selection === undefined) return undefined;
  const blocked = describeBlocked(outcome.blocked ?? []);
  if (blocked === undefined) return undefined;
  const isTold = status.conditions?.some((known) => known.reason === blocked.reason && known.message === blocked.message);
  if (isTold === true) return undefined;
  return { type: blocked.reason === 'TooManyChanges' ? 'Warning' : 'Normal', ...blocked };
}
