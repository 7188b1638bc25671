import { z } from 'zod';
import { defined } from '../../../core/model/defined.ts';
import { formatRepository, parseImageReference } from '../../../core/model/image-reference.ts';
import type { Position } from '../../queue/read-events.ts';
import { AccessError } from '../access.ts';
import { event, eventOutcomes } from '../event-view.ts';
import { listEvents, readEvent, replayEvent } from '../events.ts';
import { noteAction, why } from '../request-action.ts';
import { asOf, defineRoute, digestParam, instantParam, labelParam, namespaceName, policyKeyParam, receiverParam } from '../route.ts';
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
    return { events, ...(next !== undefined && { next: `${next.at}-${next.id}` }), ...defined({ asOf: readAt }) };
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
