/** What is recorded of rollouts whose results a try, or a worker, has written to the status and not to the records of their pushes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { changedWorkload, image, rolledOut } from '../../core/rollout/rollout-samples.ts';
import { changedWorld, historyLines, jobOf, reconcile } from './changed-world.ts';
import { contextOf, withPorts } from './world.ts';

test('a push is recorded as rolled out by the next try of a check that wrote the status, and then lost Redis', async () => {
  const world = changedWorld(changedWorkload(rolledOut));
  const job = jobOf(world);
  const { eventLog } = world.ports.report;
  const recordResult = () => Promise.reject(new Error('the connection broke'));
  const broken = withPorts(world.ports, { report: { eventLog: { ...eventLog, recordResult } } });
  await assert.rejects(processTask(job, contextOf(), broken), /the connection broke/);
  assert.deepEqual([historyLines(world), world.results.size], [['Webhook RolledOut'], 0]);
  await processTask(job, contextOf(), world.ports);
  assert.equal(world.results.size, 0, 'a first try records only what it has found itself');
  await processTask(job, contextOf({ failures: 1 }), world.ports);
  const { reason, stage, isFound, message } = world.results.get('push-1 shop/web') ?? {};
  assert.deepEqual([reason, stage, isFound, message], ['RolledOut', 'rollout', true, `${image}:1.3.0 is out on Deployment shop/web`]);
});

test('a push is recorded as rolled out by the next try on a replica whose cache lacks the status that the try before wrote', async () => {
  const world = changedWorld(changedWorkload(rolledOut));
  const before = world.policies.get('shop/web');
  const job = jobOf(world);
  await reconcile(world);
  world.results.clear();
  const { policies } = world.ports;
  const behind = withPorts(world.ports, { policies: { ...policies, find: () => before } });
  await processTask(job, contextOf({ failures: 1 }), behind);
  assert.equal(world.results.get('push-1 shop/web')?.reason, 'RolledOut');
});

test('a push is recorded as rolled out by the next worker of a check whose first one died after it wrote the status', async () => {
  const world = changedWorld(changedWorkload(rolledOut));
  await reconcile(world);
  world.results.clear();
  await processTask(jobOf(world), contextOf({ wasLost: true }), world.ports);
  assert.equal(world.results.get('push-1 shop/web')?.reason, 'RolledOut');
});
