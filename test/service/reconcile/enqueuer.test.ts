import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PolicyJob, PushJob } from '../../../src/service/queue/jobs.ts';
import type { EnqueuerPorts } from '../../../src/service/reconcile/enqueue/enqueuer.ts';
import { createRecentPushes } from '../../../src/service/reconcile/recent-pushes.ts';
import { policyOf, webDeployment, workloadOf } from '../../core/model/samples.ts';
import { pushOf, startTime } from './world.ts';
import { policies, start } from './enqueuer-world.ts';

test('simultaneous jobs are added together, each once, and policies that need no reconcile get none', async (t) => {
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

test('pushes from just before a policy was delivered are matched again, each once, and kept while Redis is away', async (t) => {
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

test('a policy that waits gets a delayed job, in addition to its reconcile', async (t) => {
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

test('a policy that cannot be evaluated does not delay other policies', async (t) => {
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

test('policies that are slow to evaluate do not block the event loop, and their jobs are added to Redis one by one', async (t) => {
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

test('jobs that Redis did not accept are kept, together with jobs that are added later', async (t) => {
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

test('a policy that is considered during a write to Redis is not lost', async (t) => {
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

test('no job is added after the enqueuer was stopped', async (t) => {
  const { enqueuer, batches, pass } = start(t);
  for (const policy of policies(2)) enqueuer.consider(policy);
  enqueuer.stop();
  for (const policy of policies(3)) enqueuer.consider(policy);
  await pass(10_000);
  assert.deepEqual(batches, []);
});
