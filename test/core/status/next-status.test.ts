import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statusSchema, type Condition, type ContainerState, type PolicyStatus } from '../../../src/core/model/policy-status.ts';
import { nextStatus, type ReconcileCause } from '../../../src/core/status/next-status.ts';
import type { Outcome } from '../../../src/core/plan/outcome.ts';
import {
  writtenStatusAfter,
  cause,
  container,
  tagGoneOutcome,
  ignoredOutcome,
  image,
  upToDate,
  oneHourLater,
  statusAfter,
  reconcileTime,
  olderThanRunningOutcome,
  pendingCandidate,
  retryingPostponement,
  reconcileTimestamp,
  reconcileInstant,
  minAgeOutcome,
  stalledOutcome,
  suspendedOutcome,
  updatedWithNextPendingOutcome,
  legacyTargetOutcome,
  unchangedOutcome,
  updatedOutcome,
  throttledPostponement,
  conditionLines,
} from './outcomes.ts';
import { digestOf, policyOf, webDeployment } from '../model/samples.ts';

test('the first reconcile sets Ready, the selection and the change, and no condition that does not apply', () => {
  assert.deepEqual(statusAfter({}, updatedOutcome), {
    observedGeneration: 2,
    conditions: [
      {
        type: 'Ready',
        status: 'True',
        reason: 'UpToDate',
        message: 'runs 1.3.0',
        lastTransitionTime: reconcileTimestamp,
        observedGeneration: 2,
      },
    ],
    latest: { tag: '1.3.0', digest: digestOf('a'), selectedAt: reconcileInstant },
    trigger: {
      source: 'Webhook',
      receiver: 'prod',
      event: 'push-1',
      receivedAt: '2026-03-01T12:00:00.123Z',
      handledAt: '2026-03-01T12:00:00.789Z',
    },
    lastCheckTime: reconcileTimestamp,
    running: '1.3.0',
    targets: [upToDate],
    targetCounts: { total: 1, upToDate: 1, problems: 0 },
    lastAppliedTag: '1.3.0',
    history: [
      {
        ...container,
        from: `${image}:1.2.0`,
        to: `${image}:1.3.0`,
        tag: '1.3.0',
        digest: digestOf('a'),
        trigger: 'Webhook',
        at: reconcileInstant,
        result: 'Applied',
      },
    ],
  });
});

test('the conditions follow kstatus', () => {
  assert.deepEqual(conditionLines(statusAfter({}, unchangedOutcome)), ['Ready=True UpToDate']);
  assert.deepEqual(conditionLines(statusAfter({}, stalledOutcome)), ['Ready=False TargetNotFound', 'Stalled=True TargetNotFound']);
  assert.deepEqual(conditionLines(statusAfter({}, retryingPostponement)), ['Ready=False Retrying', 'Reconciling=True Retrying']);
  assert.deepEqual(conditionLines(statusAfter({}, suspendedOutcome)), ['Ready=True Suspended']);
  assert.equal(statusAfter({}, ignoredOutcome), undefined);
});

test('a condition that no longer applies is removed', () => {
  const before = writtenStatusAfter({}, stalledOutcome);
  assert.deepEqual(conditionLines(statusAfter(before, retryingPostponement)), ['Ready=False Retrying', 'Reconciling=True Retrying']);
  assert.deepEqual(conditionLines(statusAfter(before, updatedOutcome)), ['Ready=True UpToDate']);
  assert.deepEqual(conditionLines(statusAfter(before, suspendedOutcome)), ['Ready=True Suspended']);
});

test('a condition keeps its transition time until its status changes', () => {
  const before = writtenStatusAfter({}, stalledOutcome);
  const statusOfOtherReason = statusAfter(before, { ...stalledOutcome, reason: 'ContainerNotFound' }, 2, oneHourLater);
  assert.deepEqual(
    statusOfOtherReason?.conditions?.map(({ lastTransitionTime }) => lastTransitionTime),
    [reconcileTimestamp, reconcileTimestamp],
  );
  const healed = statusAfter(before, updatedOutcome, 2, oneHourLater);
  assert.equal(healed?.conditions?.[0]?.lastTransitionTime, '2026-03-01T13:00:00Z');
});

