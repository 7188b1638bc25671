/** A status that is written late tells of nothing that is over. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Outcome, Basis } from '../../../src/core/plan/outcome.ts';
import type { LastUpdate } from '../../../src/core/model/last-update.ts';
import type { PolicyStatus } from '../../../src/core/model/policy-status.ts';
import { isOutdated } from '../../../src/core/status/is-outdated.ts';
import { nextStatus } from '../../../src/core/status/next-status.ts';
import { digestOf, policyOf, thisDeployment, workloadOf } from '../model/samples.ts';
import { cause, image, reconcileTime } from './outcomes.ts';

const { uid } = policyOf();
const second = (number: number) => new Date(reconcileTime.getTime() + number * 1_000).toISOString();
const recordOf = (from: string, to: string, at: string): LastUpdate => ({
  policy: uid,
  at,
  trigger: 'Webhook',
  from: `${image}:${from}`,
  to: `${image}:${to}`,
});
const running = (tag: string, resourceVersion: string, lastUpdate?: LastUpdate) =>
  workloadOf({ web: { image: `${image}:${tag}`, imageOwner: 'image-watcher', ...(lastUpdate && { lastUpdate }) } }, { resourceVersion });
const change = { container: 'web', index: 0, workload: thisDeployment };
const entry = (from: string, to: string, at: string) =>
  ({
    ...thisDeployment,
    container: 'web',
    from: `${image}:${from}`,
    to: `${image}:${to}`,
    tag: to,
    trigger: 'Webhook',
    at,
    result: 'Applied',
  }) as const;

/** 1.1.0 was applied at second 1; what knew of it was asked before. */
const basis: Basis = {
  status: { history: [] },
  workloads: [running('1.1.0', '11', recordOf('1.0.0', '1.1.0', second(1)))],
  selectedAt: Date.parse(second(0)),
};
const outcome: Outcome = {
  kind: 'updated',
  reason: 'Updated',
  message: 'changed to 1.1.0',
  running: 'runs 1.1.0',
  tag: '1.1.0',
  changes: [{ ...change, from: `${image}:1.0.0`, to: `${image}:1.1.0`, at: second(1) }],
  selection: {
    candidate: { tag: '1.1.0', digest: digestOf('1') },
    containers: [{ ...thisDeployment, container: 'web', image: `${image}:1.1.0`, state: 'UpToDate' }],
  },
  basis,
};
/** 1.1.0 was pushed, and is not what the policy selects. */
const { selection, changes: _, ...others } = outcome;
const named: Outcome = { ...others, kind: 'unchanged', reason: 'OlderThanRunning', seen: selection?.containers ?? [] };
const firstLatest = { tag: '1.2.0', selectedAt: second(-2) };
const onwards: PolicyStatus = {
  latest: { tag: '1.2.0', digest: digestOf('2'), selectedAt: second(2) },
  lastAppliedTag: '1.2.0',
  history: [entry('1.1.0', '1.2.0', second(3))],
  conditions: [{ type: 'Ready', status: 'True', reason: 'UpToDate', message: 'runs 1.2.0', lastTransitionTime: second(3) }],
};
const viewOf = (workload = basis.workloads[0]) => ({ findWorkload: () => workload, listWorkloads: () => [] });

const rows: [name: string, status: PolicyStatus, found: Outcome, view: ReturnType<typeof viewOf>, isOver: boolean][] = [
  ['nothing has changed', {}, outcome, viewOf(), false],
  ['a change that was reported before it', { history: [entry('0.9.0', '1.0.0', second(-9))] }, outcome, viewOf(), false],
  ['a later change that was reported first', { history: [entry('1.1.0', '1.2.0', second(3))] }, outcome, viewOf(), true],
  ['the same change, found by another replica', { history: [entry('1.0.0', '1.1.0', second(1))] }, outcome, viewOf(), false],
  ['an image that somebody set since', {}, outcome, viewOf(running('1.0.0', '12')), true],
  ['a cache that is behind', {}, outcome, viewOf(running('1.0.0', '10')), false],
  ['another change of the workload', {}, outcome, viewOf(running('1.1.0', '12')), false],
  [
    'a first selection, where an image was compared with what runs',
    { latest: { tag: '1.2.0', selectedAt: second(2) } },
    named,
    viewOf(),
    true,
  ],
  [
    'a selection that was known, where an image was compared with it',
    { latest: firstLatest },
    { ...named, basis: { ...basis, status: { latest: firstLatest } } },
    viewOf(),
    false,
  ],
  ['a later selection', { latest: { tag: '1.2.0', selectedAt: second(2) } }, outcome, viewOf(), true],
  [
    'a rejection of the image',
    { rejected: [{ digest: digestOf('1'), reason: 'RollbackRequested', at: second(2) }] },
    outcome,
    viewOf(),
    true,
  ],
  [
    'a rejection of another image',
    { rejected: [{ digest: digestOf('2'), reason: 'RollbackRequested', at: second(2) }] },
    outcome,
    viewOf(),
    false,
  ],
  ['an earlier selection', { latest: { tag: '1.2.0', selectedAt: second(-2) } }, outcome, viewOf(), false],
  [
    'a selection of a clock that is ahead, which it knew',
    { latest: { tag: '1.2.0', selectedAt: second(60) } },
    { ...outcome, basis: { ...basis, status: { latest: { tag: '1.2.0', selectedAt: second(60) } } } },
    viewOf(),
    false,
  ],
  [
    'a change that it knew, of a workload whose record somebody took back',
    { history: [entry('1.1.0', '1.2.0', second(3))] },
    { ...outcome, basis: { ...basis, status: { history: [entry('1.1.0', '1.2.0', second(3))] } } },
    viewOf(),
    false,
  ],
];

for (const [name, status, found, view, isOver] of rows)
  test(`an outcome is ${isOver ? 'outdated' : 'still valid'} in the case "${name}"`, () =>
    assert.equal(isOutdated({ status }, found, view), isOver));

test('of an outdated outcome, only the changes are recorded, in their place in the history', () => {
  const written = nextStatus(policyOf({ status: onwards }), outcome, { cause, now: new Date(second(10)) }, viewOf());
  const { history = [], ...others } = written ?? {};
  const { history: _, ...before } = onwards;
  assert.deepEqual(others, before);
  assert.deepEqual(
    history.map(({ tag }) => tag),
    ['1.2.0', '1.1.0'],
  );
});
