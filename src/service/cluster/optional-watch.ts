import { describeError } from '../../core/model/errors.ts';
import { isKubeError, KubeError } from '../kube/kube-error.ts';
import type { StoredObject } from '../kube/object-store.ts';
import { startReflector, type Reflector, type ReflectorOptions } from '../kube/reflector.ts';
import type { Check } from '../telemetry/readiness.ts';
import type { Logger } from '../telemetry/logger.ts';

/** A watch that may be forbidden. No work then waits for it, and the service runs without it. */
export interface OptionalWatch {
  readonly name: string;
  readonly reflector: Reflector;
  /** Resolves after the first list, or when the API server has refused it. A refused list may never succeed. */
  readonly synced: Promise<void>;
  /** Whether the store of the watch is up to date. */
  isCurrent(): boolean;
  check(): Check;
}

/** The collection to watch, and (`without`) what does not work if the watch is forbidden. */
export interface OptionalWatchOptions<T extends StoredObject> extends ReflectorOptions<T> {
  readonly name: string;
  readonly without: string;
  /** Whether its check fails also where the watch is forbidden, because the configuration needs it. */
  readonly isNeeded?: boolean;
  readonly logger: Logger;
}

/** Starts a watch. `settled` resolves after its first list, or with an error for which nothing waits any longer: the list may never succeed. */
export function startSettlingWatch<T extends StoredObject>(
  options: ReflectorOptions<T>,
  isFinal: (error: unknown) => boolean,
): { readonly reflector: Reflector; readonly settled: Promise<void> } {
  const refused = Promise.withResolvers<void>();
  const reflector = startReflector({
    ...options,
    onError(error, nextTryMs) {
      if (isFinal(error)) refused.resolve();
      options.onError?.(error, nextTryMs);
    },
  });
  return { reflector, settled: Promise.race([reflector.synced, refused.promise]) };
}

/** The watch that reports the objects of a namespace. */
export function watchOf(
  watches: readonly { readonly namespace: string | undefined; readonly reflector: Reflector }[],
  namespace: string,
): Reflector | undefined {
  return watches.find((watch) => watch.namespace === undefined || watch.namespace === namespace)?.reflector;
}

/** Starts a watch; logs once if it is forbidden. */
export function startOptionalWatch<T extends StoredObject>(options: OptionalWatchOptions<T>): OptionalWatch {
  const { name, without, isNeeded = false, logger } = options;
  let isForbidden = false;
  const onError: ReflectorOptions<T>['onError'] = (error, nextTryMs) => {
    if (!isKubeError(error, 403)) return logger.warn({ why: describeError(error), nextTryMs }, 'watch failed, will be repeated');
    if (!isForbidden) logger.info({ watch: name, why: describeError(error), without }, 'an optional watch is forbidden');
    isForbidden = true;
  };
  const { reflector, settled: synced } = startSettlingWatch({ ...options, onError }, (error) => error instanceof KubeError);
  const isCurrent = () => {
    const { synced, connected } = reflector.state();
    return synced && connected;
  };
  return {
    name,
    reflector,
    synced,
    isCurrent,
    check() {
      const { synced, lastError, objects } = reflector.state();
      if (isForbidden && !isCurrent())
        return { name: `kubernetes ${name}`, ok: !isNeeded, required: false, detail: `forbidden: ${without}` };
      const detail = lastError ?? (synced ? `${objects} objects` : 'listing');
      return { name: `kubernetes ${name}`, ok: isCurrent(), required: false, detail };
    },
  };
}
