/** How long a rollout has taken is measured by the clock of the API server, whatever that of this process says. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Workload } from '../../../src/core/model/workload.ts';
import type { Ports } from '../../../src/service/reconcile/ports.ts';
import type { PodState } from '../../../src/core/rollout/evaluate-pods.ts';
import { changedWorkload, runningPod, waitingPod } from '../../core/rollout/rollout-samples.ts';
import { changedWorld, changeTime, historyLines, reconcile } from './changed-world.ts';

/** The clock of this process, ahead of that of the API server by `aheadMs`, and what it finds `afterMs` after the change. */
const clocks: [name: string, given: { aheadMs: number; afterMs: number; pod: PodState }, expected: string][] = [
  ['is ahead by half an hour: the rollout goes on', { aheadMs: 1_800_000, afterMs: 60_000, pod: runningPod(changeTime) }, 'Applied'],
  ['is ahead by a minute: a failing pull is tolerated', { aheadMs: 60_000, afterMs: 5_000, pod: pullingPod() }, 'Applied'],
  ['is behind by half an hour: the timeout ends', { aheadMs: -1_800_000, afterMs: 660_000, pod: runningPod(changeTime) }, 'RolledBack'],
  ['is behind by a minute: a failing pull is seen', { aheadMs: -60_000, afterMs: 30_000, pod: pullingPod() }, 'RolledBack'],
];
for (const [name, { aheadMs, afterMs, pod }, expected] of clocks)
  test(`a rollout is timed by the clock of the API server where our own ${name}`, async () => {
    const answeredAt = new Date(Date.parse(changeTime) + afterMs);
    const workload = withImageSetAt(changedWorkload({ updated: 1 }), changeTime);
    const read: Ports['workloads']['read'] = async (_ref, _signal, onAnswered) => {
      onAnswered?.(answeredAt);
      return workload;
    };
    const readPods: Ports['workloads']['readPods'] = async (_workload, _signal, onAnswered) => {
      onAnswered?.(answeredAt);
      return [pod];
    };
    const now = () => answeredAt.getTime() + aheadMs;
    const world = changedWorld(workload, {}, { cluster: { now }, workloads: { read, readPods } });
    await reconcile(world);
    assert.ok(historyLines(world)?.includes(`Webhook ${expected}`), historyLines(world)?.join());
    assert.equal(world.statusOf('web').rejected?.length ?? 0, expected === 'Applied' ? 0 : 1);
  });

function pullingPod(): PodState {
  return { ...waitingPod('ImagePullBackOff', { message: 'manifest unknown' }), startedAt: changeTime };
}

/** The workload, of which the API server says when its image was set. */
function withImageSetAt(workload: Workload, imageSetAt: string): Workload {
  return { ...workload, containers: workload.containers.map((container) => ({ ...container, imageSetAt })) };
}
