// npm run generate: writes everything that is generated from the code.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { lacksHelm } from '../test/harness/binaries.ts';
import { generatedFiles, type GeneratedFile } from './generate/files.ts';
import { installFiles } from './generate/install.ts';

const root = join(import.meta.dirname, '..');

generatedFiles().forEach(write);
const why = await lacksHelm();
if (why === undefined) (await installFiles()).forEach(write);
else {
  process.stderr.write(`charts/install: not written, because it needs Helm\n${why}\n`);
  process.exitCode = 1;
}

function write({ path, content }: GeneratedFile): void {
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
