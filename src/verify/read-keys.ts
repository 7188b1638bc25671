import { describeError, PermanentError } from '../core/errors.ts';
import type { SecretRef } from '../core/image-source.ts';
import type { KeyRef } from '../core/verification.ts';
import { readPublicKey, type PublicKey } from './public-key.ts';

/** The data of a Secret, key → base64; undefined where there is none. Throws PermanentError when it may not be read, anything else to be tried again. */
export type ReadSecret = (ref: SecretRef, signal: AbortSignal) => Promise<Readonly<Record<string, string>> | undefined>;

/** The keys that can be used, and what is wrong with the others. */
export interface Keys {
  readonly usable: readonly PublicKey[];
  readonly problems: readonly string[];
}

/** Reads a policy's keys, which are in its own namespace; one that cannot be used does not hold up the others. */
export async function readKeys(refs: readonly KeyRef[], namespace: string, readSecret: ReadSecret, signal: AbortSignal): Promise<Keys> {
  const names = [...new Set(refs.map(({ secret }) => secret))];
  const secrets = new Map(
    await Promise.all(names.map(async (name) => [name, await readOne({ namespace, name }, readSecret, signal)] as const)),
  );
  const keys = refs.map((ref) => toKey(ref, namespace, secrets.get(ref.secret)));
  return {
    usable: keys.filter((key) => typeof key !== 'string'),
    problems: keys.filter((key) => typeof key === 'string'),
  };
}

type Content = Readonly<Record<string, string>> | string | undefined;

async function readOne(ref: SecretRef, readSecret: ReadSecret, signal: AbortSignal): Promise<Content> {
  try {
    return await readSecret(ref, signal);
  } catch (error) {
    if (error instanceof PermanentError) return error.message;
    throw error;
  }
}

function toKey({ secret, key }: KeyRef, namespace: string, content: Content): PublicKey | string {
  const name = `key ${key} of Secret ${namespace}/${secret}`;
  if (typeof content === 'string') return content;
  if (content === undefined) return `Secret ${namespace}/${secret} does not exist`;
  const value = Object.hasOwn(content, key) ? content[key] : undefined;
  if (value === undefined) return `Secret ${namespace}/${secret} has no key ${key}`;
  try {
    return readPublicKey(name, Buffer.from(value, 'base64').toString('utf8'));
  } catch (error) {
    return `${name} cannot be used: ${describeError(error)}`;
  }
}
