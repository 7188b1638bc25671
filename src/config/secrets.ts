/** The values of the receivers' secrets: read at the start, and those in files again when they change. */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { describeError } from '../model/errors.ts';
import type { SecretReference } from './scalars.ts';

/** A secret shorter than this can be guessed: 128 bits, if every character is random. */
export const minSecretLength = 16;

/** A change that reading the files again found. Never the value itself. */
export interface SecretNews {
  readonly receiver: string;
  readonly position: number;
  /** changed: the new value is in use · kept: the file cannot be used, and the old value stays. */
  readonly kind: 'changed' | 'kept';
  readonly why?: string;
}

export interface SecretStore {
  /** What could not be read at the start, with its path in the configuration. */
  readonly problems: readonly { readonly path: string; readonly message: string }[];
  of(receiver: string): readonly string[];
  /** Receivers with a guessable secret. */
  guessable(): readonly string[];
  /** Reads all files again. A file that cannot be read or is empty keeps its old value, which is reported once. */
  reread(): Promise<readonly SecretNews[]>;
}

interface Receiver {
  readonly name: string;
  readonly secrets: readonly SecretReference[];
  /** Its sender can authenticate only by the URL, which more people see than a header: a guessable secret is refused. */
  readonly isUrlOnly: boolean;
}

interface Entry {
  readonly receiver: Receiver;
  readonly position: number;
  readonly reference: SecretReference;
  value: string;
  /** What was wrong at the last read. */
  problem?: string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads everything once; what is wrong is in `problems`. */
export function openSecrets(receivers: readonly Receiver[], env: Environment): SecretStore {
  const problems: { path: string; message: string }[] = [];
  const entries = receivers.flatMap((receiver, index) =>
    receiver.secrets.map((reference, position): Entry => {
      try {
        return { receiver, position, reference, value: check(readSecret(reference, env), reference, receiver) };
      } catch (error) {
        problems.push({ path: `receivers[${index}].secrets[${position}]`, message: describeError(error) });
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
      const why = describeError(error);
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

/** One secret that may change in its file, and what was wrong with it at the start. A file that cannot be read any more keeps its last value. */
export function openSecret(reference: SecretReference, env: Environment): { readonly read: () => string; readonly problem?: string } {
  try {
    let value = readSecret(reference, env);
    const read = () => {
      try {
        value = readSecret(reference, env);
      } catch {
        // The file is missing for a moment, or for good: the last value stays valid.
      }
      return value;
    };
    return { read };
  } catch (error) {
    return { read: () => '', problem: describeError(error) };
  }
}

function checkPresent(value: string | undefined, reference: SecretReference): string {
  if (value === undefined) throw new Error(`${describe(reference)} is not set`);
  if (value === '') throw new Error(`${describe(reference)} is empty`);
  return value;
}

function describe(reference: SecretReference): string {
  return 'env' in reference ? `the environment variable ${reference.env}` : reference.file;
}

function check(text: string, reference: SecretReference, { isUrlOnly }: Receiver): string {
  const value = checkPresent(text, reference);
  if (isUrlOnly && isGuessable(value)) {
    throw new Error(
      `${describe(reference)} has fewer than ${minSecretLength} characters: it is all that protects the URL; openssl rand -hex 24 makes a good one`,
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
 * Reads the files of secrets every few seconds and compares their content: the kubelet replaces a symlink to the folder, which file system events report
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
