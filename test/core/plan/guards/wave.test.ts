/** What the guard `wave` makes of a plan with several workloads. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WaveSettings } from '../../../../src/core/model/image-policy.ts';
import { explainPlan, guardPlan } from '../../../../src/core/plan/guard-plan.ts';
import { paused } from '../../../../src/core/plan/guards/paused.ts';
import type { GuardContext, TargetProgress } from '../../../../src/core/plan/guards/guard.ts';
import { wave } from '../../../../src/core/plan/guards/wave.ts';
import type { Blocked, TargetPlan, TargetProblem, UpdatePlan } from '../../../../src/core/plan/plan-update.ts';
import { specOf, workloadOf } from '../../model/samples.ts';
import { contextOf, evaluatedAt, image } from './context.ts';

const minutes = (count: number) => new Date(evaluatedAt.getTime() + count * 60_000);
const progressing = (deadline = minutes(7)): TargetProgress => ({ state: 'Progressing', deadline });
const done = (at = minutes(-60)): TargetProgress => ({ state: 'Done', at });
const failed: TargetProgress = { state: 'Failed' };
const retried = (deadline: Date): TargetProgress => ({ state: 'Retried', deadline });
const refusal: TargetProblem = { reason: 'PatchRejected', message: 'refused' };

/**
 * `todo`: is to be changed · `canary`: the same, with the label of canaries · `refused`, `refused canary`: the same, and the API server refuses it · `held`: a paused
 * canary · `retry`: waits for its next try · `paused`: waited for it, and was paused · otherwise how far it has come.
 */
type Given = Readonly<Record<string, 'todo' | 'canary' | 'refused' | 'refused canary' | 'held' | 'paused' | 'retry' | TargetProgress>>;

const keyOf = (name: string) => `Deployment/shop/${name}`;

function targetOf(name: string, state: Given[string]): TargetPlan {
  const target = { kind: 'Deployment', namespace: 'shop', name };
  const isDone = typeof state === 'object' && state.state !== 'Failed';
  const runs = `${image}:${isDone ? '1.3.0' : '1.2.3'}`;
  const labels = state === 'canary' || state === 'refused canary' || state === 'held' ? { canary: 'true' } : {};
  const isPaused = state === 'held' || state === 'paused';
  const workload = workloadOf({ web: runs }, { ...target, labels, ...(isPaused && { paused: true }) });
  const [container] = workload.containers;
  assert.ok(container);
  const change = { container: 'web', list: 'containers', index: 0, from: runs, to: `${image}:1.3.0` } as const;
  const waits: Blocked = { kind: 'waits', reason: 'RolloutRetry', message: 'later', until: minutes(3), changes: [change] };
  if (state === 'retry') return { target, workload, changes: [], unchanged: [], blocked: [waits] };
  return { target, workload, changes: isDone ? [] : [change], unchanged: [] };
}

function contextWith(given: Given, waves: Partial<WaveSettings>): GuardContext {
  const entries = Object.entries(given).flatMap(([name, state]): [string, TargetProgress][] =>
    typeof state === 'object' ? [[keyOf(name), state]] : [],
  );
  const tried = Object.entries(given).flatMap(([name, state]): [string, TargetProgress][] =>
    state === 'retry' || state === 'paused' ? [[keyOf(name), retried(minutes(state === 'retry' ? 3 : -1))]] : [],
  );
  const refused = Object.entries(given).flatMap(([name, state]): [string, TargetProblem][] =>
    state === 'refused' || state === 'refused canary' ? [[keyOf(name), refusal]] : [],
  );
  const settings = { maxParallel: 2, pauseMs: 600_000, maxFailures: 1, canaries: { matchLabels: { canary: 'true' } }, ...waves };
  return contextOf({
    spec: specOf({ rollout: { timeoutMs: 600_000, onFailure: 'Rollback', waves: settings } }),
    progress: new Map([...entries, ...tried]),
    refused: new Map(refused),
  });
}

const planOf = (given: Given): UpdatePlan => ({
  candidate: { tag: '1.3.0' },
  targets: Object.entries(given).map(([name, state]) => targetOf(name, state)),
});

/** The workloads that are changed, and why the others are not. */
function evaluate(given: Given, waves: Partial<WaveSettings> = {}) {
  const { targets } = guardPlan(planOf(given), contextWith(given, waves), [paused, wave]);
  return {
    changed: targets.filter(({ changes }) => changes.length > 0).map(({ target }) => target.name),
    others: Object.fromEntries(
      targets.flatMap(({ target, problem, blocked: [blocked] = [] }) => {
        if (problem !== undefined) return [[target.name, `refused ${problem.reason}`]];
        if (blocked === undefined) return [];
        const until = blocked.kind === 'waits' ? ` ${(blocked.until.getTime() - evaluatedAt.getTime()) / 60_000}` : '';
        return [[target.name, `${blocked.kind} ${blocked.reason}${until}`]];
      }),
    ),
  };
}

