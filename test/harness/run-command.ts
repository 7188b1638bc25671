import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { readFile } from 'node:fs/promises';
import { startProcess } from './process.ts';

/** Runs a program to its end and returns its output; an Error with the end of its output if it fails. It does not outlive this process. */
export async function runCommand(
  command: string,
  args: string[],
  { cwd, env = process.env, timeoutMs }: { cwd?: string; env?: NodeJS.ProcessEnv; timeoutMs?: number } = {},
): Promise<string> {
  const name = command.split('/').at(-1) as string;
  const child = await startProcess(command, args, { name, env, ...(cwd && { cwd }) });
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  const { code, signal } = await child.exited;
  clearTimeout(timer);
  if (code !== 0) throw new Error(`${name} ${args.join(' ')} ended with ${signal ?? `code ${code}`}:\n${child.logTail()}`);
  return readFile(child.log, 'utf8');
}

/** Where a program is found on the PATH, or in one of the other folders; undefined if nowhere. */
export function findOnPath(names: string[], otherFolders: string[] = []): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...otherFolders].filter(Boolean);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
