import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempFolder } from './temp-folder.ts';
import { guardProcess, killGroup, releaseProcess } from './watchdog.ts';

/** How a process ended: its exit code, or the signal that ended it. */
export type Exit = { code: number | null; signal: NodeJS.Signals | null };

/** A child process that ends with this process, however this process ends. Its output is in the file `log`. */
export type RunningProcess = {
  readonly name: string;
  readonly pid: number;
  readonly log: string;
  /** Resolves when it has ended. Asking for it keeps this process alive until then; otherwise a forgotten child does not hold a test run up. */
  readonly exited: Promise<Exit>;
  /** How it ended, or undefined while it lives. */
  exit(): Exit | undefined;
  /** The end of its output, standard output and error together. */
  logTail(lines?: number): string;
  kill(signal?: NodeJS.Signals): void;
  /** SIGTERM, then SIGKILL after the deadline; resolves when it has ended. */
  stop(deadlineMs?: number): Promise<Exit>;
};

export type ProcessOptions = { name: string; cwd?: string; env?: NodeJS.ProcessEnv; log?: string };

/** Starts a program; rejects if it cannot be executed at all. */
export async function startProcess(command: string, args: string[], options: ProcessOptions): Promise<RunningProcess> {
  const { name, cwd, env = process.env } = options;
  const log = options.log ?? join(tempFolder(name), 'log');
  const output = openSync(log, 'a');
  // A process group of its own: signals reach its children too, and Ctrl-C in the terminal leaves the order of the endings to us.
  const child = spawn(command, args, { stdio: ['ignore', output, output], detached: true, env, ...(cwd && { cwd }) });
  closeSync(output);
  if (child.pid) guardProcess(child.pid);
  let ended: Exit | undefined;
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => {
      if (child.pid) releaseProcess(child.pid);
      resolve((ended = { code, signal }));
    });
  });
  await once(child, 'spawn').catch((error: Error) => {
    throw new Error(`starting ${name} (${command}): ${error.message}`, { cause: error });
  });
  child.unref();
  const pid = child.pid as number;

  const kill = (signal: NodeJS.Signals = 'SIGTERM') => {
    if (!ended) killGroup(pid, signal);
  };
  const whenExited = () => {
    if (!ended) child.ref();
    return exited;
  };
  return {
    name,
    pid,
    log,
    get exited() {
      return whenExited();
    },
    exit: () => ended,
    logTail: (lines = 25) => readFileSync(log, 'utf8').trimEnd().split('\n').slice(-lines).join('\n'),
    kill,
    async stop(deadlineMs = 10_000) {
      kill('SIGTERM');
      // A frozen process takes no signal but SIGKILL.
      kill('SIGCONT');
      const deadline = setTimeout(() => kill('SIGKILL'), deadlineMs);
      try {
        return await whenExited();
      } finally {
        clearTimeout(deadline);
      }
    },
  };
}
