import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PermanentError, WaitError } from '../../src/core/errors.ts';
import { processPoll, processTick, tickMs, type PollPorts } from '../../src/poll/process-poll.ts';
import type { PollJob } from '../../src/queue/jobs.ts';
import { digestOf, lastMatching, latestSpec, policyOf, specOf, web, webDeployment } from '../core/samples.ts';
import { contextOf, createWorld, image, runs, startTime, type World } from '../work/world.ts';

const hour = 3_600_000;
const receivedAt = new Date(startTime).toISOString();
const job: PollJob = { schema: 1, repository: web, intervalMs: hour, receivedAt };

const poll = (world: World, ports: Partial<PollPorts> = {}, context = contextOf()) =>
  processPoll(job, context, { ...world.ports, ...ports });

/** Policies by name, each for a Deployment of its own that runs 1.2.3. */
function putMany(world: World, specs: Record<string, Parameters<typeof specOf>[0]>): void {
  world.policies.clear();
  for (const [name, spec] of Object.entries(specs)) {
    world.put(policyOf({ name, spec: specOf({ targets: [{ ...webDeployment, name }], ...spec }) }));
    runs(world, { web: `${image}:1.2.3` }, { name });
  }
}

const readyOf = (world: World, name: string) => world.statusOf(name).conditions?.find(({ type }) => type === 'Ready');

test('what no webhook announced is found, and reconciled by its own job', async () => {
  const world = createWorld();
  await poll(world);
  const { namespace, name, uid } = policyOf();
  assert.deepEqual(world.jobs, [
    { schema: 1, policy: { namespace, name, uid }, source: 'Poll', cause: `poll:${receivedAt}`, receivedAt, hint: { tag: '1.3.0' } },
  ]);
  assert.deepEqual(world.requests, ['LIST shop/web']);
});

test('nothing to do is reported, without a job', async () => {
  const world = createWorld();
  runs(world, { web: `${image}:1.3.0` });
  await poll(world);
  assert.deepEqual(world.jobs, []);
  assert.equal(readyOf(world, 'web')?.reason, 'UpToDate');
  assert.equal(world.statusOf('web').lastCheckTime, '2026-03-01T12:00:00Z');
});

test('one list for many policies', async () => {
  const world = createWorld();
  putMany(world, Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`web-${index}`, {}])));
  await poll(world);
  assert.deepEqual([world.requests, world.jobs.length], [['LIST shop/web'], 30]);
});

test('one question for many policies that follow a tag', async () => {
  const world = createWorld();
  world.tags.set('latest', digestOf('d'));
  putMany(world, { a: latestSpec({ targets: [webDeployment] }), b: latestSpec({ targets: [webDeployment] }) });
  runs(world, { web: `${image}:latest@${digestOf('c')}` });
  await poll(world);
  assert.deepEqual(world.requests, ['HEAD latest']);
  assert.deepEqual(
    world.jobs.map(({ hint }) => hint),
    [
      { tag: 'latest', digest: digestOf('d') },
      { tag: 'latest', digest: digestOf('d') },
    ],
  );
});

test('policies of another interval have a poll of their own', async () => {
  const world = createWorld();
  putMany(world, { hourly: {}, often: { pollIntervalMs: 60_000 } });
  await poll(world);
  assert.deepEqual(
    world.jobs.map(({ policy }) => policy.name),
    ['hourly'],
  );
});

test('a repository that nobody watches any more costs no request', async () => {
  const world = createWorld();
  world.policies.clear();
  await poll(world);
  assert.deepEqual([world.requests, world.jobs], [[], []]);
});

test('what the user must mend stalls the policy that it concerns', async () => {
  const world = createWorld();
  putMany(world, { builds: { strategy: lastMatching('build-.*') }, web: {} });
  await poll(world);
  assert.equal(readyOf(world, 'builds')?.reason, 'NoMatchingTag');
  assert.deepEqual(
    world.jobs.map(({ policy }) => policy.name),
    ['web'],
  );
  const denied = createWorld();
  await poll(denied, { listTags: () => Promise.reject(new PermanentError('RegistryDenied', '401')) });
  assert.equal(readyOf(denied, 'web')?.reason, 'RegistryDenied');
});

test('one policy whose tag cannot be read does not hold up the others', async () => {
  const world = createWorld();
  putMany(world, { follows: latestSpec(), web: {} });
  const broken = new Error('500');
  await assert.rejects(poll(world, { headManifest: () => Promise.reject(broken) }, contextOf({ failures: 2 })), broken);
  assert.deepEqual(
    world.jobs.map(({ policy }) => policy.name),
    ['web'],
  );
  assert.equal(readyOf(world, 'follows')?.reason, 'Retrying');
});

test('what passes by itself is thrown', async () => {
  const later = new WaitError('RegistryThrottled', new Date(startTime + 60_000), 'asked to wait');
  const world = createWorld();
  await assert.rejects(poll(world, { listTags: () => Promise.reject(later) }), later);
  assert.deepEqual([world.jobs, readyOf(world, 'web')?.reason], [[], 'RegistryThrottled']);
});

test('a process that stops does not go through all policies', async () => {
  const world = createWorld();
  putMany(world, { a: {}, b: {} });
  const stopping = new AbortController();
  const listTags = () => {
    stopping.abort(new Error('the process is stopping'));
    return Promise.reject(stopping.signal.reason as Error);
  };
  await assert.rejects(poll(world, { listTags }, contextOf({ signal: stopping.signal, failures: 2 })), /stopping/);
  assert.deepEqual([readyOf(world, 'a')?.reason, readyOf(world, 'b')?.reason], ['Retrying', undefined]);
});

test('ticks: every group once per interval, over restarts and a wiped Redis', async () => {
  let at = startTime;
  const world = createWorld({ now: () => at });
  putMany(
    world,
    Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`web-${index}`, { repository: { ...web, path: `shop/web-${index}` } }])),
  );
  for (; at <= startTime + hour; at += tickMs) await processTick(world.ports);
  const due = world.polls.filter(({ receivedAt }) => Date.parse(receivedAt) > startTime);
  assert.deepEqual([due.length, new Set(due.map(({ repository }) => repository.path)).size], [50, 50]);

  const wiped = createWorld({ now: () => at, policies: () => world.policies.values(), readLastTick: async () => undefined });
  await processTick(wiped.ports);
  assert.ok(wiped.polls.length < 5, 'only what was due in the last moments');
});

test('a tick whose polls were not stored is done again', async () => {
  let at = startTime;
  const away = new Error('Redis is away');
  const world = createWorld({ now: () => at });
  await processTick(world.ports);
  at += hour;
  await assert.rejects(processTick({ ...world.ports, addPolls: () => Promise.reject(away) }), away);
  await processTick(world.ports);
  assert.deepEqual(
    world.polls.filter(({ receivedAt }) => Date.parse(receivedAt) === at).map(({ repository }) => repository),
    [web],
  );
});
