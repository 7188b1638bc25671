/** What the API server says of each rule of each kind is what this program says: both evaluate the same CEL, with different evaluators. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { inParallel } from '../../../src/core/async/in-parallel.ts';
import { policyDefinition } from '../../../src/service/resources/definitions.ts';
import { apiVersion } from '../../../src/service/resources/group.ts';
import { validatePolicy } from '../../../src/service/resources/validate.ts';
import { borrowControlPlane, type ControlPlane } from '../../harness/control-plane.ts';
import { KubeRequestError } from '../../harness/kube-request.ts';
import { addedDefinitions, resources } from '../../harness/resource-group.ts';
import { installCrd, installPlainCrds, plainPath, policiesPath } from './install-crd.ts';

/** The keywords of a structural schema that decide which values it has. */
interface Schema {
  readonly type: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly 'x-kubernetes-validations'?: readonly { readonly message: string }[];
}

/** Texts that keep the rules of texts, and that break them. */
const texts = [
  'web',
  'nginx:1.2',
  'a@b',
  'harbor.example.com/shop/web',
  'A/B',
  'OCI://Harbor.Example.com/a',
  'x/\rB',
  '[a-z]{1,128}',
  '.{900}',
];
/** For two fields that may not be equal. */
const time = '09:00';
/** For two entries that may not have one name. */
const name = 'web';

/** Values that a schema takes, whatever its rules say of them. */
function valueOf(schema: Schema): fc.Arbitrary<unknown> {
  switch (schema.type) {
    case 'object': {
      if (schema.additionalProperties !== undefined)
        return fc.dictionary(fc.constantFrom('app', 'tier'), valueOf(schema.additionalProperties), { maxKeys: 2, noNullPrototype: true });
      const fields = Object.entries(schema.properties ?? {}).map(([key, inner]) => [key, valueOf(inner)] as const);
      return fc.record(Object.fromEntries(fields), { requiredKeys: [...(schema.required ?? [])], noNullPrototype: true });
    }
    case 'array':
      assert.ok(schema.items);
      return fc.uniqueArray(valueOf(schema.items), {
        minLength: schema.minItems ?? 0,
        maxLength: 2,
        selector: (one) => JSON.stringify(one),
      });
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer({ min: schema.minimum ?? 0, max: schema.maximum ?? 100 });
    case 'number':
      return fc.constantFrom(-1, 0, 0.5, 2);
    default:
      return textOf(schema);
  }
}

function textOf({ enum: values, pattern, minLength = 0, maxLength = Infinity }: Schema): fc.Arbitrary<string> {
  if (values !== undefined) return fc.constantFrom(...values);
  if (pattern === undefined) return fc.constantFrom(...texts).filter((text) => text.length <= maxLength);
  const matching = new RegExp(pattern);
  const some = fc.stringMatching(matching, { size: 'xsmall' });
  const named = matching.test(name) ? fc.oneof(some, fc.constant(name)) : some;
  const all = matching.test(time) ? fc.constantFrom(time, '17:00') : named;
  return all.filter((text) => text.length >= minLength && text.length <= maxLength);
}

function messagesOf(schema: Schema): string[] {
  const inner = [schema.items, schema.additionalProperties, ...Object.values(schema.properties ?? {})];
  return [
    ...(schema['x-kubernetes-validations'] ?? []).map(({ message }) => message),
    ...inner.flatMap((one) => (one === undefined ? [] : messagesOf(one))),
  ];
}

interface Verdict {
  readonly field: string;
  readonly message: string;
}

let cluster: ControlPlane;
before(async () => {
  cluster = await borrowControlPlane();
  await installCrd(cluster, ['v1']);
  await installPlainCrds(cluster);
});
after(() => cluster.stop());

/** What the API server has against an object; nothing when it takes it. */
async function refusal(path: string, object: object): Promise<readonly Verdict[]> {
  try {
    await cluster.request('POST', `${path}?dryRun=All`, object);
    return [];
  } catch (error) {
    if (!(error instanceof KubeRequestError) || error.status !== 422) throw error;
    return (JSON.parse(error.body) as { details: { causes: Verdict[] } }).details.causes;
  }
}

const kinds = [
  { path: policiesPath('default', 'v1'), ...policyDefinition().spec },
  ...addedDefinitions.map(({ kind, object }) => ({ path: plainPath(kind, 'default'), ...object.spec })),
];

for (const { path, names, versions } of kinds) {
  test(`the API server and this program break the same rules of ${names.kind}, in the same words`, async () => {
    const root = versions[0]?.schema.openAPIV3Schema as unknown as Schema;
    const schema = root.properties?.['spec'];
    assert.ok(schema);
    const known = [...new Set(messagesOf(schema))];
    // It depends on the value.
    const spelling = 'an image name is in lower case and has no scheme';
    const ruleOf = ({ message }: Verdict) =>
      known.find((one) => (one.startsWith(spelling) ? message.includes(spelling) : message.endsWith(one)));
    const broken = new Set<string>();
    const specs = fc.sample(valueOf(schema), { numRuns: 600, seed: 4 });
    await inParallel(specs, 8, async (spec) => {
      const object = { apiVersion, kind: names.kind, metadata: { name: 'sample' }, spec };
      const said = (await refusal(path, object)).filter((cause) => ruleOf(cause) !== undefined);
      const ours = validatePolicy(object, resources)
        .map(({ path: field, message }) => ({ field, message }))
        .filter((problem) => ruleOf(problem) !== undefined);
      const at = ({ field, message }: Verdict) => `${field}: ${ruleOf({ field, message })}`;
      assert.deepEqual(ours.map(at).toSorted(), said.map(at).toSorted(), JSON.stringify(spec));
      for (const { field, message } of ours)
        assert.ok(
          said.some((cause) => cause.field === field && cause.message.endsWith(message)),
          `${message} in ${JSON.stringify(said)}`,
        );
      for (const verdict of said) broken.add(ruleOf(verdict) ?? '');
    });
    assert.deepEqual(
      known.filter((one) => !broken.has(one)),
      [],
      'each rule is broken by some value',
    );
  });
}
