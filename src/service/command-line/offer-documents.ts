/** The dialog on a terminal: asks which of the proposed documents to write, and into which file. */
import { writeFile } from 'node:fs/promises';
import type { Terminal } from './command.ts';

/** Asks one question; undefined at the end of the input. */
export type Ask = NonNullable<Terminal['ask']>;

/** The documents that are offered. */
export interface Offer<T> {
  readonly items: readonly T[];
  /** One document, for the question whether to write it. */
  readonly describe: (item: T) => string;
  readonly format: (wanted: readonly T[]) => string;
  readonly usualFile: string;
  /** What to say after the documents were written into a file. */
  readonly next: (wanted: readonly T[], file: string) => string;
}

/** Asks which of the documents to write, and writes them into a new file. Changes nothing in the cluster. Returns the exit code. */
export async function offerDocuments<T>(
  { items, describe, format, usualFile, next }: Offer<T>,
  terminal: Terminal & { readonly ask: Ask },
): Promise<number> {
  const wanted = await choose(items, describe, terminal.ask);
  if (wanted.length === 0) {
    terminal.out('Nothing was written.\n');
    return 0;
  }
  const file = await save(format(wanted), usualFile, terminal);
  if (file === undefined) return 1;
  terminal.out(`${next(wanted, file)}\n`);
  return 0;
}

/** Asks which documents to write: all, none, or some of them. */
async function choose<T>(items: readonly T[], describe: (item: T) => string, ask: Ask): Promise<readonly T[]> {
  const answer = await readLetter(ask, `Write ${items.length === 1 ? 'it' : 'all of them'}? [y]es, [n]o, [c]hoose: `, 'ync');
  if (answer === 'y') return items;
  if (answer !== 'c') return [];
  const wanted: T[] = [];
  for (const [index, item] of items.entries()) {
    const one = await readLetter(ask, `${describe(item)} [y]es, [n]o, [a]ll from here, [q]uit: `, 'ynaq');
    if (one === 'a') return [...wanted, ...items.slice(index)];
    if (one === undefined || one === 'q') return [];
    if (one === 'y') wanted.push(item);
  }
  return wanted;
}

/** Repeats a question until the answer begins with one of these letters. Undefined at the end of the input. */
async function readLetter(ask: Ask, question: string, letters: string): Promise<string | undefined> {
  for (;;) {
    const answer = await ask(question);
    if (answer === undefined) return undefined;
    const letter = answer.trim().slice(0, 1).toLowerCase();
    if (letter !== '' && letters.includes(letter)) return letter;
  }
}

/** Writes the text to a file, and returns its name; undefined at the end of the input. Asks again if the file exists or cannot be written. */
async function save(
  text: string,
  usualFile: string,
  { ask, err }: { readonly ask: Ask; readonly err: Terminal['err'] },
): Promise<string | undefined> {
  for (;;) {
    const answer = await ask(`File [${usualFile}]: `);
    if (answer === undefined) return undefined;
    const file = answer.trim() === '' ? usualFile : answer.trim();
    try {
      await writeFile(file, text, { flag: 'wx' });
      return file;
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      const why = code === 'EEXIST' ? 'there is such a file already' : error instanceof Error ? error.message : String(error);
      err(`${file}: ${why}; name another one\n`);
    }
  }
}
