import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evidenceOf, evaluatePods, type PodState } from '../../../src/core/rollout/evaluate-pods.ts';
import { afterChange, changedAt, waitingPod } from './rollout-samples.ts';

const web = new Set(['web']);
const running = (restarts: number, ready = false): PodState => ({
  name: 'web-2-x',
  startedAt: changedAt,
  ready,
  containers: [{ name: 'web', ready, restarts, lastEnd: { reason: 'Error', exitCode: 3 } }],
});

const rows: [name: string, pods: PodState[], seconds: number, expected: string | undefined][] = [
  ['none yet', [], 60, undefined],
  ['about to start', [waitingPod('ContainerCreating')], 600, undefined],
  ['a pull that just failed', [waitingPod('ErrImagePull')], 5, undefined],
  ['a pull that failed and is tried again', [waitingPod('ImagePullBackOff')], 19, undefined],
  ['a pull that goes on failing', [waitingPod('ImagePullBackOff')], 20, 'ImagePullFailed'],
  ['a name that no registry could have', [waitingPod('InvalidImageName')], 0, 'ImagePullFailed'],
  ['an image that may not be pulled', [waitingPod('ErrImageNeverPull')], 0, 'ImagePullFailed'],
  ['one crash', [waitingPod('CrashLoopBackOff', { restarts: 1 })], 60, undefined],
  ['crash after crash', [waitingPod('CrashLoopBackOff', { restarts: 2 })], 5, 'CrashLoop'],
  ['running again after two crashes', [running(2)], 60, undefined],
  ['running again after many crashes', [running(3)], 60, 'CrashLoop'],
  ['ready after many crashes', [running(5, true)], 60, undefined],
  ['a container that was not changed', [waitingPod('ImagePullBackOff', { container: 'proxy' })], 60, undefined],
  ['one of several', [running(0, true), waitingPod('InvalidImageName')], 1, 'ImagePullFailed'],
];

for (const [name, pods, seconds, expected] of rows) {
  test(`the pods show ${expected ?? 'no failure'} in the case "${name}"`, () =>
    assert.equal(evaluatePods(pods, web, afterChange(seconds))?.reason, expected));
}

test('an image volume is evaluated by the containers that mount it, and by no other', () => {
  const [pod] = [waitingPod('ImagePullBackOff')];
  const mounting = (name: string) => [{ ...pod, containers: pod.containers.map((one) => ({ ...one, mounts: [`volumes/${name}`] })) }];
  const models = new Set(['volumes/models']);
  assert.equal(evaluatePods(mounting('models'), models, afterChange(60))?.reason, 'ImagePullFailed');
  for (const pods of [mounting('other'), [pod]]) assert.equal(evaluatePods(pods, models, afterChange(60)), undefined);
});

test("the message of a failure is the pod's own", () => {
  const message = 'Back-off pulling image "shop/web:1.3.0"';
  assert.equal(
    evaluatePods([waitingPod('ImagePullBackOff', { message })], web, afterChange(60))?.message,
    `pod web-2-x, container web: ImagePullBackOff: ${message}`,
  );
  assert.equal(
    evaluatePods([running(4)], web, afterChange(60))?.message,
    'pod web-2-x, container web: keeps ending (4 restarts, last ended with Error (exit code 3))',
  );
});

test('the time without readiness counts from the oldest pod that is not ready, whatever its containers report', () => {
  const pod = (startedAt: string, ready: boolean): PodState => ({ ...running(0, true), startedAt, ready });
  const early = pod('2026-03-01T11:00:00Z', true);
  const pods = [early, pod('2026-03-01T12:00:02Z', false), pod('2026-03-01T12:00:01Z', false)];
  assert.deepEqual(evidenceOf(pods, web, afterChange(9)).unreadySince, afterChange(1));
  assert.deepEqual(evidenceOf([early], web, afterChange(9)), {});
  assert.equal(evidenceOf([waitingPod('InvalidImageName')], web, afterChange(9)).failure?.reason, 'ImagePullFailed');
});
