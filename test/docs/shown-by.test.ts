import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '../..');
const files = globSync('{test,bench,.ci}/**/*', { cwd: root });

for (const page of ['reliability.md', 'threat-model.md']) {
  test(`the tests that docs/${page} names exist`, () => {
    const text = readFileSync(join(root, 'docs', page), 'utf8');
    const named = [...text.matchAll(/`([\w./-]+\.ts|(?:test|bench|\.ci)\/[\w./-]+)`(?: "([^"]+)")?/g)];
    assert.ok(named.length > 20, String(named.length));
    const missing = named.flatMap(([, name = '', title]) => {
      const found = files.filter((file) => file === name || file.endsWith(`/${name}`));
      if (found.length === 0) return [name];
      const isThere = title === undefined || found.some((file) => readFileSync(join(root, file), 'utf8').includes(title));
      return isThere ? [] : [`${name} "${title}"`];
    });
    assert.deepEqual(missing, []);
  });
}
