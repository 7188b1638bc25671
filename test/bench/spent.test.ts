/** What the benchmark says that a command spends is that of the command, not of the process that starts it. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { spend } from '../../bench/world/spent.ts';
import { tempFolder } from '../harness/temp-folder.ts';

test('the measured memory of a process does not include that of its parent process', async () => {
  const folder = tempFolder('spent');
  const script = join(folder, 'script.mjs');
  const held = Buffer.alloc(400 << 20, 1);
  writeFileSync(script, '');
  const { spent: empty } = await spend(folder, [script]);
  assert.ok(empty.megabytes > 20 && empty.megabytes < 200, String(empty.megabytes));
  writeFileSync(script, 'Buffer.alloc(300 << 20, 1)');
  const { spent: filled } = await spend(folder, [script]);
  assert.ok(filled.megabytes > 300 && filled.seconds > 0, JSON.stringify(filled));
  assert.equal(held.at(-1), 1);
});
