/** The rollout of a change of a ConfigMap is that of the workloads that are restarted for it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldManager } from '../../../src/core/model/last-update.ts';
import { workloadKey, type Workload, type WorkloadRollout } from '../../../src/core/model/workload.ts';
import { evaluateWorkload } from '../../../src/core/rollout/evaluate-restarts.ts';
import { workloadOf } from '../model/samples.ts';

const at = '2026-11-01T10:00:00.000Z';
const since = new Date(at);
const to = 'quay.io/shop/bundle:2';
const record = { 'images/data.key': `${to} ${at}` };
const configMap: Workload = workloadOf(
  {},
  {
    kind: 'ConfigMap',
    name: 'images',
    restarts: ['one', 'two'].map((name) => ({ kind: 'Deployment', name })),
    fields: { 'data.key': { value: to, owner: fieldManager, setAt: at } },
    fieldUpdates: new Map([['data.key', { policy: 'uid', at, trigger: 'Webhook', from: 'quay.io/shop/bundle:1', to }]]),
  },
);
const numbers = { observedGeneration: 1, wanted: 1, toUpdate: 1, wasComplete: false };
const done: WorkloadRollout = { ...numbers, updated: 1, available: 1, outdated: 0 };
const underway: WorkloadRollout = { ...numbers, updated: 1, available: 1, outdated: 1 };
const failed: WorkloadRollout = { ...underway, deadlineExceeded: { message: 'has timed out progressing', at: '2026-11-01T10:10:00Z' } };
const deployment = (name: string, rollout: WorkloadRollout, restartedFor: Record<string, string> = record) =>
  workloadOf({}, { name, generation: 1, rollout, restartedFor });

function evaluate(found: readonly Workload[], minutes = 1) {
  const byKey = new Map(found.map((one) => [workloadKey(one), one]));
  const now = new Date(since.getTime() + minutes * 60_000);
  const { kind, message } = evaluateWorkload(
    configMap,
    { since, timeoutMs: 600_000 },
    { at: now, findWorkload: (ref) => byKey.get(workloadKey(ref)) },
  );
  return `${kind}: ${message}`;
}

test('a change of a ConfigMap is complete when all workloads restarted for it are, and fails when one of them fails', () => {
  const old = { 'images/data.key': `${to} 2026-11-01T09:00:00.000Z` };
  for (const [found, expected] of [
    [[deployment('one', done), deployment('two', done)], /^done: ConfigMap shop\/images: Deployment shop\/one: 1 of 1/],
    [[deployment('one', done), deployment('two', underway)], /^progressing: .*Deployment shop\/two/],
    [[deployment('one', failed), deployment('two', underway)], /^failed: .*Deployment shop\/one.*timed out progressing/],
    // What it was restarted for before says nothing about this change.
    [[deployment('one', failed, old), deployment('two', done)], /^progressing: .*Deployment shop\/one has not been restarted yet/],
    [[deployment('two', done)], /^done: /],
    [[], /^notWatched: .*none of the workloads that it restarts can be seen/],
    [[deployment('one', { ...done, wanted: 0 })], /^notWatched: .*no replicas/],
  ] as const)
    assert.match(evaluate(found), expected);
});

test('a ConfigMap whose workload is never restarted does not make the image fail, and is no longer watched after a while', () => {
  const found = [deployment('one', done, {})];
  assert.match(evaluate(found, 30), /^progressing/);
  assert.match(evaluate(found, 75), /^notWatched: .*has not been restarted yet/);
});
