/** Charts in fields of custom resources are followed and rolled back like images. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkFields } from '../../../src/core/model/field-rules.ts';
import type { ImagePolicy, TargetFields } from '../../../src/core/model/image-policy.ts';
import type { Installation } from '../../../src/core/model/installation.ts';
import type { LastUpdate } from '../../../src/core/model/last-update.ts';
import type { Workload, WorkloadField } from '../../../src/core/model/workload.ts';
import { planRollback, rollbacksOf } from '../../../src/core/rollout/automatic-rollback.ts';
import { currentRollouts } from '../../../src/core/rollout/current-rollouts.ts';
import { evaluateRollout } from '../../../src/core/rollout/evaluate-rollout.ts';
import { digestOf, noAliases, policyOf, workloadOf } from '../model/samples.ts';
import { afterChange, changedAt, snapshotFrom, watchedSpec } from './rollout-samples.ts';

const ref = { apiVersion: 'source.toolkit.fluxcd.io/v1', kind: 'OCIRepository', namespace: 'shop', name: 'web' };
const image = 'registry.example.com/shop/web';
const [a, b] = [digestOf('a'), digestOf('b')];
const tagOnly: TargetFields = { tag: 'spec.ref.tag' };
const pinned: TargetFields = { ...tagOnly, digest: 'spec.ref.digest' };

function policyFor(fields: TargetFields, status: ImagePolicy['status'] = {}): ImagePolicy {
  const checked = checkFields(ref, fields, { artifact: 'Chart' }, { customTargets: [], aliases: noAliases });
  assert.ok('fields' in checked);
  return policyOf({ spec: watchedSpec('Rollback', { targets: [{ ...ref, fields: checked.fields }] }), status });
}

/** An OCIRepository that was changed by the policy, from one chart to another. */
function changed(from: string, to: { tag: string; digest?: string }, more: Partial<Workload> = {}, owner = 'image-watcher'): Workload {
  const field = (value: string | null): WorkloadField => ({ value, owner, setAt: changedAt });
  const text = `${image}:${to.tag}${to.digest === undefined ? '' : `@${to.digest}`}`;
  const update: LastUpdate = { policy: policyOf().uid, at: changedAt, trigger: 'Webhook', from, to: text, digest: b };
  return workloadOf(
    {},
    {
      ...ref,
      installation: { state: 'failed', message: 'it is stalled', against: 'image' },
      fields: {
        'spec.url': { value: `oci://${image}` },
        'spec.ref.tag': field(to.tag),
        'spec.ref.digest': field(to.digest ?? null),
        'spec.ref.semver': { value: null },
      },
      fieldUpdates: new Map([['spec.ref.tag', update]]),
      ...more,
    },
  );
}

const entriesOf = (policy: ImagePolicy, workload: Workload) =>
  currentRollouts(policy, snapshotFrom(policy, [workload])).flatMap(({ entries }) => entries);

/** The fields that a rollback writes; the problem, if there is one; undefined if nothing is to be rolled back. */
function back(policy: ImagePolicy, workload: Workload) {
  const view = { aliases: noAliases, findWorkload: () => undefined };
  const failed = entriesOf(policy, workload).map((entry) => ({ ...entry, result: 'Failed' as const }));
  const open = rollbacksOf(policy, workload, view, failed);
  if (open.length === 0) return undefined;
  const [target] = planRollback(workload, open, policy, { ...view, at: afterChange(60) }).targets;
  const [change] = target?.changes ?? [];
  const fields = (change?.fields ?? []).flatMap(({ path, to }) => (to === undefined ? [] : [[path, to]]));
  return target?.problem?.message ?? { ...Object.fromEntries(fields), failed: change?.update?.failed, trigger: change?.update?.trigger };
}

test('a failed chart is rolled back to the version before, by the record on the resource alone', () => {
  const policy = policyFor(tagOnly);
  const workload = changed(`${image}:1.2.0`, { tag: '1.3.0' });
  assert.deepEqual(
    entriesOf(policy, workload).map(({ container, from, to, digest }) => [container, from, to, digest]),
    [['spec.ref.tag', `${image}:1.2.0`, `${image}:1.3.0`, undefined]],
  );
  assert.deepEqual(back(policy, workload), { 'spec.ref.tag': '1.2.0', failed: undefined, trigger: 'Rollback' });
  const latest = { tag: '1.3.0', digest: b, selectedAt: changedAt };
  assert.deepEqual(back(policyFor(tagOnly, { latest }), workload), { 'spec.ref.tag': '1.2.0', failed: b, trigger: 'Rollback' });
});

