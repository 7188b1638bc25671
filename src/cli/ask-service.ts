/** One request to the API of a running image-watcher: through the API server, which proves where it leads, or to a server that the user names. */
import { request as httpRequest } from 'node:http';
import { processSource } from '../service/config/environment.ts';
import { describeError } from '../core/model/errors.ts';
import type { KubeAccessOptions } from '../service/kube/load-kube-access.ts';
import type { PodConnection } from '../service/kube/port-forward.ts';
import { ApiError } from './api-error.ts';
import { describeClusterError } from '../service/command-line/cluster-errors.ts';
import { findServiceNamespace, findServicePod } from './service-pod.ts';

/** What is asked. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What was answered, and by whom, for messages. */
export interface ApiAnswer {
  readonly status: number;
  readonly text: string;
  readonly from: string;
}

const timeoutMs = 30_000;
const maxAnswer = 64 * 1024 * 1024;

/** Asks a server by its URL; throws ApiError where it does not answer. */
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

/** https goes through HTTPS_PROXY. Plain http goes directly, since a proxy could read the token. */
async function openFetch({ protocol }: URL): Promise<{ readonly fetch: typeof fetch; close(): Promise<void> }> {
  if (protocol !== 'https:') return { fetch, close: () => Promise.resolve() };
  // Loaded only now: completion and connections through the API server should not wait for them.
  const [{ readProxies }, { openOutbound }] = await Promise.all([
    import('../service/config/settings.ts'),
    import('../service/proxy/outbound.ts'),
  ]);
  return openOutbound(readProxies({ registries: [] }, processSource()));
}

/** Asks a pod of the installation in this namespace, or where it is found; throws ApiError where there is none, or where it cannot be reached. */
export async function askThroughCluster(cluster: KubeAccessOptions, named: string | undefined, request: ApiRequest): Promise<ApiAnswer> {
  const signal = AbortSignal.timeout(timeoutMs);
  // Loaded only now: completion and --server should not wait for the Kubernetes client.
  const [{ openKubeClient }, { connectToPod, PortForwardError }] = await Promise.all([
    import('../service/kube/client.ts'),
    import('../service/kube/port-forward.ts'),
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

/** HTTP over one connection. */
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
