/** Which BaseImagePolicies a push enqueues, and as what. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOnPush } from '../../../src/bases/policies/on-push.ts';
import { reportJob } from '../../../src/bases/rebuild-jobs.ts';
import type { BaseImagePolicy } from '../../../src/core/model/base-policy.ts';
import type { PushEvent } from '../../../src/core/model/push-event.ts';
import type { BaseJob } from '../../../src/service/queue/jobs.ts';

const now = Date.parse('2026-03-01T12:00:01.500Z');
const repository = { registry: 'r.example.com', path: 'base/java' };
const digest = `sha256:${'a'.repeat(64)}`;
const push = {
  id: 'p1',
  receiver: 'prod',
  provider: 'harbor',
  repository,
  tag: '21',
  digest,
  receivedAt: '2026-03-01T12:00:00Z',
} as PushEvent;

const policyOf = (name: string, isSuspended = false) =>
  ({
    namespace: 'shop',
    name,
    uid: `uid-${name}`,
    generation: 3,
    spec: { base: { repository, suspended: isSuspended } },
  }) as unknown as BaseImagePolicy;

async function jobsOf(policies: { readonly watching: readonly BaseImagePolicy[]; readonly running: readonly BaseImagePolicy[] }) {
  const jobs: BaseJob[] = [];
  const onPush = createOnPush({
    all: () => [...policies.watching, ...policies.running],
    match: () => policies.watching,
    // A policy that watches a repository would be asked in vain.
    restartsFor: () => true,
    addBaseJobs: (added) => Promise.resolve(void jobs.push(...added)),
    now: () => now,
  });
  return { keys: await onPush(push), jobs };
}

test('a push reconciles policies that watch the repository as their base, and policies that restart workloads with its image', async () => {
  const { keys, jobs } = await jobsOf({ watching: [policyOf('java')], running: [policyOf('apps')] });
  assert.deepEqual(keys, ['shop/bipol:java']);
  const common = { schema: 1, generation: 3, receivedAt: '2026-03-01T12:00:01.500Z' };
  const hint = { repository, tag: '21', digest };
  assert.deepEqual(jobs, [
    { ...common, policy: { namespace: 'shop', name: 'java', uid: 'uid-java' }, source: 'Webhook', cause: 'push:p1', eventId: 'p1', hint },
    {
      ...common,
      policy: { namespace: 'shop', name: 'apps', uid: 'uid-apps' },
      source: 'TargetChange',
      cause: 'image:p1',
      pushed: repository,
      hint,
    },
  ]);
});

test('a suspended policy is not reconciled for a push, and is not among those that the push is recorded for', async () => {
  const { keys, jobs } = await jobsOf({ watching: [policyOf('java', true)], running: [policyOf('apps', true)] });
  assert.deepEqual([keys, jobs], [[], []]);
});

test('the results of rebuilds that are recorded within five seconds are reported by one job', () => {
  const at = (ms: number) => reportJob(policyOf('java'), now + ms);
  assert.equal(at(0).notBefore, '2026-03-01T12:00:05.000Z');
  assert.equal(at(3_000).cause, at(0).cause);
  assert.notEqual(at(4_000).cause, at(0).cause);
});
