import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildImagePatch, type ImageChange } from '../../src/kube/build-image-patch.ts';

const containersPath = '/spec/template/spec/containers';
const web: ImageChange = { container: 'web', index: 1, from: 'shop/web:1', to: 'shop/web:2' };
const sidecar: ImageChange = { container: 'proxy', index: 0, from: 'proxy:1', to: 'proxy:2' };
const guarded = ({ container, index, from, to }: ImageChange) => [
  { op: 'test', path: `${containersPath}/${index}/name`, value: container },
  { op: 'test', path: `${containersPath}/${index}/image`, value: from },
  { op: 'replace', path: `${containersPath}/${index}/image`, value: to },
];
const added = { op: 'add', path: '/metadata/annotations/kubernetes.io~1change-cause', value: 'why' };
const created = [
  { op: 'test', path: '/metadata/annotations', value: null },
  { op: 'add', path: '/metadata/annotations', value: { 'kubernetes.io/change-cause': 'why' } },
];

const cases = [
  { name: 'one container, annotations present', hasAnnotations: true, changes: [web], expected: [...guarded(web), added] },
  { name: 'one container, no annotations', hasAnnotations: false, changes: [web], expected: [...guarded(web), ...created] },
  { name: 'two containers', hasAnnotations: true, changes: [sidecar, web], expected: [...guarded(sidecar), ...guarded(web), added] },
];

for (const { name, hasAnnotations, changes, expected } of cases) {
  test(name, () => assert.deepEqual(buildImagePatch({ containersPath, hasAnnotations }, changes, 'why'), expected));
}
