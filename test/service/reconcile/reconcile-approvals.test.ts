/** What becomes of an image that waits for approval, whoever decides about it, and whatever happens at the same time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PolicyActions } from '../../../src/core/model/policy-actions.ts';
import { digestOf } from '../../core/model/samples.ts';
import { conditionsOf, policyIn, push, requestAction, start } from './asked-world.ts';
import { image, startTime, type World } from './world.ts';

const [b, c] = [digestOf('b'), digestOf('c')];
const reject = `1.3.0@${b} 2026-03-01T12:00:00Z`;
const held = ['Ready=True RejectedDigest', 'Held=True RejectedDigest'];

/** Ada rejects, by the API. */
async function rejectAsAda(world: World, actions: PolicyActions): Promise<boolean> {
  world.put({ ...policyIn(world), requested: { action: 'reject', user: 'ada', reason: 'breaks the login' } });
  return requestAction(world, actions);
}

test('rejection: the image is not applied, the status says who rejected it and why, and something newer is pending again', async () => {
  const world = start({ mode: 'Approval' });
  await push(world, '1.3.0', b);
  assert.ok(await rejectAsAda(world, { reject }));
  const { rejected, pendingApproval, lastHandledRejection } = world.statusOf('web');
  assert.deepEqual(
    rejected?.map(({ digest, tag, reason, message }) => [digest, tag, reason, message]),
    [[b, '1.3.0', 'RejectedByUser', 'rejected by ada: breaks the login']],
  );
  assert.deepEqual([pendingApproval, lastHandledRejection], [undefined, reject]);
  assert.deepEqual(conditionsOf(world), held);
  assert.match(
    world.statusOf('web').conditions?.find(({ type }) => type === 'Held')?.message ?? '',
    /^1\.3\.0 was rejected by ada: breaks the login/,
  );
  // The image stays rejected, also for those who approve it afterwards.
  assert.equal(await requestAction(world, { reject, approve: `1.3.0@${b}` }), false);
  await push(world, '1.3.0', b);
  assert.deepEqual([world.images(), conditionsOf(world)], [[`${image}:1.2.3`], held]);
  await push(world, '1.4.0', c);
  assert.deepEqual(world.statusOf('web').pendingApproval, { tag: '1.4.0', digest: c });
  assert.ok(await requestAction(world, { reject, approve: `1.4.0@${c}` }));
  assert.deepEqual(world.images(), [`${image}:1.4.0`]);
});

test('rejection: a release takes it back once, and the same image can be rejected again', async () => {
  const world = start({ mode: 'Approval' });
  await push(world, '1.3.0', b);
  await requestAction(world, { reject });
  const release = new Date(startTime).toISOString();
  assert.ok(await requestAction(world, { reject, release }));
  assert.deepEqual(world.statusOf('web').pendingApproval, { tag: '1.3.0', digest: b });
  assert.ok(await requestAction(world, { reject: `${reject}, again`, release }));
  assert.deepEqual([world.statusOf('web').pendingApproval, conditionsOf(world)], [undefined, held]);
});

test('rejection: approved at the same time, the image is not applied', async () => {
  const world = start({ mode: 'Approval' });
  await push(world, '1.3.0', b);
  assert.ok(await requestAction(world, { reject, approve: `1.3.0@${b}` }));
  assert.deepEqual([world.images(), conditionsOf(world)], [[`${image}:1.2.3`], held]);
});

test('rejection: an image that nobody has pushed yet is rejected when it comes', async () => {
  const world = start({ mode: 'Approval' });
  assert.equal(await requestAction(world, { reject }), false);
  await push(world, '1.3.0', b);
  assert.deepEqual([world.images(), conditionsOf(world)], [[`${image}:1.2.3`], held]);
});
