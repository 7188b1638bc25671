/** What has happened to a container is known from its workload before any status tells of it, and statuses tell of it in any order. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { held } from '../../../src/core/plan/guards/held.ts';
import { changesTo, completeHistory } from '../../../src/core/plan/past.ts';
import { leftImages, rollbackImage, type Past } from '../../../src/core/plan/rollback.ts';
import { lastUpdateOf, withUpdates } from '../../../src/core/model/last-update.ts';
import { formatLastUpdate, parseLastUpdate } from '../../../src/core/model/last-update-annotation.ts';
import type { HistoryEntry, PolicyStatus } from '../../../src/core/model/policy-status.ts';
import { workloadKey, type Workload } from '../../../src/core/model/workload.ts';
import type { AppliedChange } from '../../../src/core/plan/plan-update.ts';
import { nextHistory } from '../../../src/core/status/next-history.ts';
import { digestOf, noAliases, policyOf, specOf, thisDeployment, workloadOf } from '../model/samples.ts';

const image = 'registry.example.com/shop/web';
const start = Date.parse('2026-03-01T12:00:00Z');
const policy = policyOf();

/** A patch of the policy by a replica whose clock shows `now`; what its author reports, and the workload afterwards. */
function patch(workload: Workload, tag: string, now: number): { readonly workload: Workload; readonly change: AppliedChange } {
  const from = workload.containers[0]?.image ?? '';
  const cause = { policy: policy.uid, trigger: 'Webhook', at: new Date(now), tag, digest: digestOf(tag.split('.')[1] ?? '') } as const;
  const [change] = withUpdates(workload, [{ container: 'web', index: 0, from, to: `${image}:${tag}` }], cause);
  assert.ok(change?.update);
  const lastUpdate = parseLastUpdate(formatLastUpdate(change.update));
  return {
    workload: workloadOf({ web: { image: change.to, imageOwner: 'image-watcher', ...(lastUpdate && { lastUpdate }) } }),
    change: { ...change, workload: thisDeployment, at: change.update.at },
  };
}

function report(status: PolicyStatus, change: AppliedChange): PolicyStatus {
  const outcome = { kind: 'updated', reason: 'Updated', message: '', tag: change.to.split(':').at(-1) ?? '', changes: [change] } as const;
  const history = nextHistory(status, outcome, 'Webhook', new Date(start));
  return history === undefined ? status : { ...status, history };
}

const imagesOf = (changes: readonly Pick<HistoryEntry, 'from' | 'to'>[]) => changes.map(({ from, to }) => `${from} ${to}`);

test('any order of late reports, with clocks that differ, gives the changes as they were made; the workload alone knows the last one', () => {
  const made = fc.record({ tag: fc.constantFrom('1.0.0', '1.1.0', '1.2.0', '1.3.0'), skewMs: fc.integer({ min: -60_000, max: 60_000 }) });
  const input = fc.array(made, { minLength: 1, maxLength: 8 }).chain((patches) =>
    fc.record({
      patches: fc.constant(patches),
      order: fc.shuffledSubarray([...patches.keys()], { minLength: patches.length }),
      reported: fc.nat({ max: patches.length }),
    }),
  );
  fc.assert(
    fc.property(input, ({ patches, order, reported }) => {
      let workload = workloadOf({ web: `${image}:0.9.0` });
      const changes = patches.map(({ tag, skewMs }, index) => {
        const done = patch(workload, tag, start + index + skewMs);
        ({ workload } = done);
        return done.change;
      });
      const log = imagesOf(changes).toReversed();
      let status: PolicyStatus = {};
      for (const [count, index] of order.entries()) {
        // A crash here loses none of what is known about the last change.
        if (count === reported) assert.equal(imagesOf(changesTo({ uid: policy.uid, status }, workload, 'web'))[0], log[0]);
        const change = changes[index];
        if (change !== undefined) status = report(report(status, change), change);
      }
      assert.deepEqual(imagesOf(status.history ?? []), log);
      assert.deepEqual(imagesOf(changesTo({ uid: policy.uid, status }, workload, 'web')), log);
    }),
  );
});

