/** What a status says of pushes whose records may lack it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HistoryEntry, PolicyStatus } from '../../../src/core/model/policy-status.ts';
import { rolledOutWith } from '../../../src/core/rollout/current-rollouts.ts';
import { foundResults } from '../../../src/core/rollout/found-results.ts';
import { digestOf } from '../model/samples.ts';
import { entryOf } from './rollout-samples.ts';

const older = { tag: '1.2.9', digest: digestOf('e'), to: 'registry.example.com/shop/web:1.2.9' };
const out = { result: 'RolledOut' } as const;
const back = { trigger: 'Rollback' } as const;
const namesIn = (entries: readonly HistoryEntry[]) => entries.map(({ name, tag }) => `${name} ${tag}`);

test('with a change, the complete changes to its image are found of containers that have no other image since', () => {
  const history = [
    entryOf({ name: 'a' }),
    entryOf({ name: 'b', ...out }),
    entryOf({ name: 'c', ...older, ...out }),
    entryOf({ name: 'c', ...out }),
    entryOf({ name: 'd', ...out }),
    entryOf({ name: 'e', ...back, ...out }),
  ];
  assert.deepEqual(namesIn(rolledOutWith({ history }, entryOf())), ['b 1.3.0', 'd 1.3.0']);
  assert.deepEqual(namesIn(rolledOutWith({}, entryOf())), []);
});

const waits = { waiting: { tag: '1.3.0', until: '2026-03-01T13:00:00Z', reason: 'WavePending' } } as const;
const counts = (progressing: number, more: object = {}) => ({ rollouts: { progressing, done: 1, failed: 0, rolledBack: 0, ...more } });
const conditions = [
  { type: 'Ready', status: 'Unknown', reason: 'Suspended', message: 'suspended', lastTransitionTime: '2026-03-01T12:00:00Z' },
] as const;
const failure = { against: 'image', reason: 'CrashLoop', message: 'exit code 1' } as const;

const rows: readonly (readonly [
  status: string,
  PolicyStatus,
  ...(readonly [reason: string, entries: readonly string[], message: RegExp])[],
])[] = [
  [
    'all changes of two workloads are out',
    { history: [entryOf({ name: 'a', ...out }), entryOf({ name: 'b', ...out })] },
    ['RolledOut', ['a 1.3.0', 'b 1.3.0'], /:1\.3\.0 is out on Deployment shop\/a; Deployment shop\/b$/],
  ],
  ['one of two is under way', { history: [entryOf({ name: 'a' }), entryOf({ name: 'b', ...out })] }],
  ['a workload that the history does not hold is under way', { history: [entryOf(out)], ...counts(1) }],
  ['the next wave is to come', { history: [entryOf(out)], ...waits }],
  [
    'the next wave comes when the policy is resumed',
    { history: [entryOf(out)], ...counts(0, { lastDoneAt: '2026-03-01T12:00:00Z' }), conditions },
  ],
  ['a policy without waves is suspended', { history: [entryOf(out)], ...counts(0), conditions }, ['RolledOut', ['web 1.3.0'], /is out on/]],
  [
    'the image before was out',
    { history: [entryOf(), entryOf({ ...older, ...out })], ...counts(1) },
    ['RolledOut', ['web 1.2.9'], /:1\.2\.9 is out on Deployment shop\/web$/],
  ],
  [
    'the image before was replaced on one of two workloads in between',
    { history: [entryOf({ name: 'b', ...out }), entryOf({ name: 'b', ...older }), entryOf({ name: 'a', ...out })] },
    ['RolledOut', ['b 1.3.0', 'a 1.3.0'], /is out on/],
    ['Superseded', ['b 1.2.9'], /^1\.3\.0 has replaced 1\.2\.9 before its rollout was complete$/],
  ],
  [
    'the image before was replaced before it was out',
    { history: [entryOf(), entryOf(older)], ...counts(1) },
    ['Superseded', ['web 1.2.9'], /^1\.3\.0 has replaced 1\.2\.9 before its rollout was complete$/],
  ],
  ['the same image was only set again', { history: [entryOf(), entryOf({ at: '2026-03-01T11:00:00Z' })], ...counts(1) }],
  [
    'the image has failed on another workload',
    { history: [entryOf({ name: 'a', result: 'Failed', failure }), entryOf({ name: 'b', ...out })] },
    ['RolloutFailed', ['a 1.3.0'], /^Deployment shop\/a: the rollout of .*:1\.3\.0 failed: exit code 1$/],
  ],
  [
    'it was rolled back',
    { history: [entryOf({ ...older, ...back, ...out }), entryOf({ result: 'RolledBack', failure })] },
    ['RolledBack', ['web 1.3.0'], /^Deployment shop\/web: .*:1\.3\.0 was rolled back: exit code 1$/],
  ],
  ['nothing was applied', {}],
];
for (const [about, status, ...expected] of rows)
  test(`the results of pushes are found in a status in the case "${about}"`, () => {
    const found = foundResults(status);
    assert.deepEqual(
      found.map(({ reason, entries }) => [reason, namesIn(entries)]),
      expected.map(([reason, entries]) => [reason, entries]),
    );
    for (const [index, [, , message]] of expected.entries()) assert.match(found[index]?.message ?? '', message);
  });
