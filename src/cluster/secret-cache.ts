import type { SecretRead } from '../kube/secrets.ts';
import { BoundedMap } from '../async/bounded-map.ts';
import { SingleFlight } from '../async/single-flight.ts';
import type { SecretRef } from '../model/image-source.ts';
import { isNewer } from '../model/workload.ts';
import type { ObjectStore, StoredObject } from '../kube/object-store.ts';

export interface SecretCacheOptions {
  /** Reads exactly this Secret; rejects when it cannot be known. */
  readonly read: (secret: SecretRef, signal?: AbortSignal) => Promise<SecretRead>;
  /** The metadata of the watched Secrets. */
  readonly watched: Pick<ObjectStore<StoredObject>, 'get'>;
  /** Whether `watched` tells the present of this Secret. */
  readonly isWatched: (secret: SecretRef) => boolean;
  readonly now?: () => number;
}

/** Contents of Secrets by name, the same object while nothing changed. */
export type SecretCache = (secret: SecretRef, options: { refresh: boolean; signal?: AbortSignal | undefined }) => Promise<SecretRead>;

/** Names are tenants' input. */
const maxSecrets = 1_000;
const unwatchedMs = 30_000;

/**
 * Reads Secrets one by one, when they are needed. Where they are watched, what was read is good while the watch shows the same version; elsewhere for 30 s.
 * While a Secret cannot be read, the last content is used, except for a refresh, which then rejects.
 */
export function createSecretCache({ read, watched, isWatched, now = Date.now }: SecretCacheOptions): SecretCache {
  const entries = new BoundedMap<string, { readonly content: SecretRead; readonly readAt: number }>(maxSecrets);
  const flights = new SingleFlight<SecretRead>();

  const isFresh = (secret: SecretRef, { content, readAt }: { content: SecretRead; readAt: number }): boolean => {
    if (!isWatched(secret)) return now() - readAt < unwatchedMs;
    const shown = watched.get(secret.namespace, secret.name)?.resourceVersion;
    if ('why' in content) return shown === undefined && now() - readAt < unwatchedMs;
    return shown !== undefined && !isNewer(shown, content.resourceVersion);
  };

  const isOutdated = (secret: SecretRef, content: SecretRead): boolean => {
    const shown = isWatched(secret) ? watched.get(secret.namespace, secret.name)?.resourceVersion : undefined;
    return shown !== undefined && ('why' in content || isNewer(shown, content.resourceVersion));
  };

  const fetch = async (key: string, secret: SecretRef): Promise<SecretRead> => {
    const before = entries.get(key)?.content;
    const content = await read(secret);
    const kept = before !== undefined && isSame(before, content) ? before : content;
    entries.set(key, { content: kept, readAt: now() });
    return kept;
  };

  const fetchOnce = (key: string, secret: SecretRef) => flights.run(key, () => fetch(key, secret));

  return async (secret, { refresh }) => {
    const key = `${secret.namespace}/${secret.name}`;
    const entry = entries.get(key);
    if (entry && !refresh && isFresh(secret, entry)) return entry.content;
    try {
      const read = await fetchOnce(key, secret);
      // The reading may have been under way when the Secret changed.
      return isOutdated(secret, read) ? await fetchOnce(key, secret) : read;
    } catch (error) {
      if (entry && !refresh) return entry.content;
      throw new Error(`reading Secret ${key}`, { cause: error });
    }
  };
}

function isSame(a: SecretRead, b: SecretRead): boolean {
  if ('why' in a || 'why' in b) return 'why' in a && 'why' in b && a.why === b.why;
  return a.resourceVersion === b.resourceVersion;
}
