/** What became of one push, for who has delivered it. Pure. */
import { formatRepository } from '../../core/model/image-reference.ts';
import { defined } from '../../core/model/defined.ts';
import type { Reason } from '../../core/model/reasons.ts';
import type { PolicyResult } from './event-log.ts';
import type { EventRecord, PushRecord } from './event-record.ts';

/**
 * How far a push has come. received: nothing is known yet · retrying: the registry or the API server did not answer as it should · waiting: something holds the
 * image until a time or a decision · changed: workloads were changed, and roll out · rolledOut: the rollout is complete, or the image ran before · unchanged: the
 * image is not selected, and nothing follows · failed: it could not be applied, or its rollout failed · unwatched: no policy watches the repository.
 */
export const deliveryStates = ['failed', 'retrying', 'waiting', 'received', 'changed', 'rolledOut', 'unchanged', 'unwatched'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** What one policy did. */
export interface PolicyReport {
  /** NAMESPACE/NAME. */
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
  /** RFC 3339. */
  readonly receivedAt: string;
  /** The state of the policy that needs the most attention. */
  readonly state: DeliveryState;
  readonly isOver: boolean;
  readonly message?: string;
  readonly policies: readonly PolicyReport[];
}

const over: ReadonlySet<DeliveryState> = new Set(['failed', 'rolledOut', 'unchanged', 'unwatched']);

/** The report of a record; undefined for what a receiver ignored, which has no delivery. */
export function reportOf(record: EventRecord, dashboardUrl?: string): DeliveryReport | undefined {
  if (record.state === 'ignored') return undefined;
  const { event, why, results } = record;
  const policies = [...results].map(([policy, result]) => ({
    ...policyReport(policy, result),
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

function policyReport(policy: string, result: PolicyResult | undefined): PolicyReport {
  if (result === undefined) return { policy, state: 'received', isOver: false };
  const { reason, message, at, verifiedMs } = result;
  const state = stateOfResult(result);
  return { policy, state, isOver: over.has(state), reason, message, at, ...defined({ verifiedMs }) };
}

/** Why guards keep a selected image from its targets until a time or a decision, also where the outcome is that nothing was changed. */
const heldBy: ReadonlySet<string> = new Set<Reason>([
  'ApprovalRequired',
  'ChangeReverted',
  'CheckFailed',
  'CheckPending',
  'CheckTimedOut',
  'CompanionMissing',
  'Held',
  'MoreVulnerable',
  'NotProven',
  'OnHold',
  'RejectedDigest',
  'RetriesExhausted',
  'RolloutRetry',
  'TargetPaused',
  'TooManyChanges',
  'UnlikelyVersion',
  'VulnerabilitiesUnknown',
  'WavePause',
  'WavePending',
  'Window',
]);

const failedRollouts: ReadonlySet<string> = new Set<Reason>(['RolloutFailed', 'RolledBack', 'RollbackFailed']);

function stateOfResult({ kind, reason }: PolicyResult): DeliveryState {
  switch (kind) {
    case 'updated':
      return reason === 'RolledOut' ? 'rolledOut' : 'changed';
    case 'unchanged':
      if (heldBy.has(reason)) return 'waiting';
      return reason === 'UpToDate' ? 'rolledOut' : 'unchanged';
    case 'ignored':
      return 'unchanged';
    case 'suspended':
    case 'stalled':
      return failedRollouts.has(reason) ? 'failed' : 'waiting';
    case 'retrying':
    case 'waiting':
    case 'failed':
      return kind;
  }
}
