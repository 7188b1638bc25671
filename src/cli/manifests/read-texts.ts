import { readFile } from 'node:fs/promises';
import { describeReadError } from '../../service/config/read-error.ts';
import type { Terminal } from '../../service/command-line/command.ts';
import { findFiles, type FoundFile } from './find-files.ts';

/** A file that was read. */
export interface ReadText extends FoundFile {
  readonly text: string;
}

/** A file or folder that cannot be read, and why: the text follows its name. */
export interface Unreadable {
  readonly path: string;
  readonly message: string;
}

/** Reads the files, the manifests of the folders, and `-` as the standard input. Unreadable files do not prevent the others from being read. */
export async function readTexts(
  paths: readonly string[],
  { readStandardInput }: Pick<Terminal, 'readStandardInput'>,
): Promise<{ readonly texts: readonly ReadText[]; readonly unreadable: readonly Unreadable[] }> {
  const { files, unreadable } = await findFiles(paths);
  const texts: ReadText[] = [];
  const failures: Unreadable[] = [...unreadable];
  for (const file of files) {
    const { path } = file;
    try {
      if (path !== '-') texts.push({ ...file, text: await readFile(path, 'utf8') });
      else if (readStandardInput === undefined) throw new Error('there is no standard input');
      else texts.push({ ...file, path: '(standard input)', text: await readStandardInput() });
    } catch (error) {
      failures.push({ path, message: describeReadError(error) });
    }
  }
  return { texts, unreadable: failures };
}
