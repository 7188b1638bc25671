import { PermanentError } from '../../core/model/errors.ts';

/** Prefixes the message of a PermanentError that `build` throws with the path of the field. */
export function inField<T>(path: string, build: () => T, separator = ': '): T {
  try {
    return build();
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error;
    throw new PermanentError(error.reason, `${path}${separator}${error.message}`, { cause: error });
  }
}
