import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guardPlan, type GuardContext } from '../../src/core/guard-plan.ts';
import { planUpdate } from '../../src/core/plan-update.ts';
import { deployments, noAliases, policyOf, specOf, workloadOf } from './samples.ts';

const image = 'registry.example.com/shop/web';
const targets = ['shop', 'ops'].map((namespace) => ({ kind: 'Deployment', namespace, name: 'web' }));
const spec = specOf({ targets });

function guarded(crossNamespace: GuardContext['crossNamespace'], runs = '1.2.3') {
  const plan = planUpdate({
    spec,
    candidate: { tag: '1.3.0' },
    hasApplied: false,
    aliases: noAliases,
    supportedKinds: deployments,
    findWorkload: ({ namespace }) => workloadOf({ web: `${image}:${runs}` }, { namespace }),
  });
  return guardPlan(plan, { policy: policyOf({ namespace: 'shop', spec }), crossNamespace }).targets.map(({ changes, kept, problem }) => ({
    changes: changes.length,
    kept: kept.length,
    problem: problem?.reason,
  }));
}

const change = { changes: 1, kept: 0, problem: undefined };
const keep = { changes: 0, kept: 1, problem: undefined };

test('another namespace is refused where the configuration says so, the own never', () => {
  assert.deepEqual(guarded('deny'), [change, { changes: 0, kept: 0, problem: 'CrossNamespaceDenied' }]);
});

test('policies that were written as v1alpha1 keep their targets otherwise', () => {
  assert.deepEqual(guarded('consent'), [change, change]);
  assert.deepEqual(guarded('allow'), [change, change]);
});

test('what would not be changed needs no permission', () => {
  assert.deepEqual(guarded('deny', '1.3.0'), [keep, keep]);
});
