import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRateLimit, type AddToCount } from '../../../src/service/receive/rate-limit.ts';
import { createCounts } from './start-app.ts';

const at = Date.parse('2026-03-01T12:00:15.000Z');

/** How many of so many requests pass. */
async function passes(take: () => Promise<number>, requests: number): Promise<number> {
  const answers = await Promise.all(Array.from({ length: requests }, take));
  return answers.filter((seconds) => seconds === 0).length;
}

test('as many requests as allowed pass in a minute, and then Retry-After says when the next one may', async () => {
  let now = at;
  const { count } = createRateLimit({ addToCount: createCounts(), now: () => now });
  for (let request = 0; request < 5; request++) assert.equal(await count('a', 5), 0);
  assert.equal(await count('a', 5), 45);
  assert.equal(await count('b', 5), 0);
  now += 44_900;
  assert.equal(await count('a', 5), 1);
  now += 100;
  assert.equal(await passes(() => count('a', 5), 9), 5);
});

for (const [limit, requests] of [
  [7, 20],
  [8_000, 24_000],
] as const) {
  test(`three replicas share the rate limit of ${limit}, with successive requests at different replicas`, async () => {
    const addToCount = createCounts();
    const replicas = Array.from({ length: 3 }, () => createRateLimit({ addToCount, now: () => at }));
    let passed = 0;
    for (let request = 0; request < requests; request++) if ((await replicas[request % 3]?.count('a', limit)) === 0) passed++;
    // Far from a large limit replicas do not wait for each other: each may pass up to its half before it hears of the others.
    assert.ok(passed >= limit && passed <= (limit < 6_000 ? limit : limit * 1.5 + 3), String(passed));
  });
}

test('exactly as many simultaneous requests as allowed pass', async () => {
  const { count } = createRateLimit({ addToCount: createCounts(), now: () => at });
  assert.equal(await passes(() => count('a', 100), 250), 100);
  assert.equal(await passes(() => count('b', 8_000), 20_000), 8_000);
});

test('far below the rate limit no request waits for Redis', async () => {
  let asked = 0;
  const addToCount: AddToCount = () => {
    asked++;
    return new Promise<never>(() => undefined);
  };
  const { count } = createRateLimit({ addToCount, now: () => at });
  assert.equal(await passes(() => count('a', 60_000), 1_000), 1_000);
  assert.equal(asked, 0);
});

test('many simultaneous requests are counted in one command to Redis', async () => {
  const told: number[] = [];
  const { promise, resolve } = Promise.withResolvers<number>();
  const addToCount: AddToCount = (_receiver, _window, count) => {
    told.push(count);
    return told.length === 1 ? promise : Promise.resolve(1 + count);
  };
  const { count } = createRateLimit({ addToCount, now: () => at, patienceMs: 60_000 });
  const taken = passes(() => count('a', 100), 50);
  resolve(1);
  assert.equal(await taken, 50);
  assert.deepEqual(told, [1, 49]);
});

for (const [name, addToCount] of [
  ['rejects', () => Promise.reject(new Error('connection is closed'))],
  ['hangs', () => new Promise<never>(() => undefined)],
] as const) {
  test(`the replica's own count applies when Redis ${name}`, async () => {
    const { count } = createRateLimit({ addToCount, now: () => at, patienceMs: 1 });
    assert.equal(await passes(() => count('a', 20), 30), 20);
    assert.equal(await passes(() => count('a', 20), 5), 0);
  });
}
