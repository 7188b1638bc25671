import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processPoll } from '../../../src/service/poll/process-poll.ts';
import { createTick } from '../../../src/service/poll/tick.ts';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { processPush } from '../../../src/service/reconcile/process-push.ts';
import { reconcilePolicy } from '../../../src/service/reconcile/reconcile-policy.ts';
import { digestOf, latestSpec, policyOf, specOf, web } from '../../core/model/samples.ts';
import { contextOf, createWorld, image, pushOf, startTime } from './world.ts';

const signal = new AbortController().signal;
const suspended = policyOf({ spec: specOf({ suspended: true }) });
const { namespace, name, uid } = suspended;

test('a suspended policy makes no requests and no changes, with a hint and without', async () => {
  const world = createWorld();
  world.put(suspended);
  for (const hint of [undefined, { tag: '1.3.0' }, { tag: 'main' }]) {
    const request = { policy: { namespace, name, uid }, announced: true, ...(hint !== undefined && { hint }) };
    const outcome = await reconcilePolicy(request, world.ports, signal);
    assert.deepEqual([outcome.kind, outcome.reason], ['suspended', 'Suspended']);
  }
  assert.deepEqual([world.requests, world.images()], [[], [`${image}:1.2.3`]]);
});

test('a suspended policy with an invalid spec reports the problem, but is not stalled', async () => {
  const world = createWorld();
  world.put(policyOf({ spec: { problem: { reason: 'NotYetSupported', message: 'minAge' }, suspended: true } }));
  const outcome = await reconcilePolicy({ policy: { namespace, name, uid }, announced: false }, world.ports, signal);
  assert.equal(outcome.kind, 'suspended');
  assert.match(outcome.message, /spec\.suspend is false; then it will not act .*minAge/);
});

test('a push to a suspended policy gets a result and sets a condition, without an Event', async () => {
  const world = createWorld();
  world.put(suspended);
  await processPush(pushOf(), contextOf(), world.ports);
  const result = world.results.get('push-1 shop/web');
  assert.deepEqual([result?.kind, result?.reason], ['suspended', 'Suspended']);
  assert.deepEqual(
    world.statusOf('web').conditions?.map(({ type, status, reason }) => [type, status, reason]),
    [['Ready', 'True', 'Suspended']],
  );
  assert.deepEqual(world.events, []);
});

test('other policies of a push are processed beside a suspended one, which alone costs no request', async () => {
  const world = createWorld();
  world.put(suspended, policyOf({ name: 'other' }), policyOf({ name: 'follows', spec: latestSpec({ suspended: true }) }));
  await processPush(pushOf(), contextOf(), world.ports);
  assert.deepEqual([world.images(), world.results.get('push-1 shop/other')?.kind], [[`${image}:1.3.0`], 'updated']);
  const alone = createWorld();
  alone.put(suspended, policyOf({ name: 'other', spec: specOf({ suspended: true }) }));
  await processPush(pushOf(), contextOf(), alone.ports);
  assert.deepEqual([alone.requests, alone.jobs, alone.results.size], [[], [], 2]);
});

test('a suspended policy is not polled', async () => {
  let at = startTime;
  const world = createWorld({ cluster: { now: () => at } });
  world.put(suspended);
  const tick = createTick(world.ports);
  await tick();
  at += 7_200_000;
  await tick();
  const receivedAt = new Date(at).toISOString();
  await processPoll({ schema: 1, repository: web, intervalMs: 3_600_000, receivedAt }, contextOf(), world.ports);
  assert.deepEqual([world.polls, world.requests, world.statusOf('web')], [[], [], {}]);
});

test('a poll finds a tag that was pushed during a suspension, even if the registry did not show it at the resumption', async () => {
  const world = createWorld();
  world.put(suspended);
  await processPush(pushOf({ tag: '1.4.0' }), contextOf(), world.ports);
  assert.equal(world.results.get('push-1 shop/web')?.kind, 'suspended');
  world.put(policyOf({ generation: 2 }));
  const request = { policy: { namespace, name, uid }, announced: false };
  await reconcilePolicy(request, world.ports, signal);
  assert.deepEqual(world.images(), [`${image}:1.3.0`]);
  world.tags.set('1.4.0', digestOf('d'));
  const receivedAt = new Date(startTime).toISOString();
  await processPoll({ schema: 1, repository: web, intervalMs: 3_600_000, receivedAt }, contextOf(), world.ports);
  const [job] = world.jobs.filter(({ source }) => source === 'Poll');
  assert.deepEqual(job?.hint, { tag: '1.4.0' });
  await processTask(job, contextOf(), world.ports);
  assert.deepEqual(world.images(), [`${image}:1.4.0`]);
});
