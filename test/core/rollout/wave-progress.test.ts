import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ImagePolicy } from '../../../src/core/model/image-policy.ts';
import type { LastUpdate } from '../../../src/core/model/last-update.ts';
import type { PolicyStatus } from '../../../src/core/model/policy-status.ts';
import { toSeconds } from '../../../src/core/model/text.ts';
import type { Workload } from '../../../src/core/model/workload.ts';
import { failedWorkloads, waveProgress } from '../../../src/core/rollout/wave-progress.ts';
import { digestOf, policyOf } from '../model/samples.ts';
import {
  afterChange,
  changedAt,
  changedWorkload,
  entryOf,
  image,
  rolledOut,
  snapshotFrom,
  watchedSpec,
  withLastUpdate,
} from './rollout-samples.ts';

const waves = { maxParallel: 1, pauseMs: 600_000, maxFailures: 1 };
const candidate = { tag: '1.3.0', digest: digestOf('b') };
const now = afterChange(60);
const key = 'Deployment/shop/web';
const rollouts = { progressing: 0, done: 1, failed: 0, rolledBack: 0 };

function policyWith(status: PolicyStatus, policy: Partial<ImagePolicy> = {}): ImagePolicy {
  return policyOf({ spec: watchedSpec('Rollback', { rollout: { timeoutMs: 600_000, onFailure: 'Rollback', waves } }), status, ...policy });
}

/** The progress of Deployment shop/web. */
function progressOf(workload: Workload, status: PolicyStatus = {}, policy: Partial<ImagePolicy> = {}): string {
  const owner = policyWith(status, policy);
  const found = waveProgress(owner, candidate, snapshotFrom(owner, [workload], now))?.get(key);
  if (found === undefined) return 'none';
  if (found.state === 'Failed') return found.state;
  return `${found.state} ${toSeconds(found.state === 'Done' ? found.at : found.deadline)}`;
}

const rolledBack = (update: Partial<LastUpdate> = {}) =>
  withLastUpdate(changedWorkload(rolledOut, {}, '1.2.3'), {
    trigger: 'Rollback',
    from: `${image}:1.3.0`,
    to: `${image}:1.2.3`,
    failed: digestOf('b'),
    ...update,
  });
const out = withLastUpdate(changedWorkload(rolledOut));
const recorded = (result: 'Applied' | 'RolledOut' | 'Failed') => ({ history: [entryOf({ result, uid: out.uid })] });
const released = { actions: { release: toSeconds(afterChange(30)) } };

const rows: [name: string, progress: string, expected: string][] = [
  ['it rolls out', progressOf(withLastUpdate(changedWorkload())), 'Progressing 2026-03-01T12:10:00Z'],
  ['it has rolled out, and the history does not hold it', progressOf(out), `Done ${changedAt}`],
  ['it has rolled out, and the status does not say so yet', progressOf(out, recorded('Applied')), 'Progressing 2026-03-01T12:10:00Z'],
  [
    'it has rolled out, and the status says when the last one had',
    progressOf(out, { ...recorded('RolledOut'), rollouts: { ...rollouts, lastDoneAt: '2026-03-01T12:00:40Z' } }),
    'Done 2026-03-01T12:00:40Z',
  ],
  [
    'it has rolled out, and the status counts it as one in progress',
    progressOf(out, { rollouts: { ...rollouts, progressing: 1 } }),
    'Progressing 2026-03-01T12:10:00Z',
  ],
  ['its rollout failed', progressOf(withLastUpdate(changedWorkload()), recorded('Failed')), 'Failed'],
  ['it was rolled back', progressOf(rolledBack()), 'Failed'],
  ['it was rolled back, and released', progressOf(rolledBack(), {}, released), 'none'],
  ['it was rolled back by another policy', progressOf(rolledBack({ policy: 'another' })), 'none'],
  ['another digest of the tag was rolled back', progressOf(rolledBack({ failed: digestOf('c') })), 'none'],
  ['a user rolled it back', progressOf(withLastUpdate(changedWorkload(rolledOut, {}, '1.2.3'), { trigger: 'Rollback' })), 'none'],
  ['it runs an older image', progressOf(withLastUpdate(changedWorkload(rolledOut, {}, '1.2.9'), { digest: digestOf('c') })), 'none'],
];

for (const [name, progress, expected] of rows)
  test(`the progress of a workload in its wave is ${expected} where ${name}`, () => assert.equal(progress, expected));

test('a workload that does not roll out is done with its wave when it was changed', () => {
  const { rollout: _, ...job } = out;
  assert.equal(progressOf(job, { history: [entryOf({ uid: out.uid })] }), `Done ${changedAt}`);
});

test('a policy without waves has no wave progress', () => {
  const policy = policyOf({ spec: watchedSpec() });
  assert.equal(waveProgress(policy, candidate, snapshotFrom(policy, [out], now)), undefined);
});

test('failures of a wave are counted from the history and from the workloads, each workload once', () => {
  const failedOn = (workload: Workload, status: PolicyStatus) => {
    const policy = policyWith(status);
    return [...failedWorkloads(policy, digestOf('b'), snapshotFrom(policy, [workload], now))];
  };
  assert.deepEqual(failedOn(rolledBack(), recorded('Failed')), [key]);
  assert.deepEqual(failedOn(out, { history: [entryOf({ result: 'RolledBack', uid: out.uid })] }), [key]);
  assert.deepEqual(failedOn(out, recorded('RolledOut')), []);
});
