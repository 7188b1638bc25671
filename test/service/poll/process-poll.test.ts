import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PermanentError, WaitError } from '../../../src/core/model/errors.ts';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { createSharedAnswers } from '../../../src/service/reconcile/registry-memory.ts';
import { processPoll } from '../../../src/service/poll/process-poll.ts';
import type { Ports } from '../../../src/service/reconcile/ports.ts';
import type { PollGate } from '../../../src/service/poll/poll-gate.ts';
import { policyJobId, type PollJob } from '../../../src/service/queue/jobs.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import { processPush } from '../../../src/service/reconcile/process-push.ts';
import { digestOf, lastMatching, latestSpec, policyOf, specOf, web, webDeployment } from '../../core/model/samples.ts';
import {
  contextOf,
  createWorld,
  image,
  pushOf,
  setWorkload,
  startTime,
  type World,
  withPorts,
  type PortOverrides,
} from '../reconcile/world.ts';

const hour = 3_600_000;
const receivedAt = new Date(startTime).toISOString();
const job: PollJob = { schema: 1, repository: web, intervalMs: hour, receivedAt };

const poll = (world: World, ports: PortOverrides = {}, context = contextOf()) => processPoll(job, context, withPorts(world.ports, ports));

/** Policies by name, each for a Deployment of its own that runs 1.2.3. */
function putMany(world: World, specs: Record<string, Parameters<typeof specOf>[0]>): void {
  world.policies.clear();
  for (const [name, spec] of Object.entries(specs)) {
    world.put(policyOf({ name, spec: specOf({ targets: [{ ...webDeployment, name }], ...spec }) }));
    setWorkload(world, { web: `${image}:1.2.3` }, { name });
  }
}

const readyOf = (world: World, name: string) => world.statusOf(name).conditions?.find(({ type }) => type === 'Ready');

test('an image that no webhook announced is found, and reconciled by its own job', async () => {
  const world = createWorld();
  await poll(world);
  const { namespace, name, uid } = policyOf();
  assert.deepEqual(world.jobs, [
    {
      schema: 1,
      policy: { namespace, name, uid },
      source: 'Poll',
      cause: `poll:${receivedAt}:1.3.0@`,
      receivedAt,
      hint: { tag: '1.3.0' },
    },
  ]);
  assert.deepEqual(world.requests, ['LIST shop/web', 'HEAD 1.3.0']);
});

test('a retried poll that finds another image creates another job, and the same image creates none', async () => {
  const world = createWorld();
  await poll(world);
  await poll(world);
  world.tags.set('1.4.0', digestOf('c'));
  await poll(world);
  putMany(world, { web: latestSpec() });
  setWorkload(world, { web: `${image}:latest@${digestOf('c')}` });
  for (const content of ['d', 'e']) {
    world.tags.set('latest', digestOf(content));
    await poll(world);
  }
  const ids = world.jobs.map(policyJobId);
  assert.deepEqual([ids.length, new Set(ids).size, ids[0]], [5, 4, ids[1]]);
});

test('the age of a polled answer counts from its request, however long other requests took', async () => {
  const world = createWorld();
  putMany(world, { a: {}, b: {} });
  let now = startTime;
  const headManifest: Ports['registry']['headManifest'] = async (...question) => {
    const head = await world.ports.registry.headManifest(...question);
    now += 60_000;
    return head;
  };
  const sharedAnswers = createSharedAnswers(() => now);
  await poll(world, { registry: { headManifest, sharedAnswers }, cluster: { now: () => now } });
  for (const job of world.jobs) await processTask(job, contextOf(), withPorts(world.ports, { registry: { sharedAnswers } }));
  assert.equal(world.requests.filter((request) => request === 'HEAD 1.3.0').length, 3, 'asked again by each');
});

test('a poll that finds nothing to do updates the status, without a job', async () => {
  const world = createWorld();
  setWorkload(world, { web: `${image}:1.3.0` });
  await poll(world);
  assert.deepEqual(world.jobs, []);
  assert.equal(readyOf(world, 'web')?.reason, 'UpToDate');
  assert.equal(world.statusOf('web').lastCheckTime, '2026-03-01T12:00:00Z');
});

