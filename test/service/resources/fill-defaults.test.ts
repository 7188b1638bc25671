import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fillDefaults } from '../../../src/conversion/convert-review.ts';

const v1 = (rest: object) => ({ apiVersion: 'operator.technomad.dev/v1', kind: 'ImagePolicy', metadata: { name: 'web' }, ...rest });

const cases: [name: string, object: unknown, expected: unknown][] = [
  [
    'defaults, also inside of lists',
    v1({ spec: { image: 'a', select: { semver: {} }, targets: [{ kind: 'Deployment' }, { initContainers: true }] } }),
    v1({
      spec: {
        image: 'a',
        select: { semver: { prereleases: false } },
        targets: [{ kind: 'Deployment', initContainers: false }, { initContainers: true }],
        suspend: false,
      },
    }),
  ],
  ['what is said stays', v1({ spec: { suspend: true, select: null } }), v1({ spec: { suspend: true, select: null } })],
  ['parts that are not there stay away', v1({}), v1({})],
  ['nonsense stays', v1({ spec: 'nonsense' }), v1({ spec: 'nonsense' })],
  ['nonsense inside stays', v1({ spec: { targets: [7, null], suspend: false } }), v1({ spec: { targets: [7, null], suspend: false } })],
  [
    'the older shape is not touched',
    { apiVersion: 'operator.technomad.dev/v1alpha1', spec: {} },
    { apiVersion: 'operator.technomad.dev/v1alpha1', spec: {} },
  ],
  ['no object', undefined, undefined],
];

for (const [name, object, expected] of cases) {
  test(`the defaults of v1 are filled in as the API server does in the case "${name}"`, () =>
    assert.deepEqual(fillDefaults(object), expected));
}
