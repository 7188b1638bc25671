/** What is recorded for a push whose image is applied in waves. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asSeenBy } from '../../../src/core/plan/consent.ts';
import { waveJob } from '../../../src/service/reconcile/enqueue/wave-job.ts';
import { reconcileAndReport } from '../../../src/service/reconcile/process-policy.ts';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { policyOf } from '../../core/model/samples.ts';
import { changedWorkload, image, rolledOut, watchedSpec } from '../../core/rollout/rollout-samples.ts';
import { changeTime, name, namespace, reconcile, uid } from './changed-world.ts';
import { contextOf, createWorld } from './world.ts';

const names = ['api', 'jobs', 'shop', 'web'];

test('a push is rolled out only when the last of its waves is, on all workloads', async () => {
  const world = createWorld();
  const waves = { maxParallel: 1, pauseMs: 0, maxFailures: 1 };
  const targets = names.map((one) => ({ kind: 'Deployment', namespace, name: one }));
  world.put(policyOf({ spec: watchedSpec('Rollback', { targets, rollout: { timeoutMs: 600_000, onFailure: 'Rollback', waves } }) }));
  for (const one of names)
    world.workloads.set(`Deployment/shop/${one}`, changedWorkload(rolledOut, { name: one, uid: `uid-of-${one}` }, '1.2.3'));
  const request = { policy: { namespace, name, uid }, hint: { tag: '1.3.0' }, announced: true };
  const cause = { source: 'Webhook', receivedAt: changeTime, eventId: 'push-1' } as const;
  await reconcileAndReport({ ...contextOf(), request, cause }, world.ports);
  const seen: [running: number, reason: string | undefined][] = [];
  for (let wave = 0; wave < names.length; wave++) {
    for (const [key, workload] of world.workloads)
      world.workloads.set(key, { ...workload, rollout: { ...rolledOut, observedGeneration: workload.generation } });
    await reconcile(world);
    const running = [...world.workloads.values()].filter(({ containers: [one] }) => one?.image === `${image}:1.3.0`);
    seen.push([running.length, world.results.get('push-1 shop/web')?.reason]);
    const policy = world.policies.get('shop/web');
    const job = policy && waveJob(policy, asSeenBy(policy, world.ports.cluster));
    if (job !== undefined) await processTask(job, contextOf(), world.ports);
  }
  assert.deepEqual(seen, [
    [1, 'Updated'],
    [2, 'Updated'],
    [3, 'Updated'],
    [4, 'RolledOut'],
  ]);
  const { message, changes } = world.results.get('push-1 shop/web') ?? {};
  assert.match(message ?? '', /is out on 4 workloads: /);
  assert.deepEqual(changes?.map(({ workload }) => workload.name).toSorted(), names);
});
