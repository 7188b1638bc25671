import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Candidate } from '../../../src/core/model/image-reference.ts';
import { describeChange, outcomeOf } from '../../../src/core/plan/outcome.ts';
import { type AppliedChange, planUpdate } from '../../../src/core/plan/plan-update.ts';
import type { PolicySpec } from '../../../src/core/model/image-policy.ts';
import type { WorkloadContainer } from '../../../src/core/model/workload.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import {
  allKnown,
  digestOf,
  latestSpec,
  noAliases,
  policyOf,
  specOf,
  thisDeployment,
  webDeployment,
  workloadOf,
} from '../model/samples.ts';

const image = 'registry.example.com/shop/web';
const change: AppliedChange = { workload: webDeployment, container: 'web', index: 0, from: `${image}:1.2.3`, to: `${image}:1.3.0` };

/** The outcome for a Deployment whose container runs this. */
function outcome(
  runs: string | Omit<WorkloadContainer, 'name'>,
  applied: AppliedChange[] = [],
  candidate: Candidate = { tag: '1.3.0' },
  spec: PolicySpec = specOf(),
) {
  const findWorkload = () => workloadOf({ web: runs });
  const plan = planUpdate({ spec, candidate, hasApplied: true, aliases: noAliases, ...allKnown, findWorkload });
  return outcomeOf(plan, applied, { uid: policyOf().uid, isSelection: true });
}

test('an "updated" outcome lists the changes and the images that run now', () => {
  assert.deepEqual(outcome(`${image}:1.2.3`, [change], { tag: '1.3.0', digest: digestOf('a') }), {
    kind: 'updated',
    reason: 'Updated',
    message: `Deployment shop/web: web from ${image}:1.2.3 to ${image}:1.3.0`,
    tag: '1.3.0',
    digest: digestOf('a'),
    running: `Deployment shop/web runs ${image}:1.3.0`,
    changes: [change],
    selection: {
      candidate: { tag: '1.3.0', digest: digestOf('a') },
      containers: [{ ...thisDeployment, container: 'web', image: `${image}:1.3.0`, tag: '1.3.0', state: 'UpToDate' }],
    },
  });
  assert.equal(describeChange(change), `Deployment shop/web: web from ${image}:1.2.3 to ${image}:1.3.0`);
});

test('an "updated" outcome includes changes that the plan after a conflict found already made', () => {
  const { kind, running, selection } = outcome(`${image}:1.3.0`, [change]);
  assert.deepEqual(
    { kind, running, states: selection?.containers.map(({ state }) => state) },
    { kind: 'updated', running: `Deployment shop/web runs ${image}:1.3.0`, states: ['UpToDate'] },
  );
});

test('an "unchanged" outcome does not claim a change of unknown origin for the policy', () => {
  const { kind, reason, ours, running } = outcome(`${image}:1.3.0`);
  assert.deepEqual([kind, reason, ours], ['unchanged', 'UpToDate', undefined]);
  assert.equal(running, `Deployment shop/web runs ${image}:1.3.0`);
});

test('an "unchanged" outcome does not claim a rebased image for the policy that selects the image it was made from', () => {
  const rebased = { image: `${image}:1.3.0-base.20261123`, imageOwner: 'image-watcher' };
  const { kind, reason, ours } = outcome(rebased);
  assert.deepEqual([kind, reason, ours], ['unchanged', 'UpToDate', undefined]);
  const strategy = strategies.replace({ from: '1.3.0', to: '1.3.0-base.20261123' });
  assert.equal(outcome(rebased, [], { tag: '1.3.0-base.20261123' }, specOf({ strategy })).ours?.length, 1);
});

