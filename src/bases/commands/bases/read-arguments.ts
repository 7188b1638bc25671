/** Reads the arguments that `bases` and `bases init` share. */
import { parseImageReference, type RegistryAliases, type Repository } from '../../../core/model/image-reference.ts';
import { asUsage, UsageError } from '../../../service/command-line/usage-error.ts';

const defaultTags = 200;
const mostTags = 5_000;

/** The option `--tags`. */
export const tagsOption = { value: 'NUMBER', about: `how many tags of the base are compared (default ${defaultTags})` } as const;

/** Reads the repository of a base. `hint` says how to write a version instead of a tag. */
export function readBaseRepository(text: string, aliases: RegistryAliases, hint?: (tag: string) => string): Repository {
  const { repository, tag, digest } = asUsage('REPOSITORY', () => parseImageReference(text, aliases));
  if (tag !== undefined) throw new UsageError(`REPOSITORY has no tag: ${hint?.(tag) ?? 'write only the repository'}`);
  if (digest !== undefined)
    throw new UsageError(
      `REPOSITORY has no digest: ${hint === undefined ? 'write only the repository' : 'write --latest or --range to select a version'}`,
    );
  return repository;
}

export function readMaxTags(text = `${defaultTags}`): number {
  const number = /^[0-9]{1,4}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > mostTags) throw new UsageError(`--tags is a number from 1 to ${mostTags}, not "${text}"`);
  return number;
}
