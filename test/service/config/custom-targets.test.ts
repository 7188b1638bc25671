import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ConfigError } from '../../../src/service/config/config-error.ts';
import { loadSettings } from '../../../src/service/config/settings.ts';
import { tempFolder } from '../../harness/temp-folder.ts';

const file = join(tempFolder('config'), 'config.yaml');

function load(text: string) {
  writeFileSync(file, text);
  return loadSettings({ file, env: {} });
}

function problems(text: string): string[] {
  try {
    load(text);
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.problems.map(({ path }) => path).toSorted();
  }
  return [];
}

const withFields = (fields: string, apiVersion = 'example.com/v1', kind = 'App') =>
  `customTargets: [{apiVersion: ${apiVersion}, kind: ${kind}, fields: [${fields}]}]`;

test('fields of custom resources need a repository beside the path, unless the setting names it or where it is', () => {
  const fields =
    'spec.image.tag, spec.**.image.tag, "spec.images[*]", {path: spec.image}, {path: spec.tag, repository: spec.name}, {path: "spec.*.v", repository: "spec.*.n"}, {path: spec.version, image: quay.io/a/b}';
  assert.deepEqual(load(withFields(fields)).config.customTargets[0]?.fields, [
    { path: 'spec.image.tag', repository: 'spec.image.repository' },
    { path: 'spec.**.image.tag', repository: 'spec.**.image.repository' },
    { path: 'spec.images[*]' },
    { path: 'spec.image' },
    { path: 'spec.tag', repository: 'spec.name' },
    { path: 'spec.*.v', repository: 'spec.*.n' },
    { path: 'spec.version', image: 'quay.io/a/b' },
  ]);
});

test('the configuration refuses fields of custom resources that must never be written, and ambiguous paths', () => {
  const wrongFields = [
    'metadata.name',
    'status.image',
    'spec.template.spec.serviceAccountName',
    'spec',
    '"*.tag"',
    'spec.**',
    'spec.*',
    'spec/image/tag',
    'spec.image~1tag',
    '"spec.a[-1]"',
    'spec..tag',
    '""',
    '5',
    '{path: spec.a, repository: spec.b, image: a/b}',
    '{path: spec.a, image: "a/b:1"}',
    '{path: spec.a, image: "A B"}',
    '{path: spec.**.tag, repository: spec.repository}',
    '{path: spec.tag, repository: spec.**.repository}',
    '{repository: spec.repository}',
  ];
  for (const field of wrongFields) assert.match(problems(withFields(field)).join(), /^customTargets\[0\]\.fields\[0\]/, field);
  const wrongKinds = [
    ['rbac.authorization.k8s.io/v1', 'RoleBinding'],
    ['gateway.networking.k8s.io/v1', 'Gateway'],
    ['operator.technomad.dev/v1', 'ImagePolicy'],
    ['argoproj.io/v1alpha1', 'Rollout'],
    ['serving.knative.dev/v1', 'Service'],
    ['apps/v1', 'Deployment'],
  ] as const;
  for (const [apiVersion, kind] of wrongKinds)
    assert.deepEqual(problems(withFields('spec.image', apiVersion, kind)), ['customTargets[0].kind'], kind);
  assert.deepEqual(problems(withFields('spec.image', 'v1', 'Pod')), ['customTargets[0].kind']);
  assert.deepEqual(problems(withFields('data.image', 'v1', 'Secret')), ['customTargets[0].kind']);
  assert.deepEqual(problems(withFields('')), ['customTargets[0].fields']);
});

const withMap = (fields: string, object = 'namespace: shop, name: images') =>
  `customTargets: [{apiVersion: v1, kind: ConfigMap, fields: [${fields}]${object && `, ${object}`}}]`;

test('a ConfigMap is named, with its key, its one repository and what is restarted', () => {
  const [target] = load(
    withMap('{path: data.image, image: quay.io/a/b}', 'namespace: shop, name: images, restarts: [{kind: Deployment, name: web}]'),
  ).config.customTargets;
  assert.deepEqual(target, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    namespace: 'shop',
    name: 'images',
    fields: [{ path: 'data.image', image: 'quay.io/a/b' }],
    restarts: [{ kind: 'Deployment', name: 'web' }],
  });
  const field = '{path: data.image, image: quay.io/a/b}';
  for (const [text, ...expected] of [
    [withMap(field, ''), 'customTargets[0].name', 'customTargets[0].namespace'],
    [withMap(field, 'namespace: Shop, name: images'), 'customTargets[0].namespace'],
    [withMap(field, 'namespace: shop, name: "*"'), 'customTargets[0].name'],
    [withMap(field, 'namespace: shop, name: ../images'), 'customTargets[0].name'],
    [withMap(field, 'namespace: shop, name: a, restarts: [{kind: CronJob, name: a}]'), 'customTargets[0].restarts[0].kind'],
    [withFields('spec.image').replace('}]', ', name: app}]'), 'customTargets[0].name'],
    [withFields('spec.image').replace('}]', ', restarts: []}]'), 'customTargets[0].restarts'],
  ] as const)
    assert.deepEqual(problems(text), expected, text);
  const wrongFields = [
    'data.image',
    '{path: data.image}',
    '{path: data.tag, repository: data.repository}',
    '{path: data, image: quay.io/a/b}',
    '{path: data.a.b, image: quay.io/a/b}',
    '{path: "data.**.b", image: quay.io/a/b}',
    '{path: binaryData.image, image: quay.io/a/b}',
    '{path: immutable, image: quay.io/a/b}',
    '{path: metadata.labels, image: quay.io/a/b}',
    '{path: data.image_, image: quay.io/a/b}',
    `{path: data.${'a'.repeat(59)}, image: quay.io/a/b}`,
  ];
  for (const one of wrongFields) assert.match(problems(withMap(one)).join(), /^customTargets\[0\]\.fields\[0\]/, one);
});
