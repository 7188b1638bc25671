/**
 * Opens access from inside a cluster, as Kubernetes documents it for pods ("Accessing the Kubernetes API from a Pod"): the address in two variables, and the
 * files of the service account. It needs no kubeconfig, so a process in a pod does not load @kubernetes/client-node.
 */
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { describeError } from '../../core/model/errors.ts';
import { renewAccess, type KubeAccess, type KubeAccessSource } from './kube-access.ts';

/** The address of the API server, as KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT name it in each pod. */
export interface PodAddress {
  readonly host: string | undefined;
  readonly port: string | undefined;
}

/** The address of the API server, the folder of the service account, and the clock. */
export interface PodOptions {
  readonly address: PodAddress;
  /** The folder with `token`, `ca.crt` and `namespace`. */
  readonly folder?: string;
  readonly now?: () => number;
}

const serviceAccountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Whether this process runs in a pod that may reach the API server. */
export function isInPod({ address, folder = serviceAccountFolder }: PodOptions): boolean {
  return Boolean(address.host) || existsSync(join(folder, 'token'));
}

/** Opens the access of the pod's service account. Its files are read again, because the kubelet replaces them. Throws if a file or the address is missing. */
export function openPodAccess({ address, folder = serviceAccountFolder, now = Date.now }: PodOptions): KubeAccessSource {
  const server = serverOf(address);
  const files = { token: join(folder, 'token'), ca: join(folder, 'ca.crt'), namespace: join(folder, 'namespace') };
  if (!existsSync(files.token))
    throw new Error(`the pod has no service account token (${files.token}): set automountServiceAccountToken, or name a kubeconfig`);
  const read = async (): Promise<KubeAccess> => {
    const [token, ca] = await Promise.all([readPart(files.token), readPart(files.ca)]);
    return { server, headers: { authorization: `Bearer ${token}` }, tls: { ca } };
  };
  const namespace = existsSync(files.namespace) ? readFileSync(files.namespace, 'utf8').trim() : '';
  return { namespace: namespace || undefined, ...renewAccess(read, now) };
}

function serverOf({ host, port }: PodAddress): string {
  if (!host || !port)
    throw new Error('KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set, as in every pod: set them, or name a kubeconfig');
  return `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

async function readPart(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new Error(`the service account of the pod cannot be read: ${describeError(error)}`, { cause: error });
  });
  if (text.trim() === '') throw new Error(`the service account of the pod cannot be read: ${file} is empty`);
  return text.trim();
}
