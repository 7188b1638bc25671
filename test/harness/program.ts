import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildPackage } from '../release/build-package.ts';
import { prepared } from './prepared.ts';

const root = join(import.meta.dirname, '../..');
const sources = join(root, 'src/main.ts');

/** What Node runs as `image-watcher`: what the package of npm has, made once for all files of `npm test`; the sources in a test file that was started by itself. */
export async function mainProgram(): Promise<string> {
  return (await prepared())?.main ?? sources;
}

/** What Node runs in the image, which is what the package of npm has. */
export async function builtProgram(): Promise<string> {
  return (await prepared())?.main ?? buildProgram();
}

/** Makes the program in JavaScript where it finds its packages; resolves with the file that Node runs. Its path is always the same, so that Node keeps what it compiles. */
export async function buildProgram(): Promise<string> {
  const folder = join(root, 'node_modules/.cache/program');
  const unfinished = `${folder}-${process.pid}`;
  await buildPackage(unfinished);
  rmSync(folder, { recursive: true, force: true });
  renameSync(unfinished, folder);
  return join(folder, 'main.js');
}
