import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ContainerChange } from '../../../src/core/model/workload.ts';
import { isSameJson } from '../../../src/core/model/untyped.ts';
import { buildImagePatch, type PatchOperation } from '../../../src/service/kube/patch-images.ts';

const containersPath = '/spec/template/spec/containers';
const web: ContainerChange = { container: 'web', index: 1, from: 'shop/web:1', to: 'shop/web:2' };
const sidecar: ContainerChange = { container: 'proxy', index: 0, from: 'proxy:1', to: 'proxy:2' };
const guarded = ({ container, index, from, to }: ContainerChange) => [
  { op: 'test', path: `${containersPath}/${index}/name`, value: container },
  { op: 'test', path: `${containersPath}/${index}/image`, value: from },
  { op: 'replace', path: `${containersPath}/${index}/image`, value: to },
];
const added = { op: 'add', path: '/metadata/annotations/kubernetes.io~1change-cause', value: 'why' };
const asked = { op: 'test', path: '/metadata/annotations/operator.technomad.dev~1allow-policies-from', value: null };
const created = [
  { op: 'test', path: '/metadata/annotations', value: null },
  { op: 'add', path: '/metadata/annotations', value: { 'kubernetes.io/change-cause': 'why' } },
];

const state = { uid: 'u-1', generation: 7, resourceVersion: '40', labels: { app: 'web' } };
const tested = [
  { op: 'test', path: '/metadata/uid', value: 'u-1' },
  { op: 'test', path: '/metadata/generation', value: 7 },
  { op: 'test', path: '/metadata/labels', value: { app: 'web' } },
];

const cases = [
  { name: 'one container, annotations present', hasAnnotations: true, changes: [web], expected: [...guarded(web), asked, added] },
  { name: 'one container, no annotations', hasAnnotations: false, changes: [web], expected: [...guarded(web), ...created] },
  { name: 'two containers', hasAnnotations: true, changes: [sidecar, web], expected: [...guarded(sidecar), ...guarded(web), asked, added] },
];

for (const { name, hasAnnotations, changes, expected } of cases) {
  test(`an image patch tests what it replaces for ${name}`, () =>
    assert.deepEqual(buildImagePatch({ ...state, containersPath, hasAnnotations }, changes, 'why'), [...tested, ...expected]));
}

const update = { policy: 'uid', at: '2026-01-01T00:00:00Z', trigger: 'Webhook', from: 'shop/web:1', to: 'shop/web:2' } as const;

test('the record annotations of a workload are written in the same patch as the image, for each container', () => {
  const key = 'last-update.operator.technomad.dev/web';
  const patch = (hasAnnotations: boolean) =>
    buildImagePatch({ ...state, containersPath, hasAnnotations }, [sidecar, { ...web, update }], 'why');
  assert.deepEqual(patch(true).slice(9), [
    asked,
    added,
    { op: 'add', path: '/metadata/annotations/last-update.operator.technomad.dev~1web', value: JSON.stringify(update) },
  ]);
  assert.deepEqual(patch(false).slice(9), [
    created[0],
    { op: 'add', path: '/metadata/annotations', value: { 'kubernetes.io/change-cause': 'why', [key]: JSON.stringify(update) } },
  ]);
});

test('the patch of an object without generation tests its resourceVersion, and without labels their absence', () => {
  const patch = buildImagePatch({ uid: 'u-1', generation: 0, resourceVersion: '40', containersPath, hasAnnotations: true }, [web], 'why');
  assert.deepEqual(patch.slice(1, 3), [
    { op: 'test', path: '/metadata/resourceVersion', value: '40' },
    { op: 'test', path: '/metadata/labels', value: null },
  ]);
});

test('init containers are patched at their own index', () => {
  const patch = buildImagePatch({ ...state, containersPath, hasAnnotations: true }, [{ ...web, list: 'initContainers' }], 'why');
  assert.deepEqual(patch[tested.length], { op: 'test', path: '/spec/template/spec/initContainers/1/name', value: 'web' });
});

test('image volumes are patched at their own index, with an annotation distinct from a container of their name', () => {
  const volume: ContainerChange = { ...web, container: 'volumes/web', list: 'volumes', update };
  const patch = buildImagePatch({ ...state, containersPath, hasAnnotations: true }, [volume], 'why');
  const imageVolumePath = '/spec/template/spec/volumes/1';
  assert.deepEqual(patch.slice(3, 6), [
    { op: 'test', path: `${imageVolumePath}/name`, value: 'web' },
    { op: 'test', path: `${imageVolumePath}/image/reference`, value: web.from },
    { op: 'replace', path: `${imageVolumePath}/image/reference`, value: web.to },
  ]);
  assert.equal(patch.at(-1)?.path, '/metadata/annotations/volumes.last-update.operator.technomad.dev~1web');
});

