/** Pushes of a mutable tag whose sender names no digest (Docker Hub, Quay, Gitea, Nexus), at a registry that shows the tag late. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WaitError } from '../../../src/core/model/errors.ts';
import type { PolicyStatus } from '../../../src/core/model/policy-status.ts';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { processPush } from '../../../src/service/reconcile/process-push.ts';
import { digestOf, latestSpec, policyOf, webDeployment } from '../../core/model/samples.ts';
import { contextOf, createWorld, image, pushOf, setWorkload, startTime, withPorts, type World } from './world.ts';

const [old, pushed] = [digestOf('a'), digestOf('b')];

/** The tag was pushed `agoMs` ago; the registry shows the old digest so many times first. */
function start({ behind, agoMs = 0, status = {} }: { behind: number; agoMs?: number; status?: PolicyStatus }) {
  const world: World = createWorld({
    registry: {
      headManifest: async (_, tag) => {
        world.requests.push(`HEAD ${tag}`);
        return { digest: behind-- > 0 ? old : pushed };
      },
    },
  });
  world.put(policyOf({ spec: latestSpec(), status }));
  const { digest: _, ...push } = pushOf({ tag: 'latest', receivedAt: new Date(startTime - agoMs).toISOString() });
  return { world, push, deliver: () => processPush(push, contextOf(), world.ports) };
}

const countHeadRequests = ({ requests }: World) => requests.filter((request) => request.startsWith('HEAD')).length;
const pinnedImage = `${image}:latest@${pushed}`;

for (const [name, status, running] of [
  ['what runs', {}, `${image}:latest@${old}`],
  ['what runs, of a user who named no tag', {}, `${image}@${old}`],
  ['what was selected', { latest: { tag: 'latest', digest: old, selectedAt: '2026-01-01T00:00:00Z' } }, `${image}:latest`],
  ['what waits', { waiting: { tag: 'latest', digest: old, until: '2026-01-01T00:00:00Z', reason: 'MinAge' } }, `${image}:latest`],
  ['what is to be approved', { pendingApproval: { tag: 'latest', digest: old } }, `${image}:latest`],
  [
    'what failed',
    { rejected: [{ tag: 'latest', digest: old, reason: 'ProgressDeadlineExceeded', at: '2026-01-01T00:00:00Z' }] },
    `${image}:latest@${digestOf('c')}`,
  ],
] satisfies [string, PolicyStatus, string][]) {
  test(`if the registry still shows ${name}, it is asked again until it shows the push`, async () => {
    const { world, deliver } = start({ behind: 2, status });
    setWorkload(world, { web: running });
    await deliver();
    assert.deepEqual([world.images(), countHeadRequests(world)], [[pinnedImage], 3]);
  });
}

for (const [name, status, running] of [
  ['a digest that nobody knew', {}, `${image}:latest@${digestOf('c')}`],
  ['the digest of another tag', { latest: { tag: 'main', digest: pushed, selectedAt: '2026-01-01T00:00:00Z' } }, `${image}:latest`],
  ['what another repository runs', {}, `registry.example.com/shop/other:latest@${pushed}`],
] satisfies [string, PolicyStatus, string][]) {
  test(`one request is enough when the registry shows ${name}`, async () => {
    const { world, deliver } = start({ behind: 0, status });
    setWorkload(world, { web: running });
    await deliver();
    assert.equal(countHeadRequests(world), 1);
  });
}

test('a push that the registry does not show soon is delayed in the queue, and its answer is used after ten seconds', async () => {
  const { world, push, deliver } = start({ behind: Infinity, agoMs: 4_000 });
  setWorkload(world, { web: `${image}:latest@${old}` });
  await assert.rejects(deliver, (error) => error instanceof WaitError && error.reason === 'NotShownYet');
  world.requests.length = 0;
  await processPush(push, contextOf(), withPorts(world.ports, { cluster: { now: () => startTime + 10_000 } }));
  assert.deepEqual([countHeadRequests(world), world.results.get('push-1 shop/web')?.reason], [1, 'UpToDate']);
});

