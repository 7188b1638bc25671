import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSharedGate, type SharedSlots, type SlotAnswer } from '../../../src/service/registry/shared-slots.ts';

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

test('a shared slot starts at its time, and is released once', async () => {
  const { world, enter } = gateWith([{ kind: 'start', waitMs: 200 }]);
  const release = await enter();
  assert.deepEqual([world.slept, world.released], [[200], []]);
  release();
  assert.deepEqual(world.released, ['lease']);
});

test('while all shared slots are taken a caller retries for two seconds, and then must return later', async () => {
  const { world, enter } = gateWith([{ kind: 'full', waitMs: 0 }]);
  await assert.rejects(enter(), { message: 'all replicas together run 2 requests: 1000' });
  assert.equal(world.now, 2_000);
  const { enter: enterLater } = gateWith([{ kind: 'full', waitMs: 0 }, { kind: 'full', waitMs: 0 }, startNow]);
  assert.ok(await enterLater());
});

test('a caller that would wait long for the shared rate must return later', async () => {
  const { world, enter } = gateWith([{ kind: 'late', waitMs: 5_000 }]);
  await assert.rejects(enter(), { message: '5 requests a second are allowed: 5000' });
  assert.deepEqual(world.slept, []);
});

test('unavailable shared slots delay nobody, and are not requested again for two seconds', async () => {
  const { world, enter } = gateWith([new Error('connection lost')]);
  for (let i = 0; i < 10; i++) (await enter())();
  assert.deepEqual([world.asked, world.released], [1, []]);
  world.now += 2_000;
  (await enter())();
  assert.equal(world.asked, 2);
});

test('a caller that gives up before its shared slot starts releases it', async () => {
  const { world, enter } = gateWith([{ kind: 'start', waitMs: 200 }]);
  const controller = new AbortController();
  const waiting = enter(controller.signal);
  controller.abort(new Error('enough'));
  await assert.rejects(waiting, /enough/);
  assert.equal(world.released.length, world.asked);
});

test('a caller that gives up while shared slots are unavailable gets no slot', async () => {
  const { enter } = gateWith([new Error('connection lost')]);
  const controller = new AbortController();
  const entering = enter(controller.signal);
  controller.abort(new Error('enough'));
  await assert.rejects(entering, /enough/);
});
