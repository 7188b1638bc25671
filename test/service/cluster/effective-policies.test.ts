import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEffectivePolicies, type WhyHeld } from '../../../src/service/cluster/effective-policies.ts';
import { createObjectStore } from '../../../src/service/kube/object-store.ts';
import { isUsable, type ImagePolicy } from '../../../src/core/model/image-policy.ts';
import type { NamespaceRules } from '../../../src/core/model/policy-defaults.ts';
import { policyOf, specOf } from '../../core/model/samples.ts';

const built = { poll: 'built-in', minAge: 'built-in', windows: 'built-in', rollout: 'built-in' } as const;
const slow = { selector: { matchLabels: { pace: 'slow' } }, values: { minAge: 60_000 } };

function follow(rules: Partial<NamespaceRules>, whyHeld?: WhyHeld) {
  const written = createObjectStore<ImagePolicy>();
  const labels = new Map<string, Record<string, string>>();
  const context = {
    rules: { cluster: {}, namespaces: [], ...rules },
    labelsOf: (namespace: string) => labels.get(namespace),
  };
  const effective = createEffectivePolicies(written, context, whyHeld);
  const changes: string[] = [];
  effective.policies.subscribe(({ type, object }) => changes.push(`${type} ${object.name}@${object.resourceVersion}`));
  const label = (namespace: string, value: Record<string, string> | undefined) => {
    if (value === undefined) labels.delete(namespace);
    else labels.set(namespace, value);
    return effective.refresh(namespace).map(({ name }) => name);
  };
  return { written, label, changes, ...effective };
}

const policy = (resourceVersion: string, more: Partial<ImagePolicy> = {}) =>
  policyOf({ resourceVersion, spec: specOf({ origins: built }), ...more });
const minAgeOf = (found: ImagePolicy | undefined) => found && isUsable(found.spec) && found.spec.minAgeMs;

test('policies appear and disappear with the labels of their namespace, whether the policy or the label is known first', () => {
  const { written, label, changes, policies } = follow({ selector: { matchLabels: { watched: 'yes' } } });
  written.put(policy('1'));
  written.put(policy('2', { name: 'other' }));
  assert.deepEqual([policies.size, changes], [0, []]);
  assert.deepEqual(label('shop', { watched: 'yes' }), ['web', 'other']);
  assert.deepEqual(label('shop', { watched: 'yes', more: 'labels' }), []);
  written.put(policy('3'));
  assert.deepEqual(label('shop', { watched: 'no' }), []);
  written.put(policy('4'));
  assert.deepEqual([policies.size, written.size], [0, 2]);
  assert.deepEqual(label('shop', { watched: 'yes' }), ['web', 'other']);
  assert.deepEqual(label('shop', undefined), []);
  const seen = ['added web@1', 'added other@2', 'updated web@3', 'deleted web@3', 'deleted other@2', 'added web@4', 'added other@2'];
  assert.deepEqual(changes, [...seen, 'deleted web@4', 'deleted other@2']);
});

test('a deleted policy does not come back with a label, and one that was created anew is another policy', () => {
  const { written, label, changes, policies } = follow({ selector: { matchLabels: { watched: 'yes' } } });
  label('shop', { watched: 'yes' });
  written.put(policy('1'));
  written.put(policy('2', { uid: 'another' }));
  written.remove({ namespace: 'shop', name: 'web', resourceVersion: '3' });
  assert.deepEqual(label('shop', { watched: 'yes', again: 'yes' }), []);
  assert.deepEqual([policies.size, changes], [0, ['added web@1', 'deleted web@1', 'added web@2', 'deleted web@2']]);
});

test('defaults follow the labels of the namespace, and a change of the status leaves the spec the same object', () => {
  const { written, label, changes, policies } = follow({ namespaces: [slow] });
  const first = policy('1');
  written.put(first);
  assert.equal(policies.get('shop', 'web'), first);
  label('shop', { pace: 'slow' });
  assert.equal(minAgeOf(policies.get('shop', 'web')), 60_000);
  const { spec } = policies.get('shop', 'web') ?? {};
  written.put({ ...first, resourceVersion: '2', status: { observedGeneration: 1 } });
  assert.equal(policies.get('shop', 'web')?.spec, spec);
  assert.equal(policies.get('shop', 'web')?.status.observedGeneration, 1);
  label('shop', { pace: 'slow', other: 'label' });
  label('shop', {});
  assert.equal(minAgeOf(policies.get('shop', 'web')), undefined);
  assert.deepEqual(changes, ['added web@1', 'updated web@1', 'updated web@2', 'updated web@2']);
});

test('an invalid spec is passed on without defaults', () => {
  const { written, policies } = follow({ cluster: { minAge: 1 } });
  const broken = policy('1', { spec: { problem: { reason: 'InvalidPolicy', message: '' } } });
  written.put(broken);
  assert.equal(policies.get('shop', 'web'), broken);
});

test('the children of a held parent count as suspended until the parent is released', () => {
  let held: string | undefined = 'its parent is suspended';
  const { written, changes, policies, refreshChildren } = follow({}, ({ parent }) => parent && held);
  const specs = () => [...policies.values()].map(({ name, spec }) => `${name} ${spec.suspended} ${isUsable(spec) && spec.heldBecause}`);
  written.put(policy('1', { parent: { name: 'java', uid: 'p' } }));
  written.put(policy('2', { name: 'own' }));
  assert.deepEqual(specs(), ['web true its parent is suspended', 'own false undefined']);
  const { spec } = policies.get('shop', 'web') ?? {};
  written.put({ ...policy('3', { parent: { name: 'java', uid: 'p' } }), spec: written.get('shop', 'web')?.spec ?? specOf() });
  assert.equal(policies.get('shop', 'web')?.spec, spec, 'the same spec for the same reason');
  held = undefined;
  refreshChildren({ namespace: 'shop', name: 'other' });
  assert.equal(policies.get('shop', 'web')?.spec.suspended, true);
  refreshChildren({ namespace: 'shop', name: 'java' });
  assert.deepEqual(specs(), ['web false undefined', 'own false undefined']);
  assert.deepEqual(changes, ['added web@1', 'added own@2', 'updated web@3', 'updated web@3']);
});
