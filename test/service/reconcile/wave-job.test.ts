import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asSeenBy } from '../../../src/core/plan/consent.ts';
import type { ImagePolicy } from '../../../src/core/model/image-policy.ts';
import type { PolicyStatus } from '../../../src/core/model/policy-status.ts';
import type { Workload } from '../../../src/core/model/workload.ts';
import { isWaveJob, waveJob } from '../../../src/service/reconcile/enqueue/wave-job.ts';
import type { ClusterView } from '../../../src/service/reconcile/ports.ts';
import { digestOf, policyOf, workloadOf } from '../../core/model/samples.ts';
import {
  afterChange,
  changedWorkload,
  entryOf,
  image,
  rolledOut,
  viewOf,
  watchedSpec,
  withLastUpdate,
} from '../../core/rollout/rollout-samples.ts';

const targets = ['web', 'api'].map((name) => ({ kind: 'Deployment', namespace: 'shop', name }));
const waves = { maxParallel: 1, pauseMs: 30_000, maxFailures: 1 };
const spec = watchedSpec('Rollback', { targets, rollout: { timeoutMs: 600_000, onFailure: 'Rollback', waves } });
const api = workloadOf({ api: `${image}:1.2.3` }, { name: 'api', uid: 'uid-of-api' });
const progressing = withLastUpdate(changedWorkload());
const out = withLastUpdate(changedWorkload(rolledOut));

const waitingFor = (reason: string, until = '2026-03-01T12:10:00Z') => ({ tag: '1.3.0', digest: digestOf('b'), until, reason });
const policyWith = (status: PolicyStatus, policy: Partial<ImagePolicy> = {}) => policyOf({ spec, status, ...policy });
const jobOf = (policy: ImagePolicy, web: Workload, seconds = 60, view: Partial<ClusterView> = {}) =>
  waveJob(
    policy,
    asSeenBy(policy, {
      ...viewOf(web, api),
      targetState: () => ({ since: 0 }),
      repeatsPerHour: 5,
      now: () => afterChange(seconds).getTime(),
      ...view,
    }),
  );
const pending = policyWith({ waiting: waitingFor('WavePending') });

test('the next wave is enqueued when the last wave is complete, with the pending image', () => {
  const job = jobOf(pending, out);
  assert.deepEqual([job?.source, job?.hint], ['TargetChange', { tag: '1.3.0', digest: digestOf('b') }]);
  assert.ok(job !== undefined && isWaveJob(job));
  assert.equal(jobOf(pending, out, 61)?.cause, job.cause, 'the same state makes the same job');
});

test('while a wave rolls out no job is enqueued, however long it takes', () => {
  assert.equal(jobOf(pending, progressing), undefined);
  assert.equal(jobOf(pending, progressing, 900), undefined);
});

test('the beginning of a pause between waves is written to the status once', () => {
  assert.match(jobOf(pending, out, 10)?.cause ?? '', /:WavePause:2026-03-01T12:00:30Z$/);
  assert.equal(jobOf(policyWith({ waiting: waitingFor('WavePause', '2026-03-01T12:00:30Z') }), out, 10), undefined);
});

test('a wait for a wave that has become pointless is ended by a job', () => {
  const history = [entryOf({ result: 'Failed', uid: progressing.uid })];
  assert.match(jobOf(policyWith({ waiting: waitingFor('WavePending'), history }), progressing)?.cause ?? '', /:none:$/);
});

const without: [name: string, policy: ImagePolicy, view?: Partial<ClusterView>][] = [
  ['waits for something else', policyWith({ waiting: waitingFor('Window') })],
  ['waits for nothing', policyWith({})],
  ['is suspended', policyWith({ waiting: waitingFor('WavePending') }, { spec: { ...spec, suspended: true } })],
  ['has targets that are not known yet', pending, { targetState: () => 'starting' }],
];
for (const [name, policy, view] of without)
  test(`no wave is enqueued for a policy that ${name}`, () => assert.equal(jobOf(policy, out, 60, view), undefined));
