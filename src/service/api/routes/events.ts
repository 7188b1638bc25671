import { z } from 'zod';
import { defined } from '../../../core/model/defined.ts';
import { givenUpReasons, noticeKinds } from '../../../core/model/notice.ts';
import { formatRepository, parseImageReference } from '../../../core/model/image-reference.ts';
import type { Position } from '../../queue/read-events.ts';
import { AccessError } from '../access.ts';
import { eventOutcomes } from '../event-view.ts';
import { listEvents, readEvent, replayEvent } from '../events.ts';
import { noteAction, why } from '../request-action.ts';
import { asOf, defineRoute, digestParam, instantParam, labelParam, namespaceName, policyKeyParam, receiverParam, time } from '../route.ts';
import { labelledKeys } from '../see-policies.ts';

const position = z
  .string()
  .regex(/^\d{1,15}-[0-9a-zA-Z_-]{1,128}$/, 'is not the "next" of an answer')
  .transform((text): Position => {
    const [at = '', id = ''] = text.split(/-(.*)/s);
    return { at: Number(at), id };
  });
const eventParams = z.object({
  id: z
    .string()
    .regex(/^[0-9a-zA-Z_-]{1,128}$/)
    .describe('The id of the event.'),
});

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
      .enum(['guard', 'replaced', 'rollout'])
      .exactOptional()
      .describe(
        'The later stage that the result is about: a guard that has the image wait, another image that has replaced it before its rollout was complete, or the rollout of the change.',
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

export const getEvents = defineRoute({
  method: 'GET',
  path: '/events',
  id: 'listEvents',
  group: 'Events',
  summary: 'List pushes, newest first',
  about:
    'Callers who may list the policies of all namespaces see all events. Others see the events of policies that they may get, as far as the credentials of these policies have read the repository ' +
    'within a week: whoever can write a policy can name any repository, and must not learn what is pushed to it. A page may be ' +
    'shorter than asked for, even empty: only `next` says whether there is more.',
  query: z.object({
    limit: z.coerce.number().int().min(1).max(500).default(50).describe('The most events of a page.'),
    repository: z.string().min(1).max(512).exactOptional().describe('`harbor.example.com/shop/web`'),
    outcome: z
      .enum(eventOutcomes, { error: `one of ${eventOutcomes.join(', ')}` })
      .exactOptional()
      .describe('Only pushes that have this outcome, or had it for a policy.'),
    policy: policyKeyParam.exactOptional().describe('`NAMESPACE/NAME`'),
    namespace: namespaceName.exactOptional().describe('Only pushes that concern policies of this namespace.'),
    label: labelParam.exactOptional().describe('KEY=VALUE: only pushes that concern policies with this label.'),
    receiver: receiverParam.exactOptional().describe('The name of a receiver.'),
    digest: digestParam.exactOptional().describe('Only pushes that announced this digest, or for which a policy found it.'),
    since: instantParam.exactOptional().describe('Only pushes that were received at this time or later; RFC 3339.'),
    until: instantParam.exactOptional().describe('Only pushes that were received at this time or earlier; RFC 3339.'),
    before: position.exactOptional().describe('The `next` of the page before.'),
  }),
  answer: z
    .object({ events: z.array(event), next: z.string().exactOptional().describe('For `before`; absent on the last page.'), asOf })
    .meta({ id: 'EventList' }),
  async handle({ query: { repository, label, ...rest }, access, ports }) {
    const name = repository === undefined ? undefined : formatRepository(parseImageReference(repository, ports.aliases).repository);
    const {
      events,
      next,
      asOf: readAt,
    } = await listEvents(ports, access, { ...rest, repository: name, among: await labelledKeys(ports, label) });
    return { events: [...events], ...(next !== undefined && { next: `${next.at}-${next.id}` }), ...defined({ asOf: readAt }) };
  },
});

export const getEvent = defineRoute({
  method: 'GET',
  path: '/events/{id}',
  id: 'getEvent',
  group: 'Events',
  summary: 'Show one push',
  about: 'An event that the caller may not see is answered like one that does not exist.',
  params: eventParams,
  answer: event,
  errors: [404],
  async handle({ params: { id }, access, ports }) {
    const found = await readEvent(ports, access, id);
    if (found === undefined) throw new AccessError(404, 'the event does not exist');
    return found;
  },
});

export const postReplay = defineRoute({
  method: 'POST',
  path: '/events/{id}/replay',
  id: 'replayEvent',
  group: 'Events',
  summary: 'Process a push again',
  about:
    'Needs permission to update the policies that the push matched, or all policies if those are not known yet. What a receiver ignored cannot be replayed (409).',
  params: eventParams,
  body: why.meta({ id: 'ReplayEventRequest' }),
  answer: z.object({ id: z.string().describe('Of the new event.'), replayOf: z.string().exactOptional() }).meta({ id: 'Replay' }),
  status: 202,
  errors: [404, 409],
  async handle({ params: { id }, body: { reason }, access, ports }) {
    const refusal = ports.refusal();
    if (refusal !== undefined) throw new AccessError(503, refusal);
    const replay = await replayEvent(ports, access, id);
    if (replay === undefined) throw new AccessError(404, 'the event does not exist');
    noteAction(ports, {
      action: 'replay',
      subject: { kind: 'Push', name: id },
      value: replay.id,
      user: access.user,
      ...defined({ why: reason || undefined }),
    });
    ports.logger.info({ event: replay.id, replayOf: replay.replayOf, user: access.user }, 'event replayed');
    return { id: replay.id, ...defined({ replayOf: replay.replayOf }) };
  },
});
