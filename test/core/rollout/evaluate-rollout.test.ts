import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { evaluateRollout, type PodEvidence } from '../../../src/core/rollout/evaluate-rollout.ts';
import type { Workload, WorkloadRollout } from '../../../src/core/model/workload.ts';
import { changedAt, rolloutOf, afterChange, changedWorkload, stuckRollout, rolledOut } from './rollout-samples.ts';

const time = { since: new Date(changedAt), timeoutMs: 600_000 };
const imagePullFailure: PodEvidence = {
  failure: { reason: 'ImagePullFailed', message: 'pod web-2-x, container web: ImagePullBackOff', against: 'image' },
};
const unreadySince = (seconds: number): PodEvidence => ({ unreadySince: afterChange(seconds) });
const quotaExceeded = { cannotCreate: 'pods "web-2-x" is forbidden: exceeded quota: pods' };
const { rollout: _, ...withoutRollout } = changedWorkload();

const rows: [name: string, workload: Workload, seconds: number, expected: string, pods?: PodEvidence][] = [
  ['not seen by its controller', changedWorkload({ ...rolledOut, observedGeneration: 1 }), 1, 'progressing'],
  [
    'not seen by its controller, and said to have failed before',
    changedWorkload({ ...stuckRollout, observedGeneration: 1 }),
    1,
    'progressing',
  ],
  ['not seen by its controller, which is away', changedWorkload({ observedGeneration: 1 }), 700, 'progressing'],
  ['not seen by its controller for an hour', changedWorkload({ observedGeneration: 1 }), 600 + 3_601, 'notWatched'],
  ['without new pods', changedWorkload(), 1, 'progressing'],
  ['with a new pod that is not available', changedWorkload({ updated: 1 }), 1, 'progressing'],
  ['with an old pod that still has to go', changedWorkload({ updated: 1, available: 1, outdated: 1 }), 1, 'progressing'],
  [
    'with enough pods, of which some are old',
    changedWorkload({ wanted: 2, toUpdate: 2, updated: 1, available: 2, outdated: 1 }),
    1,
    'progressing',
  ],
  ['with all new pods available', changedWorkload({ updated: 1, available: 1, outdated: 0 }), 1, 'done'],
  ['done after all, late', changedWorkload(rolledOut), 9_999, 'done'],
  ['done, with a pod that failed since', changedWorkload({ ...rolledOut, available: 0 }), 700, 'done'],
  ['done, whatever a pod says', changedWorkload(rolledOut), 1, 'done', imagePullFailure],
  ['up to a partition', changedWorkload({ wanted: 3, toUpdate: 1, updated: 1, available: 3, outdated: 0 }), 1, 'done'],
  ['given up', changedWorkload(stuckRollout), 30, 'failed ProgressDeadlineExceeded'],
  [
    'given up in the revision before',
    changedWorkload({ ...stuckRollout, deadlineExceeded: { message: 'too late', at: changedAt } }),
    30,
    'progressing',
  ],
  [
    'given up, nobody knows when',
    changedWorkload({ ...stuckRollout, deadlineExceeded: { message: 'too late', at: '' } }),
    30,
    'failed ProgressDeadlineExceeded',
  ],
  ['given up, and seen long after', changedWorkload(stuckRollout), 99_999, 'failed ProgressDeadlineExceeded'],
  ['with a pod that cannot pull', changedWorkload({ updated: 1 }), 30, 'failed ImagePullFailed', imagePullFailure],
  ['given up, with a pod that says why', changedWorkload(stuckRollout), 30, 'failed ImagePullFailed', imagePullFailure],
  ['just before its time is over', changedWorkload({ updated: 1 }), 599, 'progressing'],
  ['when its time is over', changedWorkload({ updated: 1 }), 600, 'failed RolloutTimedOut'],
  [
    'when its time is over, with a pod that has had as much',
    changedWorkload({ updated: 1 }),
    600,
    'failed RolloutTimedOut',
    unreadySince(0),
  ],
  ['when its time is over, with a pod that is younger', changedWorkload({ updated: 1 }), 600, 'progressing', unreadySince(1)],
  [
    'when its time is over, and the time of its late pod',
    changedWorkload({ updated: 1 }),
    1_200,
    'failed RolloutTimedOut',
    unreadySince(600),
  ],
  ['when its time is over, without a pod that is not ready', changedWorkload({ updated: 1 }), 600, 'progressing', {}],
  ['when its time is over, without new pods', changedWorkload(), 600, 'progressing'],
  ['without room for new pods', changedWorkload(quotaExceeded), 700, 'progressing'],
  ['without room for new pods, for hours', changedWorkload({ ...quotaExceeded, isIncomplete: true }), 99_999, 'progressing'],
  ['without room for new pods, and given up', changedWorkload({ ...stuckRollout, ...quotaExceeded }), 700, 'progressing'],
  [
    'without room for more pods, with one that cannot pull',
    changedWorkload({ updated: 1, ...quotaExceeded }),
    700,
    'failed ImagePullFailed',
    imagePullFailure,
  ],
  [
    'without room for more pods, with a late one',
    changedWorkload({ updated: 1, ...quotaExceeded }),
    700,
    'failed RolloutTimedOut',
    unreadySince(0),
  ],
  ['without room for more pods, which nobody may read', changedWorkload({ updated: 1, ...quotaExceeded }), 700, 'progressing'],
  ['long after its time, when nobody was there', changedWorkload(), 600 + 3_601, 'notWatched'],
  ['long after its time, and its controller says it was never out', changedWorkload({ isIncomplete: true }), 600 + 3_601, 'progressing'],
  [
    'never out, with a pod that has had its time',
    changedWorkload({ updated: 1, isIncomplete: true }),
    99_999,
    'failed RolloutTimedOut',
    unreadySince(9),
  ],
  ['without replicas', changedWorkload({ wanted: 0, toUpdate: 0, outdated: 0 }), 1, 'notWatched'],
  ['paused', changedWorkload({ haltedBecause: 'it is paused' }), 9_999, 'notWatched'],
  ['that was paused, and goes on', changedWorkload({ resumedAt: afterChange(86_400).toISOString() }), 86_401, 'progressing'],
  [
    'that was paused, went on, and took too long',
    changedWorkload({ updated: 1, resumedAt: afterChange(86_400).toISOString() }),
    87_001,
    'failed RolloutTimedOut',
  ],
  ['of a kind that does not roll out', { ...withoutRollout, kind: 'CronJob' }, 1, 'notWatched'],
];

