import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluateRollout } from '../../../src/core/rollout/evaluate-rollout.ts';
import { projectRollout } from '../../../src/service/kube/project-rollout.ts';
import { workloadOf } from '../../core/model/samples.ts';

const since = new Date('2026-03-01T12:00:00Z');
/** How a raw object of generation 2 is judged a second after its change. */
function evaluate(kind: string, spec: object, status: object) {
  const rollout = projectRollout(kind, { spec, status: { observedGeneration: 2, ...status } });
  const workload = workloadOf({ web: 'a:1' }, { kind, generation: 2, ...(rollout && { rollout }) });
  return evaluateRollout(workload, { since, timeoutMs: 600_000 }, new Date(since.getTime() + 1_000));
}
const progress = (reason: string, message = '') => ({ conditions: [{ type: 'Available' }, { type: 'Progressing', reason, message }] });
const three = { replicas: 3, updatedReplicas: 3, availableReplicas: 3 };

const rows: [name: string, kind: string, spec: object, status: object, expected: string][] = [
  ['not seen', 'Deployment', { replicas: 3 }, { ...three, observedGeneration: 1, ...progress('NewReplicaSetAvailable') }, 'progressing'],
  ['out', 'Deployment', { replicas: 3 }, three, 'done'],
  ['without a number of replicas: one', 'Deployment', {}, { replicas: 1, updatedReplicas: 1, availableReplicas: 1 }, 'done'],
  ['half', 'Deployment', { replicas: 3 }, { ...three, updatedReplicas: 1, ...progress('ReplicaSetUpdated') }, 'progressing'],
  ['with one old pod', 'Deployment', { replicas: 3 }, { ...three, replicas: 4 }, 'progressing'],
  [
    'out, and a pod failed since',
    'Deployment',
    { replicas: 3 },
    { ...three, availableReplicas: 2, ...progress('NewReplicaSetAvailable') },
    'done',
  ],
  [
    'with the old condition',
    'Deployment',
    { replicas: 3 },
    { ...three, updatedReplicas: 0, ...progress('NewReplicaSetAvailable') },
    'progressing',
  ],
  [
    'given up',
    'Deployment',
    { replicas: 3 },
    { ...three, updatedReplicas: 1, ...progress('ProgressDeadlineExceeded', 'timed out') },
    'failed',
  ],
  ['paused', 'Deployment', { paused: true }, {}, 'notWatched'],
  ['scaled to nothing', 'Deployment', { replicas: 0 }, {}, 'notWatched'],
  ['out', 'StatefulSet', { replicas: 3 }, { ...three, currentRevision: 'b', updateRevision: 'b' }, 'done'],
  ['half', 'StatefulSet', { replicas: 3 }, { ...three, updatedReplicas: 1, currentRevision: 'a', updateRevision: 'b' }, 'progressing'],
  [
    'on its way back',
    'StatefulSet',
    { replicas: 3 },
    { ...three, updatedReplicas: 2, availableReplicas: 2, currentRevision: 'a', updateRevision: 'a' },
    'progressing',
  ],
  [
    'out, and a pod failed since',
    'StatefulSet',
    { replicas: 3 },
    { ...three, availableReplicas: 2, currentRevision: 'b', updateRevision: 'b' },
    'done',
  ],
  [
    'up to its partition',
    'StatefulSet',
    { replicas: 3, updateStrategy: { rollingUpdate: { partition: 2 } } },
    { ...three, updatedReplicas: 1 },
    'done',
  ],
  ['held by its partition', 'StatefulSet', { replicas: 3, updateStrategy: { rollingUpdate: { partition: 3 } } }, three, 'notWatched'],
  ['OnDelete', 'StatefulSet', { replicas: 3, updateStrategy: { type: 'OnDelete' } }, three, 'notWatched'],
  ['out', 'DaemonSet', {}, { desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2 }, 'done'],
  ['half', 'DaemonSet', {}, { desiredNumberScheduled: 2, updatedNumberScheduled: 1, numberAvailable: 2 }, 'progressing'],
  ['not seen', 'DaemonSet', {}, { observedGeneration: 1, desiredNumberScheduled: 0 }, 'progressing'],
  ['on no node', 'DaemonSet', {}, { desiredNumberScheduled: 0 }, 'notWatched'],
  ['OnDelete', 'DaemonSet', { updateStrategy: { type: 'OnDelete' } }, { desiredNumberScheduled: 2 }, 'notWatched'],
  ['at all', 'CronJob', { schedule: '@daily' }, {}, 'notWatched'],
];

for (const [name, kind, spec, status, expected] of rows) {
  test(`a ${kind} is projected as ${expected} in the case "${name}"`, () => assert.equal(evaluate(kind, spec, status).kind, expected));
}

test('the projection contains the time at which a paused Deployment resumed', () => {
  const conditions = [{ type: 'Progressing', reason: 'DeploymentResumed', lastUpdateTime: '2026-03-02T00:00:00Z' }];
  assert.equal(projectRollout('Deployment', { status: { conditions } })?.resumedAt, '2026-03-02T00:00:00Z');
});

