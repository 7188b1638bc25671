/** Calls the API of a running image-watcher with the token of the caller. The token is sent only to a server that proves that it is image-watcher. */
import { parseJson } from '../../core/model/untyped.ts';
import { readFileSync } from 'node:fs';
import { defined } from '../../core/model/defined.ts';
import { describeError } from '../../core/model/errors.ts';
import { describeReadError } from '../config/read-error.ts';
import { ApiError } from './api-error.ts';
import { askServer, askThroughCluster, type ApiRequest } from './ask-service.ts';
import type { Options, Terminal } from './command.ts';
import { clusterOf, clusterOptions } from './policy-client.ts';
import { readPolicyName } from './policy-name.ts';
import { fileOption } from './usual-options.ts';

/** The options that say where the API is. */
export const serviceOptions = {
  'service-namespace': {
    value: 'NAMESPACE',
    completes: 'namespace',
    about: `the namespace in which image-watcher is installed, for a connection through the API server (default: that of the conversion in the definition of the policies, or image-watcher)`,
  },
  server: { value: 'URL', about: 'the address of the operations listener, instead: https, or http with --insecure' },
  insecure: { about: 'send the token to a --server with http, where anybody may listen' },
  'token-file': fileOption('a file with a bearer token; without it, the token of the kubeconfig'),
} as const satisfies Options;

/** The options of every command that calls the API of a running image-watcher. */
export const apiOptions = { ...serviceOptions, ...clusterOptions } as const satisfies Options;

export interface ApiTarget {
  readonly server?: string | undefined;
  readonly insecure?: boolean | undefined;
  readonly 'service-namespace'?: string | undefined;
  readonly 'token-file'?: string | undefined;
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
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

/** Sends one request with the caller's token and returns the parsed response; throws ApiError, which says what to do. */
export async function callApi<T>(target: ApiTarget, method: 'GET' | 'POST', path: string): Promise<T> {
  const { server, 'service-namespace': namespace } = target;
  if (server !== undefined) checkServer(server, target);
  else if (namespace !== undefined && !/^[a-z0-9-]{1,63}$/.test(namespace))
    throw new ApiError(`--service-namespace ${namespace} is not the name of a namespace`);
  const authorization = await findAuthorization(target);
  const request: ApiRequest = {
    method,
    path,
    headers: {
      accept: 'application/json',
      ...defined({ authorization }),
      ...(method === 'POST' && { 'content-type': 'application/json' }),
    },
  };
  const { status, text, from } =
    server === undefined ? await askThroughCluster(clusterOf(target), namespace, request) : await askServer(server, request);
  const answer = parseJson(text);
  if (status >= 200 && status < 300 && answer !== undefined) return answer as T;
  const why = typeof answer === 'object' && answer !== null && 'detail' in answer ? String(answer.detail) : text.slice(0, 200);
  throw new ApiError(`${from} answered ${status}: ${why}`, { status });
}

/** Throws if the connection would not protect the token, which may be an administrator's, or if nothing proves who receives it. */
function checkServer(server: string, { insecure = false, 'token-file': tokenFile }: ApiTarget): void {
  const url = URL.parse(server);
  if (url === null || !/^https?:$/.test(url.protocol)) throw new ApiError(`--server ${server} is not a URL`);
  if (url.protocol === 'https:') return;
  if (!insecure)
    throw new ApiError(
      `with http, whoever listens at ${server} gets your token: use https, leave --server out to connect through the API server, or accept it with --insecure`,
    );
  if (tokenFile === undefined && !/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname))
    throw new ApiError(`the token of a kubeconfig is sent over http to this machine only, not to ${server}: give one with --token-file`);
}

/** The token of the file or of the kubeconfig. Undefined without a kubeconfig, for listeners without authentication. */
async function findAuthorization({ 'token-file': tokenFile, ...values }: ApiTarget): Promise<string | undefined> {
  if (tokenFile !== undefined) {
    let token: string;
    try {
      token = readFileSync(tokenFile, 'utf8').trim();
    } catch (error) {
      throw new ApiError(`--token-file ${tokenFile} ${describeReadError(error)}`, { cause: error });
    }
    // The error of fetch for a header that it refuses quotes the token.
    if (!/^[\x21-\x7e]+$/.test(token))
      throw new ApiError(`--token-file ${tokenFile} is not one token: it is empty, or has spaces or line breaks`);
    return `Bearer ${token}`;
  }
  const cluster = clusterOf(values);
  // Imported only here, so that a token of a file does not wait for the Kubernetes client.
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

/** The namespace and the name of a policy that the user names: without a namespace, that of the kubeconfig's context. Throws UsageError or ApiError. */
export async function findPolicyName(
  text: string,
  { namespace, ...target }: ApiTarget & { readonly namespace?: string | undefined },
): Promise<{ readonly namespace: string; readonly name: string }> {
  const named = readPolicyName(text, namespace);
  if (named.namespace !== undefined) return { namespace: named.namespace, name: named.name };
  const { loadKubeAccess } = await import('../kube/load-kube-access.ts');
  try {
    const { namespace: current = 'default' } = await loadKubeAccess(clusterOf(target));
    return { namespace: current, name: named.name };
  } catch (error) {
    throw new ApiError(`the namespace of ${named.name} is not known: ${describeError(error)}`, { cause: error });
  }
}