for (const [name, workload, seconds, expected, pods] of rows) {
  test(`a workload ${name} is evaluated as "${expected}"`, () => {
    const evaluation = evaluateRollout(workload, time, afterChange(seconds), pods);
    assert.equal([evaluation.kind, evaluation.kind === 'failed' && evaluation.reason].filter(Boolean).join(' '), expected);
    assert.match(evaluation.message, new RegExp(`^${workload.kind} shop/web`));
  });
}

test('the messages say what is missing, in the words of the controller or pod', () => {
  const messageOf = (rollout: Partial<WorkloadRollout>, seconds = 1, pods?: PodEvidence) =>
    evaluateRollout(changedWorkload(rollout), time, afterChange(seconds), pods).message;
  assert.match(
    messageOf({ wanted: 3, toUpdate: 3, updated: 1, available: 2, outdated: 2 }),
    /1 of 3 updated, 2 of 3 available, 2 old still there/,
  );
  assert.match(messageOf({ observedGeneration: 1 }), /its controller has not seen the change yet/);
  assert.match(messageOf(stuckRollout), /"web-2" has timed out progressing/);
  assert.match(messageOf({}, 30, imagePullFailure), /pod web-2-x, container web: ImagePullBackOff/);
  assert.match(messageOf({ updated: 1 }, 600), /took longer than 600 s: 1 of 1 updated/);
  assert.match(messageOf(quotaExceeded), /0 of 1 updated.*pods cannot be created: .*exceeded quota/);
  assert.match(messageOf({ haltedBecause: 'its update strategy is OnDelete' }), /not watched: its update strategy is OnDelete/);
});

const few = fc.nat({ max: 3 });
const anyRollout: fc.Arbitrary<WorkloadRollout> = fc.record({
  observedGeneration: few,
  wanted: few,
  toUpdate: few,
  updated: few,
  available: few,
  outdated: few,
  wasComplete: fc.boolean(),
});

test('whatever the numbers are, complete and failed stay so as time passes, and no rollout lasts for ever', () => {
  fc.assert(
    fc.property(anyRollout, fc.boolean(), fc.nat({ max: 9_999 }), fc.nat({ max: 9_999 }), (numbers, isGivenUp, early, more) => {
      const workload = changedWorkload({
        ...numbers,
        ...(isGivenUp && { deadlineExceeded: { message: 'too late', at: '2026-03-01T12:00:20Z' } }),
      });
      const first = evaluateRollout(workload, time, afterChange(early));
      const second = evaluateRollout(workload, time, afterChange(early + more));
      if (first.kind === 'done' || first.kind === 'notWatched') assert.equal(second.kind, first.kind);
      if (first.kind === 'failed') assert.notEqual(second.kind, 'progressing');
      if (numbers.observedGeneration < workload.generation) assert.notEqual(second.kind, 'done');
      assert.notEqual(evaluateRollout(workload, time, afterChange(600 + 3_601)).kind, 'progressing');
    }),
  );
});

test('a rollout is complete only with all of its pods new and available, unless it was complete before', () => {
  fc.assert(
    fc.property(anyRollout, (numbers) => {
      if (evaluateRollout(changedWorkload(numbers), time, afterChange(1)).kind !== 'done' || numbers.wasComplete) return;
      assert.ok(numbers.updated >= numbers.toUpdate && numbers.available >= numbers.wanted && numbers.outdated === 0);
    }),
  );
  assert.equal(evaluateRollout(changedWorkload(rolloutOf()), time, afterChange(1)).kind, 'progressing');
});

test('a deadline from before the change is none of its own, however far our clock is behind that of the API server', () => {
  const given = { ...stuckRollout, deadlineExceeded: { message: 'timed out progressing.', at: '2026-03-01T12:00:30Z' } };
  const setAt = (imageSetAt: string) =>
    changedWorkload(given, { containers: [{ name: 'web', image: 'shop/web:1.3.0', imageOwner: 'image-watcher', imageSetAt }] });
  const evaluate = (workload: Workload) => evaluateRollout(workload, time, afterChange(40)).kind;
  assert.equal(evaluate(setAt('2026-03-01T12:01:00Z')), 'progressing', 'a minute behind');
  assert.equal(evaluate(setAt('2026-03-01T12:00:00Z')), 'failed');
  assert.equal(evaluate(setAt('2026-03-01T11:00:00Z')), 'failed', 'an hour ahead');
});
