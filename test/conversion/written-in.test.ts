/** Problems of a stored policy are reported in the words of the version that its author wrote. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPolicy } from '../../src/service/resources/read-policy.ts';
import type { ReadContext } from '../../src/service/resources/read-spec.ts';
import { isUsable } from '../../src/core/model/image-policy.ts';
import { olderVersions } from '../harness/resource-group.ts';

const context: ReadContext = { aliases: new Map(), customTargets: [], olderVersions };
const metadata = { name: 'web', namespace: 'shop', uid: 'u', resourceVersion: '7', generation: 3 };

/** What the API server records of a write of the spec. */
const written = (version: string, time: string, field = 'f:spec') => ({
  manager: 'kubectl-client-side-apply',
  operation: 'Update',
  apiVersion: `operator.technomad.dev/${version}`,
  time,
  fieldsType: 'FieldsV1',
  fieldsV1: { [field]: {} },
});

const broken = {
  image: 'nginx:1.2',
  select: { alphabetical: {} },
  tags: { allow: '(' },
  targets: [{ kind: 'deployment', name: 'web' }],
};

for (const [name, managedFields, expected] of [
  [
    'v1alpha1',
    [written('v1alpha1', '2026-03-01T12:00:00Z')],
    /^spec\.tagPolicy\.pattern: .*; spec\.repository: .*tagPolicy chooses the tag; spec\.updateTarget\.kind: /,
  ],
  [
    'v1',
    [written('v1', '2026-03-01T12:00:00Z')],
    /^spec\.tags\.allow: .*; spec\.image: .*select chooses the tag; spec\.targets\[0\]\.kind: /,
  ],
  ['v1alpha1 first', [written('v1', '2026-03-01T12:00:01Z'), written('v1alpha1', '2026-03-01T12:00:00Z')], /; spec\.image: /],
  ['v1alpha1 last', [written('v1', '2026-03-01T12:00:00Z'), written('v1alpha1', '2026-03-01T12:00:01Z')], /; spec\.repository: /],
  ['v1alpha1, of the status', [written('v1alpha1', '2026-03-01T12:00:00Z', 'f:status')], /; spec\.image: /],
  ['an unknown version', undefined, /; spec\.image: /],
  ['nonsense', [null, 5, { fieldsV1: null }, { fieldsV1: { 'f:spec': 1 }, apiVersion: {}, time: [] }], /; spec\.image: /],
] as const) {
  test(`a problem is reported in the words of the version that its author wrote in the case "${name}"`, () => {
    const policy = readPolicy({ metadata: { ...metadata, managedFields }, spec: broken }, context);
    assert.ok(!isUsable(policy.spec));
    assert.match(policy.spec.problem.message, expected);
    assert.ok(!('managedFields' in policy));
  });
}

test('the same spec, written again in the other version, is reported in its words', () => {
  const at = (version: string) => ({ metadata: { ...metadata, managedFields: [written(version, '2026-03-01T12:00:00Z')] }, spec: broken });
  const before = readPolicy(at('v1alpha1'), context);
  const convertedPolicy = readPolicy(at('v1'), context, before);
  assert.ok(!isUsable(convertedPolicy.spec) && convertedPolicy.spec.problem.message.includes('; spec.image: '));
  assert.equal(readPolicy(at('v1'), context, convertedPolicy).spec, convertedPolicy.spec);
});
