/** Reads the receivers' secrets at the start, and those in files again when they change. */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { describeError } from '../../core/model/errors.ts';
import { describeReadError } from './read-error.ts';
import type { SecretReference } from './scalars.ts';
import type { SettingProblem } from './schema-problems.ts';

/** The length below which a secret can be guessed: 128 bits, if every character is random. */
export const minSecretLength = 16;

/** A change of the file of a secret, without the value. */
export interface SecretNews {
  readonly receiver: string;
  readonly position: number;
  /** changed: the new value is in use · kept: the file is missing or invalid, and the old value stays in use. */
  readonly kind: 'changed' | 'kept';
  readonly why?: string;
}

export interface SecretStore {
  /** The secrets that could not be read at the start, by their paths in the configuration. */
  readonly problems: readonly SettingProblem[];
  of(receiver: string): readonly string[];
  /** The names of receivers with a guessable secret. */
  guessable(): readonly string[];
  /** Reads all files again. A file that cannot be read or is empty keeps its old value, which is reported once. */
  reread(): Promise<readonly SecretNews[]>;
}

interface Receiver {
  readonly name: string;
  readonly secrets: readonly SecretReference[];
  /** Whether the secret is part of the URL. It is then more exposed than in a header, so a guessable one is refused. */
  readonly isUrlOnly: boolean;
}

interface Entry {
  readonly receiver: Receiver;
  readonly position: number;
  readonly reference: SecretReference;
  value: string;
  /** The error of the last read of the file. */
  problem?: string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Opens all secrets of receivers; errors are in `problems`. */
export function openSecrets(receivers: readonly Receiver[], env: Environment): SecretStore {
  const problems: SettingProblem[] = [];
  const entries = receivers.flatMap((receiver, index) =>
    receiver.secrets.map((reference, position): Entry => {
      try {
        return { receiver, position, reference, value: check(readSecret(reference, env), reference, receiver) };
      } catch (error) {
        problems.push({ keys: ['receivers', index, 'secrets', position], message: describeSecretError(error, reference) });
        return { receiver, position, reference, value: '' };
      }
    }),
  );
  const byReceiver = new Map<string, readonly string[]>();
  const publish = ({ name }: Receiver) =>
    byReceiver.set(
      name,
      entries.filter(({ receiver }) => receiver.name === name).map(({ value }) => value),
    );
  receivers.forEach(publish);

  const refresh = async (entry: Entry): Promise<SecretNews[]> => {
    const { reference, receiver, position } = entry;
    if ('env' in reference) return [];
    const news = { receiver: receiver.name, position };
    try {
      const value = check(withoutLineEnd(await readFile(reference.file, 'utf8')), reference, receiver);
      entry.problem = undefined;
      if (value === entry.value) return [];
      entry.value = value;
      publish(receiver);
      return [{ ...news, kind: 'changed' }];
    } catch (error) {
      const why = describeSecretError(error, reference);
      if (why === entry.problem) return [];
      entry.problem = why;
      return [{ ...news, kind: 'kept', why }];
    }
  };

  return {
    problems,
    of: (receiver) => byReceiver.get(receiver) ?? [],
    guessable: () => [...byReceiver].filter(([, values]) => values.some(isGuessable)).map(([name]) => name),
    async reread() {
      return (await Promise.all(entries.map(refresh))).flat();
    },
  };
}

/** The current value of a reference; throws if there is none. */
export function readSecret(reference: SecretReference, env: Environment): string {
  return checkPresent('env' in reference ? env[reference.env] : withoutLineEnd(readFileSync(reference.file, 'utf8')), reference);
}

/** Why a secret cannot be read, and what to do. */
export function describeSecretError(error: unknown, reference: SecretReference): string {
  const isOfFile = error instanceof Error && 'syscall' in error;
  return isOfFile ? `${describe(reference)} ${describeReadError(error)}` : describeError(error);
}

/** Opens one secret, with the error of its first read. `read` returns the current value; if its file becomes unreadable, the last one. */
export function openSecret(reference: SecretReference, env: Environment): { readonly read: () => string; readonly problem?: string } {
  try {
    let value = readSecret(reference, env);
    const read = () => {
      try {
        value = readSecret(reference, env);
      } catch {
        // The file is missing, perhaps only for a moment. The last value stays valid.
      }
      return value;
    };
    return { read };
  } catch (error) {
    return { read: () => '', problem: describeSecretError(error, reference) };
  }
}

function checkPresent(value: string | undefined, reference: SecretReference): string {
  if (value === undefined) throw new Error(`${describe(reference)} is not set: set it, or name another one`);
  if (value === '') throw new Error(`${describe(reference)} is empty: write the secret there`);
  return value;
}

function describe(reference: SecretReference): string {
  return 'env' in reference ? `the environment variable ${reference.env}` : `the file ${reference.file}`;
}

function check(text: string, reference: SecretReference, { isUrlOnly }: Receiver): string {
  const value = checkPresent(text, reference);
  if (isUrlOnly && isGuessable(value)) {
    throw new Error(
      `${describe(reference)} has fewer than ${minSecretLength} characters, and nothing else protects the URL; create one with: openssl rand -hex 24`,
    );
  }
  return value;
}

function isGuessable(value: string): boolean {
  return value.length < minSecretLength;
}

function withoutLineEnd(text: string): string {
  return text.replace(/\r?\n$/, '');
}

/**
 * Reads the files of secrets every few seconds and compares their content. The kubelet replaces a symlink to the folder, which file system events report
 * differently on every platform. Does not keep the process alive.
 */
export function watchSecrets(reread: SecretStore['reread'], onNews: (news: SecretNews) => void, everyMs = 3_000): { stop(): void } {
  let isReading = false;
  const read = async () => {
    if (isReading) return;
    isReading = true;
    for (const news of await reread()) onNews(news);
    isReading = false;
  };
  const timer = setInterval(() => void read(), everyMs).unref();
  return { stop: () => clearInterval(timer) };
}