test('the first answer of the registry is used for a push that was received minutes ago', async () => {
  const { world, deliver } = start({ behind: Infinity, agoMs: 600_000 });
  setWorkload(world, { web: `${image}:latest@${old}` });
  await deliver();
  assert.deepEqual([countHeadRequests(world), world.results.get('push-1 shop/web')?.reason], [1, 'UpToDate']);
});

test('the first answer of the registry is used for a tag that a poll has found', async () => {
  const { world, push } = start({ behind: Infinity });
  setWorkload(world, { web: `${image}:latest@${old}` });
  const { namespace, name, uid } = policyOf();
  const job = { schema: 1, policy: { namespace, name, uid }, source: 'Poll', cause: 'poll', receivedAt: push.receivedAt } as const;
  await processTask({ ...job, hint: { tag: 'latest' } }, contextOf(), world.ports);
  assert.equal(countHeadRequests(world), 1);
});

/** Two policies for two Deployments. */
function startTwo(given: Parameters<typeof start>[0], images: readonly [string, string]) {
  const { world, deliver } = start(given);
  const [one, other] = images;
  setWorkload(world, { web: one });
  setWorkload(world, { web: other }, { name: 'other', uid: 'uid-of-other' });
  world.put(policyOf({ name: 'other', spec: latestSpec({ targets: [{ ...webDeployment, name: 'other' }] }) }));
  const work = async () => {
    for (const job of world.jobs.splice(0)) await processTask(job, contextOf(), world.ports);
  };
  const runOf = (name: string) => world.workloads.get(`Deployment/shop/${name}`)?.containers[0]?.image;
  return { world, deliver, work, runOf };
}

test('if several policies run what the registry still shows, it is asked again once for all of them', async () => {
  const { world, deliver, runOf } = startTwo({ behind: 2 }, [`${image}:latest@${old}`, `${image}:latest@${old}`]);
  await deliver();
  assert.deepEqual([runOf('web'), runOf('other'), countHeadRequests(world)], [pinnedImage, pinnedImage, 3]);
});

test('a policy that does not run what the registry shows is changed at once, and the other one asks again', async () => {
  const { world, deliver, work, runOf } = startTwo({ behind: 2 }, [`${image}:latest@${old}`, `${image}:latest@${digestOf('c')}`]);
  await deliver();
  assert.deepEqual([runOf('web'), runOf('other'), countHeadRequests(world)], [pinnedImage, `${image}:latest@${old}`, 3]);
  // Each of them reads the tag again when the registry has had its time: one request for both.
  const before = countHeadRequests(world);
  await work();
  assert.deepEqual([runOf('web'), runOf('other')], [pinnedImage, pinnedImage]);
  assert.equal(countHeadRequests(world), before + 1);
});

test('a tag that is pushed twice within seconds is read again ten seconds later, because the first answer may be outdated', async () => {
  const { world, deliver } = start({ behind: 1 });
  setWorkload(world, { web: `${image}:latest@${digestOf('c')}` });
  await deliver();
  assert.deepEqual(world.images(), [`${image}:latest@${old}`]);
  const [again] = world.jobs;
  assert.ok(again);
  assert.equal(again.notBefore, new Date(startTime + 10_000).toISOString());
  await processTask(again, contextOf(), world.ports);
  assert.deepEqual(world.images(), [pinnedImage]);
  // A second time, nothing is left to find out: not even where another process makes the job.
  assert.equal(world.jobs.length, 1);
  assert.equal(countHeadRequests(world), 2);
});

for (const [name, spec, digest] of [
  ['its sender named the digest', latestSpec(), pushed],
  ['the policy follows names alone', latestSpec({ pin: 'Tag' }), undefined],
] as const)
  test(`a tag is read once where ${name}`, async () => {
    const { world } = start({ behind: 0 });
    world.put(policyOf({ spec }));
    setWorkload(world, { web: `${image}:latest@${digestOf('c')}` });
    const { digest: _, ...push } = pushOf({ tag: 'latest', receivedAt: new Date(startTime).toISOString() });
    await processPush({ ...push, ...(digest !== undefined && { digest }) }, contextOf(), world.ports);
    assert.deepEqual(world.jobs, []);
  });
