import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { guardPlan } from '../../../../src/core/plan/guard-plan.ts';
import type { GuardContext } from '../../../../src/core/plan/guards/guard.ts';
import { planUpdate } from '../../../../src/core/plan/plan-update.ts';
import type { HistoryEntry, RejectedImage, Reversion } from '../../../../src/core/model/policy-status.ts';
import { allKnown, digestOf, noAliases, policyOf, specOf, webDeployment, workloadOf } from '../../model/samples.ts';
import { contextOf, entryOf, image, evaluatedAt } from './context.ts';

const names = ['web', 'api', 'job'];
const digest = fc.constantFrom(...['a', 'b', 'c'].map(digestOf));
const tag = fc.constantFrom('1.2.3', '1.3.0', '1.3.1', 'main');
const at = fc
  .integer({ min: -7_200, max: 0 })
  .map((seconds) => `${new Date(evaluatedAt.getTime() + seconds * 1_000).toISOString().slice(0, 19)}Z`);
const owner = fc.constantFrom('image-watcher', 'kubectl-set', 'argocd-controller', 'somebody');
const container = fc.record(
  { image: tag.map((name) => `${image}:${name}`), imageOwner: owner, imageSetAt: at },
  { requiredKeys: ['image'] },
);
const entry: fc.Arbitrary<HistoryEntry> = fc
  .record({ tag, digest, at, container: fc.constantFrom(...names) })
  .map(({ tag: applied, ...others }) => entryOf(applied, others));
const rejected: fc.Arbitrary<RejectedImage> = fc.record({ digest, tag, at, reason: fc.constantFrom('CrashLoop', 'RollbackRequested') });
const reverted: fc.Arbitrary<Reversion> = fc
  .record({ tag, digest, at, container: fc.constantFrom(...names), count: fc.integer({ min: 1, max: 3 }) })
  .map((one) => ({ ...webDeployment, ...one }));
const actions = fc.record(
  {
    approve: fc.tuple(tag, digest).map(([name, of]) => `${name}@${of}`),
    release: fc.oneof(at, fc.constantFrom('2026-03-03T00:00:00Z', 'yes')),
  },
  { requiredKeys: [] },
);
const input = fc.record({
  containers: fc.dictionary(fc.constantFrom(...names), container, { minKeys: 1 }),
  status: fc.record({
    history: fc.array(entry, { maxLength: 10 }),
    rejected: fc.array(rejected, { maxLength: 3 }),
    reverted: fc.array(reverted, { maxLength: 3 }),
  }),
  actions,
  mode: fc.constantFrom('Automatic' as const, 'Approval' as const, 'DryRun' as const),
  isOpen: fc.boolean(),
  paused: fc.boolean(),
  candidate: fc.record({ tag: fc.constantFrom('1.3.0', '1.3.1'), digest }),
});

type Input = typeof input extends fc.Arbitrary<infer T> ? T : never;

function guarded({ containers, status, actions: asked, mode, isOpen, paused, candidate }: Input) {
  const spec = specOf({ mode, windows: isOpen ? [] : [{ from: '20:00', to: '22:00', timeZone: 'UTC' }] });
  const policy = policyOf({ spec, status, actions: asked });
  const findWorkload = () => workloadOf(containers, { paused });
  const plan = planUpdate({ spec, candidate, hasApplied: true, aliases: noAliases, ...allKnown, findWorkload });
  const context: GuardContext = contextOf({ policy, spec, candidate });
  const [before, after] = [plan.targets[0], guardPlan(plan, context).targets[0]];
  assert.ok(before && after);
  return { before, after, again: guardPlan(guardPlan(plan, context), context).targets[0] };
}

test('every change is made, blocked with a reason or refused; nothing else is changed, and no container is forgotten', () => {
  fc.assert(
    fc.property(input, (given) => {
      const { before, after } = guarded(given);
      const blocked = (after.blocked ?? []).flatMap(({ changes }) => changes);
      for (const change of after.changes) assert.ok(before.changes.includes(change));
      if (after.problem !== undefined) assert.deepEqual(after.changes, []);
      else assert.deepEqual(new Set([...after.changes, ...blocked]), new Set(before.changes));
      assert.equal(after.changes.length + blocked.length <= before.changes.length, true);
      for (const one of after.blocked ?? []) assert.ok(one.message.length > 10 && (one.kind !== 'waits' || one.until > evaluatedAt));
    }),
    { numRuns: 500 },
  );
});

test('guards applied again give the same result', () => {
  fc.assert(
    fc.property(input, (given) => {
      const { after, again } = guarded(given);
      assert.deepEqual(again, after);
    }),
    { numRuns: 300 },
  );
});

test('nothing is changed in a dry run, outside windows, while paused or without approval', () => {
  fc.assert(
    fc.property(input, (given) => {
      const { after } = guarded(given);
      if (after.changes.length === 0) return;
      const { tag: name, digest: of } = given.candidate;
      assert.ok(given.mode !== 'DryRun' && given.isOpen && !given.paused);
      if (given.mode === 'Approval') assert.equal(given.actions.approve, `${name}@${of}`);
    }),
    { numRuns: 500 },
  );
});
