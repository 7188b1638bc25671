import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { type CrdShape, customResourceDefinition, customResourceDefinitionYaml } from '../../src/conversion/definition.ts';
import { addedDefinitions } from '../harness/resource-group.ts';

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Record<string, Schema>;
  readonly items?: Schema;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly maximum?: number;
  readonly enum?: unknown[];
  readonly format?: string;
}

const crd = customResourceDefinition();
const schemas = new Map(crd.spec.versions.map(({ name, schema }) => [name, JSON.parse(JSON.stringify(schema.openAPIV3Schema)) as Schema]));

function* fieldsOf(schema: Schema, path = ''): Generator<[path: string, schema: Schema]> {
  yield [path, schema];
  for (const [name, inner] of Object.entries(schema.properties ?? {})) yield* fieldsOf(inner, `${path}.${name}`);
  if (schema.items !== undefined) yield* fieldsOf(schema.items, `${path}[]`);
}

test('crd/ has what "image-watcher crd print" prints, a file for each kind', () => {
  for (const [file, text] of [
    ['imagepolicies', customResourceDefinitionYaml()],
    ...addedDefinitions.map(({ plural, yaml }) => [plural, yaml] as const),
  ] as const)
    assert.equal(readFileSync(new URL(`../../crd/${file}.yaml`, import.meta.url), 'utf8'), text);
});

test('the YAML of the definition contains the object, with the webhook of a usual installation', () => {
  const { spec, ...rest } = parse(customResourceDefinitionYaml()) as typeof crd;
  const { conversion, ...others } = spec;
  assert.deepEqual({ ...rest, spec: others }, JSON.parse(JSON.stringify(crd)));
  const service = { namespace: 'image-watcher', name: 'image-watcher-conversion', port: 443, path: '/convert' };
  assert.deepEqual(conversion, { strategy: 'Webhook', webhook: { clientConfig: { service }, conversionReviewVersions: ['v1'] } });
});

const shapes: [name: string, shape: CrdShape, expected: unknown][] = [
  [
    'a URL, with its authority',
    { conversion: { endpoint: { url: 'https://x/convert' }, ca: 'PEM' } },
    { url: 'https://x/convert', caBundle: 'UEVN' },
  ],
  [
    "cert-manager's authority is not ours to write",
    { conversion: { endpoint: { url: 'https://x/convert' }, ca: 'PEM', injectCaFrom: 'a/b' } },
    { url: 'https://x/convert' },
  ],
  ['v1 alone needs none', { v1Only: true }, undefined],
];

for (const [name, shape, expected] of shapes) {
  test(`the definition has the right conversion in the case "${name}"`, () => {
    const { conversion } = customResourceDefinition(shape).spec;
    assert.deepEqual(conversion && 'webhook' in conversion ? conversion.webhook.clientConfig : undefined, expected);
  });
}

test('the definition stores exactly one version, whichever is chosen', () => {
  for (const storage of ['v1', 'v1alpha1'] as const) {
    const { versions } = customResourceDefinition({ storage }).spec;
    assert.deepEqual(
      versions.filter((version) => version.storage).map(({ name }) => name),
      [storage],
    );
  }
});

test('every field of spec and status has a type, a description, and a bound where it could grow', () => {
  const others = addedDefinitions
    .flatMap(({ object }) => object.spec.versions)
    .map(({ schema }) => JSON.parse(JSON.stringify(schema.openAPIV3Schema)) as Schema);
  for (const [path, schema] of [...schemas.values(), ...others].flatMap((root) => [...fieldsOf(root)])) {
    assert.ok(schema.type, `${path} has no type`);
    if (path.startsWith('.spec') || path.startsWith('.status')) assert.ok(schema.description, `${path} has no description`);
    if (path.startsWith('.spec') && schema.type === 'string')
      assert.ok(schema.maxLength ?? schema.enum ?? schema.format, `${path} has no bound`);
    if (schema.type === 'array') assert.ok(schema.maxItems, `${path} has no bound`);
  }
});

test('the definition of v1alpha1 has the fields and names of the older definition in clusters', () => {
  const root = schemas.get('v1alpha1');
  assert.ok(root);
  const fields = [...fieldsOf(root)].map(([path]) => path);
  for (const field of [
    '.spec.repository',
    '.spec.tagPolicy.strategy',
    '.spec.tagPolicy.pattern',
    '.spec.updateTarget.kind',
    '.spec.updateTarget.name',
    '.spec.updateTarget.namespace',
    '.spec.pollIntervalMinutes',
    '.status.lastCheckedTime',
    '.status.lastAppliedTag',
    '.status.observedGeneration',
    '.status.conditions[].type',
  ]) {
    assert.ok(fields.includes(field), field);
  }
  assert.deepEqual(
    [crd.metadata.name, crd.spec.scope, crd.spec.names.shortNames],
    ['imagepolicies.operator.technomad.dev', 'Namespaced', ['ipol']],
  );
  assert.equal((root as { required?: string[] }).required, undefined, 'objects without a spec exist');
});
