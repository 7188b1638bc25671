/**
 * npm test [FILE or FOLDER …] [option of Node for each test file, such as --test-name-pattern=TEXT …]: tests of pure code first, while the servers are found or
 * built that the others need. `--tier=core` has only the former, `--tier=all` all there are.
 */
import { readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { foundBinaries } from './binaries.ts';
import { poolVariable } from './control-plane.ts';
import { startPool } from './control-plane-pool.ts';
import { prepare } from './prepare.ts';
import { preparedVariable, writePrepared } from './prepared.ts';
import { buildProgram } from './program.ts';
import slowFiles from './slow-files-reporter.ts';
import { tempFolder } from './temp-folder.ts';
import { arrangeTestFiles, findTestFiles, type TestFiles, tierOf } from './test-files.ts';

const root = join(import.meta.dirname, '../..');
const args = process.argv.slice(2);
const tierOption = '--tier=';
const tier = tierOf(args.find((arg) => arg.startsWith(tierOption))?.slice(tierOption.length));
const options = args.filter((arg) => arg.startsWith('-') && !arg.startsWith(tierOption));
const chosen = args.filter((arg) => !arg.startsWith('-'));
// Half of the CPU time of a short test file goes into loading modules, a third of that of a starting API server into garbage collection, and two thirds of that of a
// registry that is pushed to into writing to the disk.
const saveTime = {
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? join(root, 'node_modules/.cache/node-compile'),
  GOGC: process.env['GOGC'] ?? '300',
  TMPDIR: process.env['TMPDIR'] ?? folderInMemory() ?? tmpdir(),
};
/** Most test files wait for servers most of the time. */
const concurrency = 2 * availableParallelism();
/** As long as a test file may take on a slow machine, after the servers have been built there. */
const fileTimeoutMs = 2_400_000;

/** Aborted when the run is interrupted, or cannot go on. */
const stopped = new AbortController();
for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => stopped.abort(new Error('the tests were interrupted')));

process.chdir(root);
try {
  const files = findTestFiles(tier, chosen);
  if (files.length === 0) throw new Error(`no test files in ${chosen.join(', ')}`);
  const arranged = arrangeTestFiles(files);
  const among = files.length === 1 ? '1 test file' : `${files.length} test files, ${concurrency} at a time`;
  process.stderr.write(`${among}: a line every ten seconds says how far they are, and failures are shown at once\n`);
  Object.assign(process.env, saveTime);
  if (!(await runWithServers(arranged))) process.exitCode = 1;
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exit(1);
}

/** Where servers keep their data without a disk, if there is room for all of it and programs can be run from there. */
function folderInMemory(): string | undefined {
  const folder = '/dev/shm';
  try {
    const { bavail, bsize } = statfsSync(folder);
    const mount = readFileSync('/proc/mounts', 'utf8').match(/^\S+ \/dev\/shm tmpfs (\S+)/m);
    const isFit = mount && !/\bnoexec\b|\bro\b/.test(mount[1] ?? '') && bavail * bsize >= 4 * 2 ** 30;
    return isFit ? folder : undefined;
  } catch {
    return undefined;
  }
}

/** Resolves with whether all tests have passed. What starts servers waits until they are there (prepared.ts). */
async function runWithServers({ rooms, own }: TestFiles): Promise<boolean> {
  const folder = tempFolder('run');
  const entries = [...rooms].map(([room, files]) => writeRoom(folder, room, files));
  if (own.length === 0) return runTests(entries);
  const pool = await startPool();
  const preparedFile = join(folder, 'prepared.json');
  const preparing = prepareAll(preparedFile).catch((error: unknown) => stopped.abort(error));
  try {
    const passed = await runTests([...entries, ...own], { [poolVariable]: pool.path, [preparedVariable]: preparedFile });
    // What is prepared has no end of its own when the tests are stopped.
    if (!stopped.signal.aborted) await preparing;
    stopped.signal.throwIfAborted();
    return passed;
  } finally {
    await pool.stop();
  }
}

/** A test file that has those of a room. Resolves with its path. */
function writeRoom(folder: string, room: string, files: readonly string[]): string {
  const path = join(folder, `${room.replaceAll('/', '-')}.test.ts`);
  writeFileSync(path, files.map((file) => `import ${JSON.stringify(join(root, file))};\n`).join(''));
  return path;
}

async function prepareAll(preparedFile: string): Promise<void> {
  const main = await buildProgram();
  process.stderr.write(`using ${(await prepare()).join(', ')}\n`);
  await writePrepared(preparedFile, { binaries: await foundBinaries(), main });
}

/** Resolves with whether all tests have passed. */
async function runTests(files: readonly string[], env = {}): Promise<boolean> {
  const events = run({
    files: [...files],
    execArgv: [`--import=${join(import.meta.dirname, 'preload.ts')}`, ...options],
    env: { ...process.env, ...env },
    concurrency,
    timeout: fileTimeoutMs,
    signal: stopped.signal,
  });
  let passed = true;
  events.on('test:fail', ({ todo }) => (passed &&= Boolean(todo)));
  await Promise.all([
    pipeline(events.compose(spec), process.stdout, { end: false }),
    pipeline(events.compose(slowFiles), process.stderr, { end: false }),
  ]);
  return passed;
}
