import { describeError } from '../../core/model/errors.ts';

const meanings: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist: create it, or name another one',
  ENOTDIR: 'does not exist, because a part of its path is a file: name another one',
  EACCES: 'may not be read by this user: change its owner or mode',
  EISDIR: 'is a folder, and a file is needed',
  ELOOP: 'is a symbolic link that leads back to itself',
};

/** Why a file cannot be read, and what to do; the text follows the file's name in a message. */
export function describeReadError(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return meanings[code] ?? `cannot be read: ${describeError(error)}`;
}
