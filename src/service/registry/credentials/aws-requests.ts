import type { Readable } from 'node:stream';
import { type Dispatcher, request as send } from 'undici';

/** A request of the SDK of AWS (`HttpRequest` of @smithy/types). */
interface SdkRequest {
  readonly method: Dispatcher.HttpMethod;
  /** `https:` */
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number | undefined;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | readonly string[] | null>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | Readable | undefined;
}

/**
 * The `requestHandler` of a client of the SDK, which sends through a dispatcher what is requested from APIs of AWS, also from STS. The metadata servers of AWS are
 * requested by the SDK itself, directly.
 */
export function awsRequests(dispatcher: Dispatcher) {
  return {
    async handle(request: SdkRequest, { abortSignal }: { readonly abortSignal?: AbortSignal } = {}) {
      const { method, headers, body } = request;
      const answer = await send(urlOf(request), {
        dispatcher,
        method,
        headers,
        ...(body !== undefined && { body }),
        ...(abortSignal !== undefined && { signal: abortSignal }),
        // Tokens are fetched hours apart.
        reset: true,
      });
      const fields = Object.entries(answer.headers).map(([name, value]) => [name, [value].flat().join(', ')] as const);
      return { response: { statusCode: answer.statusCode, headers: Object.fromEntries(fields), body: answer.body } };
    },
    updateHttpClientConfig: () => undefined,
    httpHandlerConfigs: () => ({}),
    destroy: () => undefined,
  };
}

function urlOf({ protocol, hostname, port, path, query = {} }: SdkRequest): URL {
  const url = new URL(path, `${protocol}//${hostname}`);
  if (port !== undefined) url.port = String(port);
  for (const [name, value] of Object.entries(query)) for (const one of [value].flat()) url.searchParams.append(name, one ?? '');
  return url;
}
