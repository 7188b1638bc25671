/** What the API server refuses, with which words, and that `validateSpec` finds the same. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { customResourceDefinition } from '../../../src/conversion/definition.ts';
import * as v1 from '../../../src/service/resources/v1.ts';
import { validateSpec } from '../../../src/service/resources/validate.ts';
import { borrowControlPlane, type ControlPlane } from '../../harness/control-plane.ts';
import { KubeRequestError } from '../../harness/kube-request.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { v1SpecArbitrary } from './arbitraries.ts';
import { installCrd, policiesPath } from './install-crd.ts';
import { acceptedSpecs } from './refused-specs/accepted.ts';
import { refusedSpecs } from './refused-specs/index.ts';
import { specArbitrary } from './spec-arbitrary.ts';

interface Cause {
  readonly field: string;
  readonly message: string;
}

interface Schema {
  readonly description?: string;
  readonly properties?: Record<string, Schema>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
}

let cluster: ControlPlane;
before(async () => {
  cluster = await borrowControlPlane();
  await installCrd(cluster, ['v1']);
});
after(() => cluster.stop());

/** What the API server has against a spec; nothing when it takes it. */
async function refusal(spec: unknown): Promise<readonly Cause[]> {
  const policy = { apiVersion: v1.apiVersion, kind: 'ImagePolicy', metadata: { name: 'sample' }, spec };
  try {
    await cluster.request('POST', `${policiesPath('default', 'v1')}?dryRun=All`, policy);
    return [];
  } catch (error) {
    if (!(error instanceof KubeRequestError) || error.status !== 422) throw error;
    return (JSON.parse(error.body) as { details: { causes: Cause[] } }).details.causes;
  }
}

/** It adds this where something else is wrong first. */
const isVerdict = ({ message }: Cause) => !message.includes('some validation rules were not checked');

describe('the API server refuses', () => {
  for (const { name, spec, path, server } of refusedSpecs) {
    if (server === undefined) continue;
    test(`a policy with ${name}`, async () => {
      const causes = (await refusal(spec)).filter(isVerdict);
      assert.ok(
        causes.some((cause) => cause.field === path && cause.message.includes(server)),
        `${path}: ${server} in ${JSON.stringify(causes, undefined, 1)}`,
      );
      const ours = validateSpec(spec).map((problem) => problem.path);
      for (const { field } of causes) assert.ok(ours.includes(field), `${field} is not in ${ours.join(', ')}`);
    });
  }

  test('a policy without a spec', async () => {
    assert.deepEqual(await refusal(undefined).then((causes) => causes.map(({ message }) => message.includes('write a spec'))), [true]);
  });
});

describe('the API server accepts', () => {
  for (const [name, spec] of acceptedSpecs) test(`the valid policy "${name}"`, async () => assert.deepEqual(await refusal(spec), []));

  for (const { name, spec, server } of refusedSpecs) {
    if (server === undefined)
      test(`a policy with ${name}, because only validateSpec can check that`, async () => assert.deepEqual(await refusal(spec), []));
  }

  test('every spec that validateSpec accepts', async () => {
    const sound = specArbitrary.filter((spec) => validateSpec(spec).length === 0);
    await fc.assert(
      fc.asyncProperty(sound, async (spec) => assert.deepEqual(await refusal(spec), [])),
      { numRuns: 100 },
    );
  });

  test('the policies that the conversion tests use as valid ones', async () => {
    await fc.assert(
      fc.asyncProperty(v1SpecArbitrary, async (spec) => assert.deepEqual(await refusal(spec), [])),
      { numRuns: 100 },
    );
  });

  test('no spec for a reason that validateSpec does not know', async () => {
    const unsound = specArbitrary.filter((spec) => validateSpec(spec).length > 0);
    await fc.assert(
      fc.asyncProperty(unsound, async (spec) => {
        const ours = validateSpec(spec).map(({ path }) => path);
        const causes = (await refusal(spec)).filter(isVerdict);
        assert.deepEqual(
          causes.filter(({ field }) => !ours.includes(field)),
          [],
        );
      }),
      { numRuns: 100 },
    );
  });
});

