/** Records the result of each policy with its push, with all that the push has changed. */
import { defined } from '../../core/model/defined.ts';
import { tryParseImageReference } from '../../core/model/image-reference.ts';
import { listFew } from '../../core/model/text.ts';
import type { WorkloadView } from '../../core/model/resolve-target.ts';
import type { Seen } from '../../core/plan/consent.ts';
import { describeChange, type Outcome } from '../../core/plan/outcome.ts';
import type { AppliedChange } from '../../core/plan/plan-update.ts';
import { pushChanges } from '../../core/plan/push-changes.ts';
import type { PolicyResult } from '../queue/event-log.ts';
import { isHeldBack } from '../../core/model/guard-reasons.ts';
import type { ReconcileCause } from '../../core/status/next-status.ts';
import type { ReportPorts, Subject } from './report-changes.ts';

/** Records a result with the push that caused it, if one did. */
export async function recordResult(
  key: string,
  { foundAt, ...result }: Result,
  { cause, now }: { readonly cause: ReconcileCause; readonly now?: Date },
  ports: ReportPorts,
): Promise<void> {
  if (cause.eventId === undefined) return;
  const received = Date.parse(cause.receivedAt);
  const at = Math.min(now?.getTime() ?? ports.cluster.now(), Math.max(received, foundAt ?? Infinity));
  const recorded = { ...result, at: new Date(at).toISOString(), afterMs: at - received };
  await ports.report.eventLog.recordResult(cause.eventId, key, recorded, cause.push);
}

/** The result of a try. `foundAt`: when an earlier try made the changes, in ms since 1970, if this one made none. */
export type Result = Omit<PolicyResult, 'at' | 'afterMs'> & { readonly foundAt?: number };

/**
 * The result with the changes that the push made in earlier tries, whose reports may never have been written. `isOver`: no other try follows; then a change is
 * the result, unless a user must act.
 */
export function withFound(
  result: Result,
  made: readonly AppliedChange[] = [],
  { policy, cause, isOver }: Pick<Subject, 'cause'> & { readonly policy: Subject['policy'] | undefined; readonly isOver: boolean },
  view: (WorkloadView & Seen) | undefined,
): Result {
  if (policy === undefined || view === undefined || cause.eventId === undefined) return result;
  const changes = pushChanges(policy, cause.eventId, view, made);
  if (changes.length === made.length) return result;
  const { stage: _, ...others } = result;
  const complete = { ...result, changes };
  if (!isOver || result.kind === 'stalled') return complete;
  const message = listFew(changes, describeChange);
  if (made.length > 0) return { ...complete, message };
  const foundAt = Math.max(...changes.flatMap(({ at }) => (at === undefined ? [] : [Date.parse(at)])));
  return { ...others, changes, ...imageOf(changes, result), kind: 'updated', reason: 'Updated', message, foundAt };
}

/** The image that the changes have set. The result may be about another one. */
function imageOf(changes: readonly AppliedChange[], { tag, digest }: Result): Pick<Result, 'tag' | 'digest'> {
  const to = tryParseImageReference(changes.at(-1)?.to ?? '');
  if (to?.tag === undefined || to.tag === tag) return { ...defined({ tag, digest }) };
  return { tag: to.tag, ...defined({ digest: to.digest }) };
}

/** The outcome in the shape of the audit record. */
export function resultOf(outcome: Outcome): Result {
  const { kind, reason, changes, retryAt } = outcome;
  const { message, tag, digest } = asBehind(outcome);
  return {
    kind: retryAt === undefined ? kind : 'waiting',
    ...(retryAt === undefined && isHeldBack({ kind, reason }) && { stage: 'guard' }),
    reason,
    message: retryAt === undefined ? message : `${message}; the next try is at ${retryAt.toISOString()}`,
    ...defined({ tag, digest }),
    ...(changes !== undefined && { changes: changes.map(toRecorded) }),
  };
}

/** What is said of an image that another one comes before, which the status shows. */
function asBehind({ message, tag, digest, behind, pending }: Outcome): Pick<Outcome, 'message' | 'tag' | 'digest'> {
  const until = pending?.next?.until;
  if (behind === undefined || until === undefined) return { message, ...defined({ tag, digest }) };
  return { message: `${behind.tag} waits behind ${tag}, which waits until ${until}`, ...behind };
}

/** The change without the fields that only the workload records. */
export function toRecorded(change: AppliedChange): AppliedChange {
  const { update: _, ...recorded } = change;
  return recorded;
}
