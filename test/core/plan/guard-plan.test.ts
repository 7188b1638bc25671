import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Consent } from '../../../src/core/plan/consent.ts';
import { guardPlan, rollbackGuards } from '../../../src/core/plan/guard-plan.ts';
import type { GuardContext } from '../../../src/core/plan/guards/guard.ts';
import { hasChanges, planUpdate } from '../../../src/core/plan/plan-update.ts';
import { contextOf, entryOf, evaluateGuards, type Case } from './guards/context.ts';
import { allKnown, digestOf, noAliases, policyOf, specOf, workloadOf } from '../model/samples.ts';

const image = 'registry.example.com/shop/web';
const targets = ['shop', 'ops'].map((namespace) => ({ kind: 'Deployment', namespace, name: 'web' }));
const spec = specOf({ targets });
const legacyPolicy = policyOf({ namespace: 'shop', spec, legacyTarget: { kind: 'Deployment', namespace: 'ops', name: 'web' } });

const plan = (runs = '1.2.3') =>
  planUpdate({
    spec,
    candidate: { tag: '1.3.0' },
    hasApplied: false,
    aliases: noAliases,
    ...allKnown,
    findWorkload: ({ namespace }) => workloadOf({ web: `${image}:${runs}` }, { namespace }),
  });
const consentOf = (consent: Consent) => ({ consents: new Map([['Deployment/ops/web', consent]]) });
const consentGranted = consentOf({ granted: true });
const consentMissing = consentOf({ granted: false });

function guarded(context: Partial<GuardContext>, runs?: string) {
  return guardPlan(plan(runs), contextOf(context)).targets.map(({ changes, unchanged, problem }) => ({
    changes: changes.length,
    unchanged: unchanged.length,
    problem: problem?.reason,
  }));
}

const passedChange = { changes: 1, unchanged: 0, problem: undefined };
const blockedChange = { changes: 0, unchanged: 1, problem: undefined };
const refusedWith = (problem: string) => ({ changes: 0, unchanged: 0, problem });

const rows: [name: string, context: Partial<GuardContext>, other: object][] = [
  ['denied by the configuration', { crossNamespace: 'deny' }, refusedWith('CrossNamespaceDenied')],
  [
    'denied by the configuration, whatever the owners say',
    { crossNamespace: 'deny', ...consentGranted },
    refusedWith('CrossNamespaceDenied'),
  ],
  [
    'denied also where it may have been written as v1alpha1',
    { crossNamespace: 'deny', policy: legacyPolicy },
    refusedWith('CrossNamespaceDenied'),
  ],
  ['allowed by the configuration', { crossNamespace: 'allow', ...consentMissing }, passedChange],
  ['with consent', consentGranted, passedChange],
  ['without consent', consentMissing, refusedWith('NoConsent')],
  ['its owners were not among those that were asked', { consents: new Map() }, refusedWith('NoConsent')],
  ['nobody was asked yet', {}, passedChange],
  ['without consent, and written as v1alpha1', { ...consentMissing, policy: legacyPolicy }, refusedWith('NoConsent')],
  [
    'without an answer, which legacy lets pass',
    { ...consentOf({ granted: true, isLegacy: true }), crossNamespace: 'legacy', policy: legacyPolicy },
    passedChange,
  ],
  ['without consent, also with legacy', { ...consentMissing, crossNamespace: 'legacy', policy: legacyPolicy }, refusedWith('NoConsent')],
];

for (const [name, context, other] of rows) {
  test(`a target in the own namespace is never refused, and one in another namespace is guarded in the case "${name}"`, () =>
    assert.deepEqual(guarded(context), [passedChange, other]));
}

test('a container that would not be changed needs no permission', () => {
  assert.deepEqual(guarded({ crossNamespace: 'deny' }, '1.3.0'), [blockedChange, blockedChange]);
  assert.deepEqual(guarded(consentMissing, '1.3.0'), [blockedChange, blockedChange]);
});

test('the first guard that blocks a change gives the reason, and the next guard sees what is left', () => {
  const closed = { windows: [{ from: '20:00', to: '22:00', timeZone: 'UTC' }] };
  const reasonOf = (given: Case) => {
    const { problem, blocked } = evaluateGuards(given);
    return problem?.reason ?? blocked?.reason;
  };
  const approving: Case = { spec: { mode: 'Approval', ...closed } };
  assert.equal(reasonOf({}), undefined);
  assert.equal(reasonOf(approving), 'ApprovalRequired');
  assert.equal(reasonOf({ ...approving, actions: { approve: `1.3.0@${digestOf('b')}` } }), 'Window');
  assert.equal(reasonOf({ ...approving, workload: { paused: true } }), 'TargetPaused');
  const { changed, blocked } = evaluateGuards({
    spec: closed,
    runs: { image: `${image}:1.2.3`, imageOwner: 'kubectl' },
    other: { image: `${image}:1.2.3`, imageOwner: 'image-watcher' },
    status: { history: [entryOf('1.3.0')] },
  });
  assert.deepEqual([changed, blocked?.reason], [[], 'Held']);
});

test('a rollback passes guards that hold back the policy, but not what others have forbidden', () => {
  const rollsBack = (given: Case) => {
    const { problem, blocked, changed } = evaluateGuards(given, ...rollbackGuards);
    return problem?.reason ?? blocked?.reason ?? changed.length;
  };
  assert.equal(rollsBack({ spec: { mode: 'Approval', windows: [{ from: '20:00', to: '22:00', timeZone: 'UTC' }] } }), 1);
  assert.equal(rollsBack({ runs: { image: `${image}:1.2.3`, imageOwner: 'kubectl' }, status: { history: [entryOf('1.3.0')] } }), 1);
  assert.equal(rollsBack({ spec: { mode: 'DryRun' } }), 'DryRun');
});

test('a blocked candidate is still wanted, so that the registry is asked for its digest', () => {
  const context = contextOf({ spec: specOf({ mode: 'DryRun' }) });
  assert.ok(hasChanges(guardPlan(plan(), context)));
  assert.ok(!hasChanges(guardPlan(plan('1.3.0'), context)));
});
