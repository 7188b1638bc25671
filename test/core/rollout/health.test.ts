import assert from 'node:assert/strict';
import { test } from 'node:test';
import { healthOf, isHealthOutdated, nextHealthy, withoutDisproved } from '../../../src/core/rollout/health.ts';
import type { ImagePolicy } from '../../../src/core/model/image-policy.ts';
import type { Workload, WorkloadRollout } from '../../../src/core/model/workload.ts';
import { digestOf, policyOf, specOf, webDeployment, workloadOf } from '../model/samples.ts';
import { afterChange, image, rolledOut, snapshotFrom, watchedSpec } from './rollout-samples.ts';

const b = digestOf('b');
const runs = (rollout: Partial<WorkloadRollout> = {}, workload: Partial<Workload> = {}, digest = b) =>
  workloadOf({ web: `${image}:1.3.0@${digest}` }, { generation: 2, rollout: { ...rolledOut, ...rollout }, ...workload });
const followed = (policy: Partial<ImagePolicy> = {}) =>
  policyOf({ spec: watchedSpec('Rollback', { pin: 'Digest' }), status: { observedGeneration: 1 }, ...policy });
const healthFrom = (workloads: readonly Workload[], policy = followed()) => healthOf(policy, snapshotFrom(policy, workloads));
const isHealthy = (workloads: readonly Workload[], policy = followed()) => 'image' in healthFrom(workloads, policy);
const since = '2026-03-01T12:00:30Z';
const known = (policy: Partial<ImagePolicy> = {}) =>
  followed({ status: { observedGeneration: 1, healthy: { tag: '1.3.0', digest: b, since } }, ...policy });

test('a policy is healthy only if all pods of all targets are available, of the newest revision and of one digest', () => {
  assert.deepEqual(healthFrom([runs()]), { image: { tag: '1.3.0', digest: b } });
  const rows: readonly (readonly [string, readonly Workload[]])[] = [
    ['unavailable, though its rollout was complete once', [runs({ available: 0, wasComplete: true })]],
    ['an older pod is there', [runs({ outdated: 1 })]],
    ['a part by a partition', [runs({ wanted: 3, toUpdate: 1, available: 3 })]],
    ['no pods', [runs({ wanted: 0, toUpdate: 0, updated: 0, available: 0 })]],
    ['its controller has not seen the change', [runs({}, { generation: 3 })]],
    ['no digest', [workloadOf({ web: `${image}:1.3.0` }, { generation: 2, rollout: rolledOut })]],
    ['another repository', [workloadOf({ web: `${image}-other@${b}` }, { generation: 2, rollout: rolledOut })]],
    ['no such target', []],
  ];
  for (const [what, workloads] of rows) assert.ok(!isHealthy(workloads), what);
});

test('a policy that is suspended, changed, unwatched or has rejected the image is not healthy', () => {
  const rows: readonly Partial<ImagePolicy>[] = [
    { spec: watchedSpec('Rollback', { pin: 'Digest', suspended: true }) },
    { generation: 2 },
    { spec: specOf({ pin: 'Digest' }) },
    { status: { observedGeneration: 1, rejected: [{ digest: b, reason: 'CrashLoop', at: since }] } },
  ];
  for (const policy of rows) assert.ok(!isHealthy([runs()], followed(policy)));
});

test('several targets are healthy with one image, which targets that do not roll out only have to run', () => {
  const spec = watchedSpec('Rollback', {
    pin: 'Digest',
    targets: [webDeployment, { kind: 'CronJob', namespace: 'shop', name: 'nightly' }],
  });
  const { rollout: _, ...nightly } = runs({}, { kind: 'CronJob', name: 'nightly' });
  assert.ok(isHealthy([runs(), nightly], followed({ spec })));
  const { rollout: __, ...other } = runs({}, { kind: 'CronJob', name: 'nightly' }, digestOf('a'));
  assert.ok(!isHealthy([runs(), other], followed({ spec })));
  const alone = watchedSpec('Rollback', { pin: 'Digest', targets: [{ kind: 'CronJob', namespace: 'shop', name: 'nightly' }] });
  assert.ok(!isHealthy([nightly], followed({ spec: alone })), 'nothing shows that it comes up');
});

test('the time of health begins when the targets are read, goes on while they run the image, and restarts if interrupted', () => {
  const snapshot = snapshotFrom(followed(), [runs()]);
  const readAt = afterChange(30);
  assert.deepEqual(nextHealthy(followed(), snapshot, { isFollowed: true, readAt }), {
    tag: '1.3.0',
    digest: b,
    since: '2026-03-01T12:00:31Z',
  });
  assert.equal(nextHealthy(followed(), snapshot, { isFollowed: true }), undefined, 'caches alone begin nothing');
  assert.equal(nextHealthy(known(), snapshot, { isFollowed: true, readAt: afterChange(999) })?.since, since);
  assert.equal(nextHealthy(known(), snapshot, { isFollowed: false, readAt }), undefined);
  assert.equal(nextHealthy(known(), snapshot, { isFollowed: undefined })?.since, since, 'a command that knows no other policies keeps it');
  const interrupted = snapshotFrom(known(), [runs({ availableSince: '2026-03-01T12:00:50Z' })]);
  assert.equal(
    nextHealthy(known(), interrupted, { isFollowed: true })?.since,
    '2026-03-01T12:00:51Z',
    'the end of the second that is named',
  );
  const other = snapshotFrom(known(), [runs({}, {}, digestOf('a'))]);
  assert.equal(nextHealthy(known(), other, { isFollowed: true, readAt })?.since, '2026-03-01T12:00:31Z');
});

test('every writer of the status removes a healthy image that the targets no longer run in good health', () => {
  const kept = (workloads: readonly Workload[], policy = known()) =>
    withoutDisproved(policy.status, policy, snapshotFrom(policy, workloads)).healthy !== undefined;
  assert.ok(kept([runs()]));
  assert.ok(!kept([runs({ available: 0 })]));
  assert.ok(!kept([runs({}, {}, digestOf('a'))]));
  assert.ok(!kept([runs()], known({ generation: 2 })));
});

test('a check is due if the healthy image of the status differs from what the targets show', () => {
  const isDue = (policy: ImagePolicy, workloads: readonly Workload[], isFollowed = true) =>
    isHealthOutdated(policy, snapshotFrom(policy, workloads), isFollowed);
  assert.ok(isDue(followed(), [runs()]));
  assert.ok(!isDue(followed(), [runs()], false));
  assert.ok(!isDue(known(), [runs()]));
  assert.ok(isDue(known(), [runs()], false));
  assert.ok(!isHealthOutdated(known(), snapshotFrom(known(), []), undefined));
  assert.ok(isDue(known(), [runs({ available: 0 })]));
  assert.ok(isDue(known(), [runs({ availableSince: '2026-03-01T12:00:50Z' })]));
  assert.ok(!isDue(followed(), [runs({ available: 0 })]));
});