test('an "unchanged" outcome claims a change of the policy whose status was not written because of a crash', () => {
  assert.deepEqual(outcome({ image: `${image}:1.3.0`, imageOwner: 'image-watcher' }).ours, [
    { workload: thisDeployment, container: 'web', image: `${image}:1.3.0` },
  ]);
  assert.equal(outcome({ image: `${image}:1.3.0`, imageOwner: 'kubectl-edit' }).ours, undefined);
  const lastUpdate = {
    policy: 'another',
    at: '2026-03-02T11:55:00Z',
    trigger: 'Webhook',
    from: `${image}:1.2.3`,
    to: `${image}:1.3.0`,
  } as const;
  assert.equal(outcome({ image: `${image}:1.3.0`, imageOwner: 'image-watcher', lastUpdate }).ours, undefined);
  assert.equal(outcome({ image: `${image}:1.4.0`, imageOwner: 'image-watcher' }).ours, undefined);
});

test('an "unchanged" outcome shows the most important reason', () => {
  assert.equal(outcome(`${image}:1.4.0`).reason, 'OlderThanRunning');
  assert.equal(outcome(`${image}:1.3.0@${digestOf('a')}`, [], { tag: '1.3.0', digest: digestOf('b') }).reason, 'Retagged');
});

test('an outcome is "stalled" if images cannot be compared', () => {
  const { kind, reason } = outcome(`${image}:main`);
  assert.deepEqual([kind, reason], ['stalled', 'NotComparable']);
});

test('an outcome is "stalled" if one target is missing, and still lists the changes of the other targets', () => {
  const missing = { kind: 'Deployment', namespace: 'shop', name: 'missing' };
  const plan = planUpdate({
    spec: specOf({ targets: [webDeployment, missing] }),
    candidate: { tag: '1.3.0' },
    hasApplied: true,
    aliases: noAliases,
    ...allKnown,
    findWorkload: ({ name }) => (name === 'web' ? workloadOf({ web: `${image}:1.2.3` }) : undefined),
  });
  const result = outcomeOf(plan, [change], { uid: policyOf().uid, isSelection: true });
  assert.deepEqual([result.kind, result.reason], ['stalled', 'TargetNotFound']);
  assert.deepEqual(result.selection?.containers, [
    { ...thisDeployment, container: 'web', image: `${image}:1.3.0`, tag: '1.3.0', state: 'UpToDate' },
    { ...missing, state: 'Problem', reason: 'TargetNotFound', message: 'Deployment shop/missing does not exist' },
  ]);
  assert.deepEqual(result.changes, [change]);
  assert.equal(result.running, `Deployment shop/web runs ${image}:1.3.0`);
});

test('containers that run the same image are listed once', () => {
  const digest = digestOf('a');
  const plan = planUpdate({
    spec: latestSpec(),
    candidate: { tag: 'latest', digest },
    hasApplied: true,
    aliases: noAliases,
    ...allKnown,
    findWorkload: () => workloadOf({ a: `${image}:latest@${digest}`, b: `${image}:latest@${digest}` }),
  });
  assert.equal(
    outcomeOf(plan, [], { uid: policyOf().uid, isSelection: true }).running,
    `Deployment shop/web runs ${image}:latest@${digest}`,
  );
});

test('the outcome shows what each container runs, and why it is not the selected image', () => {
  const rows: [runs: string, state: string, message: RegExp | undefined][] = [
    [`${image}:1.3.0`, 'UpToDate', undefined],
    [`${image}:1.4.0`, 'Kept', /1\.3\.0 is older than 1\.4\.0/],
    [`${image}:main`, 'Problem', /"main" runs/],
  ];
  for (const [runs, state, message] of rows) {
    const [container] = outcome(runs).selection?.containers ?? [];
    assert.deepEqual([container?.image, container?.state], [runs, state]);
    if (message === undefined) assert.equal(container?.message, undefined);
    else assert.match(container?.message ?? '', message);
  }
});

test('a reconcile of a candidate that is not the selection reports nothing about the containers', () => {
  const plan = planUpdate({
    spec: specOf(),
    candidate: { tag: '1.0.0' },
    hasApplied: true,
    aliases: noAliases,
    ...allKnown,
    findWorkload: () => workloadOf({ web: `${image}:1.3.0` }),
  });
  assert.equal(outcomeOf(plan, [], { uid: policyOf().uid, isSelection: false }).selection, undefined);
});
