/** What a short process spends, from its start to its end, as it says itself when it ends. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface Spent {
  /** Processor time of all threads. */
  readonly seconds: number;
  /** The largest memory (RSS). */
  readonly megabytes: number;
}

// maxRSS of resourceUsage() would also count the memory of the process that starts this one, which the new one has until it is another program.
const recorder = String.raw`process.on('exit', () => {
  const { readFileSync, writeFileSync } = require('node:fs');
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  const [, kibibytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'));
  writeFileSync(process.env.SPENT, JSON.stringify({ seconds: (userCPUTime + systemCPUTime) / 1e6, megabytes: Number(kibibytes) / 1024 }));
});
`;

/** Starts Node with these arguments, and with `folder` as the home and for what is recorded. */
export async function spend(folder: string, args: readonly string[]): Promise<{ readonly spent: Spent; readonly stdout: string }> {
  const [record, file] = [join(folder, 'record.cjs'), join(folder, 'spent')];
  await writeFile(record, recorder);
  const env = { PATH: process.env['PATH'], HOME: folder, SPENT: file };
  const { stdout } = await promisify(execFile)(process.execPath, ['--require', record, ...args], { env });
  return { spent: JSON.parse(await readFile(file, 'utf8')) as Spent, stdout };
}
