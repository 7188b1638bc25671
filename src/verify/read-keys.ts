import { describeError } from '../model/errors.ts';
import type { SecretRef } from '../model/image-source.ts';
import type { KeyRef } from '../model/verification.ts';
import { readPublicKey, type PublicKey } from './public-key.ts';

/** The `data` of a Secret (values in base64), or why there is none, in words for a user: `does not exist`. */
export type SecretContent = { readonly data: Readonly<Record<string, string>> } | { readonly why: string };

/** Reads one Secret; rejects when it cannot be known at present. */
export type ReadSecret = (secret: SecretRef, signal: AbortSignal) => Promise<SecretContent>;

/** The keys that can be used, and what is wrong with the others. */
export interface Keys {
  readonly usable: readonly PublicKey[];
  readonly problems: readonly string[];
}

/** Reads a policy's keys, which are in its own namespace; one that cannot be used does not hold up the others. */
export async function readKeys(refs: readonly KeyRef[], namespace: string, readSecret: ReadSecret, signal: AbortSignal): Promise<Keys> {
  const names = [...new Set(refs.map(({ secret }) => secret))];
  const read = async (name: string) => [name, await readSecret({ namespace, name }, signal)] as const;
  const secrets = new Map(await Promise.all(names.map(read)));
  const keys = refs.map((ref) => toKey(ref, namespace, secrets.get(ref.secret)));
  return {
    usable: keys.filter((key) => typeof key !== 'string'),
    problems: keys.filter((key) => typeof key === 'string'),
  };
}

function toKey({ secret, key }: KeyRef, namespace: string, content: SecretContent | undefined): PublicKey | string {
  const name = `key ${key} of Secret ${namespace}/${secret}`;
  if (content === undefined || 'why' in content) return `Secret ${namespace}/${secret} ${content?.why ?? 'was not read'}`;
  const value = Object.hasOwn(content.data, key) ? content.data[key] : undefined;
  if (value === undefined) return `Secret ${namespace}/${secret} has no key ${key}`;
  try {
    return readPublicKey(name, Buffer.from(value, 'base64').toString('utf8'));
  } catch (error) {
    return `${name} cannot be used: ${describeError(error)}`;
  }
}
