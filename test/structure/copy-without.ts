import assert from 'node:assert/strict';
import { cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempFolder } from '../harness/temp-folder.ts';
import { root } from './sources.ts';

/** A copy of the product without the folder of a wing and without its name in the list, and with these files of its tests. Returns its folder. */
export function copyWithout(wing: string, tests: readonly string[] = []): string {
  const folder = tempFolder(`without-${wing}`);
  for (const path of ['src', 'package.json', ...tests]) cpSync(join(root, path), join(folder, path), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction');
  rmSync(join(folder, 'src', wing), { recursive: true });
  const list = join(folder, 'src/wings.ts');
  const lines = readFileSync(list, 'utf8').split('\n');
  const isOfWing = (line: string) => line.startsWith('import') && line.includes(`'./${wing}/`);
  assert.equal(lines.filter(isOfWing).length, 1);
  const left = lines.filter((line) => !isOfWing(line)).join('\n');
  writeFileSync(list, left.replace(new RegExp(String.raw`\b${wing}\b,? ?`), ''));
  return folder;
}