test('a list of tags that was requested before a push was applied does not reset the status', async () => {
  const world = createWorld();
  const listTags = async () => {
    await processPush(pushOf(), contextOf(), withPorts(world.ports, { cluster: { now: () => startTime + 1_000 } }));
    return ['1.2.3'];
  };
  await poll(world, { registry: { listTags } });
  assert.deepEqual([world.images(), world.statusOf('web').latest?.tag], [[`${image}:1.3.0`], '1.3.0']);
  assert.deepEqual(
    world.jobs.map(({ source }) => source),
    ['TargetChange'],
    'what is then true is found out by a job of its own',
  );
});

test('the condition says which prereleases a range admits, whether a push or a poll reconciled the policy', async () => {
  const note = /; of prereleases, ">=1\.0\.0-0" admits only those of 1\.0\.0: .* prereleases: true$/;
  const world = createWorld();
  putMany(world, { web: { strategy: strategies.semver({ range: '>=1.0.0-0' }) } });
  await processPush(pushOf(), contextOf(), world.ports);
  assert.deepEqual(world.images(), [`${image}:1.3.0`]);
  assert.match(readyOf(world, 'web')?.message ?? '', note);
  await poll(world);
  assert.match(readyOf(world, 'web')?.message ?? '', note);
});

test('many policies share one list, and one request for the tag that they select', async () => {
  const world = createWorld();
  putMany(world, Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`web-${index}`, {}])));
  await poll(world);
  assert.deepEqual([world.requests, world.jobs.length], [['LIST shop/web', 'HEAD 1.3.0'], 30]);
  for (const job of world.jobs) await processTask(job, contextOf(), world.ports);
  assert.deepEqual(
    world.requests.filter((request) => !request.startsWith('PATCH')),
    ['LIST shop/web', 'HEAD 1.3.0'],
  );
  const failing = createWorld();
  putMany(failing, { a: {}, b: {} });
  await poll(failing, { registry: { headManifest: () => Promise.reject(new Error('500')) } });
  assert.deepEqual(
    failing.jobs.map(({ policy }) => policy.name),
    ['a', 'b'],
  );
});

