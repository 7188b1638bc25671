/** Where the project is published stands in package.json, and everywhere else is what `npm run generate` made of it (generated.test.ts). */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { filesWithCoordinates, ownerOf, withOwner } from '../../docs/generate/coordinates.ts';
import { root } from './markdown.ts';

for (const [text, expected] of [
  ['docker pull ghcr.io/other/image-watcher:1.2.3', 'docker pull ghcr.io/acme-corp/image-watcher:1.2.3'],
  ['oci://ghcr.io/other/charts/image-watcher', 'oci://ghcr.io/acme-corp/charts/image-watcher'],
  ['https://github.com/other/image-watcher//charts/install', 'https://github.com/Acme-Corp/image-watcher//charts/install'],
  [
    'ghcr.io/stefanprodan/podinfo, github.com/distribution/distribution',
    'ghcr.io/stefanprodan/podinfo, github.com/distribution/distribution',
  ],
] as const) {
  test(`the owner of "${text}" is replaced where it is ours`, () => assert.equal(withOwner(text, 'Acme-Corp'), expected));
}

test('the owner is read from package.json, or the error says what is wrong', () => {
  const packageOf = (url: string) => JSON.stringify({ repository: { type: 'git', url } });
  assert.equal(ownerOf(packageOf('git+https://github.com/Acme-Corp/image-watcher.git')), 'Acme-Corp');
  assert.throws(() => ownerOf(packageOf('https://example.com/image-watcher')), /repository\.url/);
  assert.throws(() => ownerOf('{}'), /repository\.url/);
});

test('the chart, its page and the docs name the project, and none contains a placeholder', () => {
  const named = filesWithCoordinates().map(({ path }) => path);
  for (const path of [
    'charts/image-watcher/values.yaml',
    'charts/image-watcher/Chart.yaml',
    'docs/installation.md',
    'docs/operations/upgrades.md',
    'README.md',
  ])
    assert.ok(named.includes(path), path);
  const texts = ['*.md', 'docs/**/*.md', 'charts/**/*.{md,yaml,txt}', '.github/**/*.yml', 'compose/**/*.yaml'].flatMap((pattern) =>
    globSync(pattern, { cwd: root }),
  );
  assert.ok(texts.length > 40);
  assert.deepEqual(
    texts.filter((path) => /\b(?:OWNER|YOUR[-_]ORG|YOURORG|example-org)\b/.test(readFileSync(join(root, path), 'utf8'))),
    [],
  );
});
