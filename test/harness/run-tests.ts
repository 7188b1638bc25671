// npm test [FILE or FOLDER …] [option of node --test …]
import { spawn } from 'node:child_process';
import { globSync, readFileSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { poolVariable } from './control-plane.ts';
import { startPool } from './control-plane-pool.ts';
import { prepare } from './prepare.ts';

const args = process.argv.slice(2);
const options = args.filter((arg) => arg.startsWith('-'));
const chosen = args.filter((arg) => !arg.startsWith('-'));
// Half of the CPU time of a short test file goes into loading modules, and a third of that of a starting API server into garbage collection.
const saveTime = {
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? join(import.meta.dirname, '../../node_modules/.cache/node-compile'),
  GOGC: process.env['GOGC'] ?? '300',
};
const files = (chosen.length ? chosen : ['test']).flatMap(testFilesIn);

try {
  if (files.length === 0) throw new Error(`no test files in ${chosen.join(', ')}`);
  if (files.some(usesHarness)) process.stderr.write(`using ${(await prepare()).join(', ')}\n`);
  Object.assign(process.env, saveTime);
  const pool = await startPool();
  try {
    process.exitCode = await runTests({ [poolVariable]: pool.path });
  } finally {
    await pool.stop();
  }
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}

function testFilesIn(path: string): string[] {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory();
  return globSync(isFolder ? join(path, '**/*.test.ts') : path).toSorted();
}

// A subset that needs no servers must run where there are none.
function usesHarness(file: string): boolean {
  return file.includes('harness/') || readFileSync(file, 'utf8').includes('/harness/');
}

function runTests(more: NodeJS.ProcessEnv): Promise<number> {
  const node = [
    '--test',
    `--import=${join(import.meta.dirname, 'preload.ts')}`,
    // Most test files wait for servers most of the time.
    `--test-concurrency=${2 * availableParallelism()}`,
    '--test-timeout=600000',
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    `--test-reporter=${join(import.meta.dirname, 'slow-files-reporter.ts')}`,
    '--test-reporter-destination=stderr',
  ];
  const child = spawn(process.execPath, [...node, ...options, ...files], { stdio: 'inherit', env: { ...process.env, ...more } });
  // The terminal sends Ctrl-C to the child too, which reports what was interrupted.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}
