/** No command outside of wings is forgotten in the list, in the tests and in the documentation. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { summaries } from '../../src/cli/summaries.ts';
import { membersIn, read, root } from '../structure/sources.ts';

test('every file with a command is in the list of commands', () => {
  const list = read('src/cli/index.ts');
  const files = membersIn('cli', /\bdefineCommand\(/);
  assert.ok(files.length > 0);
  assert.deepEqual(
    files.filter((file) => !list.includes(`import('./${file}.ts')`)),
    [],
  );
});

test('every command is called by a test, and has a section in docs/commands.md', () => {
  const tests = globSync('test/{cli,service}/**/*.test.ts', { cwd: root }).map(read).join('');
  const page = readFileSync(join(root, 'docs/commands.md'), 'utf8');
  for (const name of Object.keys(summaries)) {
    assert.ok(new RegExp(`[[(,]\\s*'${name}'`).test(tests), `no test calls ${name}`);
    assert.ok(page.includes(`\n### ${name}\n`), `docs/commands.md has no section for ${name}`);
  }
});