test('a change without consent sets a warning condition, until a reconcile finds that it is over', () => {
  const before = writtenStatusAfter({}, legacyTargetOutcome);
  const warning = before.conditions?.find(({ type }) => type === 'CrossNamespace');
  assert.deepEqual([warning?.status, warning?.reason], ['True', 'NoConsent']);
  assert.match(
    warning?.message ?? '',
    /crossNamespace: legacy: Deployment ops\/web\. .*operator\.technomad\.dev\/allow-policies-from: "shop"/,
  );
  // Looks that did not get so far say nothing about it.
  for (const result of [stalledOutcome, retryingPostponement, suspendedOutcome])
    assert.ok(conditionLines(statusAfter(before, result))?.includes('CrossNamespace=True NoConsent'));
  assert.deepEqual(conditionLines(statusAfter(before, { ...unchangedOutcome, legacy: [] })), ['Ready=True UpToDate']);
});

test('deleted tags are reported until a reconcile of all tags, a change or another spec says otherwise', () => {
  const before = writtenStatusAfter({}, tagGoneOutcome);
  assert.deepEqual(conditionLines(before), ['Ready=True UpToDate', 'TagGone=True TagGone']);
  assert.match(before.conditions?.[1]?.message ?? '', /Deployment shop\/web: web runs 1\.3\.0$/);
  for (const result of [olderThanRunningOutcome, stalledOutcome, retryingPostponement, suspendedOutcome])
    assert.ok(conditionLines(statusAfter(before, result) ?? before)?.includes('TagGone=True TagGone'));
  assert.deepEqual(conditionLines(statusAfter(before, { ...unchangedOutcome, gone: [] })), ['Ready=True UpToDate']);
  assert.deepEqual(conditionLines(statusAfter(before, updatedOutcome)), ['Ready=True UpToDate']);
  assert.deepEqual(conditionLines(statusAfter(before, olderThanRunningOutcome, 3)), ['Ready=True UpToDate']);
});

test('conditions and fields of other writers stay unchanged', () => {
  const foreign: Condition = {
    type: 'Audited',
    status: 'Unknown',
    reason: 'Soon',
    message: '',
    lastTransitionTime: '2020-01-01T00:00:00Z',
  };
  const fields = {
    lastHandledRequest: 'yesterday',
    rejected: [{ digest: digestOf('f'), reason: 'RolledBack', at: '2020-01-01T00:00:00Z' }],
    pendingApproval: { tag: '2.0.0', digest: digestOf('e') },
    fieldOfALaterVersion: { a: 1 },
  };
  for (const result of [olderThanRunningOutcome, stalledOutcome, retryingPostponement, suspendedOutcome]) {
    const written = statusAfter({ ...fields, conditions: [foreign] }, result);
    assert.deepEqual(written?.conditions?.at(-1), foreign);
    assert.deepEqual({ ...written, ...fields }, written);
  }
});

test('the selection keeps the time when it was first seen, even when its digest becomes known, but not for another digest', () => {
  const before: PolicyStatus = { latest: { tag: '1.3.0', selectedAt: '2026-01-01T00:00:00Z' } };
  const select = (tag: string, digest?: string): Outcome => ({
    ...unchangedOutcome,
    selection: { candidate: { tag, ...(digest !== undefined && { digest }) }, containers: [] },
  });
  const rows: [name: string, outcome: Outcome, old: PolicyStatus, latest: PolicyStatus['latest'], isNews: boolean][] = [
    ['the same', select('1.3.0'), before, before.latest, false],
    [
      'its digest',
      select('1.3.0', digestOf('a')),
      before,
      { tag: '1.3.0', digest: digestOf('a'), selectedAt: '2026-01-01T00:00:00Z' },
      false,
    ],
    ['another tag', select('1.4.0'), before, { tag: '1.4.0', selectedAt: reconcileInstant }, true],
    ['a first tag', select('1.4.0'), {}, { tag: '1.4.0', selectedAt: reconcileInstant }, true],
    [
      'the same tag, moved',
      select('1.3.0', digestOf('b')),
      { latest: { tag: '1.3.0', digest: digestOf('a'), selectedAt: '2026-01-01T00:00:00Z' } },
      { tag: '1.3.0', digest: digestOf('b'), selectedAt: reconcileInstant },
      true,
    ],
    ['a look at an older tag', olderThanRunningOutcome, before, before.latest, false],
    ['no look at all', stalledOutcome, before, before.latest, false],
  ];
  for (const [name, outcome, old, latest, isNews] of rows) {
    const written = statusAfter(old, outcome);
    assert.deepEqual(written?.latest, latest, name);
    assert.equal(written?.trigger !== undefined, isNews, name);
  }
});

