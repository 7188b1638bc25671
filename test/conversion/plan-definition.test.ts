import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InstalledDefinition } from '../../src/service/resources/kinds.ts';
import { type CrdRequest, lacksConversion, planCrd } from '../../src/conversion/plan-definition.ts';

const conversion = { endpoint: { url: 'https://convert.example.com/convert' } };
const webhook = { strategy: 'Webhook' };
const crd = (versions: InstalledDefinition['spec']['versions'], storedVersions: string[], rest: object = {}): InstalledDefinition => ({
  spec: { versions, ...rest },
  status: { storedVersions },
});
const definitionOfV1alpha1 = crd([{ name: 'v1alpha1', served: true }], ['v1alpha1'], { conversion: { strategy: 'None' } });
const definitionOfBoth = crd(
  [
    { name: 'v1', served: true },
    { name: 'v1alpha1', served: true },
  ],
  ['v1'],
  { conversion: webhook },
);
const mixed = crd(definitionOfBoth.spec.versions, ['v1alpha1', 'v1'], { conversion: webhook });
const retired = crd(
  [
    { name: 'v1', served: true },
    { name: 'v1alpha1', served: false },
  ],
  ['v1'],
  { conversion: webhook },
);
const alone = crd([{ name: 'v1', served: true }], ['v1'], { conversion: { strategy: 'None' } });

const cases: [
  name: string,
  existing: InstalledDefinition | undefined,
  request: CrdRequest,
  versions: string,
  conversion: string,
  lacks: boolean,
][] = [
  ['a new cluster', undefined, { conversion }, 'v1 stored, v1alpha1', 'Webhook', false],
  ['a new cluster without a word about the webhook', undefined, {}, 'v1 stored, v1alpha1', 'not mentioned', true],
  ['a new cluster without v1alpha1', undefined, { v1Only: true }, 'v1 stored', 'None', false],
  ['the older definition', definitionOfV1alpha1, { conversion }, 'v1 stored, v1alpha1', 'Webhook', false],
  ['the older definition without a webhook', definitionOfV1alpha1, {}, 'v1 stored, v1alpha1', 'not mentioned', true],
  ['both, once more', definitionOfBoth, {}, 'v1 stored, v1alpha1', 'not mentioned', false],
  ['both, the way back', definitionOfBoth, { storage: 'v1alpha1' }, 'v1, v1alpha1 stored', 'not mentioned', false],
  ['retired stays retired', retired, {}, 'v1 stored, v1alpha1 unserved', 'not mentioned', false],
  ['retired, with another webhook', retired, { conversion }, 'v1 stored, v1alpha1 unserved', 'Webhook', false],
  ['retired, served again', retired, { serveV1alpha1: true }, 'v1 stored, v1alpha1', 'not mentioned', false],
  ['retired, stored again', retired, { storage: 'v1alpha1' }, 'v1, v1alpha1 stored', 'not mentioned', false],
  ['retired, then v1 only', retired, { v1Only: true }, 'v1 stored', 'None', false],
  ['v1 alone stays alone', alone, {}, 'v1 stored', 'None', false],
  ['v1 alone, with a webhook', alone, { conversion }, 'v1 stored, v1alpha1', 'Webhook', false],
  ['v1 alone, v1alpha1 asked for', alone, { serveV1alpha1: true }, 'v1 stored, v1alpha1', 'not mentioned', true],
];

for (const [name, existing, request, versions, expected, lacks] of cases) {
  test(`the next definition is planned correctly in the case "${name}"`, () => {
    const { spec } = planCrd(existing, request);
    const described = spec.versions
      .map(({ name, served, storage }) => `${name}${storage ? ' stored' : ''}${served ? '' : ' unserved'}`)
      .join(', ');
    assert.deepEqual(
      [described, spec.conversion?.strategy ?? 'not mentioned', lacksConversion(existing, request)],
      [versions, expected, lacks],
    );
  });
}

const refusals: [name: string, existing: InstalledDefinition, message: RegExp][] = [
  ['while policies may be stored as v1alpha1', mixed, /stored as v1alpha1: .*crd migrate/],
  ['on the older definition', definitionOfV1alpha1, /stored as v1alpha1/],
  ['while v1alpha1 is served', definitionOfBoth, /still served: .*--retire v1alpha1/],
];

for (const [name, existing, message] of refusals) {
  test(`a definition with v1 only is refused ${name}`, () => assert.throws(() => planCrd(existing, { v1Only: true }), message));
}
