/**
 * The view of an event in the API. Pure. A caller who is limited to namespaces sees only policies of these whose credentials have read the repository. Anybody
 * who can write a policy can name any repository, and must not learn what is pushed to it.
 */
import { defined } from '../../core/model/defined.ts';
import type { GivenUpNotice } from '../../core/model/notice.ts';
import type { PolicyResult } from '../queue/event-log.ts';
import type { EventRecord, IgnoredEvent, PushRecord, PushState } from '../queue/event-record.ts';

/**
 * The outcome of an event. With several policies, it is that of the policy that needs the most attention, in this order: failed, stalled, retrying, waiting,
 * working (no result yet), updated, suspended, unchanged, ignored. Before its policies are known: queued, waiting (for a scan), working, retrying, failed. unwatched: no policy watches
 * the repository. An event that a receiver ignored is ignored as well, with `reason`.
 */
export const eventOutcomes = [
  'failed',
  'stalled',
  'retrying',
  'waiting',
  'working',
  'queued',
  'updated',
  'suspended',
  'unchanged',
  'ignored',
  'unwatched',
] as const;
export type EventOutcome = (typeof eventOutcomes)[number];

export interface EventView {
  readonly id: string;
  readonly receiver: string;
  readonly provider: string;
  /** Present unless a receiver ignored the event and its sender named no registry or repository. */
  readonly registry?: string;
  readonly repository?: string;
  readonly tag?: string;
  readonly digest?: string;
  readonly receivedAt: string;
  readonly pushedAt?: string;
  readonly replayOf?: string;
  readonly outcome: EventOutcome;
  /** Why a receiver ignored the event, or what the event waits for. */
  readonly reason?: IgnoredEvent['reason'] | NonNullable<PushRecord['reason']>;
  readonly message?: string;
  /** How often a receiver ignored the event; `receivedAt` is the last time. */
  readonly count?: number;
  readonly policies: readonly PolicyView[];
}

/** What is recorded for those who wait for a push, and not shown. */
type Inner = 'hasRead' | 'isUnwatched' | 'broughtBy' | 'otherDigest';

export interface PolicyView extends Partial<Omit<PolicyResult, Inner | 'kind'>> {
  readonly namespace: string;
  readonly name: string;
  readonly outcome: EventOutcome;
  /** The notices about the event that were given up. */
  readonly noticesGivenUp?: readonly GivenUpNotice[];
}

/** The namespaces in which a limited caller may see a policy of the event. */
export function visibleNamespaces(record: EventRecord): string[] {
  return record.state === 'ignored' ? [] : [...new Set([...record.readers].map((name) => splitName(name).namespace))];
}

/** The namespaces of the policies that an event matched; empty for an event that a receiver ignored. */
export function namespacesOf(record: EventRecord): string[] {
  if (record.state === 'ignored') return [];
  return [...new Set([...record.results.keys()].map((name) => splitName(name).namespace))];
}

/** The event with only the policies of these namespaces (undefined: all). Returns undefined if the caller may see none of it. */
export function viewEvent(record: EventRecord, namespaces: ReadonlySet<string> | undefined): EventView | undefined {
  if (namespaces !== undefined) return viewFor(record, namespaces);
  let whole = views.get(record);
  if (whole === undefined) views.set(record, (whole = viewFor(record, undefined)));
  return whole;
}

/** The whole views of records, made once for all who may see everything: a record that changes is another object. */
const views = new WeakMap<EventRecord, EventView | undefined>();

function viewFor(record: EventRecord, namespaces: ReadonlySet<string> | undefined): EventView | undefined {
  if (record.state === 'ignored') return namespaces === undefined ? { ...record.event, outcome: 'ignored', policies: [] } : undefined;
  const { event, state, reason, why, results, readers, givenUp } = record;
  const policies = [...results]
    .filter(([name]) => namespaces === undefined || readers.has(name))
    .map(([name, result]) => viewPolicy(name, result, givenUp?.get(name)))
    .filter(({ namespace }) => namespaces === undefined || namespaces.has(namespace));
  if (policies.length === 0 && namespaces !== undefined) return undefined;
  const { repository, ...rest } = event;
  return {
    ...rest,
    registry: repository.registry,
    repository: repository.path,
    outcome: outcomeOf(state, policies),
    ...defined({ reason, message: why }),
    policies,
  };
}

/** Whether the event, or its result for one of its policies, has this outcome. */
export function hasOutcome(view: EventView, outcome: EventOutcome): boolean {
  return view.outcome === outcome || view.policies.some((policy) => policy.outcome === outcome);
}

function viewPolicy(key: string, result: PolicyResult | undefined, noticesGivenUp?: readonly GivenUpNotice[]): PolicyView {
  if (result === undefined) return { ...splitName(key), outcome: 'working', ...defined({ noticesGivenUp }) };
  const { kind: outcome, hasRead: _read, isUnwatched: _unwatched, broughtBy: _by, otherDigest: _other, ...rest } = result;
  return { ...rest, ...splitName(key), outcome, ...defined({ noticesGivenUp }) };
}

function outcomeOf(state: PushState, policies: readonly PolicyView[]): EventOutcome {
  if (state !== 'matched') return state;
  return eventOutcomes.find((outcome) => policies.some((policy) => policy.outcome === outcome)) ?? 'working';
}

function splitName(key: string): { namespace: string; name: string } {
  const [namespace = '', name = ''] = key.split('/');
  return { namespace, name };
}
