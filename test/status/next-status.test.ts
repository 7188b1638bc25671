import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statusSchema } from '../../src/model/policy-status.ts';
import { nextStatus, type ReconcileCause } from '../../src/status/next-status.ts';
import type { Outcome } from '../../src/plan/outcome.ts';
import type { Condition, ContainerState, PolicyStatus } from '../../src/model/policy-status.ts';
import {
  after,
  cause,
  container,
  gone,
  ignored,
  image,
  kinds,
  later,
  next,
  now,
  older,
  pendingImage,
  postponed,
  seconds,
  soaking,
  stalled,
  suspended,
  through,
  legacy,
  unchanged,
  upToDate,
  updated,
  waiting,
} from './outcomes.ts';
import { digestOf, policyOf, webDeployment } from '../model/samples.ts';

test('the first look: Ready, what is selected, what was done, and nothing that is not the case', () => {
  assert.deepEqual(next({}, updated), {
    observedGeneration: 2,
    conditions: [
      {
        type: 'Ready',
        status: 'True',
        reason: 'UpToDate',
        message: 'runs 1.3.0',
        lastTransitionTime: seconds,
        observedGeneration: 2,
      },
    ],
    latest: { tag: '1.3.0', digest: digestOf('a'), selectedAt: seconds },
    trigger: {
      source: 'Webhook',
      receiver: 'prod',
      event: 'push-1',
      receivedAt: '2026-03-01T12:00:00.123Z',
      handledAt: '2026-03-01T12:00:00.789Z',
    },
    lastCheckTime: seconds,
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
        at: seconds,
        result: 'Applied',
      },
    ],
  });
});

test('conditions by kstatus', () => {
  assert.deepEqual(kinds(next({}, unchanged)), ['Ready=True UpToDate']);
  assert.deepEqual(kinds(next({}, stalled)), ['Ready=False TargetNotFound', 'Stalled=True TargetNotFound']);
  assert.deepEqual(kinds(next({}, postponed)), ['Ready=False Retrying', 'Reconciling=True Retrying']);
  assert.deepEqual(kinds(next({}, suspended)), ['Ready=True Suspended']);
  assert.equal(next({}, ignored), undefined);
});

test('what was the case and is no more, goes', () => {
  const before = after({}, stalled);
  assert.deepEqual(kinds(next(before, postponed)), ['Ready=False Retrying', 'Reconciling=True Retrying']);
  assert.deepEqual(kinds(next(before, updated)), ['Ready=True UpToDate']);
  assert.deepEqual(kinds(next(before, suspended)), ['Ready=True Suspended']);
});

test('a push of an older tag heals nothing: the one that is selected is stalled still', () => {
  const before = after({}, { ...stalled, reason: 'NoConsent' });
  const pushed = (result: Outcome, status = before) =>
    nextStatus(policyOf({ generation: 2, status }), result, { ...cause, isHinted: true }, later);
  assert.deepEqual(kinds(pushed(older)), ['Ready=False NoConsent', 'Stalled=True NoConsent']);
  assert.deepEqual(kinds(pushed(unchanged)), ['Ready=True UpToDate']);
  assert.deepEqual(kinds(next(before, older)), ['Ready=True UpToDate'], 'all tags were looked at');
  const throttled = after({}, waiting);
  const { waiting: kept, conditions = [] } = pushed(older, throttled) ?? {};
  assert.deepEqual([kept, conditions], [throttled.waiting, throttled.conditions]);
  assert.equal(pushed({ ...older, tag: '1.3.0' }, throttled)?.waiting, undefined, 'its own wait is over');
  assert.equal(
    pushed({ ...older, pending: { seen: pendingImage } }, { ...before, waiting: pendingImage })?.waiting,
    undefined,
    'it was looked at',
  );
});

test('a condition keeps its time until its status changes', () => {
  const before = after({}, stalled);
  const other = next(before, { ...stalled, reason: 'ContainerNotFound' }, 2, later);
  assert.deepEqual(
    other?.conditions?.map(({ lastTransitionTime }) => lastTransitionTime),
    [seconds, seconds],
  );
  const healed = next(before, updated, 2, later);
  assert.equal(healed?.conditions?.[0]?.lastTransitionTime, '2026-03-01T13:00:00Z');
});

