/** What is recorded for a push whose image is applied in waves. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defined } from '../../../src/core/model/defined.ts';
import type { Workload } from '../../../src/core/model/workload.ts';
import { asSeenBy } from '../../../src/core/plan/consent.ts';
import { policyJob } from '../../../src/service/queue/jobs.ts';
import { waveJob } from '../../../src/service/reconcile/enqueue/wave-job.ts';
import { recordDeleted } from '../../../src/service/reconcile/record-older.ts';
import { reconcileAndReport } from '../../../src/service/reconcile/process-policy.ts';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { digestOf, policyOf } from '../../core/model/samples.ts';
import { changedWorkload, image, rolledOut, watchedSpec } from '../../core/rollout/rollout-samples.ts';
import { changeTime, name, namespace, reconcile, uid } from './changed-world.ts';
import { contextOf, createWorld } from './world.ts';

const isNew = ({ containers: [one] }: Workload) => one?.image === `${image}:1.3.0`;
const names = ['api', 'jobs', 'shop', 'web'];
const targetsOf = (all: readonly string[]) => all.map((one) => ({ kind: 'Deployment', namespace, name: one }));

/** A push whose image is applied in waves of one workload, and what can be done with the world after it. */
async function startWaves(pauseMs = 0) {
  const world = createWorld();
  const waves = { maxParallel: 1, pauseMs, maxFailures: 1 };
  world.put(
    policyOf({
      spec: watchedSpec('Rollback', { targets: targetsOf(names), rollout: { timeoutMs: 600_000, onFailure: 'Rollback', waves } }),
    }),
  );
  for (const one of names)
    world.workloads.set(`Deployment/shop/${one}`, changedWorkload(rolledOut, { name: one, uid: `uid-of-${one}` }, '1.2.3'));
  /** Delivers a push, some time after the first. */
  const push = async (eventId: string, tag = '1.3.0', afterMs = 0) => {
    const [digest, now] = [world.tags.get(tag), world.ports.cluster.now() + afterMs];
    const request = { policy: { namespace, name, uid }, hint: { tag, ...defined({ digest }) }, announced: true };
    const receivedAt = afterMs === 0 ? changeTime : new Date(now).toISOString();
    const cause = { source: 'Webhook', receivedAt, eventId } as const;
    Object.assign(world.ports.cluster, { now: () => now });
    await reconcileAndReport({ ...contextOf(), request, cause }, world.ports);
  };
  await push('push-1');
  return {
    world,
    push,
    result: (id = 'push-1') => world.results.get(`${id} shop/web`),
    /** Has all rollouts succeed. */
    async rollOut() {
      for (const [key, workload] of world.workloads)
        world.workloads.set(key, { ...workload, rollout: { ...rolledOut, observedGeneration: workload.generation } });
      await reconcile(world);
    },
    async beginWave() {
      const policy = world.policies.get('shop/web');
      const job = policy && waveJob(policy, asSeenBy(policy, world.ports.cluster));
      if (job !== undefined) await processTask(job, contextOf(), world.ports);
    },
  };
}

test('a push is rolled out only when the last of its waves is, on all workloads', async () => {
  const { world, result, rollOut, beginWave } = await startWaves();
  const seen: [running: number, reason: string | undefined][] = [];
  for (let wave = 0; wave < names.length; wave++) {
    await rollOut();
    const running = [...world.workloads.values()].filter(isNew);
    seen.push([running.length, result()?.reason]);
    await beginWave();
  }
  assert.deepEqual(seen, [
    [1, 'Updated'],
    [2, 'Updated'],
    [3, 'Updated'],
    [4, 'RolledOut'],
  ]);
  assert.match(result()?.message ?? '', /is out on 4 workloads: /);
  assert.deepEqual(
    result()
      ?.changes?.map(({ workload }) => workload.name)
      .toSorted(),
    names,
  );
});

test('a push is rolled out when nothing is left for its other waves', async () => {
  const { world, result, rollOut, beginWave } = await startWaves();
  await rollOut();
  await beginWave();
  await rollOut();
  const [first, second, ...others] = [...world.workloads].toSorted(([, a], [, b]) => Number(isNew(b)) - Number(isNew(a)));
  assert.ok(first !== undefined && second !== undefined);
  for (const [key] of others) world.workloads.delete(key);
  assert.equal(result()?.reason, 'Updated');
  await processTask(
    policyJob({ namespace, name, uid }, { source: 'Poll', cause: 'poll', receivedAt: changeTime }),
    contextOf(),
    world.ports,
  );
  const { kind, reason, message } = result() ?? {};
  assert.deepEqual([kind, reason], ['updated', 'RolledOut']);
  assert.match(message ?? '', /:1\.3\.0 is out on 2 workloads: Deployment shop\/jobs; Deployment shop\/api$/);
});

for (const [does, pauseMs] of [
  ['comes in the pause between two waves', 3_600_000],
  ['begins the next wave', 0],
] as const)
  test(`a second push of the image that ${does} leaves all waves to the first`, async () => {
    const { world, push, result, rollOut, beginWave } = await startWaves(pauseMs);
    await rollOut();
    await push('push-2', '1.3.0', 10_000);
    assert.equal(result('push-2')?.broughtBy, 'push-1');
    assert.equal(result('push-2')?.reason, pauseMs === 0 ? 'Updated' : 'WavePause');
    const policy = world.policies.get('shop/web');
    const spec = watchedSpec('Rollback', {
      targets: targetsOf(names),
      rollout: { timeoutMs: 600_000, onFailure: 'Rollback', waves: { maxParallel: 1, pauseMs: 0, maxFailures: 1 } },
    });
    if (policy !== undefined) world.put({ ...policy, spec });
    for (let wave = 0; wave < names.length; wave++) {
      await rollOut();
      await beginWave();
    }
    await rollOut();
    assert.equal(result()?.reason, 'RolledOut');
    assert.equal(result()?.changes?.length, names.length);
  });

test('a push is superseded when a newer image is selected before its last wave', async () => {
  const { world, push, result, rollOut, beginWave } = await startWaves();
  await rollOut();
  await beginWave();
  world.tags.set('1.4.0', digestOf('c'));
  await push('push-2', '1.4.0');
  const { kind, reason, message, stage } = result() ?? {};
  assert.deepEqual([kind, reason, stage], ['updated', 'Superseded', 'waves']);
  assert.match(message ?? '', /^1\.4\.0 is selected instead of 1\.3\.0/);
});

test('a push is over when its policy is deleted between two waves', async () => {
  const { world, result, rollOut } = await startWaves();
  await rollOut();
  const policy = world.policies.get('shop/web');
  assert.ok(policy !== undefined);
  await recordDeleted(policy, world.ports);
  assert.deepEqual([result()?.kind, result()?.reason, result()?.stage], ['updated', 'PolicyGone', 'waves']);
});
