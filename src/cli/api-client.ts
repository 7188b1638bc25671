import { readFileSync } from 'node:fs';
import { describeError } from '../model/errors.ts';
import type { Options, Terminal } from './command.ts';
import { clusterOf, clusterOptions } from './policy-client.ts';

/** The options of every command that calls the API of a running image-watcher. */
export const apiOptions = {
  server: {
    value: 'URL',
    about: 'the operations listener (default http://127.0.0.1:9090: kubectl port-forward svc/image-watcher-operations 9090)',
  },
  'token-file': { value: 'FILE', completes: 'file', about: 'a file with a bearer token; without it, the token of the kubeconfig' },
  ...clusterOptions,
} as const satisfies Options;

export interface ApiTarget {
  readonly server?: string | undefined;
  readonly 'token-file'?: string | undefined;
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

/** The API could not be called, or its response was an error. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** The status of the response; undefined if there was none. */
  readonly status: number | undefined;

  constructor(message: string, { status, ...options }: ErrorOptions & { readonly status?: number } = {}) {
    super(message, options);
    this.status = status;
  }
}

/** Runs a command that calls the API; prints an ApiError and returns exit code 1. */
export async function withApi(terminal: Terminal, act: () => Promise<number>): Promise<number> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    terminal.err(`${error.message}\n`);
    return 1;
  }
}

const timeoutMs = 30_000;

/** Sends one request with the caller's token and returns the parsed response; throws ApiError, which says what to do. */
export async function callApi<T>(target: ApiTarget, method: 'GET' | 'POST', path: string): Promise<T> {
  const server = target.server ?? 'http://127.0.0.1:9090';
  if (!URL.canParse(path, server)) throw new ApiError(`--server ${server} is not a URL`);
  if (target['token-file'] === undefined && !isPrivate(new URL(server))) {
    throw new ApiError(
      `the token of a kubeconfig is sent over https or to this machine only, not to ${server}: give one with --token-file`,
    );
  }
  const authorization = await findAuthorization(target);
  const headers = { accept: 'application/json', ...(authorization !== undefined && { authorization }) };
  let response: Response;
  try {
    response = await fetch(new URL(path, server), {
      method,
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
      headers: method === 'POST' ? { ...headers, 'content-type': 'application/json' } : headers,
      ...(method === 'POST' && { body: '{}' }),
    });
  } catch (error) {
    throw new ApiError(
      `${server} cannot be reached: ${describeError(error)}: open a port (kubectl port-forward svc/image-watcher-operations 9090), or name it with --server`,
      { cause: error },
    );
  }
  const text = await response.text();
  const answer = parse(text);
  if (response.ok && answer !== undefined) return answer as T;
  const why = typeof answer === 'object' && answer !== null && 'error' in answer ? String(answer.error) : text.slice(0, 200);
  throw new ApiError(`${server} answered ${response.status}: ${why}`, { status: response.status });
}

/** Whether the token, which may be an administrator's, is protected on its way. */
function isPrivate({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}

/** The token of the file or of the kubeconfig; undefined without a kubeconfig, for listeners without authentication. */
async function findAuthorization({ 'token-file': tokenFile, ...values }: ApiTarget): Promise<string | undefined> {
  if (tokenFile !== undefined) {
    try {
      return `Bearer ${readFileSync(tokenFile, 'utf8').trim()}`;
    } catch (error) {
      throw new ApiError(`--token-file ${tokenFile} cannot be read: ${describeError(error)}`, { cause: error });
    }
  }
  const cluster = clusterOf(values);
  // Loaded only now: a token of a file should not wait for the Kubernetes client.
  const { loadKubeAccess } = await import('../kube/load-kube-access.ts');
  try {
    const source = await loadKubeAccess(cluster);
    const access = await source.current();
    return access.headers['authorization'];
  } catch (error) {
    if (cluster.kubeconfig === undefined && cluster.context === undefined) return undefined;
    throw new ApiError(`the kubeconfig gives no token: ${describeError(error)}`, { cause: error });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
