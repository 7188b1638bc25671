import { z } from 'zod';
import { defined } from '../../../core/model/defined.ts';
import { countPods } from '../../explain/count-pods.ts';
import { explainPlanned } from '../../explain/steps.ts';
import { planNow, type Pushed } from '../../explain/plan-now.ts';
import { tryParseImageReference } from '../../../core/model/image-reference.ts';
import { type Access, AccessError } from '../access.ts';
import { readEvent } from '../events.ts';
import type { ApiPorts } from '../ports.ts';
import { filterPolicies } from '../filter-policies.ts';
import { policyStates } from '../../../core/model/policy-state.ts';
import { environmentsFor } from '../environments-view.ts';
import { checksView, companions, detail, policyDetail, policyState, policySummary, summarize } from '../policy-view.ts';
import { pageOf, policyOrders } from '../policy-order.ts';
import { defineRoute, digestParam, instantParam, namespaceName, policyParams, receiverParam } from '../route.ts';
import { policyStream } from '../stream.ts';
import { filterOf, followedQuery, streamQuery } from '../stream-query.ts';
import { recordKinds } from '../record-feed.ts';
import { listVisible, policiesOf, seePolicy } from '../see-policies.ts';

const facets = z.array(
  z.object({ value: z.string(), count: z.int() }).meta({ id: 'Facet', description: 'A value, and how many policies have it.' }),
);

export const getPolicies = defineRoute({
  method: 'GET',
  path: '/policies',
  id: 'listPolicies',
  group: 'Policies',
  summary: 'List policies',
  about:
    'Shows the policies that the caller may list. `counts` and `facets` are of all that match the other filters: they say how many policies another choice would show.',
  query: z.object({
    namespace: namespaceName.exactOptional().describe('Only what is of this namespace.'),
    state: z
      .string()
      .max(200)
      .transform((text) => text.split(','))
      .pipe(z.array(z.enum(policyStates, { error: `one of ${policyStates.join(', ')}, or several, separated by commas` })))
      .exactOptional()
      .describe(`One or more, separated by commas, of ${policyStates.join(', ')}.`),
    registry: z.string().min(1).max(255).exactOptional().describe('The host of the registry.'),
    label: z
      .string()
      .max(400)
      .regex(/^[A-Za-z0-9][\w./-]*(?:=[\w.-]*)?$/, 'is KEY or KEY=VALUE')
      .transform((text) => {
        const [key = '', value] = text.split('=');
        return { key, ...defined({ value }) };
      })
      .exactOptional()
      .describe('KEY=VALUE: only policies with this label. KEY or KEY=VALUE: `facets.labels` counts its values.'),
    digest: digestParam
      .exactOptional()
      .describe(
        'Only policies that select this digest, wait with it, have changed to it lately, or reject it. `/images?digest=` says where it runs.',
      ),
    receiver: receiverParam.exactOptional().describe('Only policies that a push by this receiver has last changed or given something new.'),
    since: instantParam.exactOptional().describe('Only policies whose last change was at this time or later; RFC 3339.'),
    until: instantParam.exactOptional().describe('Only policies whose last change was at this time or earlier; RFC 3339.'),
    search: z.string().min(1).max(256).exactOptional().describe('Part of the namespace, name, image or tag that is selected or runs.'),
    sort: z
      .enum(policyOrders)
      .default('name')
      .describe(
        'By namespace and name; by state, what needs attention first; by the last change, newest first; by state and reason; or by image.',
      ),
    limit: z.coerce.number().int().min(1).max(500).default(100).describe('The most policies of a page.'),
    after: z
      .string()
      .regex(/^[\w.~%-]{0,800}:[a-z0-9-]{1,63}\/[a-z0-9.-]{1,253}$/, 'is not the "next" of an answer')
      .exactOptional()
      .describe('The `next` of the page before.'),
  }),
  answer: z
    .object({
      policies: z.array(policySummary),
      counts: z.partialRecord(policyState, z.int()),
      facets: z.object({ namespaces: facets, registries: facets, labels: facets }).describe('The fifty most frequent values of each.'),
      next: z.string().exactOptional().describe('For `after`; absent on the last page.'),
    })
    .meta({ id: 'PolicyList' }),
  async handle({ query: { namespace, state: states, sort, limit, after, ...filters }, access, ports }) {
    const all = await listVisible(ports, access, namespace);
    const { each } = ports.turns;
    const { found, counts, facets } = await filterPolicies(all, { states, ...filters }, each);
    const { page, next } = await pageOf(found, { order: sort, limit, after }, each);
    const { originsOf } = policiesOf(ports);
    return { policies: page.map(({ policy }) => summarize(policy, originsOf(policy))), counts, facets, ...defined({ next }) };
  },
});

export const getPolicy = defineRoute({
  method: 'GET',
  path: '/policies/{namespace}/{name}',
  id: 'getPolicy',
  group: 'Policies',
  summary: 'Show one policy',
  about: 'Needs permission to get imagepolicies in the namespace.',
  params: policyParams,
  answer: policyDetail,
  errors: [404],
  async handle({ params, access, ports }) {
    const policy = await seePolicy(ports, access, params);
    const { originsOf, changeOriginsOf, consider, cluster } = policiesOf(ports);
    const pods = countPods(consider(policy), cluster);
    const environments = await environmentsFor(policy, access, ports);
    const checks = checksView(policy, new Date(cluster.now()));
    return { ...detail(policy, originsOf(policy), changeOriginsOf(policy)), ...defined({ pods, environments, checks }) };
  },
});

