/** Two replicas, two watches: the one that takes a job may be behind the one that made it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asSeenBy } from '../../../src/core/plan/consent.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import type { PolicyJob } from '../../../src/service/queue/jobs.ts';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { completingJob } from '../../../src/service/reconcile/enqueue/completing-job.ts';
import { changedTargetsJob } from '../../../src/service/reconcile/enqueue/needs-reconcile.ts';
import { policyOf, specOf, stalledStatus, workloadOf } from '../../core/model/samples.ts';
import { contextOf, createWorld, image, startTime, type World, neededReconcile, withPorts } from './world.ts';

const now = new Date(startTime);

/** The job that a replica makes which sees all of the world. */
function jobOf(world: World): PolicyJob {
  const job = neededReconcile(policyIn(world), world.ports.cluster, now);
  assert.ok(job);
  return job;
}

function policyIn(world: World) {
  const policy = world.policies.get('shop/web');
  assert.ok(policy);
  return policy;
}

test('a replica whose cache lacks the policy of a job reads it', async () => {
  const world = createWorld();
  await processTask(jobOf(world), contextOf(), withPorts(world.ports, { policies: { find: () => undefined } }));
  assert.deepEqual(world.requests, ['GET policy web', 'LIST shop/web', 'HEAD 1.3.0', 'PATCH web']);
  assert.equal(world.statusOf('web').observedGeneration, 1);
});

test('a replica whose cache has an older generation than the job reads the newer one', async () => {
  const world = createWorld();
  const older = policyOf({ spec: specOf({ targets: [] }) });
  world.put(policyOf({ generation: 2 }));
  await processTask(jobOf(world), contextOf(), withPorts(world.ports, { policies: { find: () => older } }));
  assert.equal(world.requests[0], 'GET policy web');
  assert.deepEqual(world.images(), [`${image}:1.3.0`]);
  assert.equal(world.statusOf('web').observedGeneration, 2);
});

test('a job that completes a report reads the policy, whose status the cache may not show', async () => {
  const world = createWorld();
  await processTask(completingJob(policyIn(world), now), contextOf(), world.ports);
  assert.equal(world.requests[0], 'GET policy web');
});

test('an update of the policy that reaches the cache during the job counts more than what was read', async () => {
  const world = createWorld();
  const job = jobOf(world);
  const read = policyIn(world);
  const changed = policyOf({ generation: 2, spec: specOf({ strategy: strategies.semver({ range: '1.2.x' }) }) });
  const find = () => (world.requests.includes('LIST shop/web') ? changed : undefined);
  const catchingUp = withPorts(world.ports, { policies: { find, read: () => Promise.resolve(read) } });
  await processTask(job, contextOf(), catchingUp);
  assert.deepEqual(world.images(), [`${image}:1.2.3`]);
});

test('a policy that is deleted while its tags are listed changes nothing', async () => {
  const world = createWorld();
  const { listTags } = world.ports.registry;
  const deleting: typeof listTags = (...args) => {
    world.policies.clear();
    return listTags(...args);
  };
  await processTask(jobOf(world), contextOf(), withPorts(world.ports, { registry: { listTags: deleting } }));
  assert.deepEqual(world.images(), [`${image}:1.2.3`]);
});

test('a job of a deleted policy ends without a request to the registry', async () => {
  const world = createWorld();
  const job = jobOf(world);
  world.policies.clear();
  await processTask(job, contextOf(), world.ports);
  assert.deepEqual(world.requests, ['GET policy web']);
});

test('a replica whose cache lacks the target reads it', async () => {
  const world = createWorld();
  const conditions = [{ type: 'Stalled', status: 'True', reason: 'TargetNotFound', message: '', lastTransitionTime: '' }] as const;
  world.put(policyOf({ status: { observedGeneration: 1, conditions } }));
  const job = jobOf(world);
  assert.equal(job.source, 'TargetChange');
  await processTask(job, contextOf(), withPorts(world.ports, { cluster: { findWorkload: () => undefined } }));
  assert.equal(world.requests[0], 'GET web');
  assert.deepEqual(world.images(), [`${image}:1.3.0`]);
});

test('a replica whose cache is current reads nothing from the API server', async () => {
  const world = createWorld();
  await processTask(jobOf(world), contextOf(), world.ports);
  assert.equal(world.requests[0], 'LIST shop/web');
});

test('a failure to read the current policy is recorded, and retried', async () => {
  const away = new Error('ECONNREFUSED');
  const world = createWorld({ policies: { find: () => undefined, read: () => Promise.reject(away) } });
  await assert.rejects(processTask({ ...jobOf(world), eventId: 'push-1' }, contextOf(), world.ports), away);
  assert.equal(world.results.get('push-1 shop/web')?.kind, 'retrying');
});

test('a replica that has not listed the Secrets yet waits for its own watch', async () => {
  const world = createWorld();
  world.put(policyOf({ status: stalledStatus('RegistryDenied') }));
  const job = neededReconcile(policyIn(world), world.ports.cluster, now, () => 'new');
  assert.equal(job?.source, 'SecretChange');
  let looks = 0;
  const secretVersions = () => (looks++ < 3 ? 'old' : 'new');
  await processTask(job, contextOf(), withPorts(world.ports, { policies: { secretVersions } }));
  assert.ok(looks > 3);
  assert.deepEqual(world.images(), [`${image}:1.3.0`]);
});

test('a replica whose watch still shows the former image does not take it for a manual change', async () => {
  const world = createWorld();
  await processTask(jobOf(world), contextOf(), world.ports);
  assert.deepEqual(world.images(), [`${image}:1.3.0`]);
  const older = workloadOf({ web: { image: `${image}:1.2.3`, imageOwner: 'kubectl' } });
  const behind = withPorts(world.ports, { cluster: { findWorkload: () => older } });
  const job = changedTargetsJob(policyIn(world), asSeenBy(policyIn(world), behind.cluster), { now, withNew: false });
  assert.ok(job);
  world.requests.length = 0;
  await processTask(job, contextOf(), behind);
  assert.equal(world.requests[0], 'GET web');
  const { conditions = [], running } = world.statusOf('web');
  assert.deepEqual(
    conditions.filter(({ type }) => type === 'Held'),
    [],
  );
  assert.equal(running, '1.3.0');
});
