/** Opens access by kubeconfig. @kubernetes/client-node reads files, contexts, exec and auth plugins. This module is loaded only if there is a kubeconfig. */
import type { RequestOptions } from 'node:https';
import { delimiter, dirname, resolve } from 'node:path';
import { existsSync, readFileSync } from 'node:fs';
import { KubeConfig } from '@kubernetes/client-node';
import { parse } from 'yaml';
import { defined } from '../../core/model/defined.ts';
import { renewAccess, type KubeAccess, type KubeAccessSource } from './kube-access.ts';
import type { KubeAccessOptions } from './load-kube-access.ts';

/** Opens access by kubeconfig; without a path, by the default rules of client-node. Throws if there is no usable one. */
export function openKubeconfig(options: KubeAccessOptions): KubeAccessSource {
  let config = loadConfig(options);
  const read = (isRefused: boolean): Promise<KubeAccess> => {
    // A new KubeConfig reads refused tokens again. client-node caches tokens of files for a minute, and those of exec plugins for ever.
    if (isRefused) config = loadConfig(options);
    return computeAccess(config);
  };
  return { namespace: namespaceOf(config), ...renewAccess(read, options.now ?? Date.now) };
}

/** The names of the kubeconfig's contexts. */
export function readContexts({ kubeconfig }: KubeAccessOptions): string[] {
  return loadConfig({ ...defined({ kubeconfig }) })
    .getContexts()
    .map(({ name }) => name);
}

/** Loads the kubeconfig with client-node. Throws if there is no usable one. */
export function loadConfig({ kubeconfig, context, option }: KubeAccessOptions): KubeConfig {
  const ways = option === undefined ? 'the variable KUBECONFIG' : `${option} or the variable KUBECONFIG`;
  const config = kubeconfig ? loadFiles(kubeconfig.split(delimiter).filter(Boolean), ways) : loadDefault(ways);
  if (context !== undefined) {
    if (!config.getContextObject(context)) {
      const names = config.getContexts().map(({ name }) => name);
      throw new Error(`the kubeconfig has no context "${context}"; it has ${names.join(', ') || 'none'}`);
    }
    config.setCurrentContext(context);
  }
  if (!config.getCurrentContext()) {
    const names = config.getContexts().map(({ name }) => name);
    const choose = `kubectl config use-context NAME${option === undefined ? '' : ', or --context NAME'}`;
    throw new Error(
      names.length === 0
        ? `the kubeconfig has no contexts: name another one with ${ways}`
        : `the kubeconfig has no current context: choose one (${choose}) of ${names.join(', ')}`,
    );
  }
  const cluster = config.getCurrentCluster();
  if (!cluster?.server) throw new Error(`the kubeconfig's context "${config.getCurrentContext()}" names no cluster with a server`);
  announceToExecPlugin(config);
  return config;
}

/** Loads the default kubeconfig. client-node's last resort, a server on this machine without TLS, is an error. */
function loadDefault(ways: string): KubeConfig {
  const config = new KubeConfig();
  config.loadFromDefault();
  if (config.getCurrentCluster()?.server === 'http://localhost:8080')
    throw new Error(`there is no kubeconfig: name one with ${ways}, or write it to ~/.kube/config`);
  return config;
}

function namespaceOf(config: KubeConfig): string | undefined {
  return config.getContextObject(config.getCurrentContext())?.namespace?.trim() || undefined;
}

function loadFiles(files: readonly string[], ways: string): KubeConfig {
  const [first, ...more] = files.map((file) => {
    if (!existsSync(file)) throw new Error(`the kubeconfig ${file} does not exist: name another one with ${ways}`);
    return loadFile(file);
  });
  if (!first) throw new Error('the kubeconfig path is empty');
  for (const config of more) first.mergeConfig(config, true);
  return first;
}

function loadFile(file: string): KubeConfig {
  const config = new KubeConfig();
  try {
    config.loadFromFile(file);
    readTokenFiles(config, file);
  } catch (error) {
    throw new Error(`the kubeconfig ${file} cannot be used`, { cause: error });
  }
  return config;
}

/** Reads `tokenFile` of a kubeconfig, which client-node does not know. Its own authenticator for the pod's token does the same, re-reading included. */
function readTokenFiles(config: KubeConfig, file: string): void {
  const raw = parse(readFileSync(file, 'utf8')) as { users?: { name?: string; user?: { tokenFile?: string } }[] } | null;
  for (const { name, user } of raw?.users ?? []) {
    if (!user?.tokenFile) continue;
    const tokenFile = resolve(dirname(file), user.tokenFile);
    config.users = config.users.map((known) =>
      known.name === name ? { ...known, authProvider: { name: 'tokenFile', config: { tokenFile } } } : known,
    );
  }
}

/** Sets KUBERNETES_EXEC_INFO, which client-node does not set and without which plugins refuse to run. */
function announceToExecPlugin(config: KubeConfig): void {
  const exec = config.getCurrentUser()?.exec as { apiVersion?: string; env?: { name: string; value: string }[] | null } | null | undefined;
  if (!exec) return;
  const info = { apiVersion: exec.apiVersion ?? 'client.authentication.k8s.io/v1', kind: 'ExecCredential', spec: { interactive: false } };
  exec.env = [...(exec.env ?? []), { name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(info) }];
}

async function computeAccess(config: KubeConfig): Promise<KubeAccess> {
  const cluster = config.getCurrentCluster();
  if (!cluster) throw new Error('the kubeconfig names no cluster');
  const options: RequestOptions & { ca?: Buffer; cert?: Buffer | string; key?: Buffer | string; headers?: Record<string, unknown> } = {};
  try {
    await config.applyToHTTPSOptions(options);
  } catch (error) {
    throw new Error('getting the credentials for the API server failed', { cause: error });
  }
  const { ca, cert, key, servername, rejectUnauthorized } = options;
  return {
    server: cluster.server.replace(/\/+$/, ''),
    headers: headersOf(options),
    tls: {
      ...defined({ ca }),
      ...(cert && { cert }),
      ...(key && { key }),
      ...(servername && { servername }),
      ...defined({ rejectUnauthorized }),
    },
    ...(cluster.proxyUrl && { proxyUrl: cluster.proxyUrl }),
  };
}

function headersOf(options: { headers?: Record<string, unknown>; auth?: string | null | undefined }): Record<string, string> {
  const headers: Record<string, string> = {};
  // Headers are trimmed, because token files end with a newline, which headers must not contain.
  for (const [name, value] of Object.entries(options.headers ?? {})) headers[name.toLowerCase()] = String(value).trim();
  if (options.auth) headers['authorization'] ??= `Basic ${Buffer.from(options.auth).toString('base64')}`;
  return headers;
}