test('what is changed without consent is warned of, until that is over', () => {
  const before = after({}, legacy);
  const warning = before.conditions?.find(({ type }) => type === 'CrossNamespace');
  assert.deepEqual([warning?.status, warning?.reason], ['True', 'NoConsent']);
  assert.match(
    warning?.message ?? '',
    /crossNamespace: legacy: Deployment ops\/web\. .*operator\.technomad\.dev\/allow-policies-from: "shop"/,
  );
  // Looks that did not get so far say nothing about it.
  for (const result of [stalled, postponed, suspended]) assert.ok(kinds(next(before, result))?.includes('CrossNamespace=True NoConsent'));
  assert.deepEqual(kinds(next(before, { ...unchanged, legacy: [] })), ['Ready=True UpToDate']);
});

test('tags that are gone are told until a look at all tags, a change or another spec says otherwise', () => {
  const before = after({}, gone);
  assert.deepEqual(kinds(before), ['Ready=True UpToDate', 'TagGone=True TagGone']);
  assert.match(before.conditions?.[1]?.message ?? '', /Deployment shop\/web: web runs 1\.3\.0$/);
  for (const result of [older, stalled, postponed, suspended])
    assert.ok(kinds(next(before, result) ?? before)?.includes('TagGone=True TagGone'));
  assert.deepEqual(kinds(next(before, { ...unchanged, gone: [] })), ['Ready=True UpToDate']);
  assert.deepEqual(kinds(next(before, updated)), ['Ready=True UpToDate']);
  assert.deepEqual(kinds(next(before, older, 3)), ['Ready=True UpToDate']);
});

test('conditions and fields of others stay as they are', () => {
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
  for (const result of [older, stalled, postponed, suspended]) {
    const written = next({ ...fields, conditions: [foreign] }, result);
    assert.deepEqual(written?.conditions?.at(-1), foreign);
    assert.deepEqual({ ...written, ...fields }, written);
  }
});

