/** What the guard `wave` makes of a plan with several workloads. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WaveSettings } from '../../../src/model/image-policy.ts';
import { explainPlan, guardPlan } from '../../../src/plan/guard-plan.ts';
import { paused } from '../../../src/plan/guards/paused.ts';
import type { GuardContext, TargetProgress } from '../../../src/plan/guards/guard.ts';
import { wave } from '../../../src/plan/guards/wave.ts';
import type { TargetPlan, UpdatePlan } from '../../../src/plan/plan-update.ts';
import { specOf, workloadOf } from '../../model/samples.ts';
import { contextOf, evaluatedAt, image } from './context.ts';

const minutes = (count: number) => new Date(evaluatedAt.getTime() + count * 60_000);
const progressing = (deadline = minutes(7)): TargetProgress => ({ state: 'Progressing', deadline });
const done = (at = minutes(-60)): TargetProgress => ({ state: 'Done', at });
const failed: TargetProgress = { state: 'Failed' };

/** `todo`: is to be changed · `canary`: the same, with the label of canaries · `held`: a paused canary · otherwise how far it has come. */
type Given = Readonly<Record<string, 'todo' | 'canary' | 'held' | TargetProgress>>;

function targetOf(name: string, state: Given[string]): TargetPlan {
  const target = { kind: 'Deployment', namespace: 'shop', name };
  const isDone = typeof state === 'object' && state.state !== 'Failed';
  const runs = `${image}:${isDone ? '1.3.0' : '1.2.3'}`;
  const labels = state === 'canary' || state === 'held' ? { canary: 'true' } : {};
  const workload = workloadOf({ web: runs }, { ...target, labels, ...(state === 'held' && { paused: true }) });
  const [container] = workload.containers;
  assert.ok(container);
  const change = { container: 'web', list: 'containers', index: 0, from: runs, to: `${image}:1.3.0` } as const;
  return { target, workload, changes: isDone ? [] : [change], unchanged: [] };
}

function contextWith(given: Given, waves: Partial<WaveSettings>): GuardContext {
  const entries = Object.entries(given).flatMap(([name, state]): [string, TargetProgress][] =>
    typeof state === 'object' ? [[`Deployment/shop/${name}`, state]] : [],
  );
  const settings = { maxParallel: 2, pauseMs: 600_000, maxFailures: 1, canaries: { matchLabels: { canary: 'true' } }, ...waves };
  return contextOf({
    spec: specOf({ rollout: { timeoutMs: 600_000, onFailure: 'Rollback', waves: settings } }),
    progress: new Map(entries),
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
    [],
    { a: 'blocked WavePending', y: 'blocked WavePending', z: 'blocked TargetPaused' },
  ],
];

for (const [name, given, changed, others, waves] of rows)
  test(`a wave changes ${changed.join(' and ') || 'nothing'} where ${name}`, () =>
    assert.deepEqual(evaluate(given, waves), { changed, others }));

test('without waves nothing waits', () => {
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