test('the deadline of a Deployment counts from when its rollout continued after it had stalled', () => {
  const resumed = (condition: object) => projectRollout('Deployment', { status: { conditions: [{ type: 'Progressing', ...condition }] } });
  const times = { lastUpdateTime: '2026-03-02T00:00:09Z', lastTransitionTime: '2026-03-02T00:00:01Z' };
  assert.equal(resumed({ status: 'True', reason: 'ReplicaSetUpdated', ...times })?.resumedAt, times.lastTransitionTime);
  assert.equal(resumed({ status: 'False', reason: 'ProgressDeadlineExceeded', ...times })?.resumedAt, undefined);
});

test('the projection contains since when the newest revision is available, by the latest write of the controller', () => {
  const [first, second] = ['2026-03-02T00:00:01Z', '2026-03-02T00:00:09Z'];
  const available = (lastTransitionTime: string, status = 'True') => ({ type: 'Available', status, lastTransitionTime });
  const progressing = (lastUpdateTime: string, reason = 'NewReplicaSetAvailable') => ({ type: 'Progressing', reason, lastUpdateTime });
  const since = (...conditions: object[]) => projectRollout('Deployment', { status: { conditions } })?.availableSince;
  assert.equal(since(available(second), progressing(first)), second, 'its pods were gone since');
  assert.equal(since(available(first), progressing(second)), second, 'another revision has run since');
  assert.equal(since(available(first), progressing(second, 'ReplicaSetUpdated')), first);
  assert.equal(since(available(first)), first);
  assert.equal(since(available(first, 'False'), progressing(second)), undefined);
  assert.equal(since(progressing(second)), undefined);
});

test('a StatefulSet or DaemonSet has been available since its status was changed last', () => {
  const [first, second] = ['2026-03-02T00:00:01Z', '2026-03-02T00:00:09Z'];
  const since = (kind: string, ...managedFields: unknown[]) => projectRollout(kind, { metadata: { managedFields } })?.availableSince;
  for (const kind of ['StatefulSet', 'DaemonSet']) {
    const status = (time: unknown) => ({ subresource: 'status', time });
    assert.equal(since(kind, { time: second }, status(first)), first, 'a change of the spec does not count');
    assert.equal(since(kind, status(second), status(first)), second);
    assert.equal(since(kind, null, { time: first }), undefined);
    assert.equal(projectRollout(kind, {})?.availableSince, undefined);
  }
});

test('a failure to create pods is projected, unless the pods themselves were rejected', () => {
  const cannotCreate = (message: string, status = 'True') =>
    projectRollout('Deployment', { status: { conditions: [{ type: 'ReplicaFailure', status, reason: 'FailedCreate', message }] } })
      ?.cannotCreate;
  const quota = 'pods "web-1" is forbidden: exceeded quota: pods, requested: pods=1, used: pods=3, limited: pods=3';
  assert.equal(cannotCreate(quota), quota);
  assert.equal(cannotCreate(quota, 'False'), undefined);
  assert.equal(cannotCreate('admission webhook "images.example.com" denied the request: not signed'), undefined);
  assert.equal(cannotCreate(`ValidatingAdmissionPolicy 'images' with binding 'all' denied request: not signed`), undefined);
});

test('the projection says if the newest revision was ever complete, where the controller reports it', () => {
  const deployment = (reason: string) =>
    projectRollout('Deployment', { status: { conditions: [{ type: 'Progressing', reason }] } })?.isIncomplete;
  assert.deepEqual([deployment('ReplicaSetUpdated'), deployment('NewReplicaSetAvailable')], [true, false]);
  assert.equal(projectRollout('Deployment', {})?.isIncomplete, undefined);
  const status = { currentRevision: 'a', updateRevision: 'b' };
  const partition = { updateStrategy: { rollingUpdate: { partition: 1 } } };
  assert.equal(projectRollout('StatefulSet', { status })?.isIncomplete, true);
  assert.equal(projectRollout('StatefulSet', { status: { ...status, updateRevision: 'a' } })?.isIncomplete, false);
  assert.equal(projectRollout('StatefulSet', { spec: partition, status })?.isIncomplete, undefined);
  assert.equal(projectRollout('DaemonSet', { status })?.isIncomplete, undefined);
});

for (const odd of [undefined, null, 'text', {}, { spec: 7, status: [] }, { status: { conditions: 'none', replicas: '3' } }]) {
  test(`projecting never throws, even for ${JSON.stringify(odd)}`, () => {
    for (const kind of ['Deployment', 'StatefulSet', 'DaemonSet']) assert.equal(projectRollout(kind, odd)?.updated, 0);
    for (const kind of ['CronJob', 'constructor']) assert.equal(projectRollout(kind, odd), undefined);
  });
}
