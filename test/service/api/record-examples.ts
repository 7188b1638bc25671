/** Records an example of each route: a request, and what the route answers to it about the installation that the pictures of the documentation show. */
import assert from 'node:assert/strict';
import type { AddedRoutes } from '../../../src/service/api/add-api.ts';
import type { ImagePolicy } from '../../../src/core/model/image-policy.ts';
import type { BaseImagePolicy } from '../../../src/core/model/base-policy.ts';
import { actionAnnotations } from '../../../src/core/model/policy-actions.ts';
import type { Example } from '../../../src/service/api/openapi.ts';
import type { Route } from '../../../src/service/api/route.ts';
import { createPolicyFeed, type StreamChange } from '../../../src/service/api/stream.ts';
import { createActivityRoutes } from '../../../src/activity/routes.ts';
import { createBaseRoutes } from '../../../src/bases/api/routes.ts';
import { createTargetRoutes } from '../../../src/notify/routes.ts';
import { readFrom } from '../../activity/sample-activity.ts';
import { basePolicyOf, sampleBases, sampleView } from '../../bases/api/sample-bases.ts';
import { policyKey } from '../../../src/core/model/image-policy.ts';
import { digestOf, policyOf } from '../../core/model/samples.ts';
import { activities, exampleOptions, notifications } from '../../dashboard/example.ts';
import { policies } from '../../dashboard/example-policies.ts';
import { startApi } from './fake-events.ts';
import { ann, samplePorts } from './sample-policies.ts';

type Request = Omit<Example, 'answer'>;

/** The parameters of a path, unless the request of the route has others. */
const usual = { namespace: 'shop', name: 'checkout', id: 'push-checkout-2-4-00' };
const base = { namespace: 'platform', name: 'java' };
const framework = { namespace: 'platform', name: 'framework' };
const following = { namespace: 'shop', name: 'web-production' };
const proven = { tag: '1.4.2', digest: digestOf('c') };
const node = { tag: '22.11.0', digest: digestOf('a') };

/** What is asked of the routes whose request has more than the usual parameters. */
const requests: Readonly<Record<string, Request>> = {
  listPolicies: { query: { state: 'Failed,Waiting', namespace: 'shop', sort: 'state', limit: 2 } },
  getPolicy: { params: { namespace: 'shop', name: 'payments' } },
  explainPolicy: { params: { namespace: 'shop', name: 'stock' }, query: { push: 'harbor.example.com/shop/stock:0.9.4' } },
  listPermittedIn: { query: { namespaces: 'shop,shop-eu' } },
  listPermittedInBases: { query: { namespaces: 'platform' } },
  streamPolicies: { query: { namespace: 'shop' } },
  listImages: { query: { repository: 'harbor.example.com/shop/storefront', state: 'Behind', limit: 1 } },
  listRepositories: { query: { search: 'storefront', limit: 1 } },
  listImageVersions: { query: { repository: 'harbor.example.com/shop/storefront', limit: 2 } },
  approvePolicy: {
    params: { namespace: 'shop', name: 'cart' },
    body: { tag: '1.9.0', digest: digestOf('b'), reason: 'tested on staging' },
  },
  rejectPolicy: {
    params: { namespace: 'shop', name: 'cart' },
    body: { tag: '1.9.0', digest: digestOf('b'), reason: 'breaks the checkout' },
  },
  rollbackPolicy: { body: { to: '2.3.1', reason: 'payments by card fail' } },
  releasePolicy: { params: { namespace: 'shop', name: 'payments' }, body: { at: '2026-03-01T12:30:00Z' } },
  promotePolicy: { params: following, body: { ...proven, reason: 'fixes the outage' } },
  holdPolicy: { body: { reason: 'sale until Monday' } },
  checkPolicy: { body: {} },
  suspendPolicy: { body: { reason: 'the database is being moved' } },
  resumePolicy: { body: {} },
  listEvents: { query: { policy: 'shop/checkout', since: '2026-03-01T09:00:00Z', limit: 1 } },
  replayEvent: { body: { reason: 'the registry was down' } },
  listCauses: { query: { namespace: 'shop-eu' } },
  getBase: { params: base },
  listDependents: { params: base, query: { state: 'Behind', limit: 2 } },
  listBaseVersions: { params: base, query: { limit: 2 } },
  listBasesOfPolicy: { params: { namespace: 'shop', name: 'search' } },
  listBases: { query: { limit: 1 } },
  approveBase: { params: framework, body: { tag: '3.2.0', digest: digestOf('d'), reason: 'fixes CVE-2026-1234' } },
  rejectBase: { params: { namespace: 'platform', name: 'node' }, body: { ...node, reason: 'breaks the build of the shop' } },
  releaseBase: { params: base, body: { at: '2026-03-01T12:30:00Z' } },
  checkBase: { params: base, body: {} },
  suspendBase: { params: base, body: { reason: 'the registry is being moved' } },
  resumeBase: { params: base, body: {} },
  testNotificationTarget: { body: { target: 'operations' } },
  listActivity: { query: { type: 'action', since: '2026-03-01T11:50:00Z', limit: 2 } },
};