test('every rule of the schema has a row in the table', () => {
  const [served] = customResourceDefinition().spec.versions;
  assert.ok(served);
  const rules = [...JSON.stringify(served.schema).matchAll(/"rule":("(?:[^"\\]|\\.)*"),"message":("(?:[^"\\]|\\.)*")/g)];
  const messages = new Set(rules.map(([, , message = '""']) => JSON.parse(message) as string));
  assert.ok(messages.size > 10);
  for (const message of messages) {
    const isShown = refusedSpecs.some(({ server }) => server !== undefined && message.includes(server));
    assert.ok(isShown || message.startsWith('write a spec'), `no wrong spec for: ${message}`);
  }
});

test('kubectl explain has a description for every field', async () => {
  const { components } = await waitFor('the description', () =>
    cluster.request<{ components: { schemas: Record<string, Schema> } }>('GET', '/openapi/v3/apis/operator.technomad.dev/v1'),
  );
  const root = components.schemas['dev.technomad.operator.v1.ImagePolicy'];
  assert.ok(root?.properties?.['spec'] && root.properties['status'], Object.keys(components.schemas).join(', '));
  const undescribed = (schema: Schema, path: string): string[] => [
    ...(schema.description ? [] : [path]),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => undescribed(inner, `${path}.${name}`)),
    ...(schema.items ? undescribed(schema.items, `${path}[]`) : []),
    ...(schema.additionalProperties ? undescribed(schema.additionalProperties, `${path}{}`) : []),
  ];
  const { metadata: _, ...ours } = root.properties;
  assert.deepEqual(undescribed({ ...root, properties: ours }, 'policy'), []);
});

test('the API server accepts the definition, which fits into a request with room to spare', async () => {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/imagepolicies.operator.technomad.dev';
  const { status } = await cluster.request<{ status: { conditions: { type: string; status: string; message: string }[] } }>('GET', path);
  const conditions = new Map(status.conditions.map((condition) => [condition.type, condition.status]));
  assert.equal(conditions.get('Established'), 'True');
  assert.notEqual(conditions.get('NonStructuralSchema'), 'True');
  // kubectl apply keeps a copy in an annotation, of which all together may have 256 KiB.
  assert.ok(JSON.stringify(customResourceDefinition()).length < 100 * 1024);
});

test('a policy stored before the rules existed, or as v1alpha1, can still get a status and be corrected step by step', async () => {
  const crdPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/imagepolicies.operator.technomad.dev';
  const { spec: definition } = await cluster.request<{ spec: { versions: { schema: object }[] } }>('GET', crdPath);
  const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const [version] = definition.versions;
  await cluster.request('PATCH', crdPath, { spec: { versions: [{ ...version, schema: { openAPIV3Schema: anything } }] } });
  const spec = {
    image: 'nginx:1.2',
    select: { digest: { tag: 'a/b' } },
    targets: [
      { kind: 'deployment', name: 'Web' },
      { selector: { matchExpressions: [{ key: 'a' }] }, fields: {} },
    ],
    update: { pin: 'Tag', windows: [{ from: '1:00' }, {}] },
    minAge: '',
    poll: { interval: '' },
    rollout: { timeout: '0d' },
  };
  await waitFor('the loose schema', async () => (await refusal(spec)).length === 0);
  const policy = { apiVersion: v1.apiVersion, kind: 'ImagePolicy', metadata: { name: 'old' }, spec };
  await cluster.request('POST', policiesPath('default', 'v1'), policy);
  await cluster.request('PATCH', crdPath, { spec: { versions: [version] } });
  await waitFor('the schema', async () => (await refusal(spec)).length > 0);
  const path = `${policiesPath('default', 'v1')}/old`;
  await cluster.request('PATCH', `${path}/status`, { status: { observedGeneration: 1 } });
  await cluster.request('PATCH', path, { spec: { image: 'nginx', update: { pin: 'Digest' } } });
  const { spec: stored, status } = await cluster.request<{ spec: { image: string }; status: object }>('GET', path);
  assert.deepEqual([status, stored.image], [{ observedGeneration: 1 }, 'nginx']);
  await assert.rejects(cluster.request('PATCH', path, { spec: { image: 'nginx:1.3' } }), /write only the repository/);
});
