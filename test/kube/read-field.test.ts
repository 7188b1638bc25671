import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mainEntries } from '../../src/kube/field-owner.ts';
import { readField } from '../../src/kube/read-field.ts';

const raw = {
  spec: {
    values: { image: { tag: '1.2', number: 1.25, list: ['x'], none: null, yes: true } },
    parameters: [{ name: 'tag', value: '1.0' }],
    constructor: {},
  },
};
const managedFields = [
  { manager: 'flux', fieldsV1: { 'f:spec': { 'f:values': { '.': {}, 'f:image': { '.': {}, 'f:tag': {} } }, 'f:parameters': {} } } },
];
const read = (path: string) => readField(raw, path, mainEntries(managedFields));

const rows: [path: string, expected: ReturnType<typeof read>][] = [
  ['spec.values.image.tag', { value: '1.2', owner: 'flux' }],
  ['spec.values.image.number', { value: 1.25 }],
  ['spec.values.image.none', { value: null }],
  ['spec.values.image.digest', { value: null }],
  ['spec.values.image.yes', { unusable: 'NotText' }],
  ['spec.values.image', { unusable: 'NotText' }],
  ['spec.values.sidecar.tag', { unusable: 'ParentMissing' }],
  ['spec.values.image.tag.deeper', { unusable: 'ParentMissing' }],
  ['spec.values.image.list.tag', { unusable: 'ParentMissing' }],
  ['spec.parameters[0].value', { value: '1.0', owner: 'flux' }],
  ['spec.parameters[1].value', { unusable: 'ParentMissing' }],
  ['spec.values.image.list[0]', { value: 'x' }],
  ['spec.values.image.list[1]', { unusable: 'ParentMissing' }],
  ['spec.values[0]', { unusable: 'ParentMissing' }],
  ['spec.constructor.name', { value: null }],
];

for (const [path, expected] of rows) test(`${path}: ${JSON.stringify(expected)}`, () => assert.deepEqual(read(path), expected));

test('of nothing at all there is no field', () => {
  for (const odd of [undefined, null, 7, 'text', []]) assert.deepEqual(readField(odd, 'spec.tag', []), { unusable: 'ParentMissing' });
});
