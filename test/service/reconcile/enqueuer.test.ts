import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { PolicyJob, PushJob } from '../../../src/service/queue/jobs.ts';
import { createEnqueuer, type EnqueuerPorts } from '../../../src/service/reconcile/enqueue/enqueuer.ts';
import { createRecentPushes } from '../../../src/service/reconcile/recent-pushes.ts';
import { policyOf, webDeployment, workloadOf } from '../../core/model/samples.ts';
import { pushOf, startTime } from './world.ts';

interface Overrides {
  readonly policies?: Partial<EnqueuerPorts['policies']>;
  readonly cluster?: Partial<EnqueuerPorts['cluster']>;
  readonly queues?: Partial<EnqueuerPorts['queues']>;
  readonly untilPatched?: EnqueuerPorts['untilPatched'];
}

function start(t: TestContext, { policies, cluster, queues, untilPatched }: Overrides = {}) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const batches: string[][] = [];
  const errors: unknown[] = [];
  const enqueuer = createEnqueuer({
    policies: { all: () => [], find: () => undefined, secretVersions: () => '', recentPushes: createRecentPushes(() => 0), ...policies },
    cluster: {
      findWorkload: () => undefined,
      listWorkloads: () => [],
      targetState: () => ({ since: 0 }),
      aliases: new Map(),
      crossNamespace: 'consent',
      namespaceConsent: () => null,
      repeatsPerHour: 5,
      now: () => 0,
      ...cluster,
    },
    queues: {
      addPolicyJobs: async (jobs) => void batches.push(jobs.map((job) => job.policy.name)),
      repeatPushes: async () => undefined,
      ...queues,
    },
    untilPatched,
    onError: (error) => errors.push(error),
  });
  t.after(() => enqueuer.stop());
  const pass = async (milliseconds: number) => {
    t.mock.timers.tick(milliseconds);
    for (let i = 0; i < 100; i++) await turn();
  };
  return { enqueuer, batches, errors, pass };
}

const policies = (count: number) => Array.from({ length: count }, (_, index) => policyOf({ name: `p${index}` }));

test('jobs of the same moment are added together, each once, and policies without a need get none', async (t) => {
  // However busy the machine is, one slice is long enough.
  t.mock.method(performance, 'now', () => 0);
  const { enqueuer, batches, pass } = start(t);
  for (const policy of [...policies(2), ...policies(3), policyOf({ name: 'content', status: { observedGeneration: 1 } })])
    enqueuer.consider(policy);
  assert.deepEqual(batches, []);
  await pass(0);
  assert.deepEqual(batches, [['p0', 'p1', 'p2']]);
  await pass(10_000);
  assert.equal(batches.length, 1);
});

test('while images are patched, what changes is checked once, when they are; a pass over all policies goes on', async (t) => {
  // Each policy is a slice of its own.
  let time = 0;
  t.mock.method(performance, 'now', () => (time += 10));
  let patched = Promise.withResolvers<void>();
  const { enqueuer, batches, pass } = start(t, { policies: { all: () => policies(3) }, untilPatched: () => patched.promise });
  const [policy = policyOf()] = policies(1);
  enqueuer.consider(policy);
  await pass(0);
  enqueuer.consider(policy);
  await pass(10_000);
  assert.deepEqual(batches, []);
  patched.resolve();
  await pass(0);
  assert.deepEqual(batches, [['p0']]);
  enqueuer.resync();
  await pass(0);
  patched = Promise.withResolvers();
  for (let slices = 0; slices < 3; slices++) await pass(0);
  assert.deepEqual(batches.slice(1), [['p0'], ['p1'], ['p2']]);
});

test('pushes that were matched before a policy was delivered are matched again, each once, and kept while Redis is away', async (t) => {
  const repeated: string[] = [];
  let away = true;
  const repeatPushes = async (pushes: readonly PushJob[]) => {
    if (away) throw new Error('Redis is away');
    repeated.push(...pushes.map(({ id }) => id));
  };
  const recentPushes = createRecentPushes(() => startTime);
  const { enqueuer, errors, pass } = start(t, { policies: { recentPushes }, queues: { repeatPushes } });
  recentPushes.remember(pushOf());
  const status = { observedGeneration: 2 };
  const policy = policyOf({ generation: 2, createdAt: new Date(startTime - 5_000).toISOString(), status });
  enqueuer.onPolicy({ type: 'updated', object: policy, previous: policy });
  enqueuer.onPolicy({ type: 'deleted', object: policy });
  await pass(1_000);
  assert.deepEqual([repeated, errors], [[], []]);
  enqueuer.onPolicy({ type: 'updated', object: policy, previous: policyOf({ status }) });
  enqueuer.onPolicy({ type: 'added', object: { ...policy, uid: 'anew' } });
  await pass(1_000);
  away = false;
  await pass(1_000);
  assert.deepEqual([repeated, errors.length], [['push-1'], 1]);
});

