import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSharedGate, type SharedSlots, type SlotAnswer } from '../../src/registry/shared-slots.ts';

/** A gate whose turns give these answers, the last one for ever; its clock goes on only while somebody sleeps. */
function gateWith(answers: readonly (SlotAnswer | Error)[]) {
  const world = { now: 0, asked: 0, slept: [] as number[], released: [] as string[] };
  const slots: SharedSlots = {
    take() {
      const answer = answers[Math.min(world.asked++, answers.length - 1)];
      return answer === undefined || answer instanceof Error ? Promise.reject(answer ?? new Error('none')) : Promise.resolve(answer);
    },
    release: async (_host, lease) => void world.released.push(lease),
  };
  const enter = createSharedGate({
    slots,
    host: 'r.example.com',
    limits: { concurrency: 2, requestsPerSecond: 5 },
    lifeMs: 1_000,
    newLease: () => 'lease',
    refuse: (why, waitMs) => new Error(`${why}: ${waitMs}`),
    now: () => world.now,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      world.slept.push(ms);
      world.now += ms;
    },
  });
  return { world, enter };
}

const startNow: SlotAnswer = { kind: 'start', waitMs: 0 };

test('a turn begins when it is its time, and is released once', async () => {
  const { world, enter } = gateWith([{ kind: 'start', waitMs: 200 }]);
  const release = await enter();
  assert.deepEqual([world.slept, world.released], [[200], []]);
  release();
  assert.deepEqual(world.released, ['lease']);
});

test('while all places are taken it is asked again, for two seconds; then whoever waits must come again', async () => {
  const { world, enter } = gateWith([{ kind: 'full', waitMs: 0 }]);
  await assert.rejects(enter(), { message: 'all replicas together run 2 requests: 1000' });
  assert.equal(world.now, 2_000);
  const { enter: enterLater } = gateWith([{ kind: 'full', waitMs: 0 }, { kind: 'full', waitMs: 0 }, startNow]);
  assert.ok(await enterLater());
});

test('who would have to wait long for the pace must come again', async () => {
  const { world, enter } = gateWith([{ kind: 'late', waitMs: 5_000 }]);
  await assert.rejects(enter(), { message: '5 requests a second are allowed: 5000' });
  assert.deepEqual(world.slept, []);
});

test('turns that cannot be reached hold nobody up, and are not asked for in vain each time', async () => {
  const { world, enter } = gateWith([new Error('connection lost')]);
  for (let i = 0; i < 10; i++) (await enter())();
  assert.deepEqual([world.asked, world.released], [1, []]);
  world.now += 2_000;
  (await enter())();
  assert.equal(world.asked, 2);
});

test('who gives up before his turn begins releases it', async () => {
  const { world, enter } = gateWith([{ kind: 'start', waitMs: 200 }]);
  const controller = new AbortController();
  const waiting = enter(controller.signal);
  controller.abort(new Error('enough'));
  await assert.rejects(waiting, /enough/);
  assert.equal(world.released.length, world.asked);
});

test('who gives up while turns cannot be reached gets none', async () => {
  const { enter } = gateWith([new Error('connection lost')]);
  const controller = new AbortController();
  const entering = enter(controller.signal);
  controller.abort(new Error('enough'));
  await assert.rejects(entering, /enough/);
});
