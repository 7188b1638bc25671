import { describeError, PermanentError } from '../model/errors.ts';
import { formatRepository } from '../model/image-reference.ts';
import type { ImageSource } from '../model/image-source.ts';
import { BoundedMap } from '../async/bounded-map.ts';
import type { HttpAnswer, HttpRequest } from './http.ts';
import type { Registries } from './registries.ts';

/** Prevents port scans by policies: the author of a policy names a host, and a registry names its token server and redirects. */
export interface Concealment {
  /** Observes a request; throws if it went to a private address and the answer is not that of a registry. */
  readonly onHop: (request: HttpRequest, answer: HttpAnswer | undefined) => void;
  /** Runs a request about a source. For a registry with such an address, every failure becomes the same error. */
  run<T>(source: ImageSource, ask: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

const maxRegistries = 10_000;

/** `onDetails` gets what the author of a policy must not see. */
export function createConcealment(
  registries: Pick<Registries, 'isConcealed'>,
  onDetails: (registry: string, why: string) => void,
): Concealment {
  /** Names of registries that led to a private address which the configuration does not name. */
  const concealed = new BoundedMap<string, true>(maxRegistries);
  return {
    onHop({ registry, url, what }, answer) {
      if (!registries.isConcealed(url, registry)) return;
      concealed.set(registry.name, true);
      if (answer !== undefined && answer.status >= 400 && !isOfRegistry(answer))
        throw new Error(`${what}: ${url.host} answered ${answer.status}, not as a registry does`);
    },
    async run(source, ask, signal) {
      try {
        return await ask();
      } catch (error) {
        const isVisible = !concealed.has(source.registry) || (error instanceof PermanentError && error.reason === 'RegistryDenied');
        if (signal?.aborted || isVisible) throw error;
        onDetails(source.registry, describeError(error));
        throw concealedError(source);
      }
    },
  };
}

/** Has no cause, since causes become part of messages. */
function concealedError(source: ImageSource): Error {
  const remedy = 'if it is a registry, have it added to registries or allowedRegistries of the configuration';
  return new Error(
    `reading ${formatRepository(source)}: no registry answers there. It leads to a private address, for which no details are shown: ${remedy}`,
  );
}

/** Registries send this header, or errors of the distribution specification. */
function isOfRegistry({ headers, body }: HttpAnswer): boolean {
  return headers['docker-distribution-api-version'] !== undefined || /^\s*\{\s*"errors"\s*:/.test(body.toString('utf8', 0, 200));
}
