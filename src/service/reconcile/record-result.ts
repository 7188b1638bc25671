/** What is recorded with a push: the result of each policy, with all that the push has changed. */
import { tryParseImageReference } from '../../core/model/image-reference.ts';
import { listFew } from '../../core/model/text.ts';
import { asSeenBy } from '../../core/plan/consent.ts';
import { describeChange, type Outcome } from '../../core/plan/outcome.ts';
import type { AppliedChange } from '../../core/plan/plan-update.ts';
import { pushChanges } from '../../core/plan/push-changes.ts';
import type { PolicyResult } from '../queue/event-log.ts';
import type { ReconcileCause } from '../../core/status/next-status.ts';
import type { ReportPorts, Subject } from './report-changes.ts';

/** Records a result with the push that caused it, if one did. */
export async function recordResult(
  key: string,
  { foundAt, ...result }: Result,
  cause: ReconcileCause,
  ports: ReportPorts,
  now = new Date(ports.cluster.now()),
): Promise<void> {
  if (cause.eventId === undefined) return;
  const received = Date.parse(cause.receivedAt);
  const at = Math.min(now.getTime(), Math.max(received, foundAt ?? Infinity));
  await ports.report.eventLog.recordResult(cause.eventId, key, { ...result, at: new Date(at).toISOString(), afterMs: at - received });
}

/** `foundAt`: when an earlier try made the changes, in ms since 1970, where this one made none. */
export type Result = Omit<PolicyResult, 'at' | 'afterMs'> & { readonly foundAt?: number };

/**
 * The result with what the push changed in earlier tries, whose reports may never have been written. `isOver`: no other try follows; then a change is the result,
 * unless a user must act.
 */
export function withFound(
  result: Result,
  made: readonly AppliedChange[] = [],
  { policy, cause, isOver }: Pick<Subject, 'cause'> & { readonly policy: Subject['policy'] | undefined; readonly isOver: boolean },
  { cluster }: ReportPorts,
): Result {
  if (policy === undefined || cause.eventId === undefined) return result;
  const changes = pushChanges(policy, cause.eventId, asSeenBy(policy, cluster), made);
  if (changes.length === made.length) return result;
  const complete = { ...result, changes };
  if (!isOver || result.kind === 'stalled') return complete;
  const message = listFew(changes, describeChange);
  if (made.length > 0) return { ...complete, message };
  const foundAt = Math.max(...changes.flatMap(({ at }) => (at === undefined ? [] : [Date.parse(at)])));
  return { ...complete, ...imageOf(changes, result), kind: 'updated', reason: 'Updated', message, foundAt };
}

/** The image that was changed to; the result may be about another one. */
function imageOf(changes: readonly AppliedChange[], { tag, digest }: Result): Pick<Result, 'tag' | 'digest'> {
  const to = tryParseImageReference(changes.at(-1)?.to ?? '');
  if (to?.tag === undefined || to.tag === tag) return { ...(tag !== undefined && { tag }), ...(digest !== undefined && { digest }) };
  return { tag: to.tag, ...(to.digest !== undefined && { digest: to.digest }) };
}

/** The outcome as the record keeps it. */
export function resultOf({ kind, reason, message, tag, digest, changes, retryAt }: Outcome): Result {
  return {
    kind: retryAt === undefined ? kind : 'waiting',
    ...(retryAt === undefined && kind === 'waiting' && { stage: 'guard' }),
    reason,
    message: retryAt === undefined ? message : `${message}; the next try is at ${retryAt.toISOString()}`,
    ...(tag !== undefined && { tag }),
    ...(digest !== undefined && { digest }),
    ...(changes !== undefined && { changes: changes.map(toRecorded) }),
  };
}

/** The change without what the workload records of it. */
export function toRecorded(change: AppliedChange): AppliedChange {
  const { update: _, ...recorded } = change;
  return recorded;
}
