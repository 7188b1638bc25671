import type { Readable } from 'node:stream';
import { type Dispatcher, request as send } from 'undici';
import { defined } from '../../../core/model/defined.ts';

/** A request of the AWS SDK (`HttpRequest` of @smithy/types). */
interface SdkRequest {
  readonly method: Dispatcher.HttpMethod;
  /** The protocol with its colon: `https:` */
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number | undefined;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | readonly string[] | null>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | Readable | undefined;
}

/**
 * The `requestHandler` of a client of the AWS SDK. It sends requests to AWS APIs, including STS, through a dispatcher. The SDK itself sends requests to the
 * metadata servers of AWS, without the dispatcher.
 */
export function awsRequests(dispatcher: Dispatcher) {
  return {
    async handle(request: SdkRequest, { abortSignal }: { readonly abortSignal?: AbortSignal } = {}) {
      const { method, headers, body } = request;
      const answer = await send(urlOf(request), {
        dispatcher,
        method,
        headers,
        ...defined({ body, signal: abortSignal }),
        // The connection is closed, because tokens are fetched hours apart.
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
