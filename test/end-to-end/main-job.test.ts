import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pushImage } from '../harness/push-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import {
  announce,
  assertPatchedTimes,
  deliver,
  harborBody,
  secret,
  startWorld,
  type Service,
  type TagPolicy,
  type World,
} from './world.ts';

describe('the service', () => {
  let world: World;
  let service: Service;

  before(async () => {
    world = await startWorld();
    service = await world.start();
    await announce(world.registry, service);
  });
  after(() => world.stop());

  const image = (repository: string, tag: string, host = world.registry.host) => `${host}/${repository}:${tag}`;
  const watch = async (name: string, tagPolicy: TagPolicy, { running = '1.0.0', host = world.registry.host } = {}) => {
    const repository = `shop/${name}`;
    await pushImage({ host, repository, tag: running, content: `${name} ${running}` });
    await world.createDeployment(name, image(repository, running, host));
    await world.createPolicy(name, `${host}/${repository}`, tagPolicy);
    await world.waitForFirstLook(name);
    // A further look at the new target might find what is pushed next before its webhook does.
    await world.waitForIdleWorkers();
    return repository;
  };

  it('patches a Deployment when the registry announces a push', async () => {
    const repository = await watch('web', { strategy: 'SemVer' });
    const { digest } = await pushImage({ host: world.registry.host, repository, tag: '1.0.1', content: 'new' });
    const deployment = await world.waitForImage('web', image(repository, '1.0.1'));
    assertPatchedTimes(deployment, 1);
    assert.match(deployment.metadata.annotations?.['kubernetes.io/change-cause'] ?? '', /ImagePolicy .*\/web selected 1\.0\.1/);

    const status = await waitFor('the status', async () => {
      const found = await world.readStatus('web');
      return found.latest?.digest === digest && found;
    });
    assert.equal(status.observedGeneration, 1);
    assert.ok(status.lastCheckTime);
    assert.equal(status.latest?.digest, digest);
    assert.deepEqual(
      status.history?.map(({ from, to, trigger, result }) => [from, to, trigger, result]),
      [[image(repository, '1.0.0'), image(repository, '1.0.1'), 'Webhook', 'Applied']],
    );
    assert.deepEqual([status.trigger?.source, status.trigger?.receiver], ['Webhook', 'registry']);
    assert.deepEqual(
      status.targets?.map(({ name, container, image: runs, state }) => [name, container, runs, state]),
      [['web', 'c0', image(repository, '1.0.1'), 'UpToDate']],
    );
    assert.deepEqual(status.targetCounts, { total: 1, upToDate: 1, problems: 0 });
    assert.deepEqual(
      status.conditions?.map(({ type, status: value, reason }) => ({ type, value, reason })),
      [{ type: 'Ready', value: 'True', reason: 'UpToDate' }],
    );
    const events = await world.waitForEvents('Deployment', 'web');
    assert.deepEqual(
      events.map(({ reason, type }) => ({ reason, type })),
      [{ reason: 'Updated', type: 'Normal' }],
    );
    assert.match(events[0]?.message ?? '', /1\.0\.0 to .*1\.0\.1/);
  });

  it('patches a Deployment when Harbor announces a push', async () => {
    const { host } = world.quiet;
    const repository = await watch('harbor-web', { strategy: 'SemVer', pattern: '>=1 <2' }, { host });
    const { digest } = await pushImage({ host, repository, tag: '1.5.0', content: 'new' });
    const answer = await deliver(service, harborBody(host, repository, [{ tag: '1.5.0', digest }]));
    assert.equal(answer.status, 202);
    await world.waitForImage('harbor-web', image(repository, '1.5.0', host));
  });

  it("accepts Harbor's CloudEvents format, even before the registry shows the tag", async () => {
    const { host } = world.quiet;
    const repository = await watch('cloud-web', { strategy: 'SemVer' }, { host });
    const plain = JSON.parse(harborBody(host, repository, [{ tag: '2.0.0' }])) as { event_data: unknown };
    const body = {
      specversion: '1.0',
      id: 'event-1',
      source: '/projects/1/webhook/policies/1',
      type: 'harbor.artifact.pushed',
      data: plain.event_data,
    };
    const answer = await deliver(service, JSON.stringify(body));
    assert.equal(answer.status, 202);
    await pushImage({ host, repository, tag: '2.0.0', content: 'new' });
    await world.waitForImage('cloud-web', image(repository, '2.0.0', host));
  });

  it('applies a delivery once when it arrives ten times simultaneously', async () => {
    const { host } = world.quiet;
    const repository = await watch('tenfold', { strategy: 'SemVer' }, { host });
    const { digest } = await pushImage({ host, repository, tag: '1.0.1', content: 'new' });
    const body = harborBody(host, repository, [{ tag: '1.0.1', digest }]);
    const answers = await Promise.all(Array.from({ length: 10 }, () => deliver(service, body)));
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([202]));
    await world.waitForImage('tenfold', image(repository, '1.0.1', host));
    // What is announced now is handled after the ten.
    await pushImage({ host, repository, tag: '1.0.2', content: 'newer' });
    await deliver(service, harborBody(host, repository, [{ tag: '1.0.2' }]));
    assertPatchedTimes(await world.waitForImage('tenfold', image(repository, '1.0.2', host)), 2);
  });

  for (const order of [
    ['1.0.1', '1.0.2'],
    ['1.0.2', '1.0.1'],
  ] as const) {
    it(`ends at the higher of two tags that are announced as ${order.join(', then ')}`, async () => {
      const name = `order-${order[0].replaceAll('.', '-')}`;
      const repository = await watch(name, { strategy: 'SemVer' });
      for (const tag of order) await pushImage({ host: world.registry.host, repository, tag, content: tag });
      await world.waitForImage(name, image(repository, '1.0.2'));
      await settled(order[1], repository);
      await world.waitForImage(name, image(repository, '1.0.2'));
    });
  }

  it('handles both pushes of one delivery with two resources', async () => {
    const { host } = world.quiet;
    const repository = await watch('two-a', { strategy: 'SemVer', pattern: '1.x' }, { host });
    await pushImage({ host, repository, tag: 'stage-1', content: 'stage' });
    await world.createDeployment('two-b', image(repository, 'stage-1', host));
    await world.createPolicy('two-b', `${host}/${repository}`, { strategy: 'Regex', pattern: 'stage-.*' });
    await world.waitForFirstLook('two-b');
    await pushImage({ host, repository, tag: '1.1.0', content: 'a' });
    await pushImage({ host, repository, tag: 'stage-2', content: 'b' });
    const answer = await deliver(service, harborBody(host, repository, [{ tag: '1.1.0' }, { tag: 'stage-2' }]));
    assert.equal(answer.accepted.length, 2);
    await world.waitForImage('two-a', image(repository, '1.1.0', host));
    await world.waitForImage('two-b', image(repository, 'stage-2', host));
  });

  it('updates to the new digest of "latest"', async () => {
    const repository = await watch('moving', { strategy: 'Latest' }, { running: 'latest' });
    const { digest } = await pushImage({ host: world.registry.host, repository, tag: 'latest', content: 'moved' });
    await world.waitForImage('moving', `${image(repository, 'latest')}@${digest}`);
  });

  it('changes only the container that runs the repository, and none whose repository merely starts with its name', async () => {
    const repository = 'shop/exact';
    await pushImage({ host: world.registry.host, repository, tag: '1.0.0' });
    const others = [image('shop/exact-sidecar', '1.0.0'), image('other/exact', '1.0.0')];
    await world.createDeployment('exact', image(repository, '1.0.0'), ...others);
    await world.createPolicy('exact', `${world.registry.host}/${repository}`, { strategy: 'SemVer' });
    await world.waitForFirstLook('exact');
    await pushImage({ host: world.registry.host, repository: 'shop/exact-sidecar', tag: '3.0.0' });
    await pushImage({ host: world.registry.host, repository, tag: '1.0.1', content: 'new' });
    const deployment = await world.waitForImage('exact', image(repository, '1.0.1'));
    assert.deepEqual(
      deployment.spec.template.spec.containers.slice(1).map((container) => container.image),
      others,
    );
    assertPatchedTimes(deployment, 1);
  });

  it('records each push and counts it in its metrics', async () => {
    const repository = await watch('audited', { strategy: 'SemVer' });
    await pushImage({ host: world.registry.host, repository, tag: '1.0.1', content: 'new' });
    const record = await settled('1.0.1', repository);
    assert.equal(record['receiver'], 'registry');
    assert.equal(record['registry'], world.registry.host);
    const result = JSON.parse(record[`policy:${world.namespace}/audited`] ?? '{}') as {
      kind?: string;
      afterMs?: number;
      changes?: unknown[];
    };
    assert.equal(result.kind, 'updated');
    assert.equal(result.changes?.length, 1);

    await pushImage({ host: world.registry.host, repository: 'nobody/watches', tag: '1.0.0' });
    const unwatched = await settled('1.0.0', 'nobody/watches');
    assert.equal(unwatched['outcome'], 'unwatched');

    const metrics = await (await fetch(`${service.operationsUrl}/metrics`)).text();
    assert.match(metrics, /image_watcher_workload_changes_total\{kind="Deployment",source="Webhook"\} [1-9]/);
    assert.match(metrics, /image_watcher_policies [1-9]/);
    assert.match(metrics, /image_watcher_workloads [1-9]/);
    assert.match(metrics, /image_watcher_watch_connected\{resource="policies"\} 1/);
    assert.match(metrics, /image_watcher_pushes_total\{receiver="registry",provider="distribution",result="accepted"\} [1-9]/);
    assert.doesNotMatch(metrics, new RegExp(secret));
    assert.equal((await fetch(`${service.operationsUrl}/livez`)).status, 200);
    await waitFor('readiness', async () => (await fetch(`${service.operationsUrl}/readyz`)).ok);
  });

  it('sends no request to registry or API server for a push that no policy watches', async () => {
    const before = await requestCount();
    await deliver(service, harborBody(world.quiet.host, 'nobody/else', [{ tag: '1.0.0' }]));
    const record = await settled('1.0.0', 'nobody/else');
    assert.equal(record['reason'], 'NoPolicy');
    assert.equal(await requestCount(), before);
  });

  const requestCount = async () => {
    const metrics = await (await fetch(`${service.operationsUrl}/metrics`)).text();
    const counts = metrics.matchAll(new RegExp(`^image_watcher_registry_requests_total\\{host="${world.quiet.host}".*\\} (\\d+)$`, 'gm'));
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
  };

  /** The audit record of a push, once its result is known. */
  const settled = (tag: string, repository: string): Promise<Record<string, string>> =>
    waitFor(`the result of ${repository}:${tag}`, async () => {
      const { Redis } = await import('ioredis');
      const redis = new Redis(world.redis.url);
      try {
        for (const key of await redis.keys('{image-watcher}:event:*')) {
          const record = await redis.hgetall(key);
          const results = Object.entries(record).flatMap(([field, value]) => (field.startsWith('policy:') ? [value] : []));
          // A try that failed is told too, until the next one.
          const isSettled = results.length > 0 && results.every((result) => !/"kind":"(retrying|waiting)"/.test(result));
          if (record['repository'] !== repository || record['tag'] !== tag) continue;
          if (record['outcome'] === 'unwatched' || isSettled) return record;
        }
        return undefined;
      } finally {
        redis.disconnect();
      }
    });
});
