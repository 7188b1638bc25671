/** The cache of a kind of a wing. Nothing waits for its definition, which may not be installed, or not be readable: the watches begin when it is. */
import { describeError } from '../../core/model/errors.ts';
import type { KubeClient } from '../kube/client.ts';
import { isKubeError } from '../kube/kube-error.ts';
import { createObjectStore, type ObjectStore, type StoredObject } from '../kube/object-store.ts';
import { listPath, type Resource } from '../kube/objects.ts';
import type { Reflector, ReflectorOptions } from '../kube/reflector.ts';
import type { LogMessage } from '../telemetry/log-messages.ts';
import { startSettlingWatch, watchOf } from './optional-watch.ts';
import type { Logger } from '../telemetry/logger.ts';

export interface OptionalCache<T extends StoredObject> {
  readonly objects: ObjectStore<T>;
  /** The watch of a namespace. */
  readonly watchOf: (namespace: string) => Reflector | undefined;
  /** Resolves when the objects are listed, or when the API server has answered that there are none. */
  readonly settled: () => Promise<unknown>;
  /** Whether the objects are listed, or known to be absent: `settled` has resolved. */
  readonly areKnown: () => boolean;
  /** Whether an object that is not in the cache does not exist. */
  readonly isComplete: () => boolean;
  /** Starts the watches of these namespaces; `undefined` stands for all namespaces. */
  start(namespaces: readonly (string | undefined)[]): void;
  stop(): Promise<void>;
}

export interface OptionalCacheOptions<T> {
  readonly client: KubeClient;
  readonly logger: Logger;
  readonly resource: Resource;
  readonly read: (raw: unknown) => T;
  /** Is logged once when the kind is missing or forbidden, and again if that happens after it existed. */
  readonly message: LogMessage<'info'>;
}

/** An empty cache. It connects when `start` is called. */
export function createOptionalCache<T extends StoredObject>({
  client,
  logger,
  resource,
  read,
  message,
}: OptionalCacheOptions<T>): OptionalCache<T> {
  const objects = createObjectStore<T>();
  let watches: readonly ReturnType<typeof watch>[] = [];
  let areKnown = false;
  const settled = () => Promise.all(watches.map((watch) => watch.settled));
  const watch = (namespace: string | undefined) => {
    let isMissing = false;
    const options: ReflectorOptions<T> = {
      client,
      path: listPath(resource, namespace),
      project: read,
      store: objects,
      onError(error, nextTryMs) {
        const wasMissing = isMissing;
        isMissing = isAbsent(error);
        if (!isMissing) logger.warn({ why: describeError(error), nextTryMs }, 'watch failed, will be repeated');
        else if (!wasMissing) logger.info({ why: describeError(error) }, message);
      },
    };
    return { namespace, ...startSettlingWatch(options, isAbsent) };
  };
  return {
    objects,
    watchOf: (namespace) => watchOf(watches, namespace),
    settled,
    areKnown: () => areKnown,
    isComplete: () => watches.length > 0 && watches.every(({ reflector }) => reflector.state().synced),
    start(namespaces) {
      watches = namespaces.map(watch);
      void settled().then(() => (areKnown = true));
    },
    async stop() {
      await Promise.all(watches.map(({ reflector }) => reflector.stop()));
    },
  };
}

/** Whether the API server has answered that the kind does not exist, or may not be read. */
function isAbsent(error: unknown): boolean {
  return isKubeError(error, 404) || isKubeError(error, 403);
}
