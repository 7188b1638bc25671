import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Outcome } from '../../../src/core/plan/outcome.ts';
import type { PolicyStatus } from '../../../src/core/model/policy-status.ts';
import { image, writtenStatusAfter, statusAfter, reconcileTime, ownImagesOutcome, unchangedOutcome, updatedOutcome } from './outcomes.ts';
import { appliedOnce, digestOf, webDeployment } from '../model/samples.ts';

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

test('a change of ours that runs but was not recorded because of a crash is added to the history', () => {
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

test('a change that was not recorded is added with its own tag, while an older image waits', () => {
  const update = {
    policy: 'uid',
    at: reconcileTime.toISOString(),
    trigger: 'Poll',
    from: `${image}:1.2.0`,
    to: `${image}:1.3.0`,
    digest: digestOf('b'),
  } as const;
  const ours = (ownImagesOutcome.ours ?? []).map((own) => ({ ...own, update }));
  const waiting: Outcome = { ...ownImagesOutcome, kind: 'waiting', reason: 'MinAge', tag: '1.2.5', digest: digestOf('a'), ours };
  const status = writtenStatusAfter({}, { ...waiting, behind: { tag: '1.3.0', digest: digestOf('b') } });
  assert.deepEqual(
    status.history?.map(({ tag, to }) => [tag, to]),
    [['1.3.0', `${image}:1.3.0`]],
  );
});

test('a late report of a change that was rolled back since does not add the change to the history again', () => {
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
  assert.deepEqual(tags(remembering(reconcileTime), secondsLater(60)), ['1.2.0', '1.3.0'], 'the same change');
  assert.deepEqual(tags(remembering(secondsLater(-5)), secondsLater(60)), ['1.2.0', '1.3.0', '1.3.0'], 'an earlier one, in its place');
  assert.deepEqual(tags(remembering(secondsLater(5)), secondsLater(6)), ['1.3.0', '1.2.0', '1.3.0'], 'a change of its own');
});

test('a change that another replica reports before its author has one entry, and a repetition of the change has its own', () => {
  const second = (number: number) => new Date(reconcileTime.getTime() + number * 1_000);
  const images = { from: `${image}:1.2.0`, to: `${image}:1.3.0` };
  const reported = (at: Date): Outcome => ({
    ...updatedOutcome,
    changes: (updatedOutcome.changes ?? []).map((change) => ({ ...change, at: at.toISOString() })),
  });
  const update = { policy: 'p', at: second(0).toISOString(), trigger: 'Webhook', ...images } as const;
  const remembering: Outcome = { ...ownImagesOutcome, ours: (ownImagesOutcome.ours ?? []).map((own) => ({ ...own, update })) };
  const found = statusAfter({}, remembering, 2, second(30)) ?? {};
  assert.equal(found.history?.[0]?.at, second(0).toISOString(), 'it was made when the workload says');
  const entries = (at: Date, status = found) => (statusAfter(status, reported(at), 2, second(31)) ?? status).history?.length;
  assert.deepEqual([entries(second(0)), entries(second(2))], [1, 2]);
  const [change] = updatedOutcome.changes ?? [];
  const onwards = change === undefined ? [] : [{ ...change, from: change.to, to: `${image}:1.4.0`, at: second(1).toISOString() }];
  const followed = writtenStatusAfter(found, { ...updatedOutcome, tag: '1.4.0', changes: onwards });
  assert.equal(entries(second(0), followed), 2, 'also when it was changed once more since');
});

test('a history entry is not added twice', () => {
  const recorded = (status: PolicyStatus, outcome = ownImagesOutcome) => statusAfter(status, outcome, 2)?.history;
  assert.deepEqual(recorded({ history: appliedOnce('1.3.0') }), appliedOnce('1.3.0'));
  assert.equal(recorded({ lastAppliedTag: '1.3.0' }), undefined, 'an older service did it');
  assert.equal(recorded({ lastAppliedTag: '1.2.0' })?.length, 1);
  const many = Array.from({ length: 25 }, (_, index) => ({ workload: webDeployment, container: `c${index}`, image: `${image}:1.3.0` }));
  const full = writtenStatusAfter({}, { ...ownImagesOutcome, ours: many });
  assert.equal(full.history?.length, 10);
  assert.equal(statusAfter(full, { ...ownImagesOutcome, ours: many }, 2), undefined, 'those that were pushed out are not found missing');
  const written = writtenStatusAfter({}, updatedOutcome);
  assert.equal(statusAfter(written, updatedOutcome, 2), undefined, 'a status whose write was not answered');
});

test('a full history of the same mutable tag gets the change that its own report could not show yet', () => {
  const at = (second: number) => new Date(reconcileTime.getTime() + second * 1_000).toISOString();
  const own = (container: string, second: number) => {
    const images = { from: `${image}:latest@sha256:${'1'.repeat(64)}`, to: `${image}:latest@sha256:${'2'.repeat(64)}` };
    const update = { policy: 'p', at: at(second), trigger: 'Poll', ...images } as const;
    return { workload: webDeployment, container, image: images.to, update };
  };
  const outcome = (...ours: ReturnType<typeof own>[]): Outcome => ({ ...ownImagesOutcome, tag: 'latest', ours });
  const full = writtenStatusAfter({}, outcome(...Array.from({ length: 10 }, (_, index) => own(`c${index}`, index))));
  const after = (second: number) => statusAfter(full, outcome(own('late', second)), 2)?.history?.map(({ container }) => container);
  assert.equal(after(10)?.[0], 'late');
  assert.deepEqual(after(5.5)?.slice(3, 6), ['c6', 'late', 'c5']);
  assert.equal(after(-1), undefined, 'it was made before the history begins');
});

test('a change, its reversal and the same change within a second are three entries', () => {
  const [change] = updatedOutcome.changes ?? [];
  const made = (tag: string, milliseconds: number): Outcome => {
    const at = new Date(reconcileTime.getTime() + milliseconds).toISOString();
    const [from, to] = tag === '1.2.0' ? [change?.to ?? '', change?.from ?? ''] : [change?.from ?? '', change?.to ?? ''];
    return { ...updatedOutcome, tag, changes: change === undefined ? [] : [{ ...change, from, to, at }] };
  };
  const status = [made('1.3.0', 0), made('1.2.0', 1), made('1.3.0', 2)].reduce<PolicyStatus>(writtenStatusAfter, {});
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

describe('changes of replicas that are reported in any order', () => {
  const tags = ['1.0.0', '1.1.0', '1.2.0', '1.3.0', '1.4.0', '1.5.0'];
  /** What the author of the change to the tag of this number reports. */
  const reported = (number: number): Outcome => ({
    ...updatedOutcome,
    tag: tags[number] ?? '',
    changes: [{ workload: webDeployment, container: 'web', index: 0, ...imagesOf(number), at: madeAt(number) }],
    selection: { candidate: { tag: tags[number] ?? '' }, containers: [], isNamed: true },
  });
  /** What another replica reports that finds it on the workload. */
  const found = (number: number): Outcome => {
    const update = { policy: 'p', at: madeAt(number), trigger: 'Webhook', ...imagesOf(number) } as const;
    const own = { workload: webDeployment, container: 'web', image: imagesOf(number).to, update };
    return {
      ...unchangedOutcome,
      tag: tags[number] ?? '',
      ours: [own],
      selection: { candidate: { tag: tags[number] ?? '' }, containers: [] },
    };
  };
  /** They follow each other within a second. */
  const madeAt = (number: number) => new Date(reconcileTime.getTime() + number).toISOString();
  const imagesOf = (number: number) => ({ from: `${image}:${tags[number - 1]}`, to: `${image}:${tags[number]}` });
  const after = (...reports: readonly Outcome[]) =>
    reports.reduce<PolicyStatus>((before, report) => statusAfter(before, report, 2, reconcileTime) ?? before, {});
  const changesOf = ({ history = [] }: PolicyStatus) => history.map(({ from, to }) => ({ from, to }));

  test('each is recorded once and in its place, and the newest stays the selection', () => {
    const ofAll = fc.integer({ min: 1, max: tags.length - 1 }).chain((last) => {
      const changes = Array.from({ length: last }, (_, index) => index + 1);
      const order = fc.shuffledSubarray(changes, { minLength: last });
      return fc.record({ last: fc.constant(last), order, foundAt: fc.option(fc.nat({ max: last }), { nil: undefined }) });
    });
    fc.assert(
      fc.property(ofAll, ({ last, order, foundAt }) => {
        const reports = order.map(reported);
        const status = after(...(foundAt === undefined ? reports : reports.toSpliced(foundAt, 0, found(last))));
        assert.deepEqual(
          changesOf(status),
          Array.from({ length: last }, (_, index) => imagesOf(last - index)),
        );
        assert.deepEqual([status.latest?.tag, status.lastAppliedTag], [tags[last], tags[last]]);
      }),
    );
  });

  test('a late one is placed by the time of its change, if the changes between it and the newest are missing', () => {
    const later = new Date(reconcileTime.getTime() + 2_000);
    const moved = (number: number, at: Date): Outcome => {
      const { changes = [], ...rest } = reported(number);
      const selection = { candidate: { tag: 'latest' }, containers: [], isNamed: true as const };
      return { ...rest, tag: 'latest', selection, changes: changes.map((change) => ({ ...change, at: at.toISOString() })) };
    };
    assert.deepEqual(changesOf(after(moved(4, later), moved(1, reconcileTime))), [imagesOf(4), imagesOf(1)]);
    assert.deepEqual(changesOf(after(moved(1, reconcileTime), moved(4, later))), [imagesOf(4), imagesOf(1)]);
  });

  test('a change that somebody else reverted, made again and rolled back stays in order', () => {
    const [{ from, to }] = [imagesOf(1)];
    const second = (number: number) => new Date(reconcileTime.getTime() + number * 1_000).toISOString();
    const made = (images: { from: string; to: string }, at: string): Outcome => ({
      ...updatedOutcome,
      tag: images.to.split(':').at(-1) ?? '',
      changes: [{ workload: webDeployment, container: 'web', index: 0, ...images, at }],
    });
    const there = { from, to };
    const back = { from: to, to: from };
    const status = after(made(there, second(0)), made(there, second(2)), made(back, second(3)));
    assert.deepEqual(changesOf(status), [back, there, there]);
    assert.equal(status.lastAppliedTag, '1.0.0');
  });

  test('a late report about more workloads than the history holds does not displace newer changes', () => {
    const many = Array.from({ length: 11 }, (_, index) => ({ ...webDeployment, name: `web-${index}` }));
    const all = (number: number): Outcome => ({
      ...reported(number),
      changes: many.map((workload) => ({ workload, container: 'web', index: 0, ...imagesOf(number), at: madeAt(number) })),
    });
    const status = after(all(4), all(3));
    const newest = new Map((status.history ?? []).toReversed().map(({ name, to }) => [name, to]));
    assert.deepEqual([...new Set(newest.values())], [imagesOf(4).to]);
    assert.equal(status.lastAppliedTag, '1.4.0');
  });

  test('a late one is not taken for the newest, if the changes between it and the newest are missing', () => {
    assert.deepEqual(changesOf(after(found(4), reported(1))), [imagesOf(4), imagesOf(1)]);
    assert.deepEqual(changesOf(after(reported(1), reported(4))), [imagesOf(4), imagesOf(1)]);
  });
});

test('a reconcile of all tags sets the selection, even to an older tag', () => {
  const selected = (tag: string): Outcome => ({ ...unchangedOutcome, tag, selection: { candidate: { tag }, containers: [] } });
  assert.equal(writtenStatusAfter(writtenStatusAfter({}, selected('1.4.0')), selected('1.3.0')).latest?.tag, '1.3.0');
});
