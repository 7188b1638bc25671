import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WaitError } from '../../../src/core/model/errors.ts';
import { type HostEvent, HostLimits, type HostLimitsOptions, type Slot } from '../../../src/service/registry/host-limits.ts';

const start = Date.UTC(2026, 0, 1);
const answered = (status: number, headers: Record<string, string> = {}, more: { account?: string; isPull?: boolean } = {}) =>
  ({ kind: 'answer', status, headers, subject: 'a', account: more.account, isPull: more.isPull ?? false }) as const;

/** Limits with a clock that stands still, and what they tell. */
function limitsOf(options: Partial<HostLimitsOptions> = {}) {
  const events: HostEvent[] = [];
  const world = { now: start };
  const clock = { now: () => world.now, random: () => 0 };
  const limits = new HostLimits({
    settings: () => undefined,
    clock,
    timeoutMs: 1_000,
    onEvent: (event) => void events.push(event),
    ...options,
  });
  const enter = (host = 'r.example.com', pullBy?: string, signal?: AbortSignal) => limits.acquire({ host, what: 'HEAD', pullBy, signal });
  return { world, events, enter };
}

const waits = (reason: string, untilMs: number) => (error: unknown) => {
  assert.ok(error instanceof WaitError, String(error));
  assert.deepEqual([error.reason, error.until.getTime() - start], [reason, untilMs]);
  return true;
};

test('requests to a busy host do not delay those to another host', async () => {
  const { enter } = limitsOf({ settings: () => ({ host: '', insecure: false, concurrency: 1 }) });
  const visit = await enter('slow.example.com');
  const waiting = enter('slow.example.com');
  (await enter('fast.example.com')).release(answered(200));
  visit.release(answered(200));
  (await waiting).release(answered(200));
});

test('no host has more than 248 running and waiting requests', async () => {
  const { enter, events } = limitsOf();
  const visits = Array.from({ length: 248 }, () => enter());
  await assert.rejects(enter(), waits('RegistryBusy', 100));
  assert.deepEqual(events, [{ host: 'r.example.com', kind: 'refused', reason: 'RegistryBusy' }]);
  for (const visit of visits) (await visit).release(answered(200));
});

test('when a host answers nothing, all but a few of the waiting requests are postponed', async () => {
  const { enter, events } = limitsOf({ stuckAfterMs: 1 });
  const running = await Promise.all(Array.from({ length: 8 }, () => enter()));
  const waiting = Array.from({ length: 48 }, () => enter());
  const refused = await Promise.all(
    waiting.slice(8).map((visit) =>
      visit.then(
        () => undefined,
        (error: unknown) => error,
      ),
    ),
  );
  assert.ok(refused.every((error) => error instanceof WaitError && error.reason === 'RegistryBusy'));
  assert.equal(events.length, 40);
  for (const visit of running) visit.release(answered(200));
  for (const visit of waiting.slice(0, 8)) (await visit).release(answered(200));
  // It lives again: everybody may wait as before.
  const again = Array.from({ length: 248 }, () => enter());
  for (const visit of again) (await visit).release(answered(200));
});

test('a request that would wait long for the rate of its host is postponed', async () => {
  const { enter } = limitsOf({ settings: () => ({ host: '', insecure: false, requestsPerSecond: 0.1 }) });
  (await enter()).release(answered(200));
  await assert.rejects(enter(), waits('RegistryBusy', 10_000));
});

test('a pause of a host applies to all requests to it, and to no other host', async () => {
  const { enter, world } = limitsOf();
  const first = await enter();
  const late = await enter();
  assert.equal(first.release(answered(429, { 'retry-after': '30' })), start + 30_000);
  await assert.rejects(enter(), waits('RegistryThrottled', 30_000));
  (await enter('other.example.com')).release(answered(200));
  // Who was on his way may still be answered; that ends no pause.
  assert.equal(late.release(answered(200)), undefined);
  world.now += 29_999;
  await assert.rejects(enter(), waits('RegistryThrottled', 30_000));
  world.now += 1;
  (await enter()).release(answered(200));
});

