import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { z } from 'zod';
import { toStructuralSchema } from '../../src/service/resources/structural-schema.ts';
import * as v1Spec from '../../src/service/resources/v1.ts';
import * as v1Status from '../../src/core/model/policy-status.ts';
import * as old from '../../src/conversion/v1alpha1.ts';
import { convertObject } from '../../src/conversion/convert.ts';
import { isObject } from '../../src/core/model/untyped.ts';
import {
  olderStatusArbitrary,
  v1SpecArbitrary,
  v1StatusArbitrary,
  v1alpha1SpecArbitrary,
  v1alpha1StatusArbitrary,
  visibleV1SpecArbitrary,
} from '../service/resources/arbitraries.ts';
import { metadataArbitrary } from '../service/resources/metadata-arbitrary.ts';
import {
  differences,
  down,
  isHidden,
  oldPolicy,
  setAt,
  up,
  v1,
  v1Policy,
  v1alpha1,
  withoutNotes,
  type Policy,
} from '../service/resources/objects.ts';
import { runsOf } from '../harness/full-tests.ts';

const v1Object = fc
  .tuple(v1SpecArbitrary, fc.option(v1StatusArbitrary), metadataArbitrary)
  .map(([spec, status, metadata]) => v1Policy(spec, { metadata, ...(status !== null && { status }) }));
const oldObject = fc
  .tuple(v1alpha1SpecArbitrary, fc.option(olderStatusArbitrary), metadataArbitrary)
  .map(([spec, status, metadata]) => oldPolicy(spec, { metadata, ...(status !== null && { status }) }));
const numRuns = runsOf(1_000);

test('converting v1 to v1alpha1 and back is the identity', () => {
  fc.assert(
    fc.property(v1Object, (object) => assert.deepEqual(up(down(object)), object)),
    { numRuns },
  );
});

test('converting v1alpha1 to v1 and back is the identity, except for what the conversion itself stores', () => {
  fc.assert(
    fc.property(oldObject, (object) => {
      const stored = up(object);
      const view = down(stored);
      assert.deepEqual(withoutNotes(view), object);
      assert.deepEqual(up(view), stored, 'and stays so');
    }),
    { numRuns },
  );
});

test('the conversion changes only annotations in the metadata, in both directions', () => {
  fc.assert(
    fc.property(fc.oneof(v1Object, oldObject), (object) => {
      const { annotations: _, ...before } = object.metadata;
      const { annotations: __, ...after } = (object.apiVersion === v1 ? down(object) : up(object)).metadata;
      assert.deepEqual(after, before);
    }),
  );
});

test('nothing in the metadata becomes status, and no metadata changes a status', () => {
  const forgery = fc.tuple(v1StatusArbitrary, v1SpecArbitrary).map(([status, spec]) => JSON.stringify({ spec, status }));
  const notes = fc.record(
    { 'operator.technomad.dev/v1': forgery, 'operator.technomad.dev/v1alpha1': forgery, 'operator.technomad.dev/status': forgery },
    { requiredKeys: [], noNullPrototype: true },
  );
  const anyStatus = fc.option(v1alpha1StatusArbitrary, { nil: undefined });
  fc.assert(
    fc.property(v1alpha1SpecArbitrary, anyStatus, metadataArbitrary, notes, (spec, status, metadata, annotations) => {
      const more = status === undefined ? {} : { status };
      const plain = up(oldPolicy(spec, { metadata: { namespace: 'shop' }, ...more }));
      const forged = up(oldPolicy(spec, { metadata: { ...metadata, annotations }, ...more }));
      assert.deepEqual(forged.status, plain.status);
      if (status === undefined) assert.equal(forged.status, undefined);
    }),
    { numRuns },
  );
});

test('a converted object satisfies the schema of its version', () => {
  const accepts = (schema: z.ZodType, value: unknown) => {
    const { error } = schema.safeParse(value);
    assert.equal(error && z.prettifyError(error), undefined);
  };
  fc.assert(
    fc.property(v1Object, oldObject, (newer, older) => {
      accepts(v1Spec.specSchema, newer.spec);
      accepts(old.specSchema, older.spec);
      accepts(old.specSchema, down(newer).spec);
      accepts(old.statusSchema.optional(), down(newer).status);
      accepts(v1Spec.specSchema, up(older).spec);
      accepts(v1Status.statusSchema.optional(), up(older).status);
    }),
    { numRuns },
  );
});

