import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ImagePolicy } from '../../../src/core/model/image-policy.ts';
import { policyJobId, schema, type PolicyJob, type ScanJob } from '../../../src/service/queue/jobs.ts';
import { processScan } from '../../../src/service/reconcile/process-scan.ts';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { policyOf, specOf } from '../../core/model/samples.ts';
import { contextOf, createWorld, image } from './world.ts';

const vulnerabilities = { harbor: true, trivyOperator: false, maxAgeMs: 1 };
const scanned = { registry: 'harbor.example.com', path: 'shop/web' };
const job: ScanJob = { schema, scanned, receiver: 'prod', receivedAt: '2026-03-01T12:00:00.000Z' };

async function jobsFor(watching: readonly ImagePolicy[], scan = job): Promise<PolicyJob[]> {
  const jobs: PolicyJob[] = [];
  const policies = { match: ({ path }: typeof scanned) => (path === scanned.path ? watching : []) };
  await processScan(
    scan,
    { signal: AbortSignal.timeout(60_000) },
    { policies, queues: { addPolicyJobs: async (added) => void jobs.push(...added) } },
  );
  return jobs;
}

test('a scan enqueues each policy that watches its repository and asks Harbor once', async () => {
  const asking = policyOf({ uid: 'asking', spec: specOf({ vulnerabilities }) });
  const others = [
    policyOf({ uid: 'none' }),
    policyOf({ uid: 'other source', spec: specOf({ vulnerabilities: { ...vulnerabilities, harbor: false } }) }),
    policyOf({ uid: 'suspended', spec: specOf({ vulnerabilities, suspended: true }) }),
    policyOf({ uid: 'invalid', spec: { problem: { reason: 'InvalidPolicy', message: 'no' } } }),
  ];
  const jobs = await jobsFor([asking, ...others]);
  const [only] = jobs;
  assert.deepEqual(
    jobs.map(({ policy }) => policy.uid),
    ['asking'],
  );
  assert.deepEqual([only?.source, only?.receiver, only?.hint, only?.eventId], ['Webhook', 'prod', undefined, undefined]);
  const [again] = await jobsFor([asking]);
  const [later] = await jobsFor([asking], { ...job, receivedAt: '2026-03-01T12:30:00.000Z' });
  const ids = [only, again, later].map((one) => one && policyJobId(one));
  assert.deepEqual([ids[0] === ids[1], ids[0] === ids[2]], [true, false]);
});

test('a scan of a repository that no policy watches enqueues no job', async () => {
  const asking = policyOf({ spec: specOf({ vulnerabilities }) });
  assert.deepEqual(await jobsFor([asking], { ...job, scanned: { ...scanned, path: 'shop/api' } }), []);
});

test('the job of a scan reconciles all tags of the policy, and names the receiver as its trigger', async () => {
  const world = createWorld();
  const policy = world.ports.policies.find('shop', 'web') ?? assert.fail();
  const [found = assert.fail()] = await jobsFor([{ ...policy, spec: specOf({ vulnerabilities }) }]);
  await processTask(found, contextOf(), world.ports);
  assert.deepEqual(world.images(), [`${image}:1.3.0`]);
  const { source, receiver } = world.ports.policies.find('shop', 'web')?.status.trigger ?? {};
  assert.deepEqual([source, receiver], ['Webhook', 'prod']);
});
