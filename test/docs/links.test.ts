import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { files, read } from '../structure/sources.ts';
import { anchorsOf, linksOf, pages, root } from './markdown.ts';

for (const { path, text } of pages) {
  test(`the links of ${path} resolve`, () => {
    for (const link of linksOf(text)) {
      if (/^https?:\/\//.test(link)) {
        assert.ok(URL.canParse(link), link);
        continue;
      }
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? path : normalize(join(dirname(path), file));
      assert.ok(!target.startsWith('..') && existsSync(join(root, target)), `${link}: there is no ${target}`);
      if (anchor === undefined) continue;
      const anchors = anchorsOf(readFileSync(join(root, target), 'utf8'));
      assert.ok(anchors.has(anchor), `${link}: ${target} has no heading for #${anchor}`);
    }
  });
}

test('each page is linked from README.md or docs/README.md', () => {
  const seen = new Set<string>();
  const waiting = ['README.md', 'docs/README.md'];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const page = pages.find((one) => one.path === path);
    if (page === undefined || seen.has(path)) continue;
    seen.add(path);
    const from = path;
    waiting.push(...linksOf(page.text).map((link) => normalize(join(dirname(from), link.split('#')[0] ?? ''))));
  }
  // Found by convention, at the root of a repository.
  const byConvention = ['CONTRIBUTING.md', 'SECURITY.md'];
  const islands = pages.map(({ path }) => path).filter((path) => !seen.has(path) && !byConvention.includes(path));
  assert.deepEqual(islands, []);
});

test('each file and folder that a page of the sources names exists', () => {
  const files = globSync('{src,test,docs,bench,charts,crd}/**/*', { cwd: root }).map((file) => file.replaceAll('\\', '/'));
  const exists = (path: string) => files.some((file) => file === path || file.endsWith(`/${path}`));
  const missing = pages
    .filter(({ path }) => path.startsWith('src/'))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/`([a-z][\w./-]*(?:\.ts|\/))`/g)]
        .map(([, named = '']) => named.replace(/\/$/, ''))
        // `test/cli/import/ID/`: the reader puts the name there.
        .filter((named) => !named.includes('/ID') && !exists(named))
        .map((named) => `${path}: ${named}`),
    );
  assert.deepEqual(missing, []);
});

test('each name that a page or a comment of the sources says is in a source is there', () => {
  const words = new Map(files.map((file) => [file, new Set(read(file).split(/\W+/))]));
  const has = (file: string, name: string) => [...words].some(([path, all]) => path.endsWith(`/${file}`) && all.has(name));
  const pointers = [...pages.filter(({ path }) => path.startsWith('src/')), ...files.map((path) => ({ path, text: read(path) }))].flatMap(
    ({ path, text }) =>
      [...text.matchAll(/`(\w+)(?:\(\))?`\s(?:in|of)\s`([a-z][\w./-]*\.ts)`/g)].map(([, name = '', file = '']) => ({ path, name, file })),
  );
  assert.ok(pointers.length > 30, String(pointers.length));
  assert.deepEqual(
    pointers.filter(({ name, file }) => !has(file, name)),
    [],
  );
});

test('headings get the same anchors as on GitHub', () => {
  const text = '# A `code`: it\n## Who else writes there?\n### A\n### A\n```\n# none\n```\n## Amazon ECR (`ecr`)\n## [Link](x.md) — and';
  assert.deepEqual([...anchorsOf(text)], ['a-code-it', 'who-else-writes-there', 'a', 'a-1', 'amazon-ecr-ecr', 'link--and']);
});
