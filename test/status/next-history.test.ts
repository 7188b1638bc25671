import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Outcome } from '../../src/plan/outcome.ts';
import { maxDetailed } from '../../src/model/stored-status.ts';
import type { PolicyStatus } from '../../src/model/policy-status.ts';
import { image, writtenStatusAfter, statusAfter, reconcileTime, ownImagesOutcome, unchangedOutcome, updatedOutcome } from './outcomes.ts';
import { appliedOnce, webDeployment } from '../model/samples.ts';

test('the history contains the last ten changes, the latest first', () => {
  let status: PolicyStatus = {};
  for (let version = 0; version < 12; version++) {
    const change = {
      workload: webDeployment,
      container: 'web',
      index: 0,
      from: `${image}:1.${version}.0`,
      to: `${image}:1.${version + 1}.0`,
    };
    status =
      statusAfter(
        status,
        { ...updatedOutcome, tag: `1.${version + 1}.0`, changes: [change] },
        2,
        new Date(reconcileTime.getTime() + version * 1_000),
      ) ?? {};
  }
  assert.deepEqual(
    status.history?.map(({ tag }) => tag),
    Array.from({ length: 10 }, (_, index) => `1.${12 - index}.0`),
  );
  assert.equal(status.lastAppliedTag, '1.12.0');
});

test('a running change of ours without an entry, because of a crash before the status, gets one', () => {
  const before: PolicyStatus = { history: appliedOnce('1.2.0'), lastAppliedTag: '1.2.0' };
  const status = writtenStatusAfter(before, ownImagesOutcome);
  assert.deepEqual(
    status.history?.map(({ tag, from, to }) => [tag, from, to]),
    [
      ['1.3.0', undefined, `${image}:1.3.0`],
      ['1.2.0', undefined, `${image}:1.2.0`],
    ],
  );
  assert.deepEqual([status.lastAppliedTag, status.trigger?.source], ['1.3.0', 'Webhook']);
  assert.equal(statusAfter(status, ownImagesOutcome), undefined);
});

test('an entry of a late reconcile that was rolled back since is not added again', () => {
  const [change] = updatedOutcome.changes ?? [];
  const back = { ...updatedOutcome, tag: '1.2.0', changes: change === undefined ? [] : [{ ...change, from: change.to, to: change.from }] };
  const before = writtenStatusAfter(writtenStatusAfter({}, updatedOutcome), back);
  assert.equal(before.history?.[0]?.from, ownImagesOutcome.ours?.[0]?.image);
  const secondsLater = (seconds: number) => new Date(reconcileTime.getTime() + seconds * 1_000);
  const tags = (late: Outcome, at: Date) => (statusAfter(before, late, 2, at) ?? before).history?.map(({ tag }) => tag);
  assert.deepEqual(tags(ownImagesOutcome, secondsLater(9)), ['1.2.0', '1.3.0']);
  assert.deepEqual(
    tags(ownImagesOutcome, secondsLater(10)),
    ['1.3.0', '1.2.0', '1.3.0'],
    'nobody is as late as that: it was changed again',
  );

  const remembering = (at: Date): Outcome => {
    const update = { policy: 'p', at: at.toISOString(), trigger: 'Poll', from: `${image}:1.2.0`, to: `${image}:1.3.0` } as const;
    return { ...ownImagesOutcome, ours: (ownImagesOutcome.ours ?? []).map((own) => ({ ...own, update })) };
  };
  assert.deepEqual(tags(remembering(secondsLater(-5)), secondsLater(60)), ['1.2.0', '1.3.0']);
  assert.deepEqual(tags(remembering(secondsLater(5)), secondsLater(6)), ['1.3.0', '1.2.0', '1.3.0'], 'a change of its own');
});

test('a change that another replica reports a moment before its author has one entry, and the same change again has its own', () => {
  const secondsLater = (seconds: number) => new Date(reconcileTime.getTime() + seconds * 1_000);
  const [change] = updatedOutcome.changes ?? [];
  const update = {
    policy: 'p',
    at: reconcileTime.toISOString(),
    trigger: 'Webhook',
    from: change?.from ?? '',
    to: change?.to ?? '',
  } as const;
  const remembering: Outcome = { ...ownImagesOutcome, ours: (ownImagesOutcome.ours ?? []).map((own) => ({ ...own, update })) };
  const found = statusAfter({}, remembering, 2, secondsLater(1)) ?? {};
  const entries = (at: Date) => (statusAfter(found, updatedOutcome, 2, at) ?? found).history?.map(({ from, to }) => [from, to]);
  const entry = [change?.from, change?.to];
  assert.deepEqual([entries(reconcileTime), entries(secondsLater(1))], [[entry], [entry]]);
  assert.deepEqual(entries(secondsLater(2)), [entry, entry]);
  const onwards = {
    ...updatedOutcome,
    tag: '1.4.0',
    changes: change === undefined ? [] : [{ ...change, from: change.to, to: `${image}:1.4.0` }],
  };
  const followed = writtenStatusAfter(found, onwards);
  assert.equal((statusAfter(followed, updatedOutcome) ?? followed).history?.length, 2, 'also when it was changed once more since');
});