const now = new Date(start + 60_000);

/** Four changes, of which the policy's history holds the last one. */
function afterFour(): { readonly history: readonly HistoryEntry[]; readonly workload: Workload; readonly log: readonly string[] } {
  let workload = workloadOf({ web: `${image}:1.0.0` });
  const changes = ['1.1.0', '1.2.0', '1.3.0', '1.4.0'].map((tag, index) => {
    const done = patch(workload, tag, start + index);
    ({ workload } = done);
    return done.change;
  });
  const [last] = changes.slice(-1);
  assert.ok(last);
  return { history: report({}, last).history ?? [], workload, log: imagesOf(changes).toReversed() };
}

test('changes whose status was never written are put into the history from what the workload records, once', () => {
  const { history, workload, log } = afterFour();
  const { uid, namespace } = policy;
  const complete = completeHistory(history, { uid, namespace, status: {} }, [workload], now);
  assert.deepEqual(imagesOf(complete), log);
  assert.equal(completeHistory(complete, { uid, namespace, status: {} }, [workload], now), complete);
  assert.equal(completeHistory(history, { uid: 'other', namespace, status: {} }, [workload], now), history, 'those of others are not');
});

test('a change that a workload records for the future is not put into the history', () => {
  const { history, workload } = afterFour();
  const early = new Date(start - 600_000);
  assert.equal(completeHistory(history, { ...policy, status: {} }, [workload], early), history);
});

test('what owners of another namespace record is believed where the image before is known to have run', () => {
  const { history, workload, log } = afterFour();
  const complete = (status: PolicyStatus) => completeHistory(history, { uid: policy.uid, namespace: 'other', status }, [workload], now);
  assert.deepEqual(imagesOf(complete({})), log.slice(0, 1));
  const targets = [{ ...thisDeployment, container: 'web', image: `${image}:1.2.0`, state: 'UpToDate' as const }];
  assert.deepEqual(imagesOf(complete({ targets })), log.slice(0, 2));
});

test('a full history does not take back what it has dropped, although it keeps failures longer', () => {
  const { workload } = afterFour();
  const [change] = afterFour().history;
  assert.ok(change);
  const at = (index: number) => new Date(start + index * 1_000).toISOString();
  const others = Array.from({ length: 9 }, (_, index): HistoryEntry => ({ ...change, container: `c${index}`, at: at(20 - index) }));
  const failed: HistoryEntry = { ...change, container: 'failed', result: 'Failed', at: at(-60) };
  const history = [...others, failed];
  assert.equal(completeHistory(history, { ...policy, status: {} }, [workload], now), history);
});

test('a history that is full of failures takes over a change that is newer than half of them', () => {
  const { history: known, workload, log } = afterFour();
  const [last] = known;
  assert.ok(last);
  const at = (index: number) => new Date(start - index * 60_000).toISOString();
  const failures = Array.from({ length: 9 }, (_, index): HistoryEntry => ({
    ...last,
    container: `c${index}`,
    result: 'Failed',
    at: at(index + 1),
  }));
  const complete = completeHistory([last, ...failures], { ...policy, status: {} }, [workload], now);
  assert.deepEqual([complete.length, imagesOf(complete.slice(0, 4))], [10, log]);
});

/** 1.0.0 → 1.1.0 is in the status; 1.2.0 is applied, and no status tells of it. */
function beforeStatus(now = start): { readonly past: Past; readonly workload: Workload; readonly status: PolicyStatus } {
  const first = patch(workloadOf({ web: `${image}:1.0.0` }), '1.1.0', start);
  const latest = { tag: '1.1.0', digest: digestOf('1'), selectedAt: first.change.at ?? '' };
  const status = { ...report({}, first.change), latest };
  const { workload } = patch(first.workload, '1.2.0', now);
  const findWorkload: Past['findWorkload'] = (ref) => (workloadKey(ref) === workloadKey(workload) ? workload : undefined);
  const { uid, namespace } = policy;
  return { past: { uid, namespace, status, spec: specOf(), aliases: noAliases, findWorkload, listWorkloads: () => [] }, workload, status };
}