test('a request that waits for a slot when a pause begins is not sent', async () => {
  const { enter } = limitsOf({ settings: () => ({ host: '', insecure: false, concurrency: 1 }) });
  const first = await enter();
  const waiting = enter();
  first.release(answered(503, { 'retry-after': '5' }));
  await assert.rejects(waiting, waits('RegistryThrottled', 5_000));
});

test('without Retry-After the pauses of a host grow, once for requests refused together, until another answer', async () => {
  const { enter, world } = limitsOf();
  const throttled = async () => {
    const visits = await Promise.all([enter(), enter(), enter()]);
    const pauses = visits.map((visit) => visit.release(answered(429)));
    assert.equal(new Set(pauses).size, 1);
    const pauseMs = (pauses[0] ?? 0) - world.now;
    world.now += pauseMs;
    return pauseMs;
  };
  const pauses = [];
  for (let i = 0; i < 11; i++) pauses.push((await throttled()) / 1_000);
  assert.deepEqual(pauses, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
  (await enter()).release(answered(404));
  assert.equal(await throttled(), 1_000);
});

const spent = { 'ratelimit-limit': '100;w=21600', 'ratelimit-remaining': '0;w=21600' };

test('when no pulls remain, pulls of that account wait, and HEAD requests continue', async () => {
  const { enter, world, events } = limitsOf();
  assert.equal((await enter('docker.io', 'me')).release(answered(200, spent, { account: 'me', isPull: true })), undefined);
  await assert.rejects(enter('docker.io', 'me'), waits('RegistryThrottled', 216_000));
  (await enter('docker.io', 'you')).release(answered(200, {}, { account: 'you', isPull: true }));
  (await enter('docker.io')).release(answered(200, spent, { account: 'me' }));
  await assert.rejects(enter('docker.io', 'me'), waits('RegistryThrottled', 216_000));
  (await enter('docker.io')).release(answered(200, { ...spent, 'ratelimit-remaining': '1;w=21600' }, { account: 'me' }));
  const pull = await enter('docker.io', 'me');
  // Refused all the same: only pulls wait.
  assert.equal(pull.release(answered(429, spent, { account: 'me', isPull: true })), start + 216_000);
  (await enter('docker.io')).release(answered(200, spent, { account: 'me' }));
  world.now += 216_000;
  (await enter('docker.io', 'me')).release(answered(200));
  assert.deepEqual(
    events.filter(({ kind }) => kind === 'pulls').map((event) => 'remaining' in event && event.remaining),
    [0, 0, 1, 0, 0],
  );
});

test('a host that fails for several repositories is paused, probed by one request, and used again when it answers', async () => {
  const { enter, world, events } = limitsOf();
  const fail = (visit: Slot, subject: string) => visit.release({ kind: 'failure', why: 'no answer', subject });
  for (let i = 0; i < 5; i++) fail(await enter(), `team/${i}`);
  await assert.rejects(enter(), waits('RegistryUnavailable', 1_000));
  await assert.rejects(
    enter(),
    /^WaitError: HEAD: r\.example\.com gets no requests .* failed 5 times in a row, at last: no answer; the next try is at 2026-/,
  );
  world.now += 1_000;
  const probe = await enter();
  await assert.rejects(enter(), waits('RegistryUnavailable', 2_000));
  fail(probe, 'team/0');
  await assert.rejects(enter(), waits('RegistryUnavailable', 3_000));
  world.now += 2_000;
  (await enter()).release(answered(200));
  (await enter()).release(answered(200));
  assert.deepEqual(
    events.flatMap((event) => (event.kind === 'circuit' ? event.state : [])),
    ['open', 'half-open', 'open', 'half-open', 'closed'],
  );
});

test('a probe that did not run lets the next request probe the host', async () => {
  const { enter, world } = limitsOf();
  for (let i = 0; i < 5; i++) (await enter()).release({ kind: 'failure', why: 'cannot talk to it' });
  world.now += 1_000;
  (await enter()).release({ kind: 'nothing' });
  (await enter()).release(answered(404));
  (await enter()).release(answered(200));
});

test('a repository that cannot be read does not pause its registry', async () => {
  const { enter } = limitsOf();
  for (let i = 0; i < 20; i++) (await enter()).release(answered(500));
  (await enter()).release(answered(200));
});