test('a wait of a policy is a delayed job, in addition to its reconcile', async (t) => {
  const jobs: PolicyJob[] = [];
  const { enqueuer, pass } = start(t, { queues: { addPolicyJobs: async (added) => void jobs.push(...added) } });
  const waiting = { tag: '1.4.0', until: '2026-03-01T12:30:00Z', reason: 'MinAge' };
  enqueuer.consider(policyOf({ generation: 2, status: { observedGeneration: 1, waiting } }));
  await pass(0);
  assert.deepEqual(
    jobs.map(({ cause }) => cause),
    ['generation:2', 'wait:2026-03-01T12:30:00Z'],
  );
});

test('a resync of many policies is added in parts', async (t) => {
  const { enqueuer, batches, pass } = start(t, { policies: { all: () => policies(1_200) } });
  enqueuer.resync();
  while (new Set(batches.flat()).size < 1_200) await pass(0);
  assert.equal(batches.flat().length, 1_200);
  assert.ok(batches.every(({ length }) => length <= 500));
});

test('a resync reads each policy as it is when its turn comes, and another one that is requested meanwhile begins anew', async (t) => {
  const stored = new Map(policies(3).map((policy) => [policy.name, policy]));
  // Each policy is a slice of its own.
  let time = 0;
  t.mock.method(performance, 'now', () => (time += 10));
  const { enqueuer, batches, pass } = start(t, { policies: { all: () => stored.values() } });
  enqueuer.resync();
  await pass(0);
  stored.delete('p1');
  stored.set('p3', policyOf({ name: 'p3' }));
  enqueuer.resync();
  enqueuer.resync();
  for (let turns = 0; turns < 20; turns++) await pass(0);
  assert.deepEqual(batches, [['p0'], ['p2'], ['p3'], ['p0'], ['p2'], ['p3']]);
});

test('a policy that cannot be evaluated does not delay the others', async (t) => {
  const targetState: EnqueuerPorts['cluster']['targetState'] = (_, { namespace }) => {
    if (namespace === 'odd') throw new Error('odd');
    return { since: 0 };
  };
  // However busy the machine is, one slice is long enough.
  t.mock.method(performance, 'now', () => 0);
  const { enqueuer, batches, errors, pass } = start(t, { cluster: { targetState } });
  enqueuer.consider(policyOf({ namespace: 'odd', status: { observedGeneration: 1 } }));
  for (const policy of policies(2)) enqueuer.consider(policy);
  await pass(0);
  assert.deepEqual([batches, errors.length], [[['p0', 'p1']], 1]);
});

test('policies that are slow to evaluate do not block the event loop, and results are sent to Redis meanwhile', async (t) => {
  const now = () => {
    const end = performance.now() + 15;
    while (performance.now() < end);
    return 0;
  };
  const { enqueuer, batches, pass } = start(t, { cluster: { now } });
  for (const policy of policies(3)) enqueuer.consider(policy);
  for (const looks of [1, 2, 3]) {
    await pass(0);
    assert.equal(batches.length, looks);
  }
  assert.deepEqual(batches, [['p0'], ['p1'], ['p2']]);
});

test('jobs that Redis did not accept are kept, together with those that arrive meanwhile', async (t) => {
  let away = true;
  const taken: string[] = [];
  const addPolicyJobs = async (jobs: readonly PolicyJob[]) => {
    if (away) throw new Error('Redis is away');
    taken.push(...jobs.map((job) => job.policy.name));
  };
  const { enqueuer, errors, pass } = start(t, { queues: { addPolicyJobs } });
  const [first = policyOf(), second = policyOf()] = policies(2);
  enqueuer.consider(first);
  await pass(0);
  assert.equal(errors.length, 1);
  enqueuer.consider(second);
  await pass(1_000);
  assert.equal(errors.length, 2);
  away = false;
  await pass(1_000);
  assert.deepEqual(taken, ['p0', 'p1']);
});