/** A base that was approved, and can be rejected. */
const approved = basePolicyOf({
  name: 'node',
  image: 'harbor.example.com/library/node',
  spec: { mode: 'Approval' },
  status: { latest: { ...node, selectedAt: '2026-03-01T09:00:00Z' } },
  annotations: { [actionAnnotations.approve]: `${node.tag}@${node.digest}` },
});
/** A policy that waits until another one has run its image for long enough. */
const waiting = policyOf({
  ...following,
  status: {
    latest: { ...proven, selectedAt: '2026-03-01T11:50:00Z' },
    waiting: { ...proven, since: '2026-03-01T11:50:00Z', until: '2026-03-01T12:20:00Z', reason: 'NotProven' },
    follows: [{ namespace: 'shop', name: 'web-staging', ...proven, since: '2026-03-01T11:50:00Z' }],
  },
});
const bases = [...sampleBases, approved];

/** Records an example of each route, by its id. */
export async function recordExamples(routes: readonly Route[]): Promise<Record<string, Example>> {
  const closing: (() => unknown)[] = [];
  const [feed, baseListeners] = [createPolicyFeed(), new Set<(change: StreamChange<BaseImagePolicy>) => void>()];
  const { policies: ports, records, installation, doctor } = exampleOptions();
  const view = sampleView({
    find: (namespace, name) => bases.find((one) => one.namespace === namespace && one.name === name),
    feed: { subscribe: (listener) => (baseListeners.add(listener), () => baseListeners.delete(listener)) },
  });
  const added: AddedRoutes = {
    features: ['activity', 'bases', 'notify'],
    routes: [...createActivityRoutes(readFrom(activities)), ...createBaseRoutes(view), ...createTargetRoutes(notifications)],
  };
  const auth = {
    ...ann(),
    reviewAccess: () => Promise.resolve(true),
    reviewToken: () => Promise.resolve({ user: 'ada@example.com', groups: [] }),
  };
  const { app } = startApi({ after: (close) => void closing.push(close as () => unknown) }, auth, records, {
    policies: samplePorts([], {
      ...ports,
      feed,
      find: (...names) => (names.join('/') === policyKey(waiting) ? waiting : ports.find(...names)),
    }),
    installation,
    doctor,
    added,
    namespaces: { areKnown: () => true, whyNotSelected: () => undefined },
  });
  /** Changes something of each kind, so that a stream has something to send. */
  const change = () => {
    const [policy] = policies.filter(({ name }) => name === 'search') as [ImagePolicy];
    feed.publish({ type: 'updated', object: policy });
    const [changed] = sampleBases as readonly [BaseImagePolicy, ...BaseImagePolicy[]];
    for (const listener of baseListeners) listener({ type: 'updated', object: changed });
  };
  const examples: Record<string, Example> = {};
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  try {
    for (const route of routes) {
      const request = requestOf(route);
      const response = await fetch(`${url}/api/v1${pathOf(route, request)}`, {
        method: route.method,
        headers: { authorization: 'Bearer anns-token', ...(request.body && { 'content-type': 'application/json' }) },
        ...(request.body && { body: JSON.stringify(request.body) }),
      });
      const answer: unknown = route.media === undefined ? await response.json() : await readStream(response, change);
      assert.equal(response.status, route.status ?? 200, `${route.id}: ${JSON.stringify(answer)}`);
      examples[route.id] = { ...request, answer };
    }
  } finally {
    for (const close of closing) await close();
  }
  return examples;
}

function requestOf({ id, params }: Route): Request {
  const request = requests[id] ?? {};
  const names = Object.keys(params?.shape ?? {}) as (keyof typeof usual)[];
  return names.length === 0 ? request : { params: Object.fromEntries(names.map((name) => [name, usual[name]])), ...request };
}

function pathOf({ path }: Route, { params = {}, query = {} }: Request): string {
  const filled = Object.entries(params).reduce((text, [name, value]) => text.replace(`{${name}}`, encodeURIComponent(value)), path);
  const asked = new URLSearchParams(Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]));
  return asked.size === 0 ? filled : `${filled}?${asked.toString()}`;
}

/** Reads a stream until it has sent a change, which is made when the stream has begun. */
async function readStream({ body }: Response, change: () => void): Promise<string> {
  assert.ok(body !== null);
  const texts = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (!/event: (?:policy|base)\n.*\n\n/.test(text)) {
    const { value, done } = await texts.read();
    assert.ok(!done, text);
    if (text === '') change();
    text += value;
  }
  await texts.cancel();
  return text;
}
