/** Runs as `prepack`: the program in JavaScript, in `dist`, for the package of npm. Below node_modules, Node runs no TypeScript. */
import { build } from 'esbuild';
import { cp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { clientNode, leanClientNode } from './lean-client-node.ts';

const root = join(import.meta.dirname, '../..');

/** Writes the program and what its dashboard loads into a folder. */
export async function buildPackage(folder: string): Promise<void> {
  const { dependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { dependencies: Record<string, string> };
  await rm(folder, { recursive: true, force: true });
  await build({
    entryPoints: [join(root, 'src/main.ts')],
    outdir: folder,
    bundle: true,
    // What a command does not use is not loaded, as in the sources.
    splitting: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    external: Object.keys(dependencies).filter((name) => name !== clientNode),
    plugins: [leanClientNode],
    // CommonJS modules that are joined call it.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'error',
  });
  await cp(join(root, 'src/dashboard/assets'), join(folder, 'assets'), { recursive: true });
}

if (import.meta.main) await buildPackage(join(root, 'dist'));
