import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WaitError } from '../../../src/core/model/errors.ts';
import { createPollGate, type PollGateOptions } from '../../../src/service/poll/poll-gate.ts';

const hour = 3_600_000;
const startTime = Date.parse('2026-03-01T12:00:00Z');
const throttled = (until: number) => new WaitError('RegistryThrottled', new Date(until), 'asked to wait');

function create(options: Partial<PollGateOptions> = {}) {
  const clock = { now: startTime };
  return { clock, gate: createPollGate({ slotsOf: () => 2, now: () => clock.now, random: () => 0.5, ...options }) };
}

/** When a poll may come again; undefined for one that was let through. */
function refusal(enter: () => unknown): number | undefined {
  try {
    enter();
    return undefined;
  } catch (error) {
    assert.ok(error instanceof WaitError);
    return error.until.getTime();
  }
}

test('a host has a limited number of concurrent polls, and another host has slots of its own', () => {
  const { gate } = create();
  const [first] = [gate.enter('a', hour), gate.enter('a', hour)];
  assert.equal(
    refusal(() => gate.enter('a', hour)),
    startTime + 31_000,
  );
  gate.enter('b', hour);
  first.leave();
  gate.enter('a', hour);
});

test('a poll without a free slot is retried soon, relative to its interval', () => {
  const { gate } = create({ slotsOf: () => 0 });
  assert.equal(
    refusal(() => gate.enter('a', 30_000)),
    startTime + 2_500,
  );
});

test('a host that asked for a pause is not polled until it ends, and then its polls are spread', () => {
  const until = startTime + 120_000;
  for (const [random, expected] of [
    [0, until + 1_000],
    [0.999, until + 1_000 + 359_640],
  ] as const) {
    const { gate, clock } = create({ random: () => random });
    gate.enter('a', hour).leave(throttled(until));
    assert.equal(
      refusal(() => gate.enter('a', hour)),
      expected,
    );
    assert.equal(
      refusal(() => gate.enter('b', hour)),
      undefined,
    );
    clock.now = until;
    assert.equal(
      refusal(() => gate.enter('a', hour)),
      undefined,
    );
  }
});

test('a host that fails is paused for longer and longer, up to five minutes, and one success ends it', () => {
  const { gate, clock } = create({ random: () => 1 });
  const pauses: number[] = [];
  for (let failures = 0; failures < 12; failures++) {
    gate.enter('a', 10_000).leave(new Error('500'));
    const spreadMs = 1_000 + 1_000;
    const until = (refusal(() => gate.enter('a', 10_000)) ?? 0) - spreadMs;
    pauses.push(until - clock.now);
    clock.now = until;
  }
  assert.deepEqual(pauses.slice(0, 4), [2_000, 4_000, 8_000, 16_000]);
  assert.equal(pauses.at(-1), 300_000);
  gate.enter('a', hour).leave();
  gate.enter('a', hour).leave(new Error('500'));
  assert.equal(
    refusal(() => gate.enter('a', 10_000)),
    clock.now + 2_000 + 2_000,
  );
});
