/** Two bad images in a row: a failed rollout goes back to what is known to work, not to the first bad one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HistoryEntry, PolicyStatus } from '../../../src/core/model/policy-status.ts';
import { rollbacksOf, whyNoRollback } from '../../../src/core/rollout/automatic-rollback.ts';
import { fromLastGood } from '../../../src/core/rollout/last-good.ts';
import { recordRollbacks } from '../../../src/core/rollout/record-results.ts';
import { digestOf } from '../model/samples.ts';
import { afterChange, changedWorkload, entryOf, image, rolloutOwnerOf, viewOf, withLastUpdate } from './rollout-samples.ts';

const at = (seconds: number) => afterChange(seconds).toISOString();
const change = (from: string, to: string, seconds: number, more: Partial<HistoryEntry> = {}) =>
  entryOf({ from: `${image}:${from}`, to: `${image}:${to}`, tag: to, digest: digestOf('c'), at: at(seconds), ...more });
const good = change('1.1.0', '1.2.3', -3_600, { result: 'RolledOut' });
const first = change('1.2.3', '1.3.0', 0);
const second = change('1.3.0', '1.4.0', 20, { result: 'Failed' });
const backTo = (history: HistoryEntry[], status: Partial<PolicyStatus> = {}) => {
  const policy = rolloutOwnerOf({ history, ...status });
  const [failed, ...changes] = history;
  return failed && fromLastGood(failed, changes, policy, isAllowed).from?.slice(image.length + 1);
};

const isAllowed = (change: HistoryEntry) => whyNoRollback(change) === undefined;

const rows: Record<string, readonly [history: HistoryEntry[], expected: string, status?: Partial<PolicyStatus>]> = {
  'an image that was replaced before its rollout had succeeded': [[second, first, good], '1.2.3'],
  'several of them': [[change('1.4.0', '1.5.0', 40, { result: 'Failed' }), { ...second, result: 'Applied' }, first, good], '1.2.3'],
  'one whose own rollout failed, and that stayed': [[second, { ...first, result: 'Failed' }, good], '1.2.3'],
  'none that rolled out': [[second, { ...first, result: 'RolledOut' }, good], '1.3.0'],
  'none whose rollout is known to be complete by its time alone': [
    [second, first, good],
    '1.3.0',
    { rollouts: { progressing: 1, done: 0, failed: 0, rolledBack: 0, settledAt: at(0) } },
  ],
  'none that ran for longer than a rollout may take': [[{ ...second, at: at(601) }, first, good], '1.3.0'],
  'none that a rollback has restored': [[second, { ...first, trigger: 'Rollback' }, good], '1.3.0'],
  'none that somebody else has set': [[{ ...second, from: `${image}:debug` }, first, good], 'debug'],
  'none before which nothing else ran': [[second, change('1.4.0', '1.3.0', 0), good], '1.3.0'],
  'none before which an unknown image ran': [[second, { ...first, from: '::' }, good], '1.3.0'],
};
for (const [name, [history, expected, status]] of Object.entries(rows))
  test(`a failed rollout passes over ${name}`, () => assert.equal(backTo(history, status), expected));

test('of a change that the history has no room for, the same image on other workloads tells whether it worked', () => {
  const elsewhere = { ...first, name: 'other' };
  for (const [others, expected] of [
    [[], '1.3.0'],
    [[elsewhere], '1.2.3'],
    [[{ ...elsewhere, result: 'RolledBack' }], '1.2.3'],
    [[elsewhere, { ...elsewhere, name: 'third', result: 'RolledOut' }], '1.3.0'],
    [[{ ...elsewhere, digest: digestOf('d') }], '1.3.0'],
  ] as const) {
    const policy = rolloutOwnerOf({ history: [second, ...others] });
    assert.equal(fromLastGood(second, [first, good], policy, isAllowed).from, `${image}:${expected}`, JSON.stringify(others));
  }
});

test('companions go back to what ran before all changes that are passed over', () => {
  const proxy = 'registry.example.com/shop/proxy';
  const beside = (container: string, from: string, to: string) => ({ container, from: `${proxy}:${from}`, to: `${proxy}:${to}` });
  const earlier = { ...first, alongside: [beside('proxy', '1.2.3', '1.3.0'), beside('init', '1.2.3', '1.3.0')] };
  const failed = { ...second, alongside: [beside('proxy', '1.3.0', '1.4.0')] };
  const whole = fromLastGood(failed, [earlier, good], rolloutOwnerOf({ history: [failed, earlier, good] }), isAllowed);
  assert.deepEqual(whole.alongside, [beside('proxy', '1.2.3', '1.4.0'), beside('init', '1.2.3', '1.3.0')]);
});

test('a rollback over two changes is planned, recognised when its status was lost, and recorded once', () => {
  const status = { history: [second, first, good] };
  const policy = rolloutOwnerOf(status);
  const failed = changedWorkload({}, {}, '1.4.0');
  const [open] = rollbacksOf(policy, failed, viewOf(failed));
  assert.deepEqual([open?.entry.from, open?.isDone], [`${image}:1.2.3`, false]);
  const record = { trigger: 'Rollback', at: at(60), from: `${image}:1.4.0`, to: `${image}:1.2.3`, failed: digestOf('c') } as const;
  const back = withLastUpdate(changedWorkload({}, {}, '1.2.3'), record);
  const done = rollbacksOf(policy, back, viewOf(back));
  assert.deepEqual(
    done.map(({ isDone, at }) => [isDone, at]),
    [[true, at(60)]],
  );
  const recorded = recordRollbacks(status, done, afterChange(61));
  assert.deepEqual(
    recorded.history?.map(({ from, to, result, trigger }) => [from?.slice(image.length + 1), to.slice(image.length + 1), result, trigger]),
    [
      ['1.4.0', '1.2.3', 'Applied', 'Rollback'],
      ['1.3.0', '1.4.0', 'RolledBack', 'Webhook'],
      ['1.2.3', '1.3.0', 'Applied', 'Webhook'],
      ['1.1.0', '1.2.3', 'RolledOut', 'Webhook'],
    ],
  );
  assert.equal(recordRollbacks(recorded, done, afterChange(62)), recorded);
});

test('an image that the policy may not bring back ends the way back, and does not prevent the rollback', () => {
  const moved = { ...first, from: 'registry.example.com/former/web:1.2.3' };
  const policy = rolloutOwnerOf({ history: [second, moved] });
  const failed = changedWorkload({}, {}, '1.4.0');
  assert.deepEqual(
    rollbacksOf(policy, failed, viewOf(failed)).map(({ entry }) => entry.from),
    [`${image}:1.3.0`],
  );
});
