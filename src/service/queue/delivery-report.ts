/** What became of one push, for who has delivered it. Pure. */
import { formatRepository } from '../../core/model/image-reference.ts';
import { defined } from '../../core/model/defined.ts';
import type { Reason } from '../../core/model/reasons.ts';
import type { PolicyResult } from './event-log.ts';
import { isHeldBack } from '../../core/model/guard-reasons.ts';
import type { EventRecord, PushRecord } from './event-record.ts';

/**
 * How far a push has come. received: nothing is known yet · retrying: the registry or the API server did not answer as it should · waiting: something holds the
 * image until a time or a decision · changed: workloads were changed, and roll out · rolledOut: the rollout is complete, or the image ran before · unchanged: the
 * image is not selected, and nothing follows · superseded: another image was selected or applied before this one was out · failed: it could not be applied, or its rollout failed · unwatched: no policy watches the repository.
 */
const deliveryStates = [
  'failed',
  'retrying',
  'waiting',
  'received',
  'changed',
  'superseded',
  'rolledOut',
  'unchanged',
  'unwatched',
] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** What one policy did with a push. */
export interface PolicyReport {
  /** The policy, as NAMESPACE/NAME. */
  readonly policy: string;
  readonly state: DeliveryState;
  /** Whether nothing more follows from the push alone. */
  readonly isOver: boolean;
  readonly reason?: string;
  readonly message?: string;
  /** The page of the policy; absent if the dashboard has no address. */
  readonly page?: string;
  /** When the state was reached, RFC 3339. */
  readonly at?: string;
  /** Milliseconds from the push to the verification of its image at the registry. */
  readonly verifiedMs?: number;
}

export interface DeliveryReport {
  readonly image: string;
  readonly digest?: string;
  /** When the push was received, RFC 3339. */
  readonly receivedAt: string;
  /** The state of the policy that needs the most attention. */
  readonly state: DeliveryState;
  readonly isOver: boolean;
  readonly message?: string;
  readonly policies: readonly PolicyReport[];
}

const over: ReadonlySet<DeliveryState> = new Set(['failed', 'superseded', 'rolledOut', 'unchanged', 'unwatched']);

/** The records of the pushes that have brought the images of a record before, by id. */
export type Brought = ReadonlyMap<string, EventRecord>;

/** The pushes whose records the report needs as well. */
export function broughtIn(record: EventRecord): readonly string[] {
  if (record.state === 'ignored') return [];
  return [...new Set([...record.results.values()].flatMap((result) => result?.broughtBy ?? []))];
}

/** The report of a record; undefined for what a receiver ignored, which has no delivery. */
export function reportOf(record: EventRecord, brought: Brought = new Map(), dashboardUrl?: string): DeliveryReport | undefined {
  if (record.state === 'ignored') return undefined;
  const { event, why, results } = record;
  const policies = [...results].map(([policy, result]) => ({
    ...policyReport(policy, result, brought),
    ...(dashboardUrl !== undefined && { page: `${dashboardUrl}/policies/${policy}` }),
  }));
  const state = deliveryStates.find((one) => policies.some((policy) => policy.state === one)) ?? stateOfPush(record);
  return {
    image: `${formatRepository(event.repository)}:${event.tag}`,
    receivedAt: event.receivedAt,
    state,
    isOver: policies.length === 0 ? over.has(state) : policies.every(({ isOver }) => isOver),
    ...defined({ digest: event.digest, message: why }),
    policies,
  };
}

function stateOfPush({ state }: PushRecord): DeliveryState {
  switch (state) {
    case 'unwatched':
    case 'waiting':
    case 'retrying':
    case 'failed':
      return state;
    case 'matched':
    case 'queued':
    case 'working':
      return 'received';
  }
}

function policyReport(policy: string, own: PolicyResult | undefined, brought: Brought): PolicyReport {
  const first = own?.broughtBy === undefined ? undefined : brought.get(own.broughtBy);
  // What another push has brought first is recorded there, as long as that record is kept.
  const isKept = first !== undefined && first.state !== 'ignored' && first.results.has(policy);
  const found = isKept ? first.results.get(policy) : own;
  const result = found !== undefined && own !== undefined && isPast(found) && own.at >= found.at ? own : found;
  if (result === undefined) return { policy, state: 'received', isOver: false };
  const { reason, message, at, isUnwatched = false } = result;
  const times = { at, ...defined({ verifiedMs: own?.verifiedMs }) };
  if (own?.otherDigest !== undefined) {
    const why = `the registry has ${own.otherDigest} for the tag, which is not the announced digest`;
    return { policy, state: 'unchanged', isOver: true, reason, message: `${why}; ${message}`, ...times };
  }
  const state = stateOfResult(result);
  const isEnd = state === 'changed' && isUnwatched;
  const note = isEnd ? `${message}; its rollout is not watched` : message;
  return { policy, state, isOver: over.has(state) || isEnd, reason, message: note, ...times };
}

/** Whether a result says only that an image was replaced or given up, and not what runs since. What was known of it before says less. */
function isPast({ reason }: PolicyResult): boolean {
  return reason === 'Superseded' || reason === 'PolicyGone';
}

/** Why an image is not applied any more, unless a person lets it be tried again. */
const failures: ReadonlySet<string> = new Set<Reason>([
  'CheckFailed',
  'CheckTimedOut',
  'RejectedDigest',
  'RetriesExhausted',
  'RolledBack',
  'RollbackFailed',
  'RolloutFailed',
]);

function stateOfResult({ kind, reason }: PolicyResult): DeliveryState {
  if (reason === 'Superseded') return 'superseded';
  if (reason === 'PolicyGone') return 'unchanged';
  switch (kind) {
    case 'updated':
      return reason === 'RolledOut' ? 'rolledOut' : 'changed';
    case 'unchanged':
      if (failures.has(reason)) return 'failed';
      if (isHeldBack({ kind, reason })) return 'waiting';
      return reason === 'UpToDate' ? 'rolledOut' : 'unchanged';
    case 'ignored':
      return 'unchanged';
    case 'suspended':
    case 'stalled':
      return failures.has(reason) ? 'failed' : 'waiting';
    case 'retrying':
    case 'waiting':
    case 'failed':
      return kind;
  }
}
