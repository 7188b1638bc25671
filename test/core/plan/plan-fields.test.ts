import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Candidate } from '../../../src/core/model/image-reference.ts';
import type { PolicySpec, TargetFields } from '../../../src/core/model/image-policy.ts';
import { imageOfFields } from '../../../src/core/plan/plan-fields.ts';
import { planUpdate } from '../../../src/core/plan/plan-update.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import type { WorkloadField } from '../../../src/core/model/workload.ts';
import { allKnown, digestOf, latestSpec, noAliases, specOf, workloadOf } from '../model/samples.ts';

const release = { apiVersion: 'helm.toolkit.fluxcd.io/v2', kind: 'HelmRelease', namespace: 'shop', name: 'web' };
const repository = 'registry.example.com/shop/web';
const pinned = specOf({ pin: 'Digest' });
const [a, b] = [digestOf('a'), digestOf('b')];

function plan(
  fields: TargetFields,
  held: Record<string, WorkloadField | string | number | null>,
  {
    spec = specOf(),
    candidate = { tag: '1.3.0', digest: b },
    hasApplied = true,
  }: { spec?: PolicySpec; candidate?: Candidate; hasApplied?: boolean } = {},
) {
  const values = Object.entries(held).map(([path, field]) => [
    path,
    typeof field === 'object' && field !== null ? field : { value: field },
  ]);
  const workload = workloadOf({}, { ...release, fields: Object.fromEntries(values) as Record<string, WorkloadField> });
  const [target] = planUpdate({
    spec: { ...spec, targets: [{ ...release, fields }] },
    candidate,
    hasApplied,
    aliases: noAliases,
    ...allKnown,
    findWorkload: () => workload,
  }).targets;
  assert.ok(target);
  return target;
}

const written = (...[fields, held, more]: Parameters<typeof plan>) => {
  const { changes, unchanged, problem } = plan(fields, held, more);
  const [change] = changes;
  if (change === undefined) return problem?.reason ?? unchanged[0]?.reason;
  return Object.fromEntries((change.fields ?? []).flatMap(({ path, to }) => (to === undefined ? [] : [[path, to]])));
};

type Row = [name: string, args: Parameters<typeof plan>, expected: Record<string, string> | string];
const rows: Row[] = [
  ['the tag alone', [{ tag: 't' }, { t: '1.2.3' }], { t: '1.3.0' }],
  ['a tag that is newer', [{ tag: 't' }, { t: '1.4.0' }], 'OlderThanRunning'],
  ['the same tag', [{ tag: 't' }, { t: '1.3.0' }], 'UpToDate'],
  ['a number', [{ tag: 't' }, { t: 1.2 }, { hasApplied: false }], { t: '1.3.0' }],
  ['a number that nobody can compare', [{ tag: 't' }, { t: 1.2 }], 'NotComparable'],
  ['a tag that is not set', [{ tag: 't' }, { t: null }, { hasApplied: false }], { t: '1.3.0' }],
  ['the tag with its digest in one field', [{ tag: 't' }, { t: '1.2.3' }, { spec: pinned }], { t: `1.3.0@${b}` }],
  ['the same tag, with another digest in one field', [{ tag: 't' }, { t: `1.3.0@${a}` }, { spec: pinned }], { t: `1.3.0@${b}` }],
  ['tag and digest apart', [{ tag: 't', digest: 'd' }, { t: '1.2.3', d: a }, { spec: pinned }], { t: '1.3.0', d: b }],
  ['a digest that is not set yet', [{ tag: 't', digest: 'd' }, { t: '1.3.0', d: null }, { spec: pinned }], { d: b }],
  ['tag and digest as they are wanted', [{ tag: 't', digest: 'd' }, { t: '1.3.0', d: b }, { spec: pinned }], 'UpToDate'],
  ['the digest of a followed tag', [{ digest: 'd' }, { d: a }, { spec: latestSpec(), candidate: { tag: 'latest', digest: b } }], { d: b }],
  ['the digest of today', [{ digest: 'd' }, { d: b }, { spec: latestSpec(), candidate: { tag: 'latest', digest: b } }], 'UpToDate'],
  ['the whole image', [{ image: 'i' }, { i: `${repository}:1.2.3` }], { i: `${repository}:1.3.0` }],
  ...(
    [
      ['in the form that it has', 'v1.2.3', '1.3.0', { i: `${repository}:1.3.0`, v: 'v1.3.0' }],
      ['without the v of the tag', '1.2.3', 'v1.3.0', { i: `${repository}:v1.3.0`, v: '1.3.0' }],
      ['also where it contradicts what runs', '1.0.0', '1.3.0', { i: `${repository}:1.3.0`, v: '1.3.0' }],
      ['without the variant of the image', '1.2.3', '1.3.0-alpine', { i: `${repository}:1.3.0-alpine`, v: '1.3.0' }],
      ['with the stage of a prerelease', '1.2.3', '1.3.0-rc.1', { i: `${repository}:1.3.0-rc.1`, v: '1.3.0-rc.1' }],
      ['not where the tag names none', '1.2.3', 'main', { i: `${repository}:main` }],
      ['not where it holds none', 'stable', '1.3.0', { i: `${repository}:1.3.0` }],
      ['not where it is not set', null, '1.3.0', { i: `${repository}:1.3.0` }],
      ['not where it is a number', 8, '1.3.0', { i: `${repository}:1.3.0` }],
      ['not where it is already right', '1.3.0', '1.3.0', { i: `${repository}:1.3.0` }],
    ] satisfies [name: string, v: string | number | null, tag: string, expected: Record<string, string>][]
  ).map(([name, v, tag, expected]): Row => {
    const spec = specOf({ strategy: strategies.alphabetical() });
    return [
      `the version beside the image, ${name}`,
      [
        { image: 'i', version: 'v' },
        { i: `${repository}:0.1.0`, v },
        { candidate: { tag }, spec },
      ],
      expected,
    ];
  }),
  ['the whole image of another repository', [{ image: 'i' }, { i: 'nginx:1.2.3' }], 'ContainerNotFound'],
  ['no image at all', [{ image: 'i' }, { i: '' }], 'ContainerNotFound'],
  [
    'a repository beside its tag',
    [
      { repository: 'r', tag: 't' },
      { r: repository, t: '1.2.3' },
    ],
    { t: '1.3.0' },
  ],
  [
    'another repository beside its tag',
    [
      { repository: 'r', tag: 't' },
      { r: 'nginx', t: '1.2.3' },
    ],
    'ContainerNotFound',
  ],
  ['a missing parent', [{ tag: 'spec.image.tag' }, { 'spec.image.tag': { unusable: 'ParentMissing' } }], 'FieldPathMissing'],
  ['something else than text', [{ tag: 't' }, { t: { unusable: 'NotText' } }], 'FieldNotText'],
];