const rows: [name: string, given: Given, changed: string[], others: object, waves?: Partial<WaveSettings>][] = [
  ['all fit into one wave', { a: 'todo', b: 'todo' }, ['a', 'b'], {}],
  ['more than one wave', { c: 'todo', b: 'todo', a: 'todo' }, ['b', 'a'], { c: 'waits WavePending 10' }],
  ['canaries come first', { a: 'todo', z: 'canary' }, ['z'], { a: 'waits WavePending 10' }],
  ['a wave rolls out', { a: progressing(), b: done(), c: 'todo' }, [], { c: 'waits WavePending 7' }],
  ['a rollout takes longer than its time', { a: progressing(minutes(-1)), c: 'todo' }, [], { c: 'waits WavePending 10' }],
  ['the pause is not over', { a: done(minutes(-4)), b: done(), c: 'todo' }, [], { c: 'waits WavePause 6' }],
  ['the pause is over', { a: done(minutes(-10)), c: 'todo' }, ['c'], {}],
  ['one has failed', { a: failed, b: done(), c: 'todo' }, [], { a: 'refused RejectedDigest', c: 'refused RejectedDigest' }],
  ['fewer have failed than may', { a: failed, c: 'todo' }, ['c'], { a: 'refused RejectedDigest' }, { maxFailures: 2 }],
  ['a canary is blocked by something else', { a: 'todo', z: 'held' }, [], { a: 'blocked WavePending', z: 'blocked TargetPaused' }],
  [
    'of two canaries one is blocked',
    { a: 'todo', y: 'canary', z: 'held' },
    ['y'],
    { a: 'waits WavePending 10', z: 'blocked TargetPaused' },
  ],
  ['a workload waits for its next try', { a: 'retry', c: 'todo' }, [], { a: 'waits RolloutRetry 3', c: 'waits WavePending 3' }],
  ['a workload that is to be tried again was paused', { a: 'paused', c: 'todo' }, ['c'], { a: 'blocked TargetPaused' }],
  [
    'the API server refuses one',
    { a: 'refused', b: 'todo', c: 'todo', d: 'todo' },
    ['b', 'c'],
    { a: 'refused PatchRejected', d: 'waits WavePending 10' },
    { maxFailures: 2 },
  ],
  [
    'the API server refuses as many as may fail',
    { a: 'refused', b: 'refused', c: 'todo' },
    [],
    { a: 'refused PatchRejected', b: 'refused PatchRejected', c: 'refused PatchRejected' },
    { maxFailures: 2 },
  ],
  [
    'the API server refuses one, and the rollout of another has failed',
    { a: 'refused', b: failed, c: 'todo' },
    [],
    { a: 'refused PatchRejected', b: 'refused RejectedDigest', c: 'refused RejectedDigest' },
    { maxFailures: 2 },
  ],
  [
    'the API server refuses the only canary, and one may fail',
    { a: 'todo', z: 'refused canary' },
    ['a'],
    { z: 'refused PatchRejected' },
    { maxFailures: 2 },
  ],
];

for (const [name, given, changed, others, waves] of rows)
  test(`a wave changes ${changed.join(' and ') || 'nothing'} where ${name}`, () =>
    assert.deepEqual(evaluate(given, waves), { changed, others }));

test('without waves, all workloads are changed at the same time', () => {
  const context = { ...contextOf(), progress: new Map([['Deployment/shop/a', progressing()]]) };
  const { targets } = guardPlan(planOf({ a: 'todo', b: 'todo', c: 'todo' }), context, [wave]);
  assert.ok(targets.every(({ changes }) => changes.length === 1));
});

test('an explanation says for each workload what its wave is, and which workloads it waits for', () => {
  const given = { a: 'todo', b: 'todo', c: 'todo' } as const;
  const wavesOf = explainPlan(planOf(given), contextWith(given, {})).map(({ guards }) => guards.find(({ guard }) => guard === 'wave'));
  assert.deepEqual(
    wavesOf.map((opinion) => opinion?.result),
    ['pass', 'pass', 'waits'],
  );
  assert.equal(wavesOf[2]?.message, '1.3.0 waits until these have rolled out: Deployment shop/a; Deployment shop/b');
});
