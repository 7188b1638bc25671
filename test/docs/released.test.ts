/** Addresses of releases: before the first release, no first page leads to one, and each page that has some says that there is none yet. Then, the README has them. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pages, root } from './markdown.ts';

const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
const isReleased = /^## \d+\.\d+\.\d+/m.test(changelog);

const address = /github\.com\/[\w-]+\/image-watcher\/releases\/\S*download\/|oci:\/\/ghcr\.io\/[\w-]+\/charts\/image-watcher/;
const saysSo = /There is no release yet|目前还没有发布版本/;
const firstPages = ['README.md', 'README.zh-CN.md', 'docs/quickstart.md', 'docs/quickstart.zh-CN.md'];
const named = pages.filter(({ text }) => address.test(text)).map(({ path }) => path);
const without = pages.filter(({ text }) => saysSo.test(text)).map(({ path }) => path);

test('before the first release, the first pages start from a checkout', { skip: isReleased }, () => {
  assert.deepEqual(
    named.filter((path) => firstPages.includes(path)),
    [],
  );
  for (const path of ['README.md', 'README.zh-CN.md', 'docs/installation.md']) assert.ok(without.includes(path), path);
});

test('before the first release, each page with an address of one says that there is none yet', { skip: isReleased }, () => {
  assert.deepEqual(
    named.filter((path) => !without.includes(path)),
    [],
  );
});

test('with a release, no page says that there is none, and the README has its address', { skip: !isReleased }, () => {
  assert.deepEqual(without, []);
  assert.ok(named.includes('README.md'));
});
