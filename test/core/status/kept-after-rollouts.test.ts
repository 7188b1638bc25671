/** Ready once all rollouts are complete, while containers keep another image than the one that the policy selects. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { progressOf } from '../../../src/core/rollout/count-rollouts.ts';
import { withRollouts } from '../../../src/core/status/with-rollouts.ts';
import { digestOf, policyOf } from '../model/samples.ts';
import { afterChange, changedAt, changedWorkload, entryOf, rolledOut, snapshotFrom, watchedSpec } from '../rollout/rollout-samples.ts';

const place = { kind: 'Deployment', namespace: 'shop', name: 'web', container: 'web' };
const why = '1.4.0 is not proven: shop/staging runs 1.3.0';

const rows: readonly (readonly [what: string, target: object, expected: string, message: RegExp])[] = [
  ['a newer image is not proven', { state: 'Kept', reason: 'NotProven', message: why }, 'NotProven', /1\.4\.0 is not proven/],
  ['a reason that is no stop', { state: 'Kept', reason: 'NotNewer', message: 'is newer' }, 'UpToDate', /runs/],
  ['a status of before the reason was written', { state: 'Kept', message: why }, 'UpToDate', /runs/],
  ['a companion', { state: 'Kept', reason: 'CompanionMissing', message: 'is missing', companion: true }, 'UpToDate', /runs/],
  ['the selected image runs', { state: 'UpToDate' }, 'UpToDate', /runs/],
];
for (const [what, target, expected, message] of rows)
  test(`Ready after complete rollouts: ${what}: ${expected}`, () => {
    const conditions = [{ type: 'Ready', status: 'False', reason: 'Progressing', message: '', lastTransitionTime: changedAt } as const];
    const latest = { tag: '1.4.0', digest: digestOf('d'), selectedAt: changedAt };
    const targets = [{ ...place, image: 'registry.example.com/shop/web:1.3.0', ...target }] as never;
    const status = { latest, history: [entryOf()], conditions, targets, observedGeneration: 1 };
    const policy = policyOf({ spec: watchedSpec(), status });
    const next = withRollouts(policy, progressOf(policy, snapshotFrom(policy, [changedWorkload(rolledOut)])), afterChange(60));
    const ready = next?.conditions?.filter(({ type }) => type === 'Ready') ?? [];
    assert.deepEqual(
      ready.map((one) => [one.status, one.reason]),
      [['True', expected]],
    );
    assert.match(ready[0]?.message ?? '', message);
  });
