/** What is recorded with a push when something else decides about its image, so that who waits for the push learns of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PolicySpec } from '../../../src/core/model/image-policy.ts';
import { waitJob } from '../../../src/service/reconcile/enqueue/wait-job.ts';
import { processPush } from '../../../src/service/reconcile/process-push.ts';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { recordDeleted } from '../../../src/service/reconcile/record-older.ts';
import { digestOf, policyOf, specOf } from '../../core/model/samples.ts';
import { requestAction, policyIn, start } from './asked-world.ts';
import { contextOf, createWorld, image, neededReconcile, pushOf, startTime, type World } from './world.ts';

const [b, c] = [digestOf('b'), digestOf('c')];

async function push(world: World, id: string, tag: string, digest: string): Promise<void> {
  world.tags.set(tag, digest);
  await processPush(pushOf({ id, tag, digest }), contextOf(), world.ports);
}
const resultOf = (world: World, id: string) => {
  const { kind, reason, message, tag } = world.results.get(`${id} shop/web`) ?? {};
  return [kind, reason, tag, message];
};
/** The spec is edited, and what that wakes is done. */
async function edit(world: World, spec: Partial<PolicySpec>): Promise<void> {
  const before = policyIn(world);
  world.put({ ...before, generation: before.generation + 1, spec: specOf(spec) });
  const job = neededReconcile(policyIn(world), world.ports.cluster, new Date(startTime));
  if (job !== undefined) await processTask(job, contextOf(), world.ports);
}

test('the push of an image that waits for approval is recorded as superseded when another image is selected', async () => {
  const world = start({ mode: 'Approval' });
  await push(world, 'older', '1.3.0', b);
  assert.deepEqual(resultOf(world, 'older').slice(0, 2), ['unchanged', 'ApprovalRequired']);
  await push(world, 'newer', '1.4.0', c);
  assert.deepEqual(resultOf(world, 'older'), ['ignored', 'Superseded', '1.3.0', '1.4.0 is selected instead of 1.3.0, which had to wait']);
  assert.deepEqual(resultOf(world, 'newer').slice(0, 3), ['unchanged', 'ApprovalRequired', '1.4.0']);
});

/** A poll finds the image before its push arrives. */
async function found(world: World, tag: string, digest: string): Promise<void> {
  world.tags.set(tag, digest);
  assert.ok(await requestAction(world, { requestedAt: `before ${tag}` }));
  assert.equal(world.statusOf('web').latest?.tag, tag);
}

test('a push of an image that a poll had found before is recorded as superseded when another image is selected', async () => {
  const world = start({ mode: 'Approval' });
  await found(world, '1.3.0', b);
  await push(world, 'older', '1.3.0', b);
  assert.deepEqual(resultOf(world, 'older').slice(0, 2), ['unchanged', 'ApprovalRequired']);
  await push(world, 'newer', '1.4.0', c);
  assert.deepEqual(resultOf(world, 'older').slice(0, 2), ['ignored', 'Superseded']);
  assert.equal(world.statusOf('web').announced, undefined, 'it is the image of its own push');
});

test('an image that a poll had found before its push is applied for that push', async () => {
  const world = start({ mode: 'Approval' });
  await found(world, '1.3.0', b);
  await push(world, 'push', '1.3.0', b);
  await push(world, 'again', '1.3.0', b);
  assert.equal(world.results.get('again shop/web')?.broughtBy, 'push');
  assert.ok(await requestAction(world, { approve: `1.3.0@${b}` }));
  assert.deepEqual(world.images(), [`${image}:1.3.0`]);
  const [container] = world.workloads.get('Deployment/shop/web')?.containers ?? [];
  assert.equal(container?.lastUpdate?.event, 'push');
});

test('the push of a waiting image is recorded as superseded even if its report comes after that of a newer one', async () => {
  const release = Promise.withResolvers<void>();
  let isFirst = true;
  const world = start(
    { mode: 'Approval' },
    { report: { untilPatched: () => (isFirst ? ((isFirst = false), release.promise) : Promise.resolve()) } },
  );
  const late = push(world, 'older', '1.3.0', b);
  await push(world, 'newer', '1.4.0', c);
  assert.equal(world.results.has('older shop/web'), false);
  release.resolve();
  await late;
  assert.deepEqual(resultOf(world, 'older').slice(0, 3), ['ignored', 'Superseded', '1.3.0']);
  assert.equal(world.statusOf('web').latest?.tag, '1.4.0');
});

test('the push of a waiting image is recorded as rejected when a user rejects the image', async () => {
  const world = start({ mode: 'Approval' });
  await push(world, 'push', '1.3.0', b);
  assert.ok(await requestAction(world, { reject: `1.3.0@${b}` }));
  assert.deepEqual(resultOf(world, 'push').slice(0, 3), ['unchanged', 'RejectedDigest', '1.3.0']);
});

test('the push of a waiting image is recorded as suspended with its policy, and as waiting again when that resumes', async () => {
  const world = start({ mode: 'Approval' });
  await push(world, 'push', '1.3.0', b);
  await edit(world, { mode: 'Approval', suspended: true });
  assert.deepEqual(resultOf(world, 'push').slice(0, 3), ['suspended', 'Suspended', '1.3.0']);
  await edit(world, { mode: 'Approval' });
  assert.deepEqual(resultOf(world, 'push').slice(0, 3), ['unchanged', 'ApprovalRequired', '1.3.0']);
});

