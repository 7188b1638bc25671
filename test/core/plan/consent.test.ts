import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  asSeenBy,
  consentTo,
  evaluateConsent,
  mayHaveConsent,
  unseenProblem,
  withGrants,
  type ConsentRules,
  type CrossNamespace,
  maxConsent,
} from '../../../src/core/plan/consent.ts';
import type { LabelSelector } from '../../../src/core/model/label-selector.ts';
import type { WorkloadView } from '../../../src/core/model/resolve-target.ts';
import type { KindRef, WorkloadRef } from '../../../src/core/model/workload.ts';
import { policyOf, webDeployment, workloadOf } from '../model/samples.ts';

const target = { ...webDeployment, namespace: 'ops' };
const shopPolicy = policyOf();
const legacyPolicy = policyOf({ legacyTarget: target });

const rows: [name: string, onTarget: string | undefined, onNamespace: string | null | undefined, granted: boolean][] = [
  ['nobody said anything', undefined, null, false],
  ['it is not known what the Namespace says', undefined, undefined, false],
  ['the target lets it', 'shop', undefined, true],
  ['the target lets it and others', 'ops, shop ,web', undefined, true],
  ['the target lets all', '*', undefined, true],
  ['the target lets others', 'ops', undefined, false],
  ['a longer name is another one', 'shop-admin', undefined, false],
  ['no patterns but the one', 'sh*', undefined, false],
  ['the target lets nobody', '', undefined, false],
  ['the Namespace lets it', undefined, 'shop', true],
  ['the Namespace lets all', undefined, '*', true],
  ['the Namespace lets others', undefined, 'ops', false],
  ['the target decides when it has one: yes', 'shop', '', true],
  ['the target decides when it has one: no', 'ops', '*', false],
  ['the target decides when it has an empty one', '', '*', false],
  ['the target lets it and many others', `${'web,'.repeat(500)}shop`, undefined, true],
  ['the target has a longer text than is read, and the Namespace lets it', `shop,${'web,'.repeat(maxConsent / 4)}`, 'shop', false],
];

for (const [name, onTarget, onNamespace, granted] of rows) {
  test(`consent is ${granted ? 'granted' : 'refused'} in the case "${name}"`, () => {
    for (const crossNamespace of ['consent', 'legacy'] as const)
      assert.equal(evaluateConsent(shopPolicy, target, { onTarget, onNamespace }, crossNamespace).granted, granted);
  });
}

test('a consent annotation that is too long to read refuses everything, even what the configuration grants', () => {
  const grants = [{ policiesFrom: 'shop', namespaces: ['ops'] }];
  assert.equal(withGrants(`web,${'a,'.repeat(maxConsent / 2)}`, 'ops', grants), '');
  assert.equal(withGrants('web', 'ops', grants), 'web,shop');
});

test('crossNamespace: legacy grants a policy its single Deployment where nobody has answered, and nothing else', () => {
  const consentOfTarget = (
    onTarget: string | undefined,
    onNamespace: string | null | undefined,
    crossNamespace: CrossNamespace = 'legacy',
    of = target,
  ) => evaluateConsent(legacyPolicy, of, { onTarget, onNamespace }, crossNamespace);
  assert.deepEqual(consentOfTarget(undefined, null), { granted: true, isLegacy: true });
  for (const answer of ['', 'nobody', 'web']) {
    assert.deepEqual(consentOfTarget(answer, null), { granted: false }, answer);
    assert.deepEqual(consentOfTarget(undefined, answer), { granted: false }, answer);
  }
  assert.deepEqual(consentOfTarget(undefined, undefined), { granted: false }, 'not known is not nobody');
  assert.deepEqual(consentOfTarget(undefined, null, 'consent'), { granted: false });
  for (const difference of [{ name: 'db' }, { namespace: 'web' }, { kind: 'StatefulSet' }])
    assert.deepEqual(consentOfTarget(undefined, null, 'legacy', { ...target, ...difference }), { granted: false });
});

const ownWorkload = workloadOf({ web: 'nginx:1' });
const consenting = workloadOf({ web: 'nginx:1' }, { ...target, allowPoliciesFrom: 'shop' });
const withoutAnnotation = workloadOf({ web: 'nginx:1' }, { ...target, name: 'db' });
const refusingWorkload = workloadOf({ web: 'nginx:1' }, { ...target, name: 'secret', allowPoliciesFrom: 'nobody' });

const visibleTargets: [rules: Partial<ConsentRules>, names: string[]][] = [
  [{}, ['web']],
  [{ namespaceConsent: () => 'shop' }, ['web', 'db']],
  [{ namespaceConsent: () => undefined }, ['web']],
  [{ crossNamespace: 'deny', namespaceConsent: () => '*' }, []],
  [{ crossNamespace: 'allow' }, ['web', 'db', 'secret']],
];

