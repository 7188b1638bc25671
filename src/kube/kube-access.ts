import type { RequestOptions } from 'node:https';
import { delimiter, dirname, resolve } from 'node:path';
import { existsSync, readFileSync } from 'node:fs';
import { KubeConfig } from './kube-config.ts';
import { parse } from 'yaml';

/** The address of the API server and the credentials for it, valid for the next seconds. */
export interface KubeAccess {
  /** Scheme, host, port, and a path where the API server is behind one (`https://rancher.example.com/k8s/clusters/c-1`). */
  readonly server: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: KubeTls;
  readonly proxyUrl?: string;
}

/** The TLS material of the connection, in node:tls's terms. */
export interface KubeTls {
  readonly ca?: Buffer | string;
  readonly cert?: Buffer | string;
  readonly key?: Buffer | string;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

/** Provides credentials, and renews them regularly and after they were refused. */
export interface KubeAccessSource {
  /** The namespace of the kubeconfig's context, or of the pod. */
  readonly namespace: string | undefined;
  current(): Promise<KubeAccess>;
  /** Drops credentials that the API server refused, so that the next ones are read from their source again. */
  forget(refused: KubeAccess): void;
}

const cacheMs = 10_000;

/**
 * Access by kubeconfig (a path, or several as in the variable KUBECONFIG); without one by client-node's default rules: KUBECONFIG, ~/.kube/config, the
 * pod's service account. Throws if there is no usable one.
 */
export function loadKubeAccess(options: { kubeconfig?: string; context?: string; now?: () => number }): KubeAccessSource {
  const now = options.now ?? Date.now;
  let config: KubeConfig | undefined = loadConfig(options);
  let cached: CachedAccess | undefined;

  const start = (): CachedAccess => {
    config ??= loadConfig(options);
    const entry: CachedAccess = { at: now(), access: computeAccess(config) };
    return entry;
  };
  return {
    namespace: namespaceOf(config),
    async current() {
      if (!cached || now() - cached.at >= cacheMs) cached = start();
      const entry = cached;
      try {
        entry.resolved = await entry.access;
        return entry.resolved;
      } catch (error) {
        if (cached === entry) cached = undefined;
        throw error;
      }
    },
    forget(refused) {
      // Concurrent requests are refused with the same token: only the first may run the exec plugin again.
      if (cached?.resolved !== refused) return;
      cached = undefined;
      // client-node caches tokens of files for a minute, and those of exec plugins for ever: a new KubeConfig reads them again.
      config = undefined;
    },
  };
}

interface CachedAccess {
  readonly at: number;
  readonly access: Promise<KubeAccess>;
  resolved?: KubeAccess;
}

function loadConfig({ kubeconfig, context }: { kubeconfig?: string; context?: string }): KubeConfig {
  const config = kubeconfig ? loadFiles(kubeconfig.split(delimiter).filter(Boolean)) : loadDefault();
  if (context !== undefined) {
    if (!config.getContextObject(context)) {
      const names = config.getContexts().map(({ name }) => name);
      throw new Error(`the kubeconfig has no context "${context}"; it has ${names.join(', ') || 'none'}`);
    }
    config.setCurrentContext(context);
  }
  const cluster = config.getCurrentCluster();
  if (!cluster?.server) throw new Error(`the kubeconfig's context "${config.getCurrentContext()}" names no cluster with a server`);
  announceToExecPlugin(config);
  return config;
}

/** client-node's last resort is a server on this machine without TLS, which nobody means. */
function loadDefault(): KubeConfig {
  const config = new KubeConfig();
  config.loadFromDefault();
  if (config.getCurrentCluster()?.server === 'http://localhost:8080')
    throw new Error('there is no kubeconfig: name one with --kubeconfig or the variable KUBECONFIG, or write it to ~/.kube/config');
  return config;
}

/** The names of the kubeconfig's contexts. */
export function contextsOf({ kubeconfig }: { kubeconfig?: string }): string[] {
  return loadConfig({ ...(kubeconfig !== undefined && { kubeconfig }) })
    .getContexts()
    .map(({ name }) => name);
}

function namespaceOf(config: KubeConfig): string | undefined {
  return config.getContextObject(config.getCurrentContext())?.namespace?.trim() || undefined;
}

function loadFiles(files: readonly string[]): KubeConfig {
  const [first, ...more] = files.map((file) => {
    if (!existsSync(file)) throw new Error(`the kubeconfig ${file} does not exist: name another one with --kubeconfig or KUBECONFIG`);
    const config = new KubeConfig();
    config.loadFromFile(file);
    readTokenFiles(config, file);
    return config;
  });
  if (!first) throw new Error('the kubeconfig path is empty');
  for (const config of more) first.mergeConfig(config, true);
  return first;
}

/** client-node does not know kubeconfig's `tokenFile`; its own authenticator for the pod's token does the same, re-reading included. */
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

/** Plugins refuse to run without KUBERNETES_EXEC_INFO, which client-node does not set. */
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
      ...(ca && { ca }),
      ...(cert && { cert }),
      ...(key && { key }),
      ...(servername && { servername }),
      ...(rejectUnauthorized !== undefined && { rejectUnauthorized }),
    },
    ...(cluster.proxyUrl && { proxyUrl: cluster.proxyUrl }),
  };
}

function headersOf(options: { headers?: Record<string, unknown>; auth?: string | null | undefined }): Record<string, string> {
  const headers: Record<string, string> = {};
  // Token files end with a newline, which headers must not contain.
  for (const [name, value] of Object.entries(options.headers ?? {})) headers[name.toLowerCase()] = String(value).trim();
  if (options.auth) headers['authorization'] ??= `Basic ${Buffer.from(options.auth).toString('base64')}`;
  return headers;
}