test('a request that arrives during a write to Redis is not lost', async (t) => {
  const stored = Promise.withResolvers<void>();
  const batches: string[][] = [];
  const addPolicyJobs = async (jobs: readonly PolicyJob[]) => {
    batches.push(jobs.map((job) => job.policy.name));
    if (batches.length === 1) await stored.promise;
  };
  const { enqueuer, pass } = start(t, { queues: { addPolicyJobs } });
  const [first = policyOf(), second = policyOf()] = policies(2);
  enqueuer.consider(first);
  await pass(0);
  enqueuer.consider(second);
  await pass(0);
  stored.resolve();
  await pass(0);
  await pass(0);
  assert.deepEqual(batches, [['p0'], ['p1']]);
});

test('a new workload is reconciled again for a minute when its policy selects another image', async (t) => {
  const jobs: PolicyJob[] = [];
  let now = 0;
  const workload = workloadOf({ web: 'registry.example.com/shop/web:1.2.3' }, { uid: 'w' });
  const targets = [
    { ...webDeployment, uid: 'w', container: 'web', image: 'registry.example.com/shop/web:1.2.3', state: 'UpToDate' as const },
  ];
  const selecting = (tag: string) =>
    policyOf({ status: { observedGeneration: 1, latest: { tag, selectedAt: '2026-01-01T00:00:00Z' }, targets } });
  let policy = selecting('1.2.3');
  const { enqueuer, pass } = start(t, {
    queues: { addPolicyJobs: async (added) => void jobs.push(...added) },
    policies: { find: () => policy },
    cluster: { findWorkload: () => workload, now: () => now },
  });
  enqueuer.considerNewTarget(policy, 'w');
  await pass(100);
  assert.equal(jobs.length, 0, 'it runs what is selected');
  // The status of a push that was under way when the workload came.
  policy = selecting('1.3.0');
  enqueuer.consider(policy);
  await pass(0);
  assert.deepEqual(
    jobs.map(({ source, hint }) => [source, hint?.tag]),
    [['TargetChange', '1.3.0']],
  );
  enqueuer.consider(policy);
  await pass(0);
  assert.equal(jobs.length, 1, 'once for each image');
  now = 60_000;
  policy = selecting('1.4.0');
  enqueuer.consider(policy);
  await pass(0);
  assert.equal(jobs.length, 1, 'later, a change by hand would be undone');
});

test('a new workload is reconciled with the current policy', async (t) => {
  const jobs: PolicyJob[] = [];
  const workload = workloadOf({ web: 'registry.example.com/shop/web:1.2.3' }, { uid: 'w' });
  const selecting = (tag: string) => policyOf({ status: { observedGeneration: 1, latest: { tag, selectedAt: '2026-01-01T00:00:00Z' } } });
  const { enqueuer, pass } = start(t, {
    queues: { addPolicyJobs: async (added) => void jobs.push(...added) },
    policies: { find: () => selecting('1.3.0') },
    cluster: { findWorkload: () => workload },
  });
  enqueuer.considerNewTarget(selecting('1.2.3'), 'w');
  await pass(100);
  assert.deepEqual(
    jobs.map(({ hint }) => hint?.tag),
    ['1.3.0'],
  );
});

test('a policy that changes all the time and takes long does not stop the pass over all policies', async (t) => {
  let clock = 0;
  t.mock.method(performance, 'now', () => clock);
  const busy = policyOf({ namespace: 'tenant', name: 'busy', status: { observedGeneration: 1 } });
  const { enqueuer, batches, pass } = start(t, {
    policies: { all: () => policies(3) },
    cluster: {
      targetState(_target, { namespace }) {
        if (namespace !== busy.namespace) return { since: 0 };
        // Longer than a slice, and changed again meanwhile, as long as another one waits.
        clock += 1_000;
        if (batches.length < 3) enqueuer.consider(busy);
        return { since: 0 };
      },
    },
  });
  enqueuer.consider(busy);
  enqueuer.resync();
  for (let turns = 0; turns < 4; turns++) await pass(0);
  assert.deepEqual(batches.flat(), ['p0', 'p1', 'p2']);
});

test('nothing is added after the stop', async (t) => {
  const { enqueuer, batches, pass } = start(t);
  for (const policy of policies(2)) enqueuer.consider(policy);
  enqueuer.stop();
  for (const policy of policies(3)) enqueuer.consider(policy);
  await pass(10_000);
  assert.deepEqual(batches, []);
});
