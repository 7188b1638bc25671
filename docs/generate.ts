// npm run generate: writes everything that is generated from the code.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { generatedFiles } from './generate/files.ts';

const root = join(import.meta.dirname, '..');

for (const { path, content } of generatedFiles()) {
  const file = join(root, path);
  const isNew = read(file) !== content;
  if (isNew) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  process.stdout.write(`${path}: ${isNew ? 'written' : 'unchanged'}\n`);
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
