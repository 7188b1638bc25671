/** How images of earlier pushes end: each sentence is true of the status that is written. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HistoryEntry, PolicyStatus } from '../../../src/core/model/policy-status.ts';
import { insteadOf, leftChanges, replacedChanges } from '../../../src/core/status/superseded.ts';
import { digestOf } from '../model/samples.ts';

const at = '2026-03-01T12:00:00Z';
const old = { tag: '1.3.0', digest: digestOf('a') };
const newer = { tag: '1.4.0', digest: digestOf('b') };
const selects = (image: typeof old): PolicyStatus => ({ latest: { ...image, selectedAt: at } });
const waits = (image: typeof old): PolicyStatus => ({ waiting: { ...image, since: at, until: '2026-03-01T13:00:00Z', reason: 'MinAge' } });

const selections: readonly (readonly [about: string, before: PolicyStatus, after: PolicyStatus, expected: string | undefined])[] = [
  ['it is still selected', selects(old), selects(old), undefined],
  ['another one is selected', selects(old), selects(newer), '1.4.0 is selected instead of 1.3.0, which had to wait'],
  ['it still waits for its age', waits(old), waits(old), undefined],
  ['it waits, while another one is selected', { ...selects(old), ...waits(old) }, { ...selects(newer), ...waits(old) }, undefined],
  ['its wait is over', waits(old), selects(old), undefined],
  ['another one waits', waits(old), waits(newer), '1.4.0 is selected instead of 1.3.0, which had to wait'],
  [
    'its tag has moved',
    selects(old),
    selects({ ...old, digest: digestOf('c') }),
    `1.3.0@${digestOf('c')} is selected instead of 1.3.0@${digestOf('a')}, which had to wait`,
  ],
];
for (const [about, before, after, expected] of selections)
  test(`an image that waits is ${expected === undefined ? 'not ' : ''}reported as superseded in the case "${about}"`, () =>
    assert.equal(insteadOf(old, before, after), expected));

const workload = { kind: 'Deployment', namespace: 'shop', name: 'web' };
const image = ({ tag }: typeof old) => `shop/web:${tag}`;
const entry = (
  to: typeof old,
  minute: number,
  result: HistoryEntry['result'] = 'Applied',
  more: Partial<HistoryEntry> = {},
): HistoryEntry => ({
  ...workload,
  container: 'web',
  to: image(to),
  ...to,
  trigger: 'Webhook',
  at: `2026-03-01T12:0${minute}:00Z`,
  result,
  ...more,
});
const runs = (what: typeof old, container = 'web') => ({
  targets: [{ ...workload, container, image: image(what), state: 'Kept' as const }],
});
const applied = { history: [entry(old, 1)], ...runs(old) };

const changes: readonly (readonly [about: string, before: PolicyStatus, after: PolicyStatus, expected?: string])[] = [
  ['it goes on', applied, applied],
  [
    'the policy has applied another one',
    applied,
    { history: [entry(newer, 2), entry(old, 1)], ...runs(newer) },
    '1.4.0 has replaced 1.3.0 before its rollout was complete',
  ],
  ['it was complete', { ...applied, history: [entry(old, 1, 'RolledOut')] }, { history: [entry(newer, 2)], ...runs(newer) }],
  [
    'it has failed meanwhile',
    applied,
    { history: [entry(newer, 2, 'Applied', { trigger: 'Rollback' }), entry(old, 1, 'RolledBack')], ...runs(newer) },
  ],
  ['the same image was applied again', applied, { history: [entry(old, 2), entry(old, 1)], ...runs(old) }],
  [
    'a person has set another one',
    applied,
    { ...applied, ...runs(newer) },
    'Deployment shop/web is not seen to run 1.3.0 any more, and its rollout was not known to be complete',
  ],
  [
    'its workload is gone',
    applied,
    { history: applied.history, targets: [] },
    'Deployment shop/web is not seen to run 1.3.0 any more, and its rollout was not known to be complete',
  ],
  ['that was said before', { ...applied, ...runs(newer) }, { ...applied, ...runs(newer) }],
  [
    'another container has another image',
    applied,
    { ...applied, history: [entry(newer, 2, 'Applied', { container: 'side' }), entry(old, 1)] },
  ],
];
for (const [about, before, after, expected] of changes)
  test(`an image that rolls out is ${expected === undefined ? 'not ' : ''}reported as replaced in the case "${about}"`, () =>
    assert.deepEqual(
      replacedChanges(before, after).map(({ entry: { tag }, message }) => [tag, message]),
      expected === undefined ? [] : [['1.3.0', expected]],
    ));

const one = entry(old, 1, 'RolledOut', { name: 'one' });
const older = { tag: '1.2.0', digest: digestOf('c') };
const olderElsewhere = entry(older, 2, 'RolledOut', { name: 'two' });
const counts = { progressing: 1, done: 1, failed: 0, rolledBack: 0 };
const inWaves: PolicyStatus = { ...selects(old), history: [one], waiting: { ...old, until: at, reason: 'WavePending' } };
const underWay: PolicyStatus = { ...selects(old), history: [entry(old, 2), one], rollouts: counts };
const message = '1.4.0 has replaced 1.3.0 before it was out on all its workloads';

const left: readonly (readonly [about: string, before: PolicyStatus, after: PolicyStatus, expected?: string])[] = [
  ['another one is applied instead of its next wave', inWaves, { ...selects(newer), history: [entry(newer, 2), one] }, message],
  ['another one is selected, and waits itself', inWaves, { ...selects(newer), ...waits(newer), history: [one] }, message],
  ['another one is applied while it rolls out elsewhere', underWay, { history: [entry(newer, 3), entry(old, 2), one] }, message],
  ['another one is selected while it rolls out elsewhere', underWay, { ...underWay, ...selects(newer) }],
  [
    'it waits for its next wave while an older one rolled out after it',
    { ...inWaves, history: [olderElsewhere, one] },
    { ...selects(newer), history: [entry(newer, 3), olderElsewhere, one] },
    message,
  ],
  [
    'an older one is known to have rolled out after it',
    { ...inWaves, history: [olderElsewhere, one] },
    { ...inWaves, history: [olderElsewhere, one] },
  ],
  ['its next wave begins', inWaves, underWay],
  ['it still waits for its next wave', inWaves, inWaves],
  ['no wave is left', inWaves, { ...selects(old), history: [one] }],
  ['it was out everywhere', { ...selects(old), history: [one] }, { ...selects(newer), history: [entry(newer, 2), one] }],
  ['nothing was applied', { ...inWaves, history: [] }, { ...selects(newer), history: [entry(newer, 2)] }],
];
for (const [about, before, after, expected] of left)
  test(`an image that is out on some workloads is ${expected === undefined ? 'not ' : ''}reported as replaced in the case "${about}"`, () =>
    assert.deepEqual(
      leftChanges(before, after).map(({ entry: { name }, message: text }) => [name, text]),
      expected === undefined ? [] : [['one', expected]],
    ));
