import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ConfigError } from '../../../src/service/config/config-error.ts';
import { loadSettings } from '../../../src/service/config/settings.ts';
import { tempFolder } from '../../harness/temp-folder.ts';

const file = join(tempFolder('consents'), 'config.yaml');

function load(consents: string) {
  writeFileSync(file, `consents: ${consents}`);
  return loadSettings({ file, env: {} }).config.consents;
}

test('a consent of the configuration is to changes, to pushes, or to both', () => {
  const push = ['harbor.example.com/shop/*', 'registry.local:5000/web'];
  assert.deepEqual(load(`[{policiesFrom: ops, namespaces: ["team-*"]}, {policiesFrom: platform, push: ${JSON.stringify(push)}}]`), [
    { policiesFrom: 'ops', namespaces: ['team-*'], push: [] },
    { policiesFrom: 'platform', namespaces: [], push },
  ]);
});

for (const [name, consents, path, message] of [
  ['to nothing', '[{policiesFrom: shop}]', 'consents[0].namespaces', /^missing: name namespaces, or repositories under push/],
  ['to empty lists', '[{policiesFrom: shop, namespaces: [], push: []}]', 'consents[0].namespaces', /^missing/],
  ['to pushes to every registry', '[{policiesFrom: shop, push: ["*"]}]', 'consents[0].push[0]', /a registry, and a path/],
  [
    'to pushes to any registry of a domain',
    '[{policiesFrom: shop, push: ["*.example.com/*"]}]',
    'consents[0].push[0]',
    /a registry, and a path/,
  ],
  [
    'to pushes to a tag',
    '[{policiesFrom: shop, push: ["harbor.example.com/shop/web:1"]}]',
    'consents[0].push[0]',
    /a registry, and a path/,
  ],
  ['to pushes to no repository', '[{policiesFrom: shop, push: ["harbor.example.com/shop/"]}]', 'consents[0].push[0]', /no repository/],
  [
    'of patterns of namespaces',
    '[{policiesFrom: "team-*", push: ["harbor.example.com/shop/*"]}]',
    'consents[0].policiesFrom',
    /lower-case letters/,
  ],
] as const)
  test(`the configuration refuses a consent ${name}`, () => {
    assert.throws(
      () => load(consents),
      (error) => {
        assert.ok(error instanceof ConfigError);
        assert.deepEqual(
          error.problems.map((problem) => problem.path),
          [path],
        );
        assert.match(error.problems[0]?.message ?? '', message);
        return true;
      },
    );
  });
