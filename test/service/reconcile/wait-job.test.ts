import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ImagePolicy } from '../../../src/core/model/image-policy.ts';
import { policyJobId } from '../../../src/service/queue/jobs.ts';
import { waitJob } from '../../../src/service/reconcile/enqueue/wait-job.ts';
import { digestOf, policyOf, specOf } from '../../core/model/samples.ts';

const until = '2026-03-01T12:30:00Z';
const pendingCandidate = { tag: '1.4.0', digest: digestOf('a'), until, reason: 'MinAge' };
const policyWithPending = (policy: Partial<ImagePolicy> = {}, other: object = {}) =>
  policyOf({ status: { waiting: { ...pendingCandidate, ...other } }, ...policy });

test('the delayed job of a wait runs when the wait is over, and belongs to that time', () => {
  assert.deepEqual(waitJob(policyWithPending()), {
    schema: 1,
    policy: { namespace: 'shop', name: 'web', uid: policyOf().uid },
    generation: 1,
    source: 'WaitOver',
    cause: 'wait:2026-03-01T12:30:00Z',
    receivedAt: '2026-03-01T12:30:00.000Z',
    wait: { until, at: '2026-03-01T12:30:00.000Z' },
  });
});

test('if the waiting job itself is retried at that time, the delayed job runs a minute later', () => {
  assert.equal(waitJob(policyWithPending({}, { reason: 'RegistryThrottled' }))?.wait?.at, '2026-03-01T12:31:00.000Z');
});

test('the same wait is the same job, and another wait is another job', () => {
  const id = (policy: ImagePolicy) => policyJobId(waitJob(policy) ?? { policy: policyOf(), cause: '' });
  assert.equal(id(policyWithPending({ generation: 2 })), id(policyWithPending()));
  assert.notEqual(id(policyWithPending({}, { until: '2026-03-01T12:31:00Z' })), id(policyWithPending()));
});

const policiesWithoutJob: [name: string, policy: ImagePolicy][] = [
  ['nothing waits', policyOf()],
  ['suspended', policyWithPending({ spec: specOf({ suspended: true }) })],
  ['not understood', policyWithPending({ spec: { problem: { reason: 'InvalidPolicy', message: '' } } })],
  ['a time that is none', policyWithPending({}, { until: 'soon' })],
];
for (const [name, policy] of policiesWithoutJob)
  test(`a policy has no delayed job in the case "${name}"`, () => assert.equal(waitJob(policy), undefined));