test('of images pushed during a suspension, the newest is applied for its push when the policy resumes', async () => {
  const world = start({ suspended: true });
  await push(world, 'first', '1.3.0', b);
  await push(world, 'second', '1.4.0', c);
  await push(world, 'older', '1.3.1', digestOf('d'));
  await push(world, 'other', 'nightly', digestOf('e'));
  assert.equal(world.statusOf('web').announced?.event, 'second', 'the policy never selects the last one');
  assert.deepEqual(resultOf(world, 'first').slice(0, 3), ['ignored', 'Superseded', '1.3.0']);
  assert.deepEqual(resultOf(world, 'second').slice(0, 2), ['suspended', 'Suspended']);
  await edit(world, {});
  assert.deepEqual(world.images(), [`${image}:1.4.0`]);
  const [container] = world.workloads.get('Deployment/shop/web')?.containers ?? [];
  assert.equal(container?.lastUpdate?.event, 'second');
});

test('an image pushed during a suspension and not selected at the resumption is recorded as superseded', async () => {
  const world = start({ suspended: true });
  await push(world, 'push', '1.3.0', b);
  world.tags.set('1.4.0', c);
  await edit(world, {});
  assert.deepEqual(resultOf(world, 'push'), ['ignored', 'Superseded', '1.3.0', '1.4.0 is selected instead of 1.3.0, which had to wait']);
  assert.equal(world.statusOf('web').announced, undefined);
});

test('the push of a waiting image is recorded with PolicyGone when its policy is deleted', async () => {
  const world = start({ mode: 'Approval' });
  await push(world, 'push', '1.3.0', b);
  await recordDeleted(policyIn(world), world.ports);
  assert.deepEqual(resultOf(world, 'push'), ['ignored', 'PolicyGone', '1.3.0', 'shop/web was deleted']);
});

test('an image that waited for its age is applied for its push', async () => {
  const clock = { minutes: 0 };
  const world = createWorld({ cluster: { now: () => startTime + clock.minutes * 60_000 } });
  world.tags.delete('1.3.0');
  world.put(policyOf({ spec: specOf({ minAgeMs: 1_800_000 }), status: { observedGeneration: 1 } }));
  await push(world, 'push', '1.3.0', b);
  assert.deepEqual(resultOf(world, 'push').slice(0, 2), ['waiting', 'MinAge']);
  clock.minutes = 30;
  const job = waitJob(policyIn(world));
  assert.ok(job);
  await processTask(job, contextOf(), world.ports);
  assert.deepEqual(resultOf(world, 'push').slice(0, 3), ['updated', 'Updated', '1.3.0']);
});

test('of images pushed while another one waits for its age, the last is applied next, and each push has its own result', async () => {
  const clock = { minutes: 0 };
  const world = createWorld({ cluster: { now: () => startTime + clock.minutes * 60_000 } });
  world.tags.delete('1.3.0');
  world.put(policyOf({ spec: specOf({ minAgeMs: 1_800_000 }), status: { observedGeneration: 1 } }));
  const wait = async (minutes: number) => {
    clock.minutes = minutes;
    const job = waitJob(policyIn(world));
    assert.ok(job);
    await processTask(job, contextOf(), world.ports);
  };
  await push(world, 'first', '1.3.0', b);
  clock.minutes = 10;
  await push(world, 'second', '1.4.0', c);
  assert.equal(world.results.get('second shop/web')?.broughtBy, undefined, 'it is not the image that waits');
  await push(world, 'third', '1.5.0', digestOf('d'));
  assert.deepEqual(resultOf(world, 'second'), ['ignored', 'Superseded', '1.4.0', '1.5.0 was pushed after 1.4.0, which had to wait']);
  await push(world, 'again', '1.5.0', digestOf('d'));
  await push(world, 'behind', '1.4.1', digestOf('e'));
  assert.equal(world.statusOf('web').announced?.event, 'third', 'an older one does not take its place');
  await wait(30);
  assert.deepEqual(resultOf(world, 'first').slice(0, 3), ['updated', 'Updated', '1.3.0']);
  assert.deepEqual(resultOf(world, 'third').slice(0, 2), ['waiting', 'MinAge']);
  await wait(60);
  assert.deepEqual(resultOf(world, 'third').slice(0, 3), ['updated', 'Updated', '1.5.0']);
});

test('a repeated push of an image refers to the push that has brought it, whether the image waits or runs', async () => {
  const waiting = start({ mode: 'Approval' });
  const running = start();
  for (const world of [waiting, running]) {
    await push(world, 'first', '1.3.0', b);
    await push(world, 'second', '1.3.0', b);
    assert.deepEqual(
      [...world.results].map(([key, { broughtBy }]) => [key, broughtBy]),
      [
        ['first shop/web', undefined],
        ['second shop/web', 'first'],
      ],
    );
  }
});

test('a push of other content under the tag that runs is not taken for the push whose image runs', async () => {
  const world = start();
  await push(world, 'first', '1.3.0', b);
  await push(world, 'moved', '1.3.0', c);
  const { reason, broughtBy } = world.results.get('moved shop/web') ?? {};
  assert.deepEqual([reason, broughtBy], ['Retagged', undefined]);
  await push(world, 'newer', '1.4.0', digestOf('d'));
  assert.equal(world.results.get('first shop/web')?.kind, 'updated');
});

test('a push whose digest the registry does not have is recorded with the digest that it has', async () => {
  const world = start();
  world.tags.set('1.3.0', b);
  const old = pushOf({ id: 'push', tag: '1.3.0', digest: c, receivedAt: new Date(startTime - 600_000).toISOString() });
  await processPush(old, contextOf(), world.ports);
  const { kind, otherDigest } = world.results.get('push shop/web') ?? {};
  assert.deepEqual([kind, otherDigest], ['updated', b]);
});
