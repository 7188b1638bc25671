import type { SecretRead } from '../kube/secrets.ts';
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { SingleFlight } from '../../core/async/single-flight.ts';
import type { SecretRef } from '../../core/model/image-source.ts';
import { isNewer } from '../../core/model/workload.ts';
import type { ObjectStore, StoredObject } from '../kube/object-store.ts';

export interface SecretCacheOptions {
  /** Reads a Secret; rejects if its state cannot be determined. */
  readonly read: (secret: SecretRef) => Promise<SecretRead>;
  /** The metadata of the watched Secrets. */
  readonly watched: Pick<ObjectStore<StoredObject>, 'get'>;
  /** Whether the watch that fills `watched` is up to date for a Secret. */
  readonly isWatched: (secret: SecretRef) => boolean;
  /** A monotonic clock in ms; by default the clock of the process. */
  readonly elapsed?: () => number;
}

/** Returns the content of a Secret by its name; the same object while the Secret is unchanged. */
export type SecretCache = (secret: SecretRef, options: { readonly refresh: boolean }) => Promise<SecretRead>;

/** The limit for cached Secrets, whose names tenants choose. */
const maxSecrets = 1_000;
const unwatchedMs = 30_000;

/**
 * Creates a cache that reads Secrets one by one when they are needed. A content is valid while the watch shows the same version; without a watch, for 30 s.
 * While a Secret cannot be read, the last content is used, except for a refresh, which then rejects.
 */
export function createSecretCache({ read, watched, isWatched, elapsed = () => performance.now() }: SecretCacheOptions): SecretCache {
  const entries = new BoundedMap<string, { readonly content: SecretRead; readonly readAt: number }>(maxSecrets);
  const flights = new SingleFlight<SecretRead>();

  const isFresh = (secret: SecretRef, { content, readAt }: { content: SecretRead; readAt: number }): boolean => {
    if (!isWatched(secret)) return elapsed() - readAt < unwatchedMs;
    const shown = watched.get(secret.namespace, secret.name)?.resourceVersion;
    if ('why' in content) return shown === undefined && elapsed() - readAt < unwatchedMs;
    return shown !== undefined && !isNewer(shown, content.resourceVersion);
  };

  const isOutdated = (secret: SecretRef, content: SecretRead): boolean => {
    const shown = isWatched(secret) ? watched.get(secret.namespace, secret.name)?.resourceVersion : undefined;
    return shown !== undefined && ('why' in content || isNewer(shown, content.resourceVersion));
  };

  const fetch = async (key: string, secret: SecretRef): Promise<SecretRead> => {
    const before = entries.get(key)?.content;
    const content = await read(secret);
    const cached = before !== undefined && isSame(before, content) ? before : content;
    entries.set(key, { content: cached, readAt: elapsed() });
    return cached;
  };

  const fetchOnce = (key: string, secret: SecretRef) => flights.run(key, () => fetch(key, secret));

  return async (secret, { refresh }) => {
    const key = `${secret.namespace}/${secret.name}`;
    const entry = entries.get(key);
    if (entry && !refresh && isFresh(secret, entry)) return entry.content;
    try {
      const read = await fetchOnce(key, secret);
      // The Secret may have changed during a read that was already running.
      return isOutdated(secret, read) ? await fetchOnce(key, secret) : read;
    } catch (error) {
      if (entry && !refresh) return entry.content;
      throw new Error(`Secret ${key} cannot be read`, { cause: error });
    }
  };
}

function isSame(a: SecretRead, b: SecretRead): boolean {
  if ('why' in a || 'why' in b) return 'why' in a && 'why' in b && a.why === b.why;
  return a.resourceVersion === b.resourceVersion;
}
