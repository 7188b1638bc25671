/** Finds the API server as kubectl does: a kubeconfig, or in a pod its service account. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { KubeAccessSource } from './kube-access.ts';
import { isInPod, openPodAccess, type PodAddress } from './pod-access.ts';

/** The kubeconfig and its context, or the pod, that give access. */
export interface KubeAccessOptions {
  /** The path of a kubeconfig, or several as in the variable KUBECONFIG. Without it: ~/.kube/config, then the pod's service account. */
  readonly kubeconfig?: string;
  /** The context of the kubeconfig; the current one unless given. */
  readonly context?: string;
  /** The address at which a pod finds the API server. */
  readonly pod?: PodAddress;
  /** The option with which the user can name another kubeconfig, for messages; in addition to the variable KUBECONFIG. */
  readonly option?: '--kubeconfig' | undefined;
  /** The clock of the process, unless a test sets another. */
  readonly now?: () => number;
}

const nowhere: PodAddress = { host: undefined, port: undefined };

/** Finds the access; rejects if there is no usable one. Nothing is sent yet. */
export async function loadKubeAccess(options: KubeAccessOptions): Promise<KubeAccessSource> {
  const { pod: address = nowhere, now = Date.now } = options;
  if (options.context === undefined && !hasKubeconfig(options) && isInPod({ address })) return openPodAccess({ address, now });
  // The module is loaded only if there is a kubeconfig, because client-node loads a thousand generated modules.
  const { openKubeconfig } = await import('./kubeconfig.ts');
  return openKubeconfig(options);
}

/** The names of the kubeconfig's contexts. */
export async function contextsOf(options: KubeAccessOptions): Promise<string[]> {
  const { readContexts } = await import('./kubeconfig.ts');
  return readContexts(options);
}

function hasKubeconfig({ kubeconfig }: KubeAccessOptions): boolean {
  return kubeconfig !== undefined || existsSync(join(homedir(), '.kube', 'config'));
}
