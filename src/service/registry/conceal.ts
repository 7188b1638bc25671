import { describeError, PermanentError } from '../../core/model/errors.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import { BoundedMap } from '../../core/async/bounded-map.ts';
import type { HttpAnswer, HttpRequest } from './http.ts';
import type { Registries } from './registries.ts';

/**
 * Prevents port scans of private networks. Policies name hosts, and registries name token servers and redirects, so error messages must not show how a private
 * address answers.
 */
export interface Concealment {
  /** Observes each request. Throws if the request went to a private address whose answer is an error that no registry sends. */
  readonly onHop: (request: HttpRequest, answer: HttpAnswer | undefined) => void;
  /** Runs a request. If its registry is at a private address, or led to one, every failure becomes the same error without details. */
  run<T>(source: ImageSource, request: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

const maxRegistries = 10_000;

/** Creates a concealment. `onDetails` gets the details that the author of a policy must not see. */
export function createConcealment(registries: Registries, onDetails: (registry: string, why: string) => void): Concealment {
  /** The registries that led to a private address which the configuration does not name. */
  const concealed = new BoundedMap<string, true>(maxRegistries);
  return {
    onHop({ registry, url, what }, answer) {
      if (!registries.isConcealed(url, registry)) return;
      concealed.set(registry.name, true);
      if (answer !== undefined && answer.status >= 400 && !isOfRegistry(answer))
        throw new Error(`${what}: ${url.host} answered ${answer.status}, not as a registry does`);
    },
    async run(source, request, signal) {
      try {
        return await request();
      } catch (error) {
        const isVisible = !concealed.has(source.registry) || (error instanceof PermanentError && error.reason === 'RegistryDenied');
        if (signal?.aborted || isVisible) throw error;
        onDetails(source.registry, describeError(error));
        throw concealedError(source);
      }
    },
  };
}

/** The error without details. It has no `cause`, because the messages of causes are shown as well. */
function concealedError(source: ImageSource): Error {
  const where = 'the log of image-watcher has them ("registry failed, details")';
  const remedy = 'if it is a registry, have it added to registries or allowedRegistries of the configuration';
  return new Error(
    `reading ${formatRepository(source)}: the request failed. It leads to a private address, for which no details are shown here: ${where}; ${remedy}`,
  );
}

/** Whether an answer comes from a registry: it has the API version header, or an error document of the distribution specification. */
function isOfRegistry({ headers, body }: HttpAnswer): boolean {
  return headers['docker-distribution-api-version'] !== undefined || /^\s*\{\s*"errors"\s*:/.test(body.toString('utf8', 0, 200));
}