for (const [given, names] of visibleTargets) {
  test(`of another namespace a policy sees ${names.join(', ') || 'nothing'} with ${JSON.stringify(given)} ${given.namespaceConsent?.('ops') ?? ''}`, () => {
    const all = [consenting, withoutAnnotation, refusingWorkload];
    const rules: ConsentRules = { crossNamespace: 'consent', namespaceConsent: () => null, ...given };
    const view = asSeenBy(shopPolicy, {
      ...rules,
      findWorkload: ({ namespace, name }: WorkloadRef) =>
        [ownWorkload, ...all].find((one) => one.namespace === namespace && one.name === name),
      listWorkloads: (_: KindRef, namespace: string, _selector: LabelSelector, annotated?: 'annotated') =>
        [ownWorkload, ...all].filter(
          (one) => one.namespace === namespace && (annotated === undefined || one.allowPoliciesFrom !== undefined),
        ),
    });
    assert.deepEqual(
      [...view.listWorkloads(target, 'ops', {})].map(({ name }) => name),
      names,
    );
    assert.deepEqual(
      all.filter((one) => view.findWorkload(one) !== undefined).map(({ name }) => name),
      names,
    );
    assert.deepEqual([view.findWorkload(ownWorkload), ...view.listWorkloads(ownWorkload, 'shop', {})], [ownWorkload, ownWorkload]);
    assert.ok(consentTo(ownWorkload, shopPolicy, rules).granted);
  });
}

test('workloads of a Namespace without consent are not listed, unless they answer themselves', () => {
  const lists: string[] = [];
  const list = (namespace: string, rules: Partial<ConsentRules> = {}) => {
    const view = asSeenBy(shopPolicy, {
      crossNamespace: 'consent',
      namespaceConsent: () => null,
      ...rules,
      findWorkload: () => undefined,
      listWorkloads: (_: KindRef, namespace: string, _selector: LabelSelector, annotated?: 'annotated') => {
        lists.push(`${namespace}: ${annotated ?? 'all'}`);
        return [];
      },
    });
    return [...view.listWorkloads(target, namespace, {})];
  };
  list('ops');
  list('ops', { namespaceConsent: () => 'web' });
  list('ops', { crossNamespace: 'legacy' });
  list('ops', { crossNamespace: 'deny', namespaceConsent: () => '*' });
  list('ops', { namespaceConsent: () => 'shop' });
  list('ops', { crossNamespace: 'allow' });
  list('shop');
  assert.deepEqual(lists, [...Array<string>(4).fill('ops: annotated'), 'ops: all', 'ops: all', 'shop: all']);
});

test('the messages about invisible targets depend only on the policy and the configuration', () => {
  const say = (crossNamespace: CrossNamespace, of = target) => unseenProblem(of, shopPolicy, crossNamespace);
  assert.deepEqual(say('consent'), {
    reason: 'NoConsent',
    message:
      'Deployment ops/web is in another namespace, and either does not exist or its owners have not consented: ask them to annotate it, or its Namespace, with operator.technomad.dev/allow-policies-from: "shop"',
  });
  assert.deepEqual(say('legacy'), say('consent'));
  assert.equal(say('deny')?.reason, 'CrossNamespaceDenied');
  assert.equal(say('allow'), undefined);
  for (const rule of ['deny', 'consent', 'legacy'] as const) assert.equal(say(rule, webDeployment), undefined);
});

test('a Namespace that is not known yet may have consented, and one without the annotation has not', () => {
  const say = (
    workload: typeof withoutAnnotation,
    namespaceConsent: string | null | undefined,
    crossNamespace: CrossNamespace = 'consent',
  ) => mayHaveConsent(workload, shopPolicy, { crossNamespace, namespaceConsent: () => namespaceConsent });
  assert.deepEqual([say(withoutAnnotation, undefined), say(withoutAnnotation, 'shop'), say(ownWorkload, null)], [true, true, true]);
  assert.deepEqual(
    [say(withoutAnnotation, null), say(refusingWorkload, undefined), say(withoutAnnotation, undefined, 'deny')],
    [false, false, false],
  );
});

test('the child of a BaseImagePolicy sees only the workload that it was created for', () => {
  const workload = workloadOf({});
  const rules: ConsentRules = { crossNamespace: 'consent', namespaceConsent: () => null };
  const all: WorkloadView & ConsentRules = { ...rules, findWorkload: () => workload, listWorkloads: () => [workload] };
  const seenBy = (uid: string | undefined) =>
    asSeenBy(policyOf({ parent: { name: 'java', uid: 'p', ...(uid !== undefined && { workload: uid }) } }), all).findWorkload(workload);
  assert.deepEqual([seenBy(undefined), seenBy(workload.uid), seenBy('former')], [workload, workload, undefined]);
});

const granted: [name: string, consent: string | null | undefined, namespace: string, expected: string | null | undefined][] = [
  ['nobody has answered', null, 'team-a', 'platform'],
  ['the Namespace lets others', 'ops', 'team-a', 'ops,platform'],
  ['the Namespace lets it already', 'platform', 'team-a', 'platform'],
  ['the owners refuse', 'nobody', 'team-a', 'nobody'],
  ['the owners refuse with an empty answer', '', 'team-a', ''],
  ['the Namespace is not known', undefined, 'team-a', undefined],
  ['the pattern is of other namespaces', null, 'kube-system', null],
];
for (const [name, consent, namespace, expected] of granted)
  test(`with the operator's grant, the consent ${String(consent)} becomes ${String(expected)} where ${name}`, () => {
    const grants = [{ policiesFrom: 'platform', namespaces: ['shop', 'team-*'] }];
    assert.equal(withGrants(consent, namespace, grants), expected);
  });
