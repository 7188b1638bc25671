/** The page about testing policies: its files, and what the commands print. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runCommand } from '../cli/run-command.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { fencesOf, pages } from './markdown.ts';

const folder = tempFolder('test-policies');
const page = pages.find(({ path }) => path === 'docs/test-policies.md') ?? assert.fail();
const fences = fencesOf(page.text);
for (const { body } of fences.filter(({ language }) => language === 'yaml')) {
  const [, name = ''] = /^# (\S+)\n/.exec(body) ?? assert.fail(body);
  writeFileSync(join(folder, name), body);
}
const fileOf = (name: string) => join(folder, name);
const outputs = fences.filter(({ language }) => language === '').map(({ body }) => body);

test('the command test ends as docs/test-policies.md shows', async () => {
  const { code, out } = await runCommand('test', [fileOf('cases.yaml')]);
  assert.deepEqual([code, out.trim()], [1, outputs[0]?.trim()]);
});

test('the command backtest ends as docs/test-policies.md shows', async () => {
  const { code, out } = await runCommand('backtest', [
    '-f',
    fileOf('web.yaml'),
    '--history',
    fileOf('past.yaml'),
    '--days',
    '30',
    '--never',
    'feature',
  ]);
  assert.deepEqual([code, out.trim()], [0, outputs[1]?.trim()]);
});
