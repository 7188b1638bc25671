import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mainEntries } from '../../../src/service/kube/field-owner.ts';
import { readFields } from '../../../src/service/kube/read-field.ts';

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
const read = (path: string) => readFields(raw, [{ path }], mainEntries(managedFields))[path];

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

for (const [path, expected] of rows)
  test(`the field ${path} is read as ${JSON.stringify(expected)}`, () => assert.deepEqual(read(path), expected));

test('fields of something that is not an object are read as missing', () => {
  for (const odd of [undefined, null, 7, 'text', []])
    assert.deepEqual(readFields(odd, [{ path: 'spec.tag' }], []), { 'spec.tag': { unusable: 'ParentMissing' } });
});

const imageRules = ['tag', 'digest'].map((part) => ({ path: `spec.**.image.${part}`, repository: 'spec.**.image.repository' }));
const paths = (spec: unknown, rules = imageRules) =>
  Object.entries(readFields({ spec }, rules, [])).map(([path, field]) => [path, 'value' in field ? field.value : field.unusable]);

test('a pattern matches fields at any depth, also in lists, with their repository, and skips what is below invalid names', () => {
  const block = { repository: 'r', tag: 't' };
  const spec = {
    image: block,
    a: { b: [{ image: block }] },
    'x/y': { image: block },
    'x.y': { image: block },
    image2: block,
    c: { image: 'r:t' },
  };
  assert.deepEqual(paths(spec), [
    ['spec.image.tag', 't'],
    ['spec.image.repository', 'r'],
    ['spec.image.registry', null],
    ['spec.a.b[0].image.tag', 't'],
    ['spec.a.b[0].image.repository', 'r'],
    ['spec.a.b[0].image.registry', null],
    ['spec.image.digest', null],
    ['spec.a.b[0].image.digest', null],
  ]);
});

test('a path without wildcards is read whether it exists or not, and entries of lists are read with their index', () => {
  assert.deepEqual(
    paths({ a: 'x' }, [
      { path: 'spec.a', repository: 'spec.b' },
      { path: 'spec.c.d', repository: 'spec.b' },
    ]),
    [
      ['spec.a', 'x'],
      ['spec.b', null],
      ['spec.registry', null],
      ['spec.c.d', 'ParentMissing'],
    ],
  );
  assert.deepEqual(Object.keys(readFields({ spec: { images: ['a', 'b'] } }, [{ path: 'spec.images[*]' }], [])), [
    'spec.images[0]',
    'spec.images[1]',
  ]);
});

test('the registry is read beside each repository, or once for all images of a chart', () => {
  const image = { registry: 'harbor.corp', repository: 'r', tag: 't' };
  const rules = [
    { path: 'spec.sources[*].helm.valuesObject.**.image.tag', repository: 'spec.sources[*].helm.valuesObject.**.image.repository' },
  ];
  const [a, b] = ['spec.sources[0].helm.valuesObject', 'spec.sources[1].helm.valuesObject'];
  const spec = {
    sources: [{ helm: { valuesObject: { global: { imageRegistry: 'g' }, web: { image } } } }, { helm: { valuesObject: { image } } }],
  };
  assert.deepEqual(paths(spec, rules), [
    [`${a}.web.image.tag`, 't'],
    [`${a}.web.image.repository`, 'r'],
    [`${a}.web.image.registry`, 'harbor.corp'],
    [`${a}.global`, 'NotText'],
    [`${a}.global.imageRegistry`, 'g'],
    [`${b}.image.tag`, 't'],
    [`${b}.image.repository`, 'r'],
    [`${b}.image.registry`, 'harbor.corp'],
    [`${b}.global`, null],
    [`${b}.global.imageRegistry`, 'ParentMissing'],
  ]);
});

test('inherited properties are not read as fields, and the number and depth of matches are bounded', () => {
  const deep = JSON.parse(`${'{"a":'.repeat(5_000)}{"image":{"tag":"t"}}${'}'.repeat(5_000)}`) as unknown;
  assert.deepEqual(paths(deep), []);
  const polluting = JSON.parse('{"__proto__":{"image":{"repository":"r","tag":"t"}}}') as unknown;
  assert.deepEqual(paths(polluting).slice(0, 1), [['spec.__proto__.image.tag', 't']]);
  assert.equal(({} as Record<string, unknown>)['image'], undefined);
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`a${index}`, { image: { repository: 'r', tag: 't' } }]));
  assert.equal(paths(many).length, 1_000);
});

test('fields behind more values than any real object has are not searched', () => {
  const block = { image: { repository: 'r', tag: 't' } };
  const withImagesAround = (count: number) => paths({ before: block, many: Array.from({ length: count }, () => 1), last: block });
  const found = (count: number) => withImagesAround(count).flatMap(([path, value]) => (value === 't' ? [path] : []));
  assert.deepEqual(found(5_000), ['spec.before.image.tag', 'spec.last.image.tag']);
  assert.deepEqual(found(500_000), ['spec.before.image.tag']);
});
