/** What becomes of an image that waits for approval, whoever decides about it, and whatever happens at the same time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PolicySpec } from '../../../src/core/model/image-policy.ts';
import type { NamedApproval } from '../../../src/core/model/named-approvals.ts';
import type { PolicyActions } from '../../../src/core/model/policy-actions.ts';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { digestOf, specOf } from '../../core/model/samples.ts';
import { conditionsOf, policyIn, push, requestAction, start } from './asked-world.ts';
import { contextOf, image, neededReconcile, startTime, withPorts, type World } from './world.ts';

const [b, c] = [digestOf('b'), digestOf('c')];
const reject = `1.3.0@${b} 2026-03-01T12:00:00Z`;
const held = ['Ready=True RejectedDigest', 'Held=True RejectedDigest'];

/** Ada rejects, by the API. */
async function rejectAsAda(world: World, actions: PolicyActions): Promise<boolean> {
  world.put({ ...policyIn(world), requested: { action: 'reject', user: 'ada', reason: 'breaks the login' } });
  return requestAction(world, actions);
}

test('rejection: a rejected image is not applied, the status says by whom and why, and a newer image is pending again', async () => {
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

test('rejection: a release revokes the rejection once, and the same image can be rejected again', async () => {
  const world = start({ mode: 'Approval' });
  await push(world, '1.3.0', b);
  await requestAction(world, { reject });
  const release = new Date(startTime).toISOString();
  assert.ok(await requestAction(world, { reject, release }));
  assert.deepEqual(world.statusOf('web').pendingApproval, { tag: '1.3.0', digest: b });
  assert.ok(await requestAction(world, { reject: `${reject}, again`, release }));
  assert.deepEqual([world.statusOf('web').pendingApproval, conditionsOf(world)], [undefined, held]);
});

test('rejection: an image that is approved and rejected at the same time is not applied', async () => {
  const world = start({ mode: 'Approval' });
  await push(world, '1.3.0', b);
  assert.ok(await requestAction(world, { reject, approve: `1.3.0@${b}` }));
  assert.deepEqual([world.images(), conditionsOf(world)], [[`${image}:1.2.3`], held]);
});

test('rejection: an image that is rejected before its push is not applied when it is pushed', async () => {
  const world = start({ mode: 'Approval' });
  assert.equal(await requestAction(world, { reject }), false);
  await push(world, '1.3.0', b);
  assert.deepEqual([world.images(), conditionsOf(world)], [[`${image}:1.2.3`], held]);
});

const hour = 3_600_000;
const two = { mode: 'Approval', approvals: { count: 2, withinMs: 48 * hour, notByAuthor: false } } as const;
const image130 = { tag: '1.3.0', digest: b };

/** A world of a policy that asks for two people, with a clock that the test moves. */
function startWithTwo(spec: Partial<PolicySpec> = {}) {
  let now = startTime;
  const world = start({ ...two, ...spec }, { cluster: { now: () => now } });
  const approvals = new Map<string, NamedApproval>();
  const write = () => requestAction(world, { approvals: [...approvals.values()] });
  return {
    world,
    wait: (hours: number) => (now += hours * hour),
    approve(user: string, image = image130) {
      approvals.set(user, { ...image, user, at: new Date(now).toISOString() });
      return write();
    },
    takeBack(user: string) {
      approvals.delete(user);
      return write();
    },
    /** Does what is needed now, whoever has written what. */
    look: write,
    shown() {
      const { approvals: round } = world.statusOf('web');
      return [round?.given?.map(({ user }) => user) ?? [], round?.uncounted?.map(({ user, why }) => `${user} ${why}`) ?? []];
    },
    told: () => world.events.map(({ reason, message }) => `${reason}: ${message}`),
  };
}

const message = (world: World) => world.statusOf('web').conditions?.find(({ type }) => type === 'ApprovalRequired')?.message ?? '';

test('approvals: an image is applied after two approvals, and the status shows who is missing, and until when', async () => {
  const { world, approve, shown, wait } = startWithTwo();
  await push(world, '1.3.0', b);
  assert.match(message(world), /^1\.3\.0 waits for approval: 0 of 2 approvals: approve it with image-watcher approve shop\/web/);
  wait(1);
  assert.ok(await approve('ada'));
  assert.deepEqual([world.images(), shown()], [[`${image}:1.2.3`], [['ada'], []]]);
  const { required, until } = world.statusOf('web').approvals ?? {};
  assert.deepEqual([required, until], [2, '2026-03-03T13:00:00.000Z']);
  assert.match(message(world), /1 of 2 approvals \(ada\), until 2026-03-03T13:00:00\.000Z/);
  wait(1);
  assert.ok(await approve('bob'));
  assert.deepEqual([world.images(), world.statusOf('web').pendingApproval], [[`${image}:1.3.0`], undefined]);
  assert.equal(world.statusOf('web').history?.[0]?.trigger, 'Approval');
});

test('approvals: two approvals of one person count once', async () => {
  const { world, approve, wait } = startWithTwo();
  await push(world, '1.3.0', b);
  await approve('ada');
  wait(1);
  assert.ok(await approve('ada'));
  assert.deepEqual(world.images(), [`${image}:1.2.3`]);
});

test('approvals: the annotation of one person has no effect on a policy that asks for several', async () => {
  const { world } = startWithTwo();
  await push(world, '1.3.0', b);
  await requestAction(world, { approve: `1.3.0@${b}` });
  assert.deepEqual(world.images(), [`${image}:1.2.3`]);
});

test('approvals: expired approvals end with a reason, and others are needed', async () => {
  const { world, approve, wait, look, shown, told } = startWithTwo();
  await push(world, '1.3.0', b);
  await approve('ada');
  wait(47);
  assert.equal(await look(), false, 'nothing has ended yet');
  wait(1);
  assert.ok(await look());
  assert.deepEqual(shown(), [[], ['ada Expired']]);
  assert.ok(told().includes('ApprovalsEnded: the approval of 1.3.0 by ada was given too long ago'));
  assert.equal(await look(), false, 'once');
  await approve('bob');
  assert.deepEqual([world.images(), shown()], [[`${image}:1.2.3`], [['bob'], ['ada Expired']]]);
  await approve('ada');
  assert.deepEqual(world.images(), [`${image}:1.3.0`]);
});

test('approvals: a newer image ends the approvals of the former one with a reason, and needs its own', async () => {
  const { world, approve, shown, told } = startWithTwo();
  await push(world, '1.3.0', b);
  await approve('ada');
  await push(world, '1.4.0', c);
  assert.deepEqual(shown(), [[], []]);
  assert.ok(told().includes('ApprovalSuperseded: 1.4.0 is selected instead of 1.3.0, which was not approved; the approvals of ada end'));
  await approve('bob');
  assert.deepEqual(world.images(), [`${image}:1.2.3`]);
  for (const user of ['ada', 'bob']) await approve(user, { tag: '1.4.0', digest: c });
  assert.deepEqual(world.images(), [`${image}:1.4.0`]);
});

test('approvals: an edit of the policy ends the approvals with a reason', async () => {
  const { world, approve, shown, told, wait } = startWithTwo();
  await push(world, '1.3.0', b);
  await approve('ada');
  wait(1);
  const before = policyIn(world);
  world.put({ ...before, generation: before.generation + 1, spec: specOf({ ...two, maxParallel: 1 }) });
  await push(world, '1.3.0', b);
  assert.deepEqual(shown(), [[], ['ada Earlier']]);
  assert.ok(told().includes('ApprovalsEnded: the approval of 1.3.0 by ada ends, because the policy was changed'));
  wait(1);
  await approve('bob');
  assert.deepEqual(world.images(), [`${image}:1.2.3`]);
});

test('approvals: an approval that was withdrawn does not count, and the status says that it is gone', async () => {
  const { world, approve, takeBack, shown, told } = startWithTwo();
  await push(world, '1.3.0', b);
  await approve('ada');
  assert.ok(await takeBack('ada'));
  assert.deepEqual(shown(), [[], []]);
  assert.ok(told().includes('ApprovalsEnded: the approval of 1.3.0 by ada was taken back'));
  await approve('bob');
  assert.deepEqual(world.images(), [`${image}:1.2.3`]);
});

test('approvals: the approval of the user who last changed the policy does not count', async () => {
  const { world, approve, shown } = startWithTwo({ approvals: { ...two.approvals, notByAuthor: true } });
  world.put({ ...policyIn(world), editedBy: 'ada' });
  await push(world, '1.3.0', b);
  for (const user of ['ada', 'bob']) await approve(user);
  assert.deepEqual([world.images(), shown()], [[`${image}:1.2.3`], [['bob'], ['ada Author']]]);
  await approve('cy');
  assert.deepEqual(world.images(), [`${image}:1.3.0`]);
});

test('approvals: a crash before the last approval is recorded does not prevent the image from being applied once', async () => {
  const { world, approve, wait } = startWithTwo();
  await push(world, '1.3.0', b);
  await approve('ada');
  wait(1);
  const given = ['ada', 'bob'].map((user, index) => ({ ...image130, user, at: new Date(startTime + index * hour).toISOString() }));
  world.put({ ...policyIn(world), actions: { approvals: given } });
  const needed = neededReconcile(policyIn(world), world.ports.cluster, new Date(world.ports.cluster.now()));
  assert.ok(needed);
  const killed = withPorts(world.ports, { policies: { writeStatus: () => Promise.reject(new Error('killed')) } });
  await assert.rejects(processTask(needed, contextOf(), killed));
  assert.deepEqual(world.images(), [`${image}:1.3.0`]);
  await processTask(needed, contextOf(), world.ports);
  assert.deepEqual([world.images(), world.statusOf('web').pendingApproval], [[`${image}:1.3.0`], undefined]);
  assert.equal(world.requests.filter((one) => one.startsWith('PATCH')).length, 1);
});
