/** One request to the API of a running image-watcher: through the API server, which authenticates the target, or to a server that the user names. */
import { request as httpRequest } from 'node:http';
import { processSource } from '../config/environment.ts';
import { describeError } from '../../core/model/errors.ts';
import type { KubeAccessOptions } from '../kube/load-kube-access.ts';
import type { PodConnection } from '../kube/port-forward.ts';
import { ApiError } from './api-error.ts';
import { describeClusterError } from './cluster-errors.ts';
import { findServiceNamespace, findServicePod } from './service-pod.ts';

/** A request to the API of image-watcher. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The response of the service, and the name of the process that sent it, for messages. */
export interface ApiAnswer {
  readonly status: number;
  readonly text: string;
  readonly from: string;
}

const timeoutMs = 30_000;
const maxAnswer = 64 * 1024 * 1024;

/** Sends a request to a server by its URL. Throws ApiError if the server does not answer. */
export async function askServer(server: string, { method, path, headers }: ApiRequest): Promise<ApiAnswer> {
  const { fetch, close } = await openFetch(new URL(server));
  try {
    const response = await fetch(new URL(path, server), {
      method,
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
      headers,
      ...(method === 'POST' && { body: '{}' }),
    });
    return { status: response.status, text: await response.text(), from: server };
  } catch (error) {
    throw new ApiError(
      `${server} cannot be reached: ${describeError(error)}: name another address with --server, or leave it out to connect through the API server`,
      { cause: error },
    );
  } finally {
    await close();
  }
}

/** Opens a client for a server. Requests by https use HTTPS_PROXY. Those by plain http do not, because a proxy could read the token. */
export async function openFetch({ protocol }: Pick<URL, 'protocol'>): Promise<{ readonly fetch: typeof fetch; close(): Promise<void> }> {
  if (protocol !== 'https:') return { fetch, close: () => Promise.resolve() };
  // Imported only here, so that completion and connections through the API server do not wait for the clients.
  const [{ readProxies }, { openOutbound }] = await Promise.all([import('../config/settings.ts'), import('../proxy/outbound.ts')]);
  return openOutbound(readProxies({ registries: [] }, processSource()));
}

/** Sends a request to a pod in the named namespace, or in that of the installation. Throws ApiError if there is no pod, or no connection to it. */
export async function askThroughCluster(cluster: KubeAccessOptions, named: string | undefined, request: ApiRequest): Promise<ApiAnswer> {
  const signal = AbortSignal.timeout(timeoutMs);
  // Imported only here, so that completion and --server do not wait for the Kubernetes client.
  const [{ openKubeClient }, { connectToPod, PortForwardError }] = await Promise.all([
    import('../kube/client.ts'),
    import('../kube/port-forward.ts'),
  ]);
  const findPod = async () => {
    const client = await openKubeClient(cluster);
    try {
      return await findServicePod(client, named ?? (await findServiceNamespace(client, signal)), signal);
    } finally {
      await client.close();
    }
  };
  const pod = await findPod().catch((error: unknown) => {
    throw error instanceof ApiError ? error : new ApiError(describeClusterError(error), { cause: error });
  });
  const { namespace } = pod;
  const from = `pod ${namespace}/${pod.pod}`;
  let connection: PodConnection | undefined;
  try {
    connection = await connectToPod(cluster, pod);
    return { ...(await exchange(connection, request, signal)), from };
  } catch (error) {
    if (error instanceof PortForwardError && (error.status === 401 || error.status === 403))
      throw new ApiError(
        `you may not connect to ${from}: ask an administrator for "get" and "create" on pods/portforward in the namespace ${namespace}, or name an address of the service with --server`,
        { cause: error },
      );
    const why = connection?.problem() ?? '';
    throw new ApiError(`${from} cannot be reached through the API server: ${why === '' ? describeError(error) : why}`, { cause: error });
  } finally {
    connection?.close();
  }
}

/** Exchanges HTTP request and response over one connection. */
function exchange({ stream }: PodConnection, { method, path, headers }: ApiRequest, signal: AbortSignal): Promise<Omit<ApiAnswer, 'from'>> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ method, path, headers: { ...headers, host: 'localhost' }, createConnection: () => stream, signal });
    sent.on('error', reject);
    sent.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
        if (text.length > maxAnswer) response.destroy(new Error('the answer is too large'));
      });
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.end(method === 'POST' ? '{}' : undefined);
  });
}