export const getResource = defineRoute({
  method: 'GET',
  path: '/policies/{namespace}/{name}/resource',
  id: 'getPolicyResource',
  group: 'Policies',
  summary: 'Show the resource of a policy as the API server has it',
  about: 'Without `metadata.managedFields`. Needs permission to get imagepolicies in the namespace.',
  params: policyParams,
  answer: z
    .looseObject({ metadata: z.looseObject({ namespace: z.string(), name: z.string() }), spec: z.looseObject({}) })
    .meta({ id: 'PolicyResource', description: 'The ImagePolicy as the API server has it.' }),
  errors: [404],
  async handle({ params, access, ports }) {
    const policy = await seePolicy(ports, access, params);
    return policiesOf(ports).read(policy);
  },
});

const step = z
  .object({
    id: z.string().describe('Stable: `namespace`, `spec`, `tag`, a setting, `verify`, `target`, `container`, or the id of a guard.'),
    result: z
      .enum(['pass', 'stop', 'wait', 'note'])
      .describe(
        'pass: nothing is in the way; stop: nothing happens until somebody acts or something changes; wait: it goes on by itself; note: it decides nothing.',
      ),
    text: z.string(),
    origin: z.enum(['policy', 'namespace', 'cluster', 'built-in']).exactOptional().describe('Where the value of a setting comes from.'),
    reason: z.string().exactOptional(),
    until: z.string().exactOptional(),
    page: z.string().exactOptional().describe('The page that explains the reason, and says what to do.'),
  })
  .meta({ id: 'ExplanationStep' });

const explanation = z
  .object({
    allowed: z.boolean().describe('Whether nothing is blocked or wrong.'),
    summary: z.string(),
    candidate: z
      .object({
        tag: z.string(),
        digest: z.string().exactOptional(),
        createdAt: z.string().exactOptional(),
        companions: companions.readonly().exactOptional(),
      })
      .exactOptional(),
    steps: z.array(step).describe('Of the policy, in their order; the first that stops ends the chain.'),
    targets: z.array(
      z
        .object({
          target: z.object({ apiVersion: z.string().exactOptional(), kind: z.string(), namespace: z.string(), name: z.string() }),
          steps: z.array(step),
        })
        .meta({ id: 'TargetExplanation', description: 'The steps for one workload.' }),
    ),
  })
  .meta({ id: 'Explanation' });

export const explainPolicy = defineRoute({
  method: 'GET',
  path: '/policies/{namespace}/{name}/explain',
  id: 'explainPolicy',
  group: 'Policies',
  summary: 'Explain what would happen now, step by step',
  about:
    'Runs the stages of a reconcile up to the change itself, without any request to a registry, as `image-watcher explain` does. With `push`, as if an image had been pushed. Needs permission to get imagepolicies in the namespace.',
  params: policyParams,
  query: z.object({
    push: z
      .string()
      .min(1)
      .max(700)
      .exactOptional()
      .describe('An image with its tag (`harbor.example.com/shop/web:1.4.2`, with or without `@sha256:…`), or the id of an event.'),
  }),
  answer: explanation,
  errors: [404],
  async handle({ params, query: { push }, access, ports }) {
    const policy = await seePolicy(ports, access, params);
    const pushed = push === undefined ? undefined : await readPush(push, access, ports);
    const { consider, cluster } = policiesOf(ports);
    return explainPlanned(await planNow(consider(policy), () => cluster, pushed), pushed);
  },
});

export const streamPolicies = defineRoute({
  method: 'GET',
  path: '/stream',
  id: 'streamPolicies',
  group: 'Policies',
  summary: 'Follow the changes of policies',
  about:
    'Server-sent events: `policy` with an entry of the list for each policy that was created or changed, `deleted` with its namespace and name, and `open` when what happened before may be missing, so that the list should be read (again). ' +
    'Shows what the caller may get. A stream ends after ten minutes; browsers connect again by themselves.',
  query: streamQuery.extend({ of: followedQuery }),
  answer: z.unknown(),
  media: 'text/event-stream',
  handle({ query: { of: followed = new Set(['policies']), ...query }, access, ports }) {
    const kinds = new Set(recordKinds.filter((kind) => followed.has(kind)));
    const feed = followed.has('policies') ? policiesOf(ports).feed : unchanging;
    const records = kinds.size === 0 ? undefined : { feed: ports.recordFeed, kinds };
    return Promise.resolve(ports.streams.open(policyStream(feed), access, filterOf(query, records)));
  },
});

/** The feed of a stream that follows no policies. */
const unchanging = { subscribe: () => () => undefined };

/** Reads a push from a text, which is an image or the id of an event. */
async function readPush(text: string, access: Access, ports: ApiPorts): Promise<Pushed> {
  const event = /^[0-9a-zA-Z_-]{16,128}$/.test(text) ? await readEvent(ports, access, text) : undefined;
  const { repository, tag: announced, digest } = event ?? {};
  const name = repository === undefined ? text : `${event?.registry ?? ''}/${repository}:${announced ?? ''}`;
  const image = tryParseImageReference(digest === undefined || repository === undefined ? name : `${name}@${digest}`, ports.aliases);
  if (image?.tag === undefined) throw new AccessError(404, `"${text}" is neither an image with a tag nor an event that you may see`);
  return { ...image, tag: image.tag };
}