test('the trigger is that of the last reconcile that changed or found something', () => {
  const before = writtenStatusAfter({}, updatedOutcome);
  const poll: ReconcileCause = { source: 'Poll', receivedAt: '2026-03-01T13:00:00.000Z' };
  const policy = policyOf({ generation: 2, status: before });
  assert.equal(nextStatus(policy, unchangedOutcome, { cause: poll, now: oneHourLater })?.trigger?.source, 'Webhook');
  const found = nextStatus(policy, { ...updatedOutcome, tag: '1.4.0' }, { cause: poll, now: oneHourLater });
  assert.deepEqual(found?.trigger, { ...poll, handledAt: '2026-03-01T13:00:00.000Z' });
});

test('a wait is reported until it is over', () => {
  const before = writtenStatusAfter({}, throttledPostponement);
  assert.deepEqual(before.waiting, { tag: '1.3.0', digest: digestOf('a'), until: '2026-03-01T12:05:01Z', reason: 'RegistryThrottled' });
  for (const result of [updatedOutcome, unchangedOutcome, stalledOutcome, retryingPostponement, suspendedOutcome])
    assert.equal(statusAfter(before, result)?.waiting, undefined);
  assert.equal(statusAfter(before, ignoredOutcome), undefined);
});

test('of many containers the first 20 are listed, and all are counted', () => {
  const containers: ContainerState[] = Array.from({ length: 30 }, (_, index) => ({
    ...webDeployment,
    container: `c${index}`,
    image: `${image}:1.3.0`,
    state: index % 3 === 0 ? 'UpToDate' : index % 3 === 1 ? 'Kept' : 'Problem',
  }));
  const status = statusAfter({}, { ...unchangedOutcome, selection: { candidate: { tag: '1.3.0' }, containers } });
  assert.deepEqual(status?.targets, containers.slice(0, 20));
  const { unlisted = '', ...counts } = status.targetCounts ?? {};
  assert.deepEqual(counts, { total: 30, upToDate: 10, problems: 10 });
  assert.match(unlisted, /^[0-9a-f]{16}$/);
});

test('a reconcile of something other than the selection keeps the state of the targets', () => {
  const before = writtenStatusAfter({}, updatedOutcome);
  for (const result of [olderThanRunningOutcome, stalledOutcome, retryingPostponement, suspendedOutcome]) {
    assert.deepEqual((statusAfter(before, result, 3) ?? before).targets, before.targets);
  }
});

test('a pending candidate is Reconciling, whatever else the reconcile did', () => {
  const conditions = ['Ready=False MinAge', 'Reconciling=True MinAge'];
  assert.deepEqual(
    [statusAfter({}, minAgeOutcome)?.waiting, conditionLines(statusAfter({}, minAgeOutcome))],
    [pendingCandidate, conditions],
  );
  const before = { waiting: { ...pendingCandidate, tag: '1.3.0' } };
  const passed = statusAfter(before, updatedWithNextPendingOutcome);
  assert.deepEqual([passed?.waiting, conditionLines(passed), passed?.lastAppliedTag], [pendingCandidate, conditions, '1.3.0']);
  assert.deepEqual(conditionLines(statusAfter({ waiting: pendingCandidate }, unchangedOutcome)), conditions);
  assert.deepEqual(
    conditionLines(
      statusAfter({ waiting: pendingCandidate }, { ...stalledOutcome, pending: { seen: pendingCandidate, next: pendingCandidate } }),
    ),
    ['Ready=False TargetNotFound', 'Stalled=True TargetNotFound'],
  );
});

