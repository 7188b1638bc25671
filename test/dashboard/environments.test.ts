/** The way of each image through policies that follow each other, on the page of a policy and in the API: only with policies that the user may read. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { isUsable, policyKey, type ImagePolicy } from '../../src/core/model/image-policy.ts';
import { routes } from '../../src/service/api/routes/index.ts';
import { strategies } from '../../src/core/select/strategies/index.ts';
import { digestOf, policyOf, specOf } from '../core/model/samples.ts';
import { startApi } from '../service/api/fake-events.ts';
import { ann, samplePorts } from '../service/api/sample-policies.ts';
import { openDashboard } from './start-dashboard.ts';

const digest = digestOf('b');
const since = '2026-03-01T12:00:00Z';
const until = '2026-03-01T12:30:00Z';
const message = '1.1.0 has to run in staging/web for 30m: until 2026-03-01T12:30:00Z';
const following = (...names: string[]) =>
  specOf({
    strategy: strategies.proven(),
    pin: 'Digest',
    after: { policies: names.map((namespace) => ({ namespace, name: 'web' })), forMs: 0 },
  });
const staging = policyOf({ namespace: 'staging', status: { healthy: { tag: '1.1.0', digest, since } } });
const production = policyOf({
  namespace: 'production',
  spec: following('staging', 'secret'),
  status: {
    latest: { tag: '1.1.0', digest, selectedAt: since },
    waiting: { tag: '1.1.0', digest, since, until, reason: 'NotProven' },
    conditions: [{ type: 'Reconciling', status: 'True', reason: 'NotProven', message, lastTransitionTime: since }],
  },
});
const secret = policyOf({ namespace: 'secret', status: { healthy: { tag: '6.6.6', digest: digestOf('c'), since } } });
/** Follows staging, and nobody knows it. */
const spy = policyOf({ namespace: 'spy', spec: following('staging') });
const all = [staging, production, secret, spy];
const ports = {
  all: () => all,
  find: (namespace: string, name: string) => all.find((one) => policyKey(one) === policyKey({ namespace, name })),
  followersOf: (policy: Pick<ImagePolicy, 'namespace' | 'name'>) =>
    all.filter(({ spec }) => isUsable(spec) && spec.after?.policies.some((one) => policyKey(one) === policyKey(policy)) === true),
};

interface Answer {
  readonly environments?: {
    readonly policies: readonly { readonly namespace: string }[];
    readonly images: readonly { readonly tag: string; readonly stages: readonly { readonly state: string }[] }[];
    readonly hidden: number;
  };
}

async function read(t: TestContext, namespace: string, ...rights: string[]) {
  const { app } = startApi(t, ann(...rights), [], { policies: samplePorts([], ports) });
  const headers = { host: 'localhost:9090', authorization: 'Bearer anns-token' };
  const answer = await app.inject({ url: `/api/v1/policies/${namespace}/web`, headers });
  assert.equal(answer.statusCode, 200);
  return { body: answer.json<Answer>(), text: answer.body };
}

test('the API shows the chain of following policies in order, as far as the caller may get them', async (t) => {
  const { body, text } = await read(t, 'production', 'get production', 'get staging');
  const schema = routes.find(({ id }) => id === 'getPolicy')?.answer;
  assert.ok(schema?.safeParse(body).success, JSON.stringify(schema?.safeParse(body).error?.issues));
  assert.deepEqual(
    body.environments?.policies.map(({ namespace }) => namespace),
    ['staging', 'production'],
  );
  assert.deepEqual(
    body.environments?.images.map(({ tag, stages }) => [tag, stages.map(({ state }) => state)]),
    [['1.1.0', ['Healthy', 'Waits']]],
  );
  assert.equal(body.environments?.hidden, 1);
  assert.ok(!text.includes('6.6.6'));
});

test('the API does not show followers that the caller may not get, nor that there are any', async (t) => {
  const { body, text } = await read(t, 'staging', 'get staging');
  assert.equal(body.environments, undefined);
  assert.ok(!text.includes('production') && !text.includes('spy'));
  const { body: known } = await read(t, 'staging', 'get staging', 'get production');
  assert.deepEqual(
    known.environments?.policies.map(({ namespace }) => namespace),
    ['staging', 'production'],
  );
  assert.equal(known.environments?.hidden, 0);
});

test('policies that follow each other in a circle are each shown once', async (t) => {
  const [one, other] = [policyOf({ namespace: 'one', spec: following('other') }), policyOf({ namespace: 'other', spec: following('one') })];
  const both = [one, other];
  const find = (namespace: string) => both.find((policy) => policy.namespace === namespace);
  const followersOf = ({ namespace }: { namespace: string }) => both.filter((policy) => policy.namespace !== namespace);
  const { app } = startApi(t, { kind: 'none' }, [], { policies: samplePorts([], { all: () => both, find, followersOf }) });
  const { environments } = (await app.inject({ url: '/api/v1/policies/one/web', headers: { host: 'localhost:9090' } })).json<Answer>();
  assert.deepEqual(
    environments?.policies.map(({ namespace }) => namespace),
    ['other', 'one'],
  );
});

test('the page of a policy shows the state of each image in each environment, also in Chinese', async (t) => {
  const { get } = openDashboard(t, { policies: ports });
  const textOf = (html: string) => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
  const { text } = await get('/policies/production/web');
  const [, section = ''] = text.split('<section id="environments">');
  const shown = textOf(section.split('</section>')[0] ?? '');
  assert.match(shown, /The way of each image .* staging\/ web .*production\/ web/);
  assert.match(
    shown,
    /1\.1\.0 b+ healthy since 2026-03-01 12:00 UTC waits 2026-03-01 12:00 UTC until 2026-03-01 12:30 UTC 1\.1\.0 has to run in staging\/web for 30m/,
  );
  const chinese = textOf((await get('/policies/production/web', { 'accept-language': 'zh-CN' })).text);
  assert.match(chinese, /各镜像的进程/);
});