for (const [name, args, expected] of rows)
  test(`the plan for ${name} is ${JSON.stringify(expected)}`, () => assert.deepEqual(written(...args), expected));

const values = 'spec.values';
const block = { repository: `${values}.image.repository`, tag: `${values}.image.tag` };
const helm = (held: Record<string, WorkloadField | string | number | null>): Record<string, WorkloadField | string | number | null> => ({
  [block.tag]: '1.2.3',
  [`${values}.image.registry`]: null,
  [`${values}.global`]: null,
  [`${values}.global.imageRegistry`]: { unusable: 'ParentMissing' },
  ...held,
});
const withGlobal = (imageRegistry: WorkloadField | string | number | null) => ({
  [`${values}.global`]: { unusable: 'NotText' as const },
  [`${values}.global.imageRegistry`]: imageRegistry,
});
const [registryPath, repositoryPath] = [`${values}.image.registry`, `${values}.image.repository`];
const hub = { spec: { ...specOf(), repository: { registry: 'docker.io', path: 'shop/web' } } };
const apart = { [registryPath]: 'registry.example.com', [repositoryPath]: 'shop/web' };
const onTag = { [block.tag]: '1.3.0' };

const registryRows: Row[] = [
  ['a registry apart, with a policy for the same path on Docker Hub', [block, helm(apart), hub], 'ContainerNotFound'],
  ['a registry apart', [block, helm(apart)], onTag],
  ['a registry with a path', [block, helm({ [registryPath]: 'registry.example.com/shop', [repositoryPath]: 'web' })], onTag],
  [
    'a registry before a whole repository',
    [block, helm({ [registryPath]: 'docker.io', [repositoryPath]: repository })],
    'ContainerNotFound',
  ],
  ['Docker Hub written out', [block, helm({ [registryPath]: 'docker.io', [repositoryPath]: 'shop/web' }), hub], onTag],
  ['no registry', [block, helm({ [repositoryPath]: 'shop/web' }), hub], onTag],
  ['an empty registry', [block, helm({ [registryPath]: '', [repositoryPath]: 'shop/web' }), hub], onTag],
  ['a registry that is a number', [block, helm({ [registryPath]: 5, [repositoryPath]: 'shop/web' }), hub], 'FieldNotText'],
  [
    'a registry that is an object',
    [block, helm({ [registryPath]: { unusable: 'NotText' }, [repositoryPath]: 'shop/web' }), hub],
    'FieldNotText',
  ],
  [
    'a registry that was not read, because the object holds too many fields',
    [block, { [block.tag]: '1.2.3', [repositoryPath]: 'shop/web' }, hub],
    'FieldPathMissing',
  ],
  ['a registry for all images', [block, helm({ ...withGlobal('harbor.corp'), [repositoryPath]: 'shop/web' }), hub], 'ContainerNotFound'],
  ['another registry for all images', [block, helm({ ...apart, ...withGlobal('docker.io') })], 'ContainerNotFound'],
  ['a part of the registry for all images', [block, helm({ ...apart, ...withGlobal('registry.example.com/proxy') })], 'ContainerNotFound'],
  ['the same registry for all images', [block, helm({ ...apart, ...withGlobal('registry.example.com') })], onTag],
  ['an empty registry for all images', [block, helm({ ...apart, ...withGlobal('') })], onTag],
  ['no registry for all images', [block, helm({ ...apart, ...withGlobal(null) })], onTag],
  ['a registry for all images that is no text', [block, helm({ ...apart, ...withGlobal({ unusable: 'NotText' }) })], 'FieldNotText'],
  ['a registry for all images that is a number', [block, helm({ ...apart, ...withGlobal(5) })], 'FieldNotText'],
];