test('many policies that follow a tag share one request', async () => {
  const world = createWorld();
  world.tags.set('latest', digestOf('d'));
  putMany(world, { a: latestSpec({ targets: [webDeployment] }), b: latestSpec({ targets: [webDeployment] }) });
  setWorkload(world, { web: `${image}:latest@${digestOf('c')}` });
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

test('policies with another interval are polled separately', async () => {
  const world = createWorld();
  putMany(world, { hourly: {}, often: { pollIntervalMs: 60_000 } });
  await poll(world);
  assert.deepEqual(
    world.jobs.map(({ policy }) => policy.name),
    ['hourly'],
  );
});

test('a repository that is no longer watched costs no request', async () => {
  const world = createWorld();
  world.policies.clear();
  await poll(world);
  assert.deepEqual([world.requests, world.jobs], [[], []]);
});

test('a problem that the user must fix stalls only the policy that has it', async () => {
  const world = createWorld();
  putMany(world, { builds: { strategy: lastMatching('build-.*') }, web: {} });
  await poll(world);
  assert.equal(readyOf(world, 'builds')?.reason, 'NoMatchingTag');
  assert.deepEqual(
    world.jobs.map(({ policy }) => policy.name),
    ['web'],
  );
  const denied = createWorld();
  await poll(denied, { registry: { listTags: () => Promise.reject(new PermanentError('RegistryDenied', '401')) } });
  assert.equal(readyOf(denied, 'web')?.reason, 'RegistryDenied');
});

test('one policy whose tag cannot be read does not hold up the others', async () => {
  const world = createWorld();
  putMany(world, { follows: latestSpec(), web: {} });
  const broken = new Error('500');
  await assert.rejects(poll(world, { registry: { headManifest: () => Promise.reject(broken) } }, contextOf({ failures: 2 })), broken);
  assert.deepEqual(
    world.jobs.map(({ policy }) => policy.name),
    ['web'],
  );
  assert.equal(readyOf(world, 'follows')?.reason, 'Retrying');
});

test('a temporary error of a poll is thrown, so that the poll is retried', async () => {
  const waitError = new WaitError('RegistryThrottled', new Date(startTime + 60_000), 'asked to wait');
  const world = createWorld();
  await assert.rejects(poll(world, { registry: { listTags: () => Promise.reject(waitError) } }), waitError);
  assert.deepEqual([world.jobs, readyOf(world, 'web')?.reason], [[], 'RegistryThrottled']);
});

test('a stopping process stops its poll before all policies are processed', async () => {
  const world = createWorld();
  putMany(world, { a: {}, b: {} });
  const stopping = new AbortController();
  const listTags = () => {
    stopping.abort(new Error('the process is stopping'));
    return Promise.reject(stopping.signal.reason as Error);
  };
  await assert.rejects(poll(world, { registry: { listTags } }, contextOf({ signal: stopping.signal, failures: 2 })), /stopping/);
  assert.deepEqual([readyOf(world, 'a')?.reason, readyOf(world, 'b')?.reason], ['Retrying', undefined]);
});

test('a deleted tag keeps what runs, causes one Event, and a condition until the registry has something newer', async () => {
  const world = createWorld();
  const goneOf = () => world.statusOf('web').conditions?.find(({ type }) => type === 'TagGone');
  setWorkload(world, { web: `${image}:1.3.0` });
  await poll(world);
  assert.equal(goneOf(), undefined);
  world.tags.delete('1.3.0');
  await poll(world);
  await poll(world);
  assert.deepEqual([world.jobs, world.images(), world.statusOf('web').latest?.tag], [[], [`${image}:1.3.0`], '1.2.3']);
  assert.deepEqual([readyOf(world, 'web')?.status, goneOf()?.status, goneOf()?.reason], ['True', 'True', 'TagGone']);
  assert.match(goneOf()?.message ?? '', /web runs registry\.example\.com\/shop\/web:1\.3\.0$/);
  assert.deepEqual(
    world.events.map(({ type, reason, message }) => [type, reason, message]),
    [['Warning', 'TagGone', goneOf()?.message]],
  );
  assert.equal(world.statusOf('web').targets?.[0]?.state, 'Kept');
  assert.match(world.statusOf('web').targets?.[0]?.message ?? '', /1\.3\.0 runs, which the registry does not hold any more/);

  await processPush(pushOf({ tag: '1.2.3' }), contextOf(), world.ports);
  assert.equal(goneOf()?.status, 'True', 'a look at one tag does not tell');
  world.tags.set('1.3.0', digestOf('b'));
  await poll(world);
  assert.equal(goneOf(), undefined);
});

test('a deleted tag is replaced where the policy may downgrade', async () => {
  const world = createWorld();
  putMany(world, { web: { allowDowngrade: true } });
  setWorkload(world, { web: `${image}:1.3.0` });
  world.tags.delete('1.3.0');
  await poll(world);
  assert.deepEqual(
    world.jobs.map(({ hint }) => hint),
    [{ tag: '1.2.3' }],
  );
});

test('a poll of a paused host is postponed, without a request or a report', async () => {
  const waitError = new WaitError('Retrying', new Date(startTime + 60_000), 'not now');
  const world = createWorld();
  const pollGate: PollGate = {
    enter() {
      throw waitError;
    },
  };
  await assert.rejects(poll(world, { poll: { gate: pollGate } }), waitError);
  assert.deepEqual([world.requests, world.jobs, world.statusOf('web')], [[], [], {}]);
});

test('the poll gate is informed only of failures of the registry', async () => {
  const heard: unknown[] = [];
  const pollGate: PollGate = { enter: () => ({ leave: (failure) => void heard.push(failure) }) };
  const broken = new Error('500');
  const listTags = () => Promise.reject(broken);
  await assert.rejects(poll(createWorld(), { poll: { gate: pollGate }, registry: { listTags } }), broken);
  const denied = new PermanentError('RegistryDenied', '401');
  await poll(createWorld(), { poll: { gate: pollGate }, registry: { listTags: () => Promise.reject(denied) } });
  const world = createWorld();
  setWorkload(world, { web: `${image}:1.3.0` });
  const away = new Error('the API server is away');
  await assert.rejects(poll(world, { poll: { gate: pollGate }, policies: { writeStatus: () => Promise.reject(away) } }), away);
  assert.deepEqual(heard, [broken, undefined, undefined]);
});
