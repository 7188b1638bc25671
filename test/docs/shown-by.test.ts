import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '../..');
const files = globSync('{test,bench,.ci}/**/*', { cwd: root });

for (const page of ['reliability.md', 'threat-model.md']) {
  test(`what docs/${page} is shown by exists`, () => {
    const text = readFileSync(join(root, 'docs', page), 'utf8');
    const named = [...text.matchAll(/`([\w./-]+\.ts|(?:test|bench|\.ci)\/[\w./-]+)`/g)].map(([, name = '']) => name);
    assert.ok(named.length > 20, named.join());
    const missing = named.filter((name) => !files.some((file) => file === name || file.endsWith(`/${name}`)));
    assert.deepEqual(missing, []);
  });
}
