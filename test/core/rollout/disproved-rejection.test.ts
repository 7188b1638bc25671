/** When an image that failed is no longer rejected, because it rolled out. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HistoryEntry } from '../../../src/core/model/policy-status.ts';
import { currentRollouts } from '../../../src/core/rollout/current-rollouts.ts';
import { evaluateRollout } from '../../../src/core/rollout/evaluate-rollout.ts';
import { recordFindings } from '../../../src/core/rollout/record-results.ts';
import { digestOf } from '../model/samples.ts';
import { afterChange, changedWorkload, entryOf, imageAtFault, rolledOut, rolloutOwnerOf, snapshotFrom } from './rollout-samples.ts';

/** How many images are rejected after the change rolled out on a workload. */
function rejectedAfter(entry: Partial<HistoryEntry>, release?: string): number | undefined {
  const rejected = [{ digest: digestOf('b'), reason: 'CrashLoop', at: '2026-03-01T12:00:30Z' }];
  const owner = rolloutOwnerOf({ history: [entryOf(entry)], rejected }, 'Rollback');
  const policy = { ...owner, ...(release !== undefined && { actions: { release } }) };
  const snapshot = snapshotFrom(policy, [changedWorkload(rolledOut)]);
  const findings = currentRollouts(policy, snapshot).map((rollout) => ({
    rollout,
    evaluation: evaluateRollout(rollout.workload, { since: rollout.since, timeoutMs: 600_000 }, afterChange(60), imageAtFault),
    digests: new Map<string, string>(),
  }));
  return recordFindings(policy, findings, snapshot).rejected?.length;
}

for (const [what, entry, release, count] of [
  ['stays rejected when it rolls out on another workload, changed before', {}, undefined, 1],
  ['stays rejected when that workload was changed by a clock that is ahead', { at: '2026-03-01T12:00:31Z' }, undefined, 1],
  ['is no longer rejected when somebody released it and it rolled out', {}, '2026-03-01T12:00:31Z', 0],
  ['stays rejected when the release was of an earlier failure', {}, '2026-03-01T12:00:29Z', 1],
  ['is no longer rejected when it rolls out where it had failed', { result: 'Failed' }, undefined, 0],
] as const satisfies readonly (readonly [string, Partial<HistoryEntry>, string | undefined, number])[])
  test(`an image that failed ${what}`, () => assert.equal(rejectedAfter(entry, release), count));
