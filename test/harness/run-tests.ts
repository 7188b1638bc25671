// npm test [FILE or FOLDER …] [option of Node for each test file, such as --test-name-pattern=TEXT …]
import { globSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { poolVariable } from './control-plane.ts';
import { startPool } from './control-plane-pool.ts';
import { prepare } from './prepare.ts';
import slowFiles from './slow-files-reporter.ts';

const args = process.argv.slice(2);
const options = args.filter((arg) => arg.startsWith('-'));
const chosen = args.filter((arg) => !arg.startsWith('-'));
// Half of the CPU time of a short test file goes into loading modules, a third of that of a starting API server into garbage collection, and two thirds of that of a
// registry that is pushed to into writing to the disk.
const saveTime = {
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? join(import.meta.dirname, '../../node_modules/.cache/node-compile'),
  GOGC: process.env['GOGC'] ?? '300',
  TMPDIR: process.env['TMPDIR'] ?? folderInMemory() ?? tmpdir(),
};
/** Most test files wait for servers most of the time. */
const concurrency = 2 * availableParallelism();
const files = (chosen.length ? chosen : ['test']).flatMap(testFilesIn);

try {
  if (files.length === 0) throw new Error(`no test files in ${chosen.join(', ')}`);
  if (files.some(usesHarness)) process.stderr.write(`using ${(await prepare()).join(', ')}\n`);
  const among = files.length === 1 ? '1 test file' : `${files.length} test files, ${concurrency} at a time`;
  process.stderr.write(`${among}: a line every ten seconds says how far they are, and failures are shown at once\n`);
  Object.assign(process.env, saveTime);
  const pool = await startPool();
  process.env[poolVariable] = pool.path;
  try {
    if (!(await runTests())) process.exitCode = 1;
  } finally {
    await pool.stop();
  }
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
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

function testFilesIn(path: string): string[] {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory();
  return globSync(isFolder ? join(path, '**/*.test.ts') : path).toSorted();
}

// A subset that needs no servers must run where there are none.
function usesHarness(file: string): boolean {
  return file.includes('harness/') || readFileSync(file, 'utf8').includes('/harness/');
}

// In the order of their names, files that wait for servers would run side by side, and so would those that keep a core busy.
function mixed(paths: string[]): string[] {
  const { waiting = [], busy = [] } = Object.groupBy(paths, (file) => (usesHarness(file) ? 'waiting' : 'busy'));
  const spread = (group: string[]) => group.map((file, index) => ({ file, at: index / group.length }));
  return [...spread(waiting), ...spread(busy)].toSorted((one, other) => one.at - other.at).map(({ file }) => file);
}

/** Resolves with whether all tests have passed. */
async function runTests(): Promise<boolean> {
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => interrupted.abort());
  const events = run({
    files: mixed(files),
    execArgv: [`--import=${join(import.meta.dirname, 'preload.ts')}`, ...options],
    concurrency,
    timeout: 1_200_000,
    signal: interrupted.signal,
  });
  let passed = true;
  events.on('test:fail', ({ todo }) => (passed &&= Boolean(todo)));
  await Promise.all([
    pipeline(events.compose(spec), process.stdout, { end: false }),
    pipeline(events.compose(slowFiles), process.stderr, { end: false }),
  ]);
  return passed;
}