test('what is selected keeps the time of its first sight; a digest that becomes known is nothing new, another one is', () => {
  const before: PolicyStatus = { latest: { tag: '1.3.0', selectedAt: '2026-01-01T00:00:00Z' } };
  const select = (tag: string, digest?: string): Outcome => ({
    ...unchanged,
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
    ['another tag', select('1.4.0'), before, { tag: '1.4.0', selectedAt: seconds }, true],
    ['a first tag', select('1.4.0'), {}, { tag: '1.4.0', selectedAt: seconds }, true],
    [
      'the same tag, moved',
      select('1.3.0', digestOf('b')),
      { latest: { tag: '1.3.0', digest: digestOf('a'), selectedAt: '2026-01-01T00:00:00Z' } },
      { tag: '1.3.0', digest: digestOf('b'), selectedAt: seconds },
      true,
    ],
    ['a look at an older tag', older, before, before.latest, false],
    ['no look at all', stalled, before, before.latest, false],
  ];
  for (const [name, outcome, old, latest, isNews] of rows) {
    const written = next(old, outcome);
    assert.deepEqual(written?.latest, latest, name);
    assert.equal(written?.trigger !== undefined, isNews, name);
  }
});

test('the trigger stays that of the last look that changed or found something', () => {
  const before = after({}, updated);
  const poll: ReconcileCause = { source: 'Poll', receivedAt: '2026-03-01T13:00:00.000Z' };
  const policy = policyOf({ generation: 2, status: before });
  assert.equal(nextStatus(policy, unchanged, poll, later)?.trigger?.source, 'Webhook');
  const found = nextStatus(policy, { ...updated, tag: '1.4.0' }, poll, later);
  assert.deepEqual(found?.trigger, { ...poll, handledAt: '2026-03-01T13:00:00.000Z' });
});

test('a wait is told until it is over', () => {
  const before = after({}, waiting);
  assert.deepEqual(before.waiting, { tag: '1.3.0', digest: digestOf('a'), until: '2026-03-01T12:05:01Z', reason: 'RegistryThrottled' });
  for (const result of [updated, unchanged, stalled, postponed, suspended]) assert.equal(next(before, result)?.waiting, undefined);
  assert.equal(next(before, ignored), undefined);
});

test('of many containers the first 20 are told, and all are counted', () => {
  const containers: ContainerState[] = Array.from({ length: 30 }, (_, index) => ({
    ...webDeployment,
    container: `c${index}`,
    image: `${image}:1.3.0`,
    state: index % 3 === 0 ? 'UpToDate' : index % 3 === 1 ? 'Kept' : 'Problem',
  }));
  const status = next({}, { ...unchanged, selection: { candidate: { tag: '1.3.0' }, containers } });
  assert.deepEqual(status?.targets, containers.slice(0, 20));
  assert.deepEqual(status.targetCounts, { total: 30, upToDate: 10, problems: 10 });
});

test('a look at something else than what is selected leaves what is known of the targets', () => {
  const before = after({}, updated);
  for (const result of [older, stalled, postponed, suspended]) {
    assert.deepEqual((next(before, result, 3) ?? before).targets, before.targets);
  }
});

test('what waits in a place is Reconciling, whatever else the look did', () => {
  const conditions = ['Ready=False MinAge', 'Reconciling=True MinAge'];
  assert.deepEqual([next({}, soaking)?.waiting, kinds(next({}, soaking))], [pendingImage, conditions]);
  const before = { waiting: { ...pendingImage, tag: '1.3.0' } };
  const passed = next(before, through);
  assert.deepEqual([passed?.waiting, kinds(passed), passed?.lastAppliedTag], [pendingImage, conditions, '1.3.0']);
  assert.deepEqual(kinds(next({ waiting: pendingImage }, unchanged)), conditions);
  assert.deepEqual(kinds(next({ waiting: pendingImage }, { ...stalled, pending: { seen: pendingImage, next: pendingImage } })), [
    'Ready=False TargetNotFound',
    'Stalled=True TargetNotFound',
  ]);
});

test('a place is kept through looks that did not ask for it; the wait of a job is not', () => {
  for (const result of [stalled, suspended, unchanged, postponed, waiting])
    assert.deepEqual(next({ waiting: pendingImage }, result)?.waiting, pendingImage);
  const throttled = after({}, waiting);
  assert.equal(throttled.waiting?.reason, 'RegistryThrottled');
  for (const result of [stalled, suspended, unchanged, updated]) assert.equal(next(throttled, result)?.waiting, undefined);
});

test('a look takes away only the place that it saw', () => {
  assert.equal(next({ waiting: pendingImage }, { ...updated, pending: { seen: pendingImage } })?.waiting, undefined);
  assert.deepEqual(next({ waiting: pendingImage }, { ...updated, pending: {} })?.waiting, pendingImage);
});

test('when the image was created is kept with what is selected', () => {
  const createdAt = '2026-02-01T00:00:00.000Z';
  const status = next({}, { ...unchanged, selection: { candidate: { tag: '1.3.0', createdAt }, containers: [] } });
  assert.deepEqual(status?.latest, { tag: '1.3.0', createdAt, selectedAt: seconds });
});

test('the registry was asked only when there is an answer', () => {
  assert.equal(next({}, stalled)?.lastCheckTime, undefined);
  assert.equal(next({}, suspended)?.lastCheckTime, undefined);
  assert.equal(next({ lastCheckTime: '2020-01-01T00:00:00Z' }, postponed)?.lastCheckTime, '2020-01-01T00:00:00Z');
});

test('a newer look is not overwritten by an older one', () => {
  assert.equal(next({ observedGeneration: 3 }, updated, 2), undefined);
  assert.notEqual(next({ observedGeneration: 2 }, updated, 3), undefined);
});

test('the time alone is worth a write once a minute, or where it cannot be read', () => {
  const before = after({}, unchanged);
  const at = (time: string) => next(before, unchanged, 2, new Date(time))?.lastCheckTime;
  assert.equal(at('2026-03-01T12:00:59.999Z'), undefined);
  assert.equal(at('2026-03-01T12:01:00.000Z'), '2026-03-01T12:01:00Z');
  assert.equal(next({ ...before, lastCheckTime: 'yesterday' }, unchanged)?.lastCheckTime, seconds);
});

test('everything stays inside the bounds of the schema', () => {
  const long = 'x'.repeat(5_000);
  const results = [
    { ...stalled, message: long },
    { ...waiting, message: long, tag: long },
    through,
    {
      ...updated,
      changes: [{ workload: webDeployment, container: 'web', index: 0, from: long, to: long }],
      selection: { candidate: { tag: '1.3.0' }, containers: [{ ...upToDate, image: long, message: long }] },
    },
  ];
  const longCause: ReconcileCause = { ...cause, receiver: long, eventId: long };
  for (const result of results) {
    const status = nextStatus(policyOf(), result, longCause, now);
    assert.deepEqual(statusSchema.strict().parse(status), status);
    assert.ok(status?.conditions?.every(({ message }) => message.length <= 1024));
  }
});