test('a rollback to the previous image is one from what the workload was changed to last', () => {
  const { past } = beforeStatus();
  assert.equal(rollbackImage(past, 'previous')?.tag, '1.1.0');
  assert.deepEqual(
    leftImages(past, { tag: '1.1.0', digest: digestOf('1') }).map(({ tag }) => tag),
    ['1.2.0'],
  );
});

test('a rollback leaves what another policy has applied to the same containers', () => {
  const { past, workload } = beforeStatus();
  const [web] = workload.containers;
  const lastUpdate = web?.lastUpdate;
  assert.ok(lastUpdate);
  const findWorkload = () => ({ ...workload, containers: [{ ...web, lastUpdate: { ...lastUpdate, policy: 'another' } }] });
  assert.deepEqual(
    leftImages({ ...past, findWorkload }, { tag: '1.0.0' }).map(({ tag }) => tag),
    ['1.1.0', '1.2.0'],
  );
});

test('the previous image is the one that ran on most targets: somebody may have set another one on a few', () => {
  const names = ['a', 'b', 'c'];
  const places = names.map((name) => ({ kind: 'Deployment', namespace: 'shop', name }));
  const changed = names.map((name, index) => {
    const from = index === 0 ? '1.0.0' : '1.1.0';
    const { workload } = patch(workloadOf({ web: `${image}:${from}` }), '1.2.0', start + 10 - index);
    return { ...workload, name, uid: name };
  });
  const findWorkload: Past['findWorkload'] = (ref) => changed.find((one) => workloadKey(one) === workloadKey(ref));
  const { uid, namespace } = policy;
  const spec = specOf({ targets: places });
  const past = { uid, namespace, status: {}, spec, aliases: noAliases, findWorkload, listWorkloads: () => [] };
  assert.equal(rollbackImage(past, 'previous')?.tag, '1.1.0');
  assert.deepEqual(
    leftImages(past, { tag: '1.1.0' }).map(({ tag }) => tag),
    ['1.2.0'],
  );
});

test('the owners of another namespace do not choose what is rolled back to', () => {
  const { past } = beforeStatus();
  const forged = { ...policy, namespace: 'other' };
  assert.equal(rollbackImage({ ...past, namespace: forged.namespace, status: {} }, 'previous'), undefined);
});

test('an image that somebody sets within the second of two changes is held', () => {
  const { workload, status } = beforeStatus();
  const lastUpdate = lastUpdateOf(workload, 'web');
  const older = `${image}:1.1.0`;
  const byHand = { image: older, imageOwner: 'kubectl-set', imageSetAt: '2026-03-01T12:00:00Z', ...(lastUpdate && { lastUpdate }) };
  const changed = workloadOf({ web: byHand });
  const change = { container: 'web', index: 0, from: older, to: `${image}:1.2.0` };
  const { spec } = { spec: specOf() };
  const context = {
    policy: { ...policy, status },
    spec,
    candidate: { tag: '1.2.0', digest: digestOf('2') },
    crossNamespace: 'consent',
    repeatsPerHour: 5,
    now: new Date(start),
  } as const;
  const decision = held.check({ target: thisDeployment, workload: changed, changes: [change], unchanged: [] }, context);
  assert.equal(decision?.reason, 'Held');
  const inSeconds = { ...byHand, ...(lastUpdate && { lastUpdate: { ...lastUpdate, at: '2026-03-01T12:00:00Z' } }) };
  const older2 = { target: thisDeployment, workload: workloadOf({ web: inSeconds }), changes: [change], unchanged: [] };
  assert.equal(held.check(older2, context)?.reason, 'Held', 'also by a record of an earlier version');
});