/** What each leaf of the older spec stands for in v1. */
const leaves: Record<string, { values: fc.Arbitrary<unknown>; standsFor: RegExp }> = {
  'spec.repository': { values: fc.constantFrom('nginx', 'other/app'), standsFor: /^spec\.image$/ },
  'spec.tagPolicy.strategy': {
    values: fc.constantFrom('SemVer', 'Latest', 'Regex'),
    standsFor: /^spec\.(select|tags|update\.pin)(\.|$)/,
  },
  'spec.tagPolicy.pattern': {
    values: fc.constantFrom(undefined, '', '2.x', '^main-.*$'),
    standsFor: /^spec\.(select|tags)(\.|$)|^spec\.update\.pin$/,
  },
  'spec.updateTarget.kind': { values: fc.constantFrom('Deployment', 'StatefulSet'), standsFor: /^spec\.targets\.0\.kind$/ },
  'spec.updateTarget.name': { values: fc.constantFrom('web', 'other'), standsFor: /^spec\.targets\.0\.(name|selector)(\.|$)/ },
  'spec.updateTarget.namespace': { values: fc.constantFrom('shop', 'ops', 'third'), standsFor: /^spec\.targets\.0\.namespace$/ },
  'spec.pollIntervalMinutes': { values: fc.constantFrom(1, 2, 60, 720), standsFor: /^spec\.poll\.interval$/ },
  'status.lastAppliedTag': { values: fc.constantFrom('1.0.0', 'main'), standsFor: /^status\.lastAppliedTag$/ },
  'status.lastCheckedTime': {
    values: fc.constantFrom(undefined, '2026-11-21T10:00:00Z'),
    standsFor: /^status\.lastCheckTime$/,
  },
  'status.observedGeneration': { values: fc.constantFrom(undefined, 7), standsFor: /^status\.observedGeneration$/ },
  'status.conditions': {
    values: fc.constantFrom(undefined, [], [{ type: 'Ready', status: 'True', reason: 'UpToDate', message: 'm', lastTransitionTime: 't' }]),
    standsFor: /^status\.conditions(\.|$)/,
  },
};

for (const [path, { values, standsFor }] of Object.entries(leaves)) {
  test(`an edit of ${path} in v1alpha1 changes only what it stands for in v1, and is shown in v1alpha1`, () => {
    const anyObject = fc.oneof(
      v1Object,
      visibleV1SpecArbitrary.map((spec) => v1Policy(spec)),
      oldObject.map((object) => up(object)),
    );
    fc.assert(
      fc.property(anyObject, values, (object, value) => {
        const edited = setAt(down(object), path, value);
        const stored = up(edited);
        const changed = differences(stored, object).filter(
          (one) => !one.startsWith('metadata.annotations.operator.technomad.dev/v1alpha1'),
        );
        assert.deepEqual(
          changed.filter((one) => !standsFor.test(one)),
          [],
        );
        const shown = down(stored);
        const isChoice = path.startsWith('spec.tagPolicy');
        const mayStayHidden = isChoice && isHidden(down(object)) && isSameChoice(stored, object);
        if (isChoice && isHiddenAnyway(stored)) assert.ok(isHidden(shown));
        else if (!mayStayHidden || !isHidden(shown)) assert.deepEqual(at(shown, path), value);
        assert.deepEqual(up(shown), stored, 'and stays so');
      }),
      { numRuns },
    );
  });
}

/** Whether v1 hides it whatever is chosen: suspended, two targets, another pin than what belongs to the strategy … */
function isHiddenAnyway(object: Policy): boolean {
  const update = isObject(object.spec?.['update']) ? object.spec['update'] : {};
  const select = isObject(object.spec?.['select']) ? object.spec['select'] : {};
  if (update['pin'] !== undefined && update['pin'] !== ('digest' in select ? 'Digest' : 'Tag')) return true;
  const { pin: _, ...others } = update;
  return isHidden(down({ ...object, spec: { ...object.spec, select: { semver: {} }, tags: {}, update: others } }));
}

/** Whether both choose in the same way: then what only v1 says of the choice has stayed, and goes on hiding it. */
function isSameChoice(left: Policy, right: Policy): boolean {
  return Object.keys(left.spec?.['select'] ?? {}).join() === Object.keys(right.spec?.['select'] ?? {}).join();
}

function at(object: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((inner, key) => (isObject(inner) ? inner[key] : undefined), object);
}

test('a policy that was only ever v1alpha1 is shown as last written, and stored as if it were new', () => {
  fc.assert(
    fc.property(oldObject, v1alpha1SpecArbitrary, ({ spec, metadata }, next) => {
      const edited = { ...down(up(oldPolicy(spec, { metadata }))), spec: next };
      assert.deepEqual(down(up(edited)).spec, next);
      assert.deepEqual(up(edited).spec, up(oldPolicy(next, { metadata })).spec);
    }),
    { numRuns },
  );
});