for (const [name, args, expected] of registryRows)
  test(`the plan for ${name} is ${JSON.stringify(expected)}`, () => assert.deepEqual(written(...args), expected));

test('the registry is tested by the patch, whether it is set or not, and is not written into the repository', () => {
  const guards = (held: Parameters<typeof helm>[0]) => plan(block, helm(held)).changes[0]?.fields?.slice(0, -1);
  assert.deepEqual(guards({ ...apart, ...withGlobal(null) }), [
    { path: repositoryPath, from: 'shop/web' },
    { path: registryPath, from: 'registry.example.com' },
    { path: `${values}.global.imageRegistry`, from: null },
  ]);
  assert.deepEqual(guards({ [repositoryPath]: repository }), [
    { path: repositoryPath, from: repository },
    { path: registryPath, from: null },
    { path: `${values}.global`, from: null },
  ]);
});

test('the running image is not known from a repository alone when its registry is separate', () => {
  const running = (held: Parameters<typeof helm>[0], { spec } = hub) => {
    const fields = Object.entries(helm(held)).map(([path, field]) => [
      path,
      typeof field === 'object' && field !== null ? field : { value: field },
    ]);
    const workload = workloadOf({}, { ...release, fields: Object.fromEntries(fields) as Record<string, WorkloadField> });
    return imageOfFields(block, workload, { spec, aliases: noAliases, findWorkload: () => undefined })?.reference.tag;
  };
  assert.equal(running({ [repositoryPath]: 'shop/web' }), '1.2.3');
  assert.equal(running(apart), undefined);
  assert.equal(running(apart, { spec: specOf() }), '1.2.3');
  assert.equal(running({ [registryPath]: { unusable: 'NotText' }, [repositoryPath]: 'shop/web' }), undefined);
});

test('every field is tested by the patch, and its change is described like that of a container', () => {
  const { changes } = plan(
    { repository: 'spec.image.repository', tag: 'spec.image.tag' },
    { 'spec.image.registry': null, 'spec.image.repository': repository, 'spec.image.tag': '1.2.3' },
  );
  assert.deepEqual(changes, [
    {
      container: 'spec.image.tag',
      index: 0,
      from: `${repository}:1.2.3`,
      to: `${repository}:1.3.0`,
      fields: [
        { path: 'spec.image.repository', from: repository },
        { path: 'spec.image.registry', from: null },
        { path: 'spec.image.tag', from: '1.2.3', to: '1.3.0' },
      ],
    },
  ]);
});

test('the message about a number says why it matters, and a missing parent is named', () => {
  assert.match(plan({ tag: 't' }, { t: 1.2 }).unchanged[0]?.message ?? '', /t holds a number: as one, 1\.20 is 1\.2; quote it/);
  const missing = plan({ tag: 'spec.values.image.tag' }, { 'spec.values.image.tag': { unusable: 'ParentMissing' } });
  assert.match(
    missing.problem?.message ?? '',
    /HelmRelease shop\/web: spec\.values\.image\.tag cannot be written, because there is no spec\.values\.image/,
  );
});

test('an absent value has no parent, and inherited properties do not count', () => {
  for (const tag of ['spec.other.tag', 'constructor', '__proto__'])
    assert.equal(plan({ tag }, {}).problem?.reason, 'FieldPathMissing', tag);
});

test('a tag whose repository is not set belongs to no policy', () => {
  const { problem } = plan(
    { repository: 'spec.image.repository', tag: 'spec.image.tag' },
    { 'spec.image.registry': null, 'spec.image.repository': null, 'spec.image.tag': '1.2.3' },
  );
  assert.equal(problem?.reason, 'ContainerNotFound');
  assert.match(problem?.message ?? '', /has no spec\.image\.repository.*write the repository/);
});

test('an object with a pod template has no fields, whatever the operator allows', () => {
  const fields = { 'spec.image': { value: `${repository}:1.2.3` } };
  const workload = workloadOf({ web: `${repository}:1.2.3` }, { ...release, fields });
  const targets = [{ ...release, fields: { image: 'spec.image' } }];
  const input = { candidate: { tag: '1.3.0' }, hasApplied: true, aliases: noAliases, ...allKnown, findWorkload: () => workload };
  const [target] = planUpdate({ spec: { ...specOf(), targets }, ...input }).targets;
  assert.deepEqual([target?.changes, target?.problem?.reason], [[], 'UnsupportedTargetKind']);
});

test('a long path is shortened to its end', () => {
  const path = `spec.${'values.'.repeat(12)}image.tag`;
  const { changes } = plan({ tag: path }, { [path]: '1.2.3' });
  assert.equal(changes[0]?.container.length, 63);
  assert.match(changes[0]?.container ?? '', /^….*image\.tag$/);
});
