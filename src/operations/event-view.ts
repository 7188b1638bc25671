/** What the API tells of an event, to those who may know it. Pure. */
import type { EventRecord, EventState } from '../queue/event-record.ts';
import type { PolicyResult } from '../queue/event-log.ts';

/**
 * An event in a word. Of its policies the one that needs most attention counts: failed, stalled, retrying, waiting, working (not at an end
 * yet), updated, suspended, unchanged, ignored. Before its policies are known: queued, working, retrying, failed. unwatched: nobody wants it.
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
  readonly registry: string;
  readonly repository: string;
  readonly tag: string;
  readonly digest?: string;
  readonly receivedAt: string;
  readonly pushedAt?: string;
  readonly replayOf?: string;
  readonly outcome: EventOutcome;
  readonly message?: string;
  readonly policies: readonly PolicyView[];
}

export interface PolicyView extends Partial<Omit<PolicyResult, 'kind'>> {
  readonly namespace: string;
  readonly name: string;
  readonly outcome: EventOutcome;
}

/** The namespaces of the policies that an event met. */
export function namespacesOf({ results }: EventRecord): string[] {
  return [...new Set([...results.keys()].map((name) => splitName(name).namespace))];
}

/** The event with the policies of some namespaces only; `namespaces` undefined: of all. undefined when nothing is left that the caller may see. */
export function viewEvent(record: EventRecord, namespaces: ReadonlySet<string> | undefined): EventView | undefined {
  const { event, state, why, results } = record;
  const policies = [...results]
    .map(([name, result]) => viewPolicy(name, result))
    .filter(({ namespace }) => namespaces === undefined || namespaces.has(namespace));
  if (policies.length === 0 && namespaces !== undefined) return undefined;
  const { repository, ...rest } = event;
  return {
    ...rest,
    registry: repository.registry,
    repository: repository.path,
    outcome: outcomeOf(state, policies),
    ...(why !== undefined && { message: why }),
    policies,
  };
}

/** Whether the event, or what became of it at one policy, is such. */
export function hasOutcome(view: EventView, outcome: EventOutcome): boolean {
  return view.outcome === outcome || view.policies.some((policy) => policy.outcome === outcome);
}

function viewPolicy(key: string, result: PolicyResult | undefined): PolicyView {
  if (result === undefined) return { ...splitName(key), outcome: 'working' };
  const { kind, ...rest } = result;
  return { ...splitName(key), outcome: kind, ...rest };
}

function outcomeOf(state: EventState, policies: readonly PolicyView[]): EventOutcome {
  if (state !== 'matched') return state;
  return eventOutcomes.find((outcome) => policies.some((policy) => policy.outcome === outcome)) ?? 'working';
}

function splitName(key: string): { namespace: string; name: string } {
  const [namespace = '', name = ''] = key.split('/');
  return { namespace, name };
}
