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

test('fields of custom resources need a repository beside the path, unless the setting says where or which it is', () => {
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

test('refuses fields of custom resources that must never be written, and ambiguous paths', () => {
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
  assert.deepEqual(problems(withFields('spec.image', 'v1', 'Pod')), ['customTargets[0].apiVersion', 'customTargets[0].kind']);
  assert.deepEqual(problems(withFields('')), ['customTargets[0].fields']);
});
