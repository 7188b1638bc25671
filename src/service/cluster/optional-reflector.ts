/** A watch of a kind whose definition may not be installed, or which may not be read. */
import { describeError } from '../../core/model/errors.ts';
import { isKubeError } from '../kube/kube-error.ts';
import type { StoredObject } from '../kube/object-store.ts';
import { startReflector, type Reflector, type ReflectorOptions } from '../kube/reflector.ts';
import type { LogMessage } from '../telemetry/log-messages.ts';
import type { Logger } from '../telemetry/logger.ts';

/** A reflector of a kind that may be missing. */
export interface OptionalReflector extends Reflector {
  /** Resolves after the first list, or when the API server has answered that the kind does not exist. */
  readonly settled: Promise<void>;
}

/** Starts the reflector. `message` is logged once when the kind is missing or forbidden, and again if that happens after it existed. */
export function startOptionalReflector<T extends StoredObject>(
  options: Omit<ReflectorOptions<T>, 'onError'>,
  { logger, message }: { readonly logger: Logger; readonly message: LogMessage<'info'> },
): OptionalReflector {
  const missing = Promise.withResolvers<void>();
  let isMissing = false;
  const reflector = startReflector({
    ...options,
    onError(error, nextTryMs) {
      const isOptional = isKubeError(error, 404) || isKubeError(error, 403);
      if (isOptional) missing.resolve();
      if (isOptional && isMissing) return;
      isMissing = isOptional;
      if (isOptional) logger.info({ why: describeError(error) }, message);
      else logger.warn({ why: describeError(error), nextTryMs }, 'watch failed, will be repeated');
    },
  });
  return { ...reflector, settled: Promise.race([reflector.synced, missing.promise]) };
}
