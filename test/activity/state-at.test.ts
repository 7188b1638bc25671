/** What ran at a time, by what happened before. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collectStates } from '../../src/activity/state-at.ts';
import type { Activity } from '../../src/core/model/activity.ts';
import { timeAt } from './sample-activity.ts';

const web = { kind: 'ImagePolicy', namespace: 'shop', name: 'web' } as const;
const change = (at: number, kind: 'Updated' | 'RolloutFailed' | 'RolledBack' | 'Blocked', tag: string, subject = web): Activity => ({
  type: 'change',
  at: timeAt(at),
  kind,
  subject,
  tag,
  workloads: ['Deployment shop/web'],
});
const action = (at: number, name: 'suspend' | 'resume'): Activity => ({ type: 'action', at: timeAt(at), action: name, subject: web });

const history: readonly Activity[] = [
  change(1, 'Updated', '1.4.1'),
  action(2, 'suspend'),
  action(3, 'resume'),
  change(4, 'Updated', '1.4.2'),
  change(5, 'RolloutFailed', '1.4.2'),
  change(6, 'RolledBack', '1.4.1'),
  change(7, 'Blocked', '1.5.0'),
  action(8, 'suspend'),
  change(9, 'Updated', '2.0.0', { ...web, name: 'api' } as never),
];
const at = (minute: number) => {
  const { add, states } = collectStates(Date.parse(timeAt(minute)));
  add({ type: 'push', id: 'p', at: timeAt(0), push: {} as never });
  for (const [index, one] of history.entries()) add({ id: String(index), ...one });
  return states().map(({ name, image, last, suspended }) => [name, image?.tag, image?.since, last.kind, suspended]);
};

for (const [minute, expected] of [
  [0, []],
  [1, [['web', '1.4.1', timeAt(1), 'Updated', undefined]]],
  [2, [['web', '1.4.1', timeAt(1), 'Updated', true]]],
  [3, [['web', '1.4.1', timeAt(1), 'Updated', undefined]]],
  // An image runs since it was set, and not since its rollout was over.
  [5, [['web', '1.4.2', timeAt(4), 'RolloutFailed', undefined]]],
  [6, [['web', '1.4.1', timeAt(6), 'RolledBack', undefined]]],
  // What is blocked does not run.
  [7, [['web', '1.4.1', timeAt(6), 'Blocked', undefined]]],
  [
    9,
    [
      ['api', '2.0.0', timeAt(9), 'Updated', undefined],
      ['web', '1.4.1', timeAt(6), 'Blocked', true],
    ],
  ],
] as const)
  test(`the states of policies ${minute} minutes after the start follow from the activity until then`, () =>
    assert.deepEqual(at(minute), expected));