test('an entry is not added twice', () => {
  const recorded = (status: PolicyStatus, outcome = ownImagesOutcome) => statusAfter(status, outcome, 2)?.history;
  assert.deepEqual(recorded({ history: appliedOnce('1.3.0') }), appliedOnce('1.3.0'));
  assert.equal(recorded({ lastAppliedTag: '1.3.0' }), undefined, 'an older service did it');
  assert.equal(recorded({ lastAppliedTag: '1.2.0' })?.length, 1);
  const many = Array.from({ length: 25 }, (_, index) => ({ workload: webDeployment, container: `c${index}`, image: `${image}:1.3.0` }));
  const full = writtenStatusAfter({}, { ...ownImagesOutcome, ours: many });
  assert.equal(full.history?.length, 10);
  assert.equal(statusAfter(full, { ...ownImagesOutcome, ours: many }, 2), undefined, 'those that were pushed out are not found missing');
  const pruned = { ...full, history: full.history?.slice(0, maxDetailed) ?? [] };
  assert.equal(statusAfter(pruned, { ...ownImagesOutcome, ours: many }, 2), undefined, 'nor those that an older definition dropped');
  const written = writtenStatusAfter({}, updatedOutcome);
  assert.equal(statusAfter(written, updatedOutcome, 2), undefined, 'a status whose write was not answered');
});

test('a change, its reversal and the same change within a second are three entries', () => {
  const there = updatedOutcome;
  const [change] = updatedOutcome.changes ?? [];
  const back = { ...updatedOutcome, tag: '1.2.0', changes: change === undefined ? [] : [{ ...change, from: change.to, to: change.from }] };
  const status = writtenStatusAfter(writtenStatusAfter(writtenStatusAfter({}, there), back), there);
  assert.deepEqual(
    status.history?.map(({ tag }) => tag),
    ['1.3.0', '1.2.0', '1.3.0'],
  );
});

test('the history contains what admission made of the image', () => {
  const [change] = updatedOutcome.changes ?? [];
  const changes = change === undefined ? [] : [{ ...change, became: `${image}:1.3.0-hardened` }];
  assert.equal(writtenStatusAfter({}, { ...updatedOutcome, changes }).history?.[0]?.to, `${image}:1.3.0-hardened`);
});

test('an earlier change that is reported later is put below the newer one, and the selection stays', () => {
  const step = (from: string, to: string): Outcome => ({
    ...updatedOutcome,
    tag: to,
    changes: [{ workload: webDeployment, container: 'web', index: 0, from: `${image}:${from}`, to: `${image}:${to}` }],
    selection: { candidate: { tag: to }, containers: [], isNamed: true },
  });
  const statusAfterSteps = (...steps: readonly (readonly [string, string])[]) => {
    const status = steps.reduce<PolicyStatus>((before, [from, to]) => writtenStatusAfter(before, step(from, to)), {});
    return [status.history?.map(({ tag }) => tag), status.latest?.tag, status.lastAppliedTag];
  };
  const right = [['1.4.0', '1.3.0', '1.2.0', '1.1.0'], '1.4.0', '1.4.0'];
  const [one, two, three, four] = [
    ['1.0.0', '1.1.0'],
    ['1.1.0', '1.2.0'],
    ['1.2.0', '1.3.0'],
    ['1.3.0', '1.4.0'],
  ] as const;
  for (const order of [
    [one, two, three, four],
    [one, four, three, two],
    [one, four, two, three],
    [two, one, four, three],
    [one, three, four, two],
  ]) {
    assert.deepEqual(statusAfterSteps(...order), right);
  }
});

test('the result of a reconcile of all tags is the selection, even when it is older', () => {
  const selected = (tag: string): Outcome => ({ ...unchangedOutcome, tag, selection: { candidate: { tag }, containers: [] } });
  assert.equal(writtenStatusAfter(writtenStatusAfter({}, selected('1.4.0')), selected('1.3.0')).latest?.tag, '1.3.0');
});