test('a pending candidate is kept by reconciles for other triggers, and the wait of a job is not', () => {
  for (const result of [stalledOutcome, suspendedOutcome, unchangedOutcome, retryingPostponement, throttledPostponement])
    assert.deepEqual(statusAfter({ waiting: pendingCandidate }, result)?.waiting, pendingCandidate);
  const throttled = writtenStatusAfter({}, throttledPostponement);
  assert.equal(throttled.waiting?.reason, 'RegistryThrottled');
  for (const result of [stalledOutcome, suspendedOutcome, unchangedOutcome, updatedOutcome])
    assert.equal(statusAfter(throttled, result)?.waiting, undefined);
});

test('a reconcile removes only the pending candidate that it read', () => {
  assert.equal(statusAfter({ waiting: pendingCandidate }, { ...updatedOutcome, pending: { seen: pendingCandidate } })?.waiting, undefined);
  assert.deepEqual(statusAfter({ waiting: pendingCandidate }, { ...updatedOutcome, pending: {} })?.waiting, pendingCandidate);
});

test('the creation time of the image is stored with the selection', () => {
  const createdAt = '2026-02-01T00:00:00.000Z';
  const status = statusAfter({}, { ...unchangedOutcome, selection: { candidate: { tag: '1.3.0', createdAt }, containers: [] } });
  assert.deepEqual(status?.latest, { tag: '1.3.0', createdAt, selectedAt: reconcileInstant });
});

test("the time of the registry's answer is set only when there is one", () => {
  assert.equal(statusAfter({}, stalledOutcome)?.lastCheckTime, undefined);
  assert.equal(statusAfter({}, suspendedOutcome)?.lastCheckTime, undefined);
  assert.equal(statusAfter({ lastCheckTime: '2020-01-01T00:00:00Z' }, retryingPostponement)?.lastCheckTime, '2020-01-01T00:00:00Z');
});

test('a newer reconcile is not overwritten by an older one', () => {
  assert.equal(statusAfter({ observedGeneration: 3 }, unchangedOutcome, 2), undefined);
  const { history, ...others } = writtenStatusAfter({ observedGeneration: 3 }, updatedOutcome);
  const latest = { tag: '1.3.0', digest: digestOf('a'), selectedAt: reconcileInstant };
  assert.deepEqual(others, { observedGeneration: 3, lastAppliedTag: '1.3.0', latest }, 'what it changed has happened all the same');
  assert.equal(history?.length, 1);
  assert.notEqual(statusAfter({ observedGeneration: 2 }, updatedOutcome, 3), undefined);
});

test('the time alone is written once a minute, or where it cannot be read', () => {
  const before = writtenStatusAfter({}, unchangedOutcome);
  const at = (time: string) => statusAfter(before, unchangedOutcome, 2, new Date(time))?.lastCheckTime;
  assert.equal(at('2026-03-01T12:00:59.999Z'), undefined);
  assert.equal(at('2026-03-01T12:01:00.000Z'), '2026-03-01T12:01:00Z');
  assert.equal(statusAfter({ ...before, lastCheckTime: 'yesterday' }, unchangedOutcome)?.lastCheckTime, reconcileTimestamp);
});

test('all values stay within the bounds of the schema', () => {
  const long = 'x'.repeat(5_000);
  const results = [
    { ...stalledOutcome, message: long },
    { ...throttledPostponement, message: long, tag: long },
    updatedWithNextPendingOutcome,
    {
      ...updatedOutcome,
      changes: [{ workload: webDeployment, container: 'web', index: 0, from: long, to: long }],
      selection: { candidate: { tag: '1.3.0' }, containers: [{ ...upToDate, image: long, message: long }] },
    },
  ];
  const longCause: ReconcileCause = { ...cause, receiver: long, eventId: long };
  for (const result of results) {
    const status = nextStatus(policyOf(), result, { cause: longCause, now: reconcileTime });
    assert.deepEqual(statusSchema.strict().parse(status), status);
    assert.ok(status?.conditions?.every(({ message }) => message.length <= 1024));
  }
});
