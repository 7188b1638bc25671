import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { diffMergePatch } from '../../../src/service/kube/patch-status.ts';
import { isSameJson } from '../../../src/core/model/untyped.ts';

const cases = [
  { name: 'equal', before: { a: { b: [1] } }, after: { a: { b: [1] } }, expected: undefined },
  { name: 'only what changed', before: { a: 1, b: 2 }, after: { a: 1, b: 3 }, expected: { b: 3 } },
  { name: 'removed: null', before: { a: 1, b: 2 }, after: { a: 1 }, expected: { b: null } },
  { name: 'removed inside: null, the rest stays out', before: { a: { b: 1, c: 2 } }, after: { a: { c: 2 } }, expected: { a: { b: null } } },
  { name: 'arrays are whole', before: { a: [{ b: 1 }, 2] }, after: { a: [{ b: 1 }] }, expected: { a: [{ b: 1 }] } },
  { name: 'an array becomes an object', before: { a: [1] }, after: { a: { b: 1 } }, expected: { a: { b: 1 } } },
  { name: 'null and absent are the same', before: { a: { b: 1 } }, after: { a: { b: 1, c: null }, d: null }, expected: undefined },
];

for (const { name, before, after, expected } of cases) {
  test(`a merge patch has only the needed changes in the case "${name}"`, () => assert.deepEqual(diffMergePatch(before, after), expected));
}

// Without null: in a merge patch it cannot be a value.
const key = fc.constantFrom('a', 'b', 'c');
const { status } = fc.letrec((tie) => ({
  status: fc.dictionary(key, tie('value'), { noNullPrototype: true }),
  value: fc.oneof({ maxDepth: 4 }, fc.boolean(), fc.nat(3), fc.array(tie('value'), { maxLength: 2 }), tie('status')),
})) as { status: fc.Arbitrary<Record<string, unknown>> };

test('applying a merge patch yields the new value', () => {
  fc.assert(fc.property(status, status, (before, after) => assert.deepEqual(merge(before, diffMergePatch(before, after) ?? {}), after)));
});

test('two values are the same JSON if their texts say the same, in whatever order', () => {
  const value = fc.oneof(status, fc.array(status, { maxLength: 2 }), fc.constant(null), fc.nat(1));
  const withUndefined = fc.record({ a: fc.option(value, { nil: undefined }), b: value }, { requiredKeys: ['b'] });
  const read = (json: unknown): unknown => JSON.parse(JSON.stringify(json));
  fc.assert(
    fc.property(withUndefined, withUndefined, (a, b) => {
      assert.equal(isSameJson(a, b), isDeepStrictEqual(read(a), read(b)));
      assert.ok(isSameJson(a, read(a)) && isSameJson(read(a), a));
    }),
  );
});

test('inherited properties do not count as fields of JSON', () => {
  const inherited = { constructor: Object };
  assert.deepEqual([isSameJson({}, inherited), isSameJson(inherited, {})], [false, false]);
});

/** RFC 7386 §2. */
function merge(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merge(result[key], value);
  }
  return result;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
