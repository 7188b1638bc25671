/** Traces of real pushes, from the webhook to the rollout: receiver and worker apart, and a collector that keeps what it gets. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { Redis as Connection } from 'ioredis';
import { parse } from 'yaml';
import type { Spec } from '../../src/service/resources/v1.ts';
import { logFields } from '../../src/service/telemetry/log-fields.ts';
import { logMessages } from '../../src/service/telemetry/log-messages.ts';
import { startCollector, type CollectedSpan, type Collector } from '../harness/otlp-collector.ts';
import { pushImage } from '../harness/push-image.ts';
import { resend } from '../harness/resend.ts';
import { waitFor } from '../harness/wait-for.ts';
import { playKubelet } from './pods.ts';
import { deliver, harborBody, secret, startWorld, type Service, type World } from './world.ts';

const collectorToken = 'token-of-the-collector';
const senderTrace = '4bf92f3577b34da6a3ce929d0e0e4736';

describe('traces', () => {
  let world: World;
  let collector: Collector;
  let receiver: Service;
  let worker: Service;
  let kubelet: ReturnType<typeof playKubelet>;
  before(async () => {
    [world, collector] = await Promise.all([startWorld({ controllers: true }), startCollector()]);
    kubelet = playKubelet(world.cluster, world.namespace);
    const traces = { endpoint: collector.url, headers: { Authorization: { env: 'COLLECTOR_TOKEN' } } };
    const env = { WEBHOOK_SECRET: secret, COLLECTOR_TOKEN: `Bearer ${collectorToken}` };
    [receiver, worker] = (await Promise.all(['receive', 'work'].map((roles) => world.start({ roles, env, config: { traces } })))) as [
      Service,
      Service,
    ];
  });
  after(async () => {
    await world.stop();
    await collector.stop();
  });

  const image = (name: string, tag: string) => `${world.quiet.host}/shop/${name}:${tag}`;
  const push = (name: string, tag: string) =>
    pushImage({ host: world.quiet.host, repository: `shop/${name}`, tag, content: `${name} ${tag}` });
  /** A Deployment that is out with 1.0.0, and its policy. */
  const create = async (name: string, extra: Partial<Spec> = {}) => {
    await push(name, '1.0.0');
    await world.createDeployment(name, image(name, '1.0.0'));
    await kubelet.becomesReady(name, image(name, '1.0.0'));
    await world.createPolicy(name, `${world.quiet.host}/shop/${name}`, { strategy: 'SemVer' }, extra);
    await world.waitForFirstLook(name);
  };
  /** With the secret in the URL, and a trace of the sender's own. */
  const announce = (name: string, tag: string, token = secret) => {
    const body = harborBody(world.quiet.host, `shop/${name}`, [{ tag }]);
    return resend(() => announceOnce(body, token));
  };
  const announceOnce = async (body: string, token: string) => {
    const response = await fetch(`${receiver.publicUrl}/webhooks/harbor/${token}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', traceparent: `00-${senderTrace}-00f067aa0ba902b7-01` },
      body,
    });
    const { accepted } = (await response.json()) as { accepted?: { id: string }[] };
    return { status: response.status, id: accepted?.[0]?.id ?? '' };
  };
  /** The spans of a push's trace, once those are there that are waited for. */
  const traceOf = (event: string, ...names: string[]) =>
    waitFor(`the spans ${names.join(', ')}`, () => {
      const all = collector.spans();
      const { traceId } = all.find(({ name, attributes }) => name === 'process push' && attributes['image_watcher.event'] === event) ?? {};
      const spans = all.filter((span) => span.traceId === traceId);
      return names.every((wanted) => spans.some(({ name }) => name === wanted)) && spans;
    });
  const tree = (spans: readonly CollectedSpan[]) => {
    const byId = new Map(spans.map((span) => [span.spanId, span]));
    return new Set(spans.map(({ parentId, name }) => `${byId.get(parentId)?.name ?? '-'} → ${name}`));
  };
  const decisionsOf = (spans: readonly CollectedSpan[], policy: string) =>
    spans
      .filter(({ name, attributes }) => name === 'process policy' && attributes['image_watcher.policy'] === `${world.namespace}/${policy}`)
      .flatMap(({ events }) => events.map(({ name, attributes }) => `${name} ${String(attributes['image_watcher.reason'])}`));
  const find = (spans: readonly CollectedSpan[], wanted: string) => {
    const found = spans.find(({ name }) => name === wanted);
    assert.ok(found, wanted);
    return found;
  };

  it('follow a push from the webhook to the end of the rollout', async () => {
    await create('web', { rollout: { onFailure: 'Rollback' } });
    assert.equal((await announce('web', '1.0.1', 'wrong')).status, 401);
    const { digest } = await push('web', '1.0.1');
    const { status, id } = await announce('web', '1.0.1');
    assert.equal(status, 202);
    await world.waitForImage('web', image('web', '1.0.1'));
    await kubelet.becomesReady('web', image('web', '1.0.1'));
    const spans = await traceOf(id, 'POST /webhooks/{receiver}', 'send push', 'process push', 'rollout', 'check rollout');

    const found = tree(spans);
    for (const branch of [
      '- → POST /webhooks/{receiver}',
      'POST /webhooks/{receiver} → send push',
      'send push → process push',
      'process push → GET manifest',
      'process push → PATCH deployments',
      'process push → PATCH imagepolicies/status',
      'process push → check rollout',
      'process push → rollout',
    ])
      assert.ok(found.has(branch), `${branch} is not in\n${[...found].join('\n')}`);
    const delivery = find(spans, 'POST /webhooks/{receiver}');
    assert.deepEqual(delivery.links, [{ traceId: senderTrace, spanId: '00f067aa0ba902b7' }]);
    assert.deepEqual([delivery.kind, delivery.attributes['image_watcher.receiver']], ['server', 'harbor']);
    // What was stored although it was late belongs to the first attempt.
    assert.match(String(delivery.attributes['http.response.status_code']), /^(202|503)$/);
    assert.deepEqual(
      [delivery.resource['image_watcher.roles'], find(spans, 'process push').resource['image_watcher.roles']],
      [['receive'], ['work']],
    );
    const job = spans.find(({ name, events }) => name === 'process push' && events.length > 1);
    assert.deepEqual(
      job?.events.map(({ name, attributes }) => [name, attributes['image_watcher.reason'] ?? attributes['image_watcher.policies']]),
      [
        ['matched', [`${world.namespace}/web`]],
        ['decision', 'Updated'],
      ],
    );
    const asked = find(spans, 'GET manifest');
    assert.deepEqual(
      [
        asked.kind,
        `${String(asked.attributes['server.address'])}:${String(asked.attributes['server.port'])}`,
        asked.attributes['http.response.status_code'],
      ],
      ['client', world.quiet.host, 200],
    );
    const rollout = find(spans, 'rollout');
    assert.equal(rollout.attributes['image_watcher.reason'], 'RolledOut');
    assert.ok(rollout.start >= Math.floor(delivery.start) && rollout.end >= rollout.start);
    assert.equal((await world.readStatus('web')).history?.[0]?.digest, digest);
    assert.deepEqual(
      collector.spans().filter(({ attributes }) => attributes['http.response.status_code'] === 401),
      [],
      'strangers leave no trace',
    );
  });

  it('contain a failed rollout and its rollback, in the trace of the push', async () => {
    await create('broken', { rollout: { onFailure: 'Rollback' } });
    await push('broken', '1.0.1');
    const { id } = await announce('broken', '1.0.1');
    await world.waitForImage('broken', image('broken', '1.0.1'));
    await kubelet.cannotPull('broken', image('broken', '1.0.1'), 'Back-off pulling image: not found');
    await world.waitForImage('broken', image('broken', '1.0.0'));
    await waitFor('the ends of the rollout', async () => {
      const endings = (await traceOf(id, 'rollout'))
        .filter(({ name }) => name === 'rollout')
        .map(({ attributes, failure }) => `${String(attributes['image_watcher.reason'])} ${failure === undefined ? 'well' : 'failed'}`);
      return ['RolloutFailed failed', 'RolledBack failed', 'RolledOut well'].every((ending) => endings.includes(ending));
    });
    await waitFor('the patch back', async () => tree(await traceOf(id, 'rollout')).has('check rollout → PATCH deployments'));
  });

  it('contain a span for each policy, and the reason why something is blocked', async () => {
    await create('shared');
    await world.createDeployment('asking', image('shared', '1.0.0'));
    await world.createPolicy('asking', `${world.quiet.host}/shop/shared`, { strategy: 'SemVer' }, { update: { mode: 'Approval' } });
    await world.waitForFirstLook('asking');
    await push('shared', '1.0.1');
    const { id } = await announce('shared', '1.0.1');
    await world.waitForImage('shared', image('shared', '1.0.1'));
    const spans = await waitFor('both policies', async () => {
      const found = await traceOf(id, 'process policy');
      return decisionsOf(found, 'asking').length > 0 && decisionsOf(found, 'shared').length > 0 && found;
    });
    assert.ok(tree(spans).has('process push → process policy') && tree(spans).has('process policy → PATCH deployments'));
    assert.ok(decisionsOf(spans, 'shared').includes('decision Updated'));
    assert.deepEqual(decisionsOf(spans, 'asking'), ['decision ApprovalRequired', 'blocked ApprovalRequired']);
  });

  it('show that no policy watches an image', async () => {
    const { id } = await announce('nobody', '1.0.0');
    const spans = await traceOf(id, 'process push');
    assert.deepEqual(
      find(spans, 'process push').events.map(({ name }) => name),
      ['unwatched'],
    );
  });

  it('contain no secret, and name the service to the collector', async () => {
    const { users } = parse(readFileSync(world.kubeconfig, 'utf8')) as { users: { user: { token?: string } }[] };
    const tokens = users.flatMap(({ user }) => user.token ?? []);
    assert.ok(tokens.length > 0);
    const bytes = Buffer.concat(collector.received.map(({ body }) => body)).toString('latin1');
    assert.ok(bytes.includes('process push'));
    for (const hidden of [secret, collectorToken, ...tokens]) assert.ok(!bytes.includes(hidden));
    assert.ok(collector.received.every(({ headers }) => headers.authorization === `Bearer ${collectorToken}`));
  });

  it('are named in log lines, which hold only documented fields', () => {
    const lines = [receiver, worker].flatMap((service) =>
      service
        .logTail(100_000)
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    );
    const updates = lines.filter(({ msg }) => msg === 'workload updated');
    assert.ok(updates.length >= 2);
    const known = new Set(collector.spans().map(({ traceId, spanId }) => `${traceId} ${spanId}`));
    for (const { trace_id, span_id } of updates) assert.ok(known.has(`${String(trace_id)} ${String(span_id)}`));
    const fields = new Set(lines.flatMap((line) => Object.keys(line)));
    assert.deepEqual(
      [...fields].filter((field) => !(field in logFields)),
      [],
    );
    const messages = new Set(lines.map(({ msg }) => String(msg)));
    assert.deepEqual(
      [...messages].filter((message) => !(message in logMessages)),
      [],
    );
  });
});

describe('a service without traces or without a collector', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  const image = (name: string, tag: string) => `${world.quiet.host}/shop/${name}:${tag}`;
  const create = async (name: string) => {
    await pushImage({ host: world.quiet.host, repository: `shop/${name}`, tag: '1.0.0', content: name });
    await world.createDeployment(name, image(name, '1.0.0'));
    await world.createPolicy(name, `${world.quiet.host}/shop/${name}`, { strategy: 'SemVer' });
    await world.waitForFirstLook(name);
  };
  const update = async (service: Service, name: string) => {
    await pushImage({ host: world.quiet.host, repository: `shop/${name}`, tag: '1.0.1', content: `${name} new` });
    const answer = await deliver(service, harborBody(world.quiet.host, `shop/${name}`, [{ tag: '1.0.1' }]));
    assert.equal(answer.status, 202);
    await world.waitForImage(name, image(name, '1.0.1'));
  };

  it('writes nothing about traces to Redis', async () => {
    const service = await world.start();
    await create('off');
    await update(service, 'off');
    const redis = new Connection(world.redis.url);
    const keys = await redis.keys('*');
    assert.ok(keys.some((key) => key.includes(':push:')));
    assert.deepEqual(
      keys.filter((key) => key.includes(':trace:')),
      [],
    );
    const data = await Promise.all(
      keys.map(async (key) => ((await redis.type(key)) === 'hash' ? JSON.stringify(await redis.hgetall(key)) : '')),
    );
    assert.ok(data.some((text) => text.includes('receivedAt')));
    assert.deepEqual(
      data.filter((text) => text.includes('traceparent')),
      [],
    );
    redis.disconnect();
    await service.stop();
  });

  it('exports the last spans when the process ends', async () => {
    const collector = await startCollector();
    const service = await world.start({ config: { traces: { endpoint: collector.url } } });
    const { status } = await deliver(service, harborBody(world.quiet.host, 'shop/nobody', [{ tag: '1.0.0' }]));
    assert.equal(status, 202);
    await service.stop();
    await waitFor('the spans', () => {
      const names = new Set(collector.spans().map(({ name }) => name));
      return names.has('POST /webhooks/{receiver}') && names.has('send push');
    });
    await collector.stop();
  });

  for (const behaviour of ['refusing', 'hanging', 'away'] as const) {
    it(`applies pushes with a collector that is ${behaviour}, and stops in time`, async () => {
      const collector = await startCollector();
      if (behaviour === 'away') await collector.stop();
      else collector.behave(behaviour);
      const service = await world.start({ config: { traces: { endpoint: collector.url } } });
      await create(`collector-${behaviour}`);
      await update(service, `collector-${behaviour}`);
      if (behaviour === 'refusing')
        await waitFor('the log to tell', () => service.logTail(100_000).includes('traces cannot be exported, and are lost until they can'));
      await service.stop();
      if (behaviour !== 'away') await collector.stop();
    });
  }
});
