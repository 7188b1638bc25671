/**
 * The view of an event in the API. Pure. A caller who is limited to namespaces sees only policies of these whose credentials have read the repository. Anybody
 * who can write a policy can name any repository, and must not learn what is pushed to it.
 */
import { z } from 'zod';
import { defined } from '../../core/model/defined.ts';
import type { Immutable } from '../../core/model/immutable.ts';
import { type GivenUpNotice, givenUpReasons, noticeKinds } from '../../core/model/notice.ts';
import type { PolicyResult } from '../queue/event-log.ts';
import type { EventRecord, PushState } from '../queue/event-record.ts';
import { time } from './route.ts';

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

const workload = z
  .object({ apiVersion: z.string().exactOptional(), kind: z.string(), namespace: z.string(), name: z.string() })
  .meta({ id: 'Workload' });
const change = z
  .object({
    workload,
    container: z.string(),
    index: z.int().describe('The position of the container in its list.'),
    from: z.string(),
    to: z.string(),
  })
  .meta({ id: 'ContainerChange', description: 'A container, the image that it ran, and the one that it runs since.' });
const eventOutcome = z
  .enum(eventOutcomes)
  .meta({ id: 'EventOutcome', description: 'Of several policies, that of the one that needs the most attention.' });
const givenUpNotice = z
  .object({
    target: z.string().describe('The name of the target, never its address.'),
    kind: z.enum(noticeKinds),
    reason: z.enum(givenUpReasons).describe('Refused: the target does not accept this message. NotAccepted: it accepted none for a day.'),
    message: z.string().exactOptional().describe('What a target of the namespace answered.'),
    at: z.string(),
  })
  .meta({ id: 'GivenUpNotice', description: 'A notification that is not sent any more.' });
const eventPolicy = z
  .object({
    namespace: z.string(),
    name: z.string(),
    outcome: eventOutcome,
    reason: z.string().exactOptional(),
    message: z.string().exactOptional(),
    tag: z.string().exactOptional(),
    digest: z.string().exactOptional(),
    changes: z.array(change).exactOptional(),
    at: z.string().exactOptional(),
    verifiedMs: z
      .number()
      .exactOptional()
      .describe('From the receipt of the event until the image was verified at the registry, in milliseconds.'),
    stage: z
      .enum(['guard', 'replaced', 'rollout', 'waves'])
      .exactOptional()
      .describe(
        'The later stage that the result is about: a guard that has the image wait, another image that has replaced it before its rollout was complete, the rollout of the change, or the end of its waves before the last one.',
      ),
    afterMs: z.number().exactOptional().describe('From the receipt of the event to the result, in milliseconds.'),
    noticesGivenUp: z
      .array(givenUpNotice)
      .readonly()
      .exactOptional()
      .describe('The notifications about it that are not sent any more; at most ten.'),
  })
  .meta({ id: 'EventPolicy', description: 'What a push led to for one policy.' });
/** A push, as the API shows it. */
export const event = z
  .object({
    id: z.string(),
    receiver: z.string(),
    provider: z.string(),
    registry: z.string().exactOptional(),
    repository: z.string().exactOptional().describe('Absent if a receiver ignored the event, and its sender named none.'),
    tag: z.string().exactOptional(),
    digest: z.string().exactOptional(),
    receivedAt: time,
    pushedAt: z.string().exactOptional(),
    replayOf: z.string().exactOptional().describe('The event that this one repeats.'),
    outcome: eventOutcome,
    reason: z.string().exactOptional().describe('Why a receiver ignored it, or what it waits for.'),
    message: z.string().exactOptional(),
    count: z.int().exactOptional().describe('How often a receiver ignored it; `receivedAt` is the last time.'),
    policies: z.array(eventPolicy).readonly().describe('The policies that it concerns, as far as the caller may see them.'),
  })
  .meta({ id: 'Event', description: 'A push, and what became of it.' });

export type EventView = Immutable<z.output<typeof event>>;
type PolicyView = EventView['policies'][number];

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
  // The other fields are recorded for those who wait for a push, and not shown.
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