test('a digest is rolled back with its tag, and a field that had none is not', () => {
  const policy = policyFor(pinned);
  const rolledBack = back(policy, changed(`${image}:1.2.0@${a}`, { tag: '1.3.0', digest: b }));
  assert.deepEqual(rolledBack, { 'spec.ref.tag': '1.2.0', 'spec.ref.digest': a, failed: b, trigger: 'Rollback' });
  assert.match(String(back(policy, changed(`${image}:1.2.0`, { tag: '1.3.0', digest: b }))), /cannot be written to the fields/);
});

test('the change of a chart is not followed if somebody else made it, its repository differs, or its state is not reported', () => {
  const [from, to] = [`${image}:1.2.0`, { tag: '1.3.0' }];
  const policy = policyFor(tagOnly);
  assert.deepEqual(entriesOf(policy, changed(from, to, {}, 'kubectl')), []);
  assert.deepEqual(entriesOf(policy, changed('registry.example.com/other/web:1.2.0', to)), []);
  const { installation: _, ...silent } = changed(from, to);
  assert.deepEqual(entriesOf(policy, silent), []);
  const elsewhere = { ...changed(from, to).fields, 'spec.url': { value: 'oci://registry.example.com/other/web' } };
  assert.deepEqual(entriesOf(policy, changed(from, to, { fields: elsewhere })), []);
  const overruled = { ...changed(from, to).fields, 'spec.ref.semver': { value: '1.x' } };
  assert.deepEqual(entriesOf(policy, changed(from, to, { fields: overruled })), []);
});

test('a resource that had no version is not rolled back to any version', () => {
  assert.match(String(back(policyFor(tagOnly), changed(image, { tag: '1.3.0' }))), /cannot be written to the fields/);
});

const cases: readonly (readonly [installation: Installation, seconds: number, expected: string])[] = [
  [{ state: 'unseen', message: 'x' }, 60, 'progressing'],
  [{ state: 'unseen', message: 'x' }, 900, 'progressing'],
  [{ state: 'unseen', message: 'x' }, 5_000, 'notWatched'],
  [{ state: 'underway', message: 'x' }, 60, 'progressing'],
  [{ state: 'underway', message: 'x' }, 900, 'failed RolloutTimedOut unknown'],
  [{ state: 'underway', message: 'x' }, 5_000, 'failed RolloutTimedOut unknown'],
  [{ state: 'underway', message: 'x', since: '2026-03-01T12:10:00Z' }, 900, 'progressing'],
  [{ state: 'underway', message: 'x', since: '2026-03-01T12:10:00Z' }, 1_200, 'failed RolloutTimedOut unknown'],
  [{ state: 'underway', message: 'x', since: 'soon' }, 900, 'failed RolloutTimedOut unknown'],
  [{ state: 'installed', message: 'x' }, 5_000, 'done'],
  [{ state: 'halted', message: 'x' }, 60, 'notWatched'],
  [{ state: 'failed', message: 'x', against: 'cluster' }, 60, 'failed UpgradeFailed cluster'],
  [{ state: 'failed', message: 'x', against: 'image', at: changedAt }, 60, 'failed UpgradeFailed image'],
  [{ state: 'failed', message: 'x', against: 'image', at: '2026-03-01T11:59:59Z' }, 60, 'progressing'],
  [{ state: 'failed', message: 'x', against: 'image', at: 'yesterday' }, 60, 'progressing'],
];

for (const [installation, seconds, expected] of cases)
  test(`an installation that is ${[installation.state, installation.at ?? installation.since].filter(Boolean).join(' of ')} counts as ${expected} after ${seconds} s`, () => {
    const workload = changed(`${image}:1.2.0`, { tag: '1.3.0' }, { installation });
    const time = { since: new Date(changedAt), timeoutMs: 600_000 };
    const found = evaluateRollout(workload, time, afterChange(seconds));
    const parts = found.kind === 'failed' ? [found.kind, found.reason, found.against] : [found.kind];
    assert.equal(parts.join(' '), expected);
  });