/** A valid object with anything at any place. */
const spoilt = fc.tuple(fc.oneof(v1Object, oldObject), fc.nat(), fc.jsonValue({ maxDepth: 3 })).map(([object, index, garbage]) => {
  const paths = differences(object, {}).filter((path) => path.startsWith('spec') || path.startsWith('status'));
  const path = paths[index % paths.length] ?? 'spec';
  const keys = path.split('.');
  return setAt(object, keys.slice(0, 1 + (index % keys.length)).join('.'), garbage);
});

test('any spec and status is converted, never refused, and v1 comes back unchanged unless its status was invalid', () => {
  const garbage = fc
    .tuple(fc.constantFrom(v1, v1alpha1), fc.jsonValue(), fc.jsonValue())
    .map(([apiVersion, spec, status]) => ({ ...v1Policy(spec), apiVersion, status }));
  fc.assert(
    fc.property(fc.oneof(spoilt, garbage), (object) => {
      const { status, ...rest } = JSON.parse(JSON.stringify(object)) as Policy;
      if (object.apiVersion === v1) assert.deepEqual(up(down(object)), isObject(status) ? { ...rest, status } : rest);
      else assert.equal(down(up(object)).apiVersion, v1alpha1);
    }),
    { numRuns },
  );
});

test('any JSON is converted, even as annotations', () => {
  const annotation = fc.oneof(fc.string(), fc.json(), fc.json({ depthSize: 'large' }), fc.jsonValue());
  const annotations = fc.oneof(
    fc.jsonValue(),
    fc.record({ 'operator.technomad.dev/v1': annotation, 'operator.technomad.dev/v1alpha1': annotation }, { noNullPrototype: true }),
  );
  const object = fc.oneof(
    fc.jsonValue(),
    fc.record(
      {
        apiVersion: fc.oneof(fc.constantFrom(v1, v1alpha1), fc.jsonValue()),
        metadata: fc.oneof(fc.jsonValue(), fc.record({ namespace: fc.jsonValue(), annotations }, { noNullPrototype: true })),
        spec: fc.jsonValue(),
        status: fc.jsonValue(),
      },
      { requiredKeys: [], noNullPrototype: true },
    ),
    fc.tuple(oldObject, annotations).map(([policy, notes]) => ({ ...policy, metadata: { ...policy.metadata, annotations: notes } })),
  );
  fc.assert(
    fc.property(object, (value) => {
      for (const version of [v1, v1alpha1]) {
        const converted = convertObject(value, version);
        if (isObject(value)) assert.equal(isObject(converted) && converted['apiVersion'], version);
        else assert.equal(converted, value);
      }
    }),
    { numRuns },
  );
});

test('the arbitraries cover every field of the schemas and every value of the enumerations', () => {
  const seen = (values: unknown[]) => new Set(values.flatMap((value) => pathsOf(value)));
  const cases: [name: string, schema: z.ZodType, arbitrary: fc.Arbitrary<unknown>][] = [
    ['v1 spec', v1Spec.specSchema, v1SpecArbitrary],
    ['v1 status', v1Status.statusSchema, v1StatusArbitrary],
    ['v1alpha1 spec', old.specSchema, v1alpha1SpecArbitrary],
    ['v1alpha1 status', old.statusSchema, v1alpha1StatusArbitrary],
  ];
  for (const [name, schema, arbitrary] of cases) {
    const paths = seen(fc.sample(arbitrary, 2_000));
    const missing = [...fieldsOf(toStructuralSchema(schema))].filter((path) => !paths.has(path));
    assert.deepEqual(missing, [], name);
  }
});

function* fieldsOf(schema: unknown, path = ''): Generator<string> {
  if (!isObject(schema)) return;
  if (isObject(schema['properties'])) {
    for (const [name, inner] of Object.entries(schema['properties'])) {
      yield `${path}.${name}`;
      yield* fieldsOf(inner, `${path}.${name}`);
    }
  }
  if (Array.isArray(schema['enum'])) for (const value of schema['enum']) yield `${path}=${String(value)}`;
  yield* fieldsOf(schema['items'], `${path}[]`);
}

function pathsOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return [path, ...value.flatMap((inner) => pathsOf(inner, `${path}[]`))];
  if (!isObject(value)) return [path, `${path}=${String(value)}`];
  return [path, ...Object.entries(value).flatMap(([key, inner]) => pathsOf(inner, `${path}.${key}`))];
}
