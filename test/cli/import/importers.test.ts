import assert from 'node:assert/strict';
import { existsSync, globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { importers } from '../../../src/cli/import/index.ts';

const root = join(import.meta.dirname, '../../..');

test('every importer is in the list, under the name of its file and of its folder, with tests and a page', () => {
  const folders = globSync('src/cli/import/*/', { cwd: root }).map((folder) => basename(folder));
  assert.ok(folders.length > 0);
  assert.deepEqual(importers.map(({ id }) => id).sort(), folders.sort());
  for (const { id } of importers) {
    assert.ok(existsSync(join(root, `src/cli/import/${id}.ts`)), id);
    assert.ok(globSync(`test/cli/import/${id}/*.test.ts`, { cwd: root }).length > 0, id);
    assert.ok(existsSync(join(root, `docs/migrating-from-${id}.md`)), id);
  }
});
