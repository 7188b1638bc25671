/** minAge: what is selected waits in the status, keeps its place there, and is applied by a delayed job. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PolicySpec } from '../../../src/core/model/image-policy.ts';
import { WaitError } from '../../../src/core/model/errors.ts';
import { waitJob } from '../../../src/service/reconcile/enqueue/wait-job.ts';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { processPush } from '../../../src/service/reconcile/process-push.ts';
import { processPoll } from '../../../src/service/poll/process-poll.ts';
import { digestOf, latestSpec, policyOf, specOf, web } from '../../core/model/samples.ts';
import { contextOf, createWorld, image, pushOf, setWorkload, startTime, type World, withPorts } from './world.ts';

const minute = 60_000;

/** Policy shop/web with minAge 30m, at minute 0; shop/web runs 1.2.3, which is all that the registry holds. */
function start(spec: Partial<PolicySpec> = {}) {
  const clock = { minutes: 0 };
  const now = () => startTime + clock.minutes * minute;
  const world = createWorld({ cluster: { now } });
  world.tags.delete('1.3.0');
  world.put(policyOf({ spec: specOf({ minAgeMs: 30 * minute, ...spec }), status: { observedGeneration: 1 } }));
  return {
    world,
    at: (minutes: number) => void (clock.minutes = minutes),
    push: async (tag: string, letter: string) => {
      world.tags.set(tag, digestOf(letter));
      await processPush(pushOf({ id: `push-${tag}`, tag, digest: digestOf(letter) }), contextOf(), world.ports);
    },
    /** Runs the delayed job that the status asks for. */
    ring: async () => {
      const job = waitJob(policy(world));
      assert.ok(job, 'no job is delayed');
      await processTask(job, contextOf(), world.ports);
    },
    waits: () => {
      const { waiting } = world.statusOf('web');
      return waiting && `${waiting.tag} ${waiting.reason} until minute ${(Date.parse(waiting.until) - startTime) / minute}`;
    },
    conditions: () => world.statusOf('web').conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`),
  };
}

function policy(world: World) {
  const found = world.policies.get('shop/web');
  assert.ok(found);
  return found;
}

test('an image that is too young is pending in the status, the conditions and the result of the push, whose job completes', async () => {
  const { world, push, waits, conditions } = start();
  await push('1.3.0', 'b');
  assert.deepEqual(world.images(), [`${image}:1.2.3`]);
  assert.deepEqual(world.statusOf('web').waiting, {
    tag: '1.3.0',
    digest: digestOf('b'),
    since: '2026-03-01T12:00:00Z',
    until: '2026-03-01T12:30:00Z',
    reason: 'MinAge',
  });
  assert.equal(waits(), '1.3.0 MinAge until minute 30');
  assert.deepEqual(conditions(), ['Ready=False MinAge', 'Reconciling=True MinAge']);
  assert.match(world.statusOf('web').conditions?.[0]?.message ?? '', /1\.3\.0 waits until 2026-03-01T12:30:00Z/);
  const result = world.results.get('push-1.3.0 shop/web');
  assert.deepEqual([result?.kind, result?.reason, result?.tag], ['waiting', 'MinAge', '1.3.0']);
  assert.deepEqual(world.requests, ['HEAD 1.3.0']);
});

test('a pending image is applied when it is old enough, and nothing is pending afterwards', async () => {
  const { world, at, push, ring, waits, conditions } = start();
  await push('1.3.0', 'b');
  at(30);
  await ring();
  assert.deepEqual([world.images(), waits()], [[`${image}:1.3.0`], undefined]);
  assert.deepEqual(conditions(), ['Ready=True UpToDate']);
  assert.equal(world.statusOf('web').history?.[0]?.trigger, 'WaitOver');
});

test('an image that waits first for its age and then for a window is applied when the window opens', async () => {
  const { world, at, push, ring, waits, conditions } = start({ windows: [{ from: '14:00', to: '15:00', timeZone: 'UTC' }] });
  await push('1.3.0', 'b');
  assert.deepEqual([waits(), conditions()], ['1.3.0 MinAge until minute 30', ['Ready=False MinAge', 'Reconciling=True MinAge']]);
  at(30);
  await ring();
  assert.deepEqual([waits(), conditions()], ['1.3.0 Window until minute 120', ['Ready=False Window', 'Reconciling=True Window']]);
  assert.deepEqual(world.images(), [`${image}:1.2.3`]);
  at(120);
  await ring();
  assert.deepEqual([world.images(), waits()], [[`${image}:1.3.0`], undefined]);
});

test('newer pushes do not replace the pending image, and wait for their age from when it was applied', async () => {
  const { world, at, push, ring, waits } = start();
  await push('1.3.0', 'b');
  at(10);
  await push('1.4.0', 'c');
  at(20);
  await push('1.5.0', 'd');
  const result = world.results.get('push-1.5.0 shop/web');
  const said = '1.5.0 waits behind 1.3.0, which waits until 2026-03-01T12:30:00Z';
  assert.deepEqual([result?.kind, result?.tag, result?.message], ['waiting', '1.5.0', said]);
  const shown = '1.3.0 waits until 2026-03-01T12:30:00Z, when it is as old as spec.minAge asks for';
  assert.equal(world.statusOf('web').conditions?.[0]?.message, shown);
  at(30);
  await ring();
  assert.deepEqual([world.images(), waits()], [[`${image}:1.3.0`], '1.5.0 MinAge until minute 60']);
  at(60);
  await ring();
  assert.deepEqual([world.images(), waits()], [[`${image}:1.5.0`], undefined]);
});

test('a push costs one more request while another image is pending', async () => {
  const { world, push } = start();
  await push('1.3.0', 'b');
  world.requests.length = 0;
  await push('1.4.0', 'c');
  assert.deepEqual(world.requests, ['HEAD 1.4.0', 'HEAD 1.3.0']);
});

for (const [name, prepare] of [
  ['was deleted', (world: World) => world.tags.delete('1.3.0')],
  ['moved to another image', (world: World) => world.tags.set('1.3.0', digestOf('e'))],
] as const) {
  test(`a pending image that ${name} is replaced by the next one`, async () => {
    const { world, at, push, waits } = start();
    await push('1.3.0', 'b');
    at(10);
    prepare(world);
    await push('1.4.0', 'c');
    assert.equal(waits(), '1.4.0 MinAge until minute 40');
  });
}

test('a tag that is pushed again with another digest waits for its age anew', async () => {
  const { at, push, waits } = start();
  await push('1.3.0', 'b');
  at(10);
  await push('1.3.0', 'c');
  assert.equal(waits(), '1.3.0 MinAge until minute 40');
});

test('a pending tag that was deleted is not applied, and nothing else becomes pending', async () => {
  const { world, at, push, ring, waits, conditions } = start();
  await push('1.3.0', 'b');
  world.tags.delete('1.3.0');
  at(30);
  await ring();
  assert.deepEqual([world.images(), waits(), conditions()], [[`${image}:1.2.3`], undefined, ['Ready=True UpToDate']]);
});

test('an image that somebody deployed manually does not wait for its age', async () => {
  const { world, at, push, ring, waits } = start();
  await push('1.3.0', 'b');
  setWorkload(world, { web: `${image}:1.4.0` });
  world.tags.set('1.4.0', digestOf('c'));
  at(30);
  await ring();
  assert.deepEqual([world.images(), waits()], [[`${image}:1.4.0`], undefined]);
});

test('pushes of other tags and failures do not replace the pending image', async () => {
  const { world, push, waits } = start();
  await push('1.3.0', 'b');
  await push('1.0.0', 'e');
  await push('main', 'f');
  const throttled = new WaitError('RegistryThrottled', new Date(startTime + minute), 'asked to wait');
  const away = withPorts(world.ports, { registry: { headManifest: () => Promise.reject(throttled) } });
  await assert.rejects(processPush(pushOf({ id: 'x', tag: '1.4.0' }), contextOf(), away), throttled);
  const broken = withPorts(world.ports, { registry: { headManifest: () => Promise.reject(new Error('reset')) } });
  await assert.rejects(processPush(pushOf({ id: 'y', tag: '1.4.0' }), contextOf({ failures: 5 }), broken), /reset/);
  assert.equal(waits(), '1.3.0 MinAge until minute 30');
});

test('a push of an older tag changes nothing while an image is pending, and the policy still waits', async () => {
  const { world, push, conditions } = start();
  await push('1.3.0', 'b');
  await push('1.0.0', 'e');
  assert.deepEqual([world.results.get('push-1.0.0 shop/web')?.kind, conditions()?.[0]], ['unchanged', 'Ready=False MinAge']);
});

test('the first image that a policy selects waits for its age, and the running image does not', async () => {
  const { world, waits, conditions } = start();
  const look = () =>
    processTask(
      { schema: 1, policy: policyOf(), source: 'PolicyChange', cause: 'generation:1', receivedAt: '2026-03-01T12:00:00Z' },
      contextOf(),
      world.ports,
    );
  await look();
  assert.deepEqual([waits(), conditions()], [undefined, ['Ready=True UpToDate']]);
  setWorkload(world, { web: `${image}:main` });
  await look();
  assert.equal(waits(), '1.2.3 MinAge until minute 30');
});

test('an image found by a poll waits for its age, and later polls leave it pending', async () => {
  const { world, at, waits } = start();
  world.tags.set('1.3.0', digestOf('b'));
  const poll = async (minutes: number) => {
    at(minutes);
    const receivedAt = new Date(startTime + minutes * minute).toISOString();
    await processPoll({ schema: 1, repository: web, intervalMs: 3_600_000, receivedAt }, contextOf(), world.ports);
    for (const job of world.jobs.splice(0)) await processTask(job, contextOf(), world.ports);
  };
  await poll(5);
  await poll(20);
  assert.equal(waits(), '1.3.0 MinAge until minute 35');
  // Also where the delayed job was lost.
  await poll(40);
  assert.deepEqual([world.images(), waits()], [[`${image}:1.3.0`], undefined]);
});

test('a shortened minAge counts from when the image was first seen, and without minAge nothing waits', async () => {
  for (const [spec, minutes] of [
    [{ minAgeMs: 10 * minute }, 10],
    [{}, 1],
  ] as const) {
    const { world, at, push, waits } = start();
    await push('1.3.0', 'b');
    world.put({ ...policy(world), generation: 2, spec: specOf(spec) });
    at(minutes);
    const job = {
      schema: 1,
      policy: policyOf(),
      source: 'PolicyChange',
      cause: 'generation:2',
      receivedAt: '2026-03-01T12:00:00Z',
    } as const;
    await processTask(job, contextOf(), world.ports);
    assert.deepEqual([world.images(), waits()], [[`${image}:1.3.0`], undefined]);
  }
});

test('a mutable tag is applied when it has not moved for the minimum age', async () => {
  const { world, at, push, ring, waits } = start(latestSpec({ minAgeMs: 30 * minute }));
  setWorkload(world, { web: `${image}:latest@${digestOf('a')}` });
  await push('latest', 'b');
  at(20);
  await push('latest', 'c');
  assert.equal(waits(), 'latest MinAge until minute 50');
  at(50);
  await ring();
  assert.deepEqual(world.images(), [`${image}:latest@${digestOf('c')}`]);
});

test('an image that ran before does not wait for its age again', async () => {
  const { world, at, push, ring, waits } = start();
  await push('1.3.0', 'b');
  at(30);
  await ring();
  setWorkload(world, { web: { image: `${image}:1.2.3`, imageOwner: 'image-watcher' } });
  at(31);
  await push('1.3.0', 'b');
  assert.deepEqual([world.images(), waits()], [[`${image}:1.3.0`], undefined]);
});

test('with allowDowngrade a pending image does not undo a manual change', async () => {
  const { world, at, push, ring, waits } = start({ allowDowngrade: true });
  await push('1.3.0', 'b');
  world.tags.set('1.4.0', digestOf('c'));
  setWorkload(world, { web: `${image}:1.4.0` });
  at(30);
  await ring();
  assert.deepEqual([world.images(), waits()], [[`${image}:1.4.0`], undefined]);
});

test('a delayed job for a wait that is over sends no request', async () => {
  const { world, at, push } = start();
  await push('1.3.0', 'b');
  const job = waitJob(policy(world));
  assert.ok(job);
  at(10);
  await push('1.3.0', 'c');
  world.requests.length = 0;
  at(30);
  await processTask(job, contextOf(), world.ports);
  assert.deepEqual([world.images(), world.requests], [[`${image}:1.2.3`], ['GET policy web']]);
});

test('a delayed job that runs before its time waits again', async () => {
  const { at, push, ring } = start();
  await push('1.3.0', 'b');
  at(29);
  await assert.rejects(ring(), (error) => error instanceof WaitError && error.until.getTime() === startTime + 30 * minute);
});

test('a replica whose cache lags behind still schedules the delayed job', async () => {
  const { world, at, push } = start();
  const before = policy(world);
  await push('1.3.0', 'b');
  const job = waitJob(policy(world));
  assert.ok(job);
  at(30);
  await processTask(job, contextOf(), withPorts(world.ports, { policies: { find: () => ({ ...before, resourceVersion: '0' }) } }));
  assert.deepEqual(world.images(), [`${image}:1.3.0`]);
});
