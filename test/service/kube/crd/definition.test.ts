import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CustomResourceDefinition, mergeCustomResourceDefinition } from '../../../../src/service/kube/crd/definition.ts';

const webhook = (clientConfig: object) => ({ strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } });
const crd = (spec: object, rest: object = {}): CustomResourceDefinition => ({
  metadata: { name: 'widgets.example.com' },
  spec: { group: 'example.com', names: { plural: 'widgets' }, versions: [{ name: 'v1' }], ...spec },
  ...rest,
});

test('foreign labels and annotations of a definition stay, and our own values win', () => {
  const metadata = { name: 'widgets.example.com', resourceVersion: '7', labels: { a: 'theirs', b: 'old' }, annotations: { inject: 'ca' } };
  const merged = mergeCustomResourceDefinition(
    crd({}, { metadata }),
    crd({}, { metadata: { name: 'widgets.example.com', labels: { b: 'new' } } }),
  );
  assert.deepEqual(merged.metadata, { ...metadata, labels: { a: 'theirs', b: 'new' } });
});

const conversions = [
  { name: 'not mentioned: stays', existing: webhook({ caBundle: 'CA' }), wanted: undefined, expected: webhook({ caBundle: 'CA' }) },
  {
    name: 'an injected CA stays',
    existing: webhook({ url: 'old', caBundle: 'CA' }),
    wanted: webhook({ url: 'new' }),
    expected: webhook({ url: 'new', caBundle: 'CA' }),
  },
  {
    name: 'an own CA wins',
    existing: webhook({ caBundle: 'old' }),
    wanted: webhook({ caBundle: 'new' }),
    expected: webhook({ caBundle: 'new' }),
  },
  { name: 'None is meant', existing: webhook({ caBundle: 'CA' }), wanted: { strategy: 'None' }, expected: { strategy: 'None' } },
  { name: 'neither has one', existing: undefined, wanted: undefined, expected: undefined },
];

for (const { name, existing, wanted, expected } of conversions) {
  test(`the conversion is chosen in the case "${name}"`, () => {
    const merged = mergeCustomResourceDefinition(
      crd({ ...(existing && { conversion: existing }) }),
      crd({ ...(wanted && { conversion: wanted }) }),
    );
    assert.deepEqual(merged.spec.conversion, expected);
  });
}

test('a version of a definition in which objects may be stored is never dropped', () => {
  const existing = crd({}, { status: { storedVersions: ['v1alpha1', 'v1'] } });
  assert.throws(
    () => mergeCustomResourceDefinition(existing, crd({})),
    /widgets.example.com still has objects stored as v1alpha1, .* migrate/,
  );
});
