import { readFileSync } from 'node:fs';
import { kubeconfigOf, processSource } from '../config.ts';
import { describeError } from '../model/errors.ts';

/** The options of every command that calls the API of a running image-watcher. */
export const apiOptions = {
  server: { type: 'string' },
  'token-file': { type: 'string' },
  kubeconfig: { type: 'string' },
  context: { type: 'string' },
  output: { type: 'string', short: 'o' },
} as const;

/** Their lines of `--help`. */
export const apiHelp = `  --server      the operations listener (default http://127.0.0.1:9090: kubectl port-forward svc/image-watcher-operations 9090)
  --token-file  a file with a bearer token; without it the token of --kubeconfig (or KUBECONFIG, or ~/.kube/config)
  --output      text or json
`;

export interface ApiTarget {
  readonly server?: string | undefined;
  readonly 'token-file'?: string | undefined;
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

/** The API could not be called, or its response was an error. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** Absent where there was no response. */
  readonly status: number | undefined;

  constructor(message: string, { status, ...options }: ErrorOptions & { readonly status?: number } = {}) {
    super(message, options);
    this.status = status;
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
    throw new ApiError(`${server} cannot be reached: ${describeError(error)}`, { cause: error });
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
async function findAuthorization({ 'token-file': tokenFile, kubeconfig, context }: ApiTarget): Promise<string | undefined> {
  if (tokenFile !== undefined) {
    try {
      return `Bearer ${readFileSync(tokenFile, 'utf8').trim()}`;
    } catch (error) {
      throw new ApiError(`--token-file ${tokenFile} cannot be read: ${describeError(error)}`, { cause: error });
    }
  }
  const file = kubeconfig ?? kubeconfigOf(processSource());
  // Loaded only now: a token of a file should not wait for the Kubernetes client.
  const { loadKubeAccess } = await import('../kube/kube-access.ts');
  try {
    const access = await loadKubeAccess({
      ...(file !== undefined && { kubeconfig: file }),
      ...(context !== undefined && { context }),
    }).current();
    return access.headers['authorization'];
  } catch (error) {
    if (file === undefined && context === undefined) return undefined;
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
