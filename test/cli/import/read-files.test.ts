import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { UsageError } from '../../../src/service/command-line/command.ts';
import type { Imported } from '../../../src/cli/import/importer.ts';
import { readObjects } from '../../../src/cli/import/read-files.ts';
import { tempFolder } from '../../harness/temp-folder.ts';
import { runCommand } from '../run-command.ts';

test('comments are read with the path of the value before them, also in lists and in objects of a List', () => {
  const text = `# first
apiVersion: v1
kind: List
items:
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web, namespace: shop} # of a map
  spec:
    # above
    template:
      spec:
        containers:
        - name: a # one
          image: a:1 # two
          # three
        - {name: b, image: b:1}
- kind: Incomplete # none
`;
  const objects = readObjects(text, 'default');
  assert.deepEqual(
    objects.map(({ kind, namespace, name, comments }) => [kind, namespace, name, comments.map(({ keys, text }) => [keys.join('.'), text])]),
    [
      [
        'Deployment',
        'shop',
        'web',
        [
          ['spec.template.spec.containers.0.name', 'one'],
          ['spec.template.spec.containers.0.image', 'two'],
        ],
      ],
    ],
  );
});

test('an object in a file without a namespace is taken to be in the assumed namespace', () => {
  const text = ['apiVersion: v1\nkind: A\nmetadata: {name: a}', 'apiVersion: v1\nkind: B\nmetadata: {name: b, namespace: shop}'].join(
    '\n---\n',
  );
  assert.deepEqual(
    readObjects(text, 'ops').map(({ namespace, isNamespaceAssumed }) => [namespace, isNamespaceAssumed]),
    [
      ['ops', true],
      ['shop', false],
    ],
  );
});

test('import reads workloads from files and folders, and refuses a file that is not YAML only if it is named', async () => {
  const folder = tempFolder('import');
  mkdirSync(join(folder, 'apps'));
  const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, annotations: {keel.sh/policy: minor}}
spec: {template: {spec: {containers: [{name: web, image: 'ghcr.io/shop/web:1.4.2'}]}}}
`;
  writeFileSync(join(folder, 'apps/web.yaml'), deployment);
  writeFileSync(join(folder, 'apps/template.yaml'), 'a: [');
  const { code, out } = await runCommand('import', ['keel', folder, '-n', 'shop', '-o', 'json']);
  const { policies } = JSON.parse(out) as Imported;
  assert.equal(code, 0);
  assert.deepEqual(
    policies.map(({ policy: { metadata, spec } }) => [metadata, spec.targets, spec.select]),
    [[{ name: 'web', namespace: 'shop' }, [{ kind: 'Deployment', name: 'web' }], { semver: { range: '1.x' } }]],
  );
  await assert.rejects(runCommand('import', ['keel', join(folder, 'apps/template.yaml')]), UsageError);
  await assert.rejects(runCommand('import', ['keel', join(folder, 'missing')]), UsageError);
  await assert.rejects(runCommand('import', ['keel', folder, '-A']), /--all-namespaces is for the cluster/);
});
