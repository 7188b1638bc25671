/** What is recorded for a push whose image is applied in waves. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Workload } from '../../../src/core/model/workload.ts';
import { asSeenBy } from '../../../src/core/plan/consent.ts';
import { policyJob } from '../../../src/service/queue/jobs.ts';
import { waveJob } from '../../../src/service/reconcile/enqueue/wave-job.ts';
import { reconcileAndReport } from '../../../src/service/reconcile/process-policy.ts';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { policyOf } from '../../core/model/samples.ts';
import { changedWorkload, image, rolledOut, watchedSpec } from '../../core/rollout/rollout-samples.ts';
import { changeTime, name, namespace, reconcile, uid } from './changed-world.ts';
import { contextOf, createWorld } from './world.ts';

const isNew = ({ containers: [one] }: Workload) => one?.image === `${image}:1.3.0`;
const names = ['api', 'jobs', 'shop', 'web'];

/** A push whose image is applied in waves of one workload, and what can be done with the world after it. */
async function startWaves() {
  const world = createWorld();
  const waves = { maxParallel: 1, pauseMs: 0, maxFailures: 1 };
  const targets = names.map((one) => ({ kind: 'Deployment', namespace, name: one }));
  world.put(policyOf({ spec: watchedSpec('Rollback', { targets, rollout: { timeoutMs: 600_000, onFailure: 'Rollback', waves } }) }));
  for (const one of names)
    world.workloads.set(`Deployment/shop/${one}`, changedWorkload(rolledOut, { name: one, uid: `uid-of-${one}` }, '1.2.3'));
  const request = { policy: { namespace, name, uid }, hint: { tag: '1.3.0' }, announced: true };
  const push = async (eventId: string) => {
    const cause = { source: 'Webhook', receivedAt: changeTime, eventId } as const;
    await reconcileAndReport({ ...contextOf(), request, cause }, world.ports);
  };
  await push('push-1');
  return {
    world,
    push,
    result: () => world.results.get('push-1 shop/web'),
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

test('two pushes of one image are rolled out when the last of its waves is, whichever of them began each wave', async () => {
  const { world, push, rollOut, beginWave } = await startWaves();
  await push('push-2');
  for (let wave = 0; wave < names.length; wave++) {
    await rollOut();
    await beginWave();
  }
  const reasons = ['push-1', 'push-2'].map((id) => world.results.get(`${id} shop/web`)?.reason);
  const changed = [...world.workloads.values()].map(({ containers: [one] }) => one?.lastUpdate?.event);
  assert.deepEqual(new Set(changed), new Set(['push-1', 'push-2']), 'each has begun some');
  assert.deepEqual(reasons, ['RolledOut', 'RolledOut']);
});
