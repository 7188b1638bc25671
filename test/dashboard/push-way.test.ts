import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PushEvent, wayOf, type WayMark } from '../../src/dashboard/parts/push-way.ts';

type Result = Parameters<typeof wayOf>[1];
const receivedAt = '2026-03-01T12:00:05.000Z';
const verified = { verifiedMs: 300 };
const allDone = ['done', 'done', 'done', 'done', 'done'] as const;
const result = (outcome: PushEvent['outcome'], more: Partial<NonNullable<Result>> = {}): NonNullable<Result> => ({ outcome, ...more });

for (const [what, found, marks] of [
  ['has no result yet', undefined, ['done', 'busy', 'ahead', 'ahead', 'ahead']],
  ['is being verified', result('working'), ['done', 'busy', 'ahead', 'ahead', 'ahead']],
  ['is tried again while the registry is away', result('retrying'), ['done', 'wait', 'ahead', 'ahead', 'ahead']],
  ['is not what the registry has', result('stalled'), ['done', 'stop', 'ahead', 'ahead', 'ahead']],
  ['waits for a guard', result('waiting', { ...verified, stage: 'guard' }), ['done', 'done', 'wait', 'ahead', 'ahead']],
  ['waits for a guard, and was found by its record', result('waiting', { stage: 'guard' }), ['done', 'done', 'wait', 'ahead', 'ahead']],
  ['is not permitted', result('stalled', verified), ['done', 'done', 'stop', 'ahead', 'ahead']],
  ['changes nothing', result('unchanged', verified), ['done', 'done', 'end', 'ahead', 'ahead']],
  ['has changed a workload', result('updated', verified), ['done', 'done', 'done', 'done', 'ahead']],
  ['is rolled out', result('updated', { ...verified, stage: 'rollout' }), allDone],
  ['failed to roll out', result('failed', { ...verified, stage: 'rollout' }), ['done', 'done', 'done', 'done', 'stop']],
] as const satisfies readonly (readonly [what: string, found: Result, marks: readonly WayMark[]])[])
  test(`the stages of a push are marked right if it ${what}`, () => {
    assert.deepEqual(
      wayOf({ receivedAt }, found).map(({ mark }) => mark),
      marks,
    );
  });

test('the stages of a push show the recorded times', () => {
  assert.deepEqual(
    wayOf({ receivedAt }, result('updated', { ...verified, afterMs: 9_000, stage: 'rollout' })).map(({ stage, at, afterMs }) => [
      stage,
      at,
      afterMs,
    ]),
    [
      ['received', receivedAt, undefined],
      ['verified', '2026-03-01T12:00:05.300Z', 300],
      ['permitted', undefined, undefined],
      ['changed', undefined, undefined],
      ['rolledOut', '2026-03-01T12:00:14.000Z', 9_000],
    ],
  );
});
