/**
 * npm run build:executable [OUTPUT]: the program with its Node in one file, for the platform that this runs on. esbuild joins the modules to one, which Node
 * puts into a copy of itself (single executable applications). Meant for the commands; the service runs from the image.
 */
import { build } from 'esbuild';
import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { leanClientNode } from './lean-client-node.ts';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);
const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/** Writes the executable. */
export async function buildExecutable(output: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'image-watcher-executable-'));
  try {
    const main = join(folder, 'main.cjs');
    await build({
      entryPoints: [join(root, 'src/main.ts')],
      outfile: main,
      bundle: true,
      minifySyntax: true,
      minifyWhitespace: true,
      platform: 'node',
      target: 'node24',
      format: 'cjs',
      plugins: [leanClientNode],
      logLevel: 'error',
    });
    const blob = join(folder, 'main.blob');
    await writeFile(join(folder, 'sea.json'), JSON.stringify({ main, output: blob, disableExperimentalSEAWarning: true }));
    await run(process.execPath, ['--experimental-sea-config', join(folder, 'sea.json')]);
    await mkdir(dirname(output), { recursive: true });
    await copyFile(process.execPath, output);
    await chmod(output, 0o755);
    if (process.platform === 'darwin') await run('codesign', ['--remove-signature', output]);
    const segment = process.platform === 'darwin' ? ['--macho-segment-name', 'NODE_SEA'] : [];
    const postject = join(root, 'node_modules/postject/dist/cli.js');
    await run(process.execPath, [postject, output, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', fuse, ...segment]);
    if (process.platform === 'darwin') await run('codesign', ['--sign', '-', output]);
  } finally {
    await rm(folder, { recursive: true });
  }
}

if (import.meta.main) await buildExecutable(resolve(process.argv[2] ?? 'image-watcher'));
