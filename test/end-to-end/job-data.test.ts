/** A rolling upgrade: jobs of another version of the program are in the queues. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Queue, type Job } from 'bullmq';
import { connectWorker } from '../../src/service/queue/connection.ts';
import { pushImage } from '../harness/push-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { assertPatchedTimes, someDigest, startWorld, type World } from './world.ts';

interface Fixture {
  readonly what: string;
  readonly queue: 'push' | 'policy' | 'poll';
  readonly name: string;
  readonly data: object;
  /** Whether it is a reason to look at the registry. */
  readonly updates: boolean;
}

const fixtures = JSON.parse(readFileSync(join(import.meta.dirname, '../fixtures/jobs/schema-1.json'), 'utf8')) as Fixture[];

describe('job data of the former version', () => {
  let world: World;
  let redis: ReturnType<typeof connectWorker>;
  const queues = new Map<string, Queue>();
  before(async () => {
    world = await startWorld();
    await world.start();
    redis = connectWorker(world.redis.url);
    for (const name of ['push', 'policy', 'poll']) queues.set(name, new Queue(name, { connection: redis, prefix: '{image-watcher}' }));
  });
  after(async () => {
    await Promise.all([...queues.values()].map((queue) => queue.close()));
    redis.disconnect();
    await world.stop();
  });

  const add = async (queue: string, name: string, data: object, jobId: string): Promise<Job> => {
    const job = await queues.get(queue)?.add(name, data, { jobId, attempts: 1_000_000, backoff: { type: 'custom' } });
    assert.ok(job);
    return job;
  };
  const image = (name: string, tag: string) => `${world.quiet.host}/shop/${name}:${tag}`;

  for (const [index, fixture] of fixtures.entries()) {
    it(`is understood and processed for ${fixture.what}`, async () => {
      const name = `former-${index}`;
      const repository = `shop/${name}`;
      await pushImage({ host: world.quiet.host, repository, tag: '1.0.0' });
      await world.createDeployment(name, image(name, '1.0.0'));
      // Polls of another interval than the policy's are of its former self.
      const poll = fixture.name === 'poll' ? { poll: { interval: '1h' } } : {};
      await world.createPolicy(name, `${world.quiet.host}/${repository}`, { strategy: 'SemVer' }, poll);
      await world.waitForFirstLook(name);
      const { digest } = await pushImage({ host: world.quiet.host, repository, tag: '1.0.1', content: 'new' });
      const path = `/apis/operator.technomad.dev/v1/namespaces/${world.namespace}/imagepolicies/${name}`;
      const { metadata } = await world.cluster.request<{ metadata: { uid: string } }>('GET', path);
      const now = new Date().toISOString();
      const values: Record<string, string> = {
        host: world.quiet.host,
        repository,
        namespace: world.namespace,
        name,
        uid: metadata.uid,
        digest,
        now,
      };
      const data = JSON.parse(
        JSON.stringify(fixture.data).replaceAll(/\{\{(\w+)\}\}/g, (_all, key: string) => values[key] ?? assert.fail(key)),
      ) as object;
      const job = await add(fixture.queue, fixture.name, data, name);
      await waitFor('the end of the job', async () => {
        const state = await job.getState();
        assert.notEqual(state, 'failed');
        return state === 'completed' || state === 'unknown';
      });
      if (fixture.updates) assertPatchedTimes(await world.waitForImage(name, image(name, '1.0.1')), 1);
      else assertPatchedTimes(await world.readDeployment(name), 0);
    });
  }

  it('cannot choose the digest that runs', async () => {
    const repository = 'shop/forged';
    const { digest } = await pushImage({ host: world.quiet.host, repository, tag: '1.0.0' });
    await world.createDeployment('forged', `${image('forged', '1.0.0')}@${digest}`);
    await world.createPolicy('forged', `${world.quiet.host}/${repository}`, { strategy: 'SemVer' }, { update: { pin: 'Digest' } });
    await world.waitForFirstLook('forged');
    const newer = await pushImage({ host: world.quiet.host, repository, tag: '1.0.1', content: 'new' });
    const { metadata } = await world.cluster.request<{ metadata: { uid: string } }>('GET', world.policyPath('forged'));
    await add(
      'policy',
      'policy',
      {
        schema: 1,
        policy: { namespace: world.namespace, name: 'forged', uid: metadata.uid },
        source: 'Webhook',
        cause: 'push:forged',
        receivedAt: new Date().toISOString(),
        hint: { tag: '1.0.1' },
        resolved: { tag: '1.0.1', digest: someDigest() },
        resolvedAt: '2099-01-01T00:00:00.000Z',
      },
      'forged-digest',
    );
    assertPatchedTimes(await world.waitForImage('forged', `${image('forged', '1.0.1')}@${newer.digest}`), 1);
  });

  it('that cannot be read stays visible as a failed job, and delays no other', async () => {
    await add('policy', 'policy', { schema: 1, policy: { namespace: 'a/b' }, receivedAt: 'never' }, 'unreadable');
    const why = await waitFor('it to fail', async () => (await queues.get('policy')?.getJob('unreadable'))?.failedReason);
    assert.match(why, /the job cannot be read: policy\.namespace/);
  });

  it('of a later version is left to a replica of that version, neither processed nor lost', async () => {
    const job = await add('push', 'push', { schema: 2, receivedAt: new Date().toISOString(), anything: 'else' }, 'later-version');
    await waitFor(
      'it to be put back',
      async () => (await job.getState()) === 'delayed' && (await queues.get('push')?.getJob('later-version'))?.failedReason,
    );
    const kept = await queues.get('push')?.getJob('later-version');
    assert.ok(kept);
    assert.match(kept.failedReason, /schema 2: a newer version of the program must take it/);
    assert.deepEqual((kept.data as { anything?: string }).anything, 'else');
  });
});
