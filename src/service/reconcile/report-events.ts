import { type ImagePolicy, policyKey } from '../../core/model/image-policy.ts';
import type { PolicyStatus } from '../../core/model/policy-status.ts';
import type { Reason } from '../../core/model/reasons.ts';
import { endedApproval } from '../../core/status/ended-approvals.ts';
import type { Outcome } from '../../core/plan/outcome.ts';
import { describeBlocked } from '../../core/status/condition-states.ts';
import type { ObjectEvent } from '../../core/model/object-event.ts';
import type { Report } from './ports.ts';
import { describeGone } from '../../core/plan/running-images.ts';

/** A policy as the object that an Event is about. */
export function toObject({ apiVersion, namespace, name, uid }: ImagePolicy): ObjectEvent['regarding'] {
  return { apiVersion, kind: 'ImagePolicy', namespace, name, uid };
}

/** Records an Event if the guards block something new, or if a rollback could not be done. Nothing is recorded if the same is blocked again. */
export function reportBlocked(policy: ImagePolicy, outcome: Outcome, report: Report): void {
  const event = noticeOf(policy, outcome);
  if (event === undefined) return;
  report.logger.info({ policy: policyKey(policy), reason: event.reason, why: event.message }, 'update blocked');
  report.recordEvent({ ...event, regarding: toObject(policy), action: 'Guard' });
}

/** Records an Event if an image ends to wait without an approval, or approvals end before there are enough. */
export function reportEndedApproval(policy: ImagePolicy, written: PolicyStatus | undefined, report: Report): void {
  const ended = written && endedApproval(policy.status, written);
  if (ended === undefined) return;
  const { reason, message } = ended;
  report.recordEvent({ regarding: toObject(policy), type: 'Normal', reason, action: 'Approve', message });
}

function noticeOf({ status }: ImagePolicy, outcome: Outcome): Pick<ObjectEvent, 'type' | 'reason' | 'message'> | undefined {
  const { reason, message } = outcome;
  if (reason === 'NoEarlierImage') return { type: 'Warning', reason, message };
  // A change that waits for a time is not reported here, but like every wait.
  if (outcome.kind === 'waiting' || outcome.selection === undefined) return undefined;
  const blocked = describeBlocked(outcome.blocked ?? []);
  if (blocked === undefined) return undefined;
  const isReported = status.conditions?.some((known) => known.reason === blocked.reason && known.message === blocked.message);
  if (isReported === true) return undefined;
  return { type: blocked.reason === 'TooManyChanges' ? 'Warning' : 'Normal', ...blocked };
}

/** Records an Event when an attempt fails: the first one for each reason, and one an hour as long as it goes on. */
export function reportRepeated(policy: ImagePolicy, reason: Reason, message: string, { recordEvent }: Report): void {
  recordEvent({ regarding: toObject(policy), type: 'Warning', reason, action: 'Reconcile', message, atMostHourly: true });
}

/** Records an Event when running tags are found deleted, if the last status did not name the same tags. */
export function reportGoneTags(
  { apiVersion, namespace, name, uid, status }: ImagePolicy,
  gone: readonly string[],
  { recordEvent, logger }: Report,
): void {
  if (gone.length === 0) return;
  const message = describeGone(gone);
  const before = status.conditions?.find(({ type }) => type === 'TagGone');
  // The messages are compared by their beginning, because the condition's message may have been cut to the length of its field.
  if (before?.status === 'True' && message.startsWith(before.message.replace(/…$/, ''))) return;
  const regarding = { apiVersion, kind: 'ImagePolicy', namespace, name, uid };
  recordEvent({ regarding, type: 'Warning', reason: 'TagGone', action: 'Poll', message });
  logger.info({ policy: policyKey({ namespace, name }), gone }, 'registry no longer has the running tag');
}
