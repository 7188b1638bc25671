/** What `npm test` finds or makes once for all its test files, which need not ask each program for its version, nor take the types off the sources at each start. */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Binary } from './check-binary.ts';

export interface Prepared {
  /** By the id of the tool. What cannot be had is not in it. */
  readonly binaries: Readonly<Record<string, Binary>>;
  /** The program in JavaScript, as the package of npm has it. */
  readonly main: string;
}

/** Names, in the environment of test files, the file that is written when all is prepared. */
export const preparedVariable = 'IMAGE_WATCHER_PREPARED';

let reading: Promise<Prepared | undefined> | undefined;

/** Resolves when all is prepared; with undefined in a test file that was started by itself. */
export function prepared(): Promise<Prepared | undefined> {
  const path = process.env[preparedVariable];
  reading ??= path === undefined ? Promise.resolve(undefined) : readPrepared(path);
  return reading;
}

/** Lets the test files go on. */
export async function writePrepared(path: string, value: Prepared): Promise<void> {
  const unfinished = `${path}.unfinished`;
  await writeFile(unfinished, JSON.stringify(value));
  await rename(unfinished, path);
}

async function readPrepared(path: string): Promise<Prepared> {
  for (;;) {
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    if (text !== undefined) return JSON.parse(text) as Prepared;
    await delay(100);
  }
}