test('all fields are tested by a patch, and only those that change are written', () => {
  const fields = [
    { path: 'spec.image.repository', from: 'shop/web' },
    { path: 'spec.parameters[1].value', from: 1.2, to: '1.3' },
    { path: 'spec.image.digest', from: null, to: 'sha256:b' },
  ];
  assert.deepEqual(buildImagePatch({ ...state, containersPath, hasAnnotations: true }, [{ ...web, fields }], 'why'), [
    ...tested,
    { op: 'test', path: '/spec/image/repository', value: 'shop/web' },
    { op: 'test', path: '/spec/parameters/1/value', value: 1.2 },
    { op: 'replace', path: '/spec/parameters/1/value', value: '1.3' },
    { op: 'test', path: '/spec/image/digest', value: null },
    { op: 'add', path: '/spec/image/digest', value: 'sha256:b' },
    asked,
    added,
  ]);
});

/** Carries out a patch as RFC 6902 says: all of it or nothing. */
function carryOut(document: unknown, patch: readonly PatchOperation[]): unknown {
  const result = structuredClone(document);
  for (const { op, path, value } of patch) {
    const steps = path
      .split('/')
      .slice(1)
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = steps.pop() ?? '';
    const parent = steps.reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], result) as Record<string, unknown>;
    if (op === 'test') {
      if (JSON.stringify(parent[last] ?? null) !== JSON.stringify(value)) return undefined;
    } else parent[last] = value;
  }
  return result;
}

const text = fc.constantFrom('a:1', 'a:2', 'b:1', '').map(String);
const list = fc.array(fc.record({ name: fc.constantFrom('web', 'proxy', 'worker').map(String), image: text }), {
  minLength: 1,
  maxLength: 4,
});
const annotations = fc.option(fc.dictionary(fc.constantFrom('a', 'b/c~d'), text), { nil: undefined });
const object = fc
  .record({
    uid: fc.constantFrom('u-1', 'u-2').map(String),
    generation: fc.nat(2),
    resourceVersion: fc.constantFrom('40', '41').map(String),
    labels: fc.constantFrom(undefined, { app: 'web' }, { app: 'web', tier: 'front' }),
    containers: list,
    initContainers: list,
    annotations,
    value: fc.oneof(text, fc.integer(), fc.constant(null)),
  })
  .map(({ containers, initContainers, annotations, value, labels, ...identity }) => ({
    metadata: { ...identity, ...(labels && { labels }), ...(annotations && { annotations }) },
    spec: { template: { spec: { containers, initContainers } }, values: { tag: value } },
  }));

test('a patch changes exactly what was planned on the object it was planned for, and nothing on any other object', () => {
  fc.assert(
    fc.property(object, object, fc.nat(3), fc.boolean(), (planned, other, place, init) => {
      const containers = init ? planned.spec.template.spec.initContainers : planned.spec.template.spec.containers;
      const index = place % containers.length;
      const { name = '', image = '' } = containers[index] ?? {};
      const field = { path: 'spec.values.tag', from: planned.spec.values.tag, to: 'new' };
      const changes: ContainerChange[] = [
        { container: name, index, ...(init && { list: 'initContainers' }), from: image, to: 'a:3' },
        { container: 'spec.values.tag', index: 0, from: 'x', to: 'y', fields: [field] },
      ];
      const { annotations, ...state } = planned.metadata;
      const patch = buildImagePatch({ ...state, containersPath, hasAnnotations: annotations !== undefined }, changes, 'why');
      const expected = structuredClone(planned);
      const list = init ? expected.spec.template.spec.initContainers : expected.spec.template.spec.containers;
      list[index] = { name, image: 'a:3' };
      expected.spec.values.tag = 'new';
      expected.metadata.annotations = { ...expected.metadata.annotations, 'kubernetes.io/change-cause': 'why' };
      assert.deepEqual(carryOut(planned, patch), expected);
      const there = (init ? other.spec.template.spec.initContainers : other.spec.template.spec.containers)[index];
      const { uid, generation, resourceVersion, labels } = other.metadata;
      const isCounted = state.generation > 0 || resourceVersion === state.resourceVersion;
      const isState = uid === state.uid && generation === state.generation && isCounted && isSameJson(labels, state.labels);
      const isSame = isState && there?.name === name && there.image === image && other.spec.values.tag === field.from;
      if (!isSame && there !== undefined) assert.equal(carryOut(other, patch), undefined);
    }),
    { numRuns: 500 },
  );
});
