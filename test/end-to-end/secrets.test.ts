/** Secrets go in, and come out nowhere: not in logs, metrics, answers, Events, statuses or what is kept in Redis. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startFakeRegistry, fakeImage, type FakeRegistry } from '../harness/fake-registry.ts';
import { askRedis } from '../harness/redis.ts';
import { waitFor } from '../harness/wait-for.ts';
import { harborBody, startWorld, type Service, type World } from './world.ts';

/** Each is in one place only, and found again by its text. */
const secrets = {
  header: 'marked-header-secret-9f2c',
  wrongHeader: 'marked-wrong-header-77aa',
  token: 'marked-path-token-51d0c3',
  wrongToken: 'marked-wrong-token-e7b1',
  pullPassword: 'marked-pull-password-3c9e',
  wrongPassword: 'marked-wrong-password-b0b0',
  redisPassword: 'marked-redis-password-d41d',
  query: 'marked-query-token-8a8a',
  cookie: 'marked-cookie-6f6f',
};
const basic = (password: string) => Buffer.from(`puller:${password}`).toString('base64');
/** As they are, and as they travel. */
const traces = [
  ...Object.values(secrets),
  ...Object.values(secrets).map((text) => Buffer.from(text).toString('base64').replace(/=+$/, '')),
  basic(secrets.pullPassword),
  basic(secrets.wrongPassword),
];

describe('secrets', () => {
  let world: World;
  let service: Service;
  let fake: FakeRegistry;
  const answers: string[] = [];
  before(async () => {
    [world, fake] = await Promise.all([startWorld(), startFakeRegistry()]);
    const set = await askRedis(world.redis.port, `CONFIG SET requirepass ${secrets.redisPassword}`);
    assert.match(set, /^\+OK/);
    service = await world.start({
      redisUrl: world.redis.url.replace('redis://', `redis://:${secrets.redisPassword}@`),
      registryHosts: [fake.host],
      env: { WEBHOOK_SECRET: secrets.header, URL_SECRET: secrets.token, LOG_LEVEL: 'trace' },
      config: {
        receivers: [
          { name: 'harbor', provider: 'harbor', secrets: [{ env: 'WEBHOOK_SECRET' }] },
          { name: 'by-url', provider: 'harbor', secrets: [{ env: 'URL_SECRET' }] },
        ],
      },
    });
  });
  after(async () => {
    await world.stop();
    await fake.stop();
  });

  const post = async (path: string, headers: Record<string, string>, body: string, method = 'POST') => {
    const response = await fetch(`${service.publicUrl}${path}`, { method, headers, ...(method === 'POST' && { body }) });
    answers.push(JSON.stringify([...response.headers]), await response.text());
    return response.status;
  };

  it('of senders, URLs, pull secrets and Redis are used and refused in every way', async () => {
    fake.requireBasic({ user: 'puller', password: secrets.pullPassword });
    for (const [name, password] of [
      ['right', secrets.pullPassword],
      ['wrong', secrets.wrongPassword],
    ] as const) {
      const auths = { [fake.host]: { username: 'puller', password } };
      await world.cluster.request('POST', `/api/v1/namespaces/${world.namespace}/secrets`, {
        metadata: { name },
        type: 'kubernetes.io/dockerconfigjson',
        stringData: { '.dockerconfigjson': JSON.stringify({ auths }) },
      });
      fake.setTag(`shop/${name}`, '1.0.0', fakeImage('1'));
      await world.createDeployment(name, `${fake.host}/shop/${name}:1.0.0`);
      await world.createPolicy(name, `${fake.host}/shop/${name}`, { strategy: 'SemVer' }, { pullSecrets: [{ name }] });
      fake.setTag(`shop/${name}`, '1.0.1', fakeImage('2'));
    }
    const body = (name: string) => harborBody(fake.host, `shop/${name}`, [{ tag: '1.0.1' }]);
    const authorization = secrets.header;
    const accepted = (path: string, headers: Record<string, string>, name: string) =>
      waitFor(`${path} to accept`, async () => (await post(path, headers, body(name))) === 202);
    await accepted('/webhooks/harbor', { authorization }, 'right');
    await accepted(`/webhooks/by-url/${secrets.token}`, {}, 'wrong');
    assert.equal(await post(`/webhooks/by-url/${secrets.token}`, { cookie: secrets.cookie }, '{"broken'), 200);
    assert.equal(await post('/webhooks/harbor', { authorization: secrets.wrongHeader, cookie: secrets.cookie }, body('right')), 401);
    assert.equal(await post('/webhooks/harbor', { authorization: `Bearer ${secrets.wrongHeader}` }, '{}'), 401);
    assert.equal(await post(`/webhooks/by-url/${secrets.wrongToken}`, {}, body('right')), 401);
    assert.equal(await post(`/webhooks/by-url/${secrets.wrongToken}`, {}, '', 'OPTIONS'), 401);
    assert.equal(await post(`/webhooks/nobody/${secrets.token}`, {}, '{}'), 404);
    assert.equal(await post(`/webhooks/by-url/${secrets.token}/more?token=${secrets.query}`, {}, '{}'), 404);
    assert.equal(await post(`/webhooks/by-url/%zz${secrets.token}`, {}, '{}'), 400);
    assert.equal(await post(`/webhooks/by-url/${secrets.token}`, {}, 'x'.repeat(1_048_577)), 413);
    assert.equal(await post(`/webhooks/by-url/${secrets.token}?token=${secrets.query}`, {}, '{}'), 200);
    await world.waitForImage('right', `${fake.host}/shop/right:1.0.1`);
    await waitFor('the refusal of the registry to be told', async () => {
      const { conditions = [] } = await world.readStatus('wrong');
      return conditions.some(({ message }) => /401|credential|denied|unauthor/i.test(message));
    });
    // Also when Redis does not answer.
    world.redis.freeze();
    assert.equal(await post(`/webhooks/by-url/${secrets.token}`, {}, body('right')), 503);
    world.redis.thaw();
    await waitFor('Redis', async () => (await post('/webhooks/harbor', { authorization }, body('right'))) === 202);
  });

  it('are disclosed nowhere', async () => {
    const read = async (path: string) => (await fetch(`${service.operationsUrl}${path}`)).text();
    const list = async (path: string) => JSON.stringify(await world.cluster.request('GET', path));
    const here = `/namespaces/${world.namespace}`;
    await waitFor('the Events', async () => (await list(`/api/v1${here}/events`)).includes('"Updated"'));
    const textsByPlace = {
      log: service.logTail(1_000_000),
      metrics: await read('/metrics'),
      readiness: await read('/readyz?verbose'),
      answers: answers.join('\n'),
      policies: await list(`/apis/operator.technomad.dev/v1${here}/imagepolicies`),
      deployments: await list(`/apis/apps/v1${here}/deployments`),
      Events: await list(`/api/v1${here}/events`),
      Redis: globSync('**/*.aof', { cwd: world.redis.dir })
        .map((file) => readFileSync(join(world.redis.dir, file), 'latin1'))
        .join('\n'),
    };
    for (const [place, text] of Object.entries(textsByPlace)) {
      assert.ok(text.length > 100, `${place} was not read`);
      for (const trace of traces) assert.ok(!text.includes(trace), `${trace} is in ${place}: …${around(text, trace)}…`);
    }
    assert.match(textsByPlace.log, /"level":"debug"/);
    assert.match(textsByPlace.Redis, /shop\/right/);
  });
});

function around(text: string, part: string): string {
  const at = text.indexOf(part);
  return text.slice(Math.max(0, at - 200), at + 100);
}
