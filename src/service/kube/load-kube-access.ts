/** Finds the API server as kubectl does: a kubeconfig, or in a pod its service account. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { KubeAccessSource } from './kube-access.ts';
import { isInPod, openPodAccess, type PodAddress } from './pod-access.ts';

/** Which cluster, as which user. */
export interface KubeAccessOptions {
  /** A path, or several as in the variable KUBECONFIG; without it: ~/.kube/config, the pod's service account. */
  readonly kubeconfig?: string;
  /** Another context of the kubeconfig than the current one. */
  readonly context?: string;
  /** Where a pod finds the API server. */
  readonly pod?: PodAddress;
  /** How the user can name another kubeconfig, for messages; in addition to the variable KUBECONFIG. */
  readonly option?: '--kubeconfig' | undefined;
  /** The clock, for tests. */
  readonly now?: () => number;
}

const nowhere: PodAddress = { host: undefined, port: undefined };

/** Rejects if there is no usable access. Nothing is sent yet. */
export async function loadKubeAccess(options: KubeAccessOptions): Promise<KubeAccessSource> {
  const { pod: address = nowhere, now = Date.now } = options;
  if (options.context === undefined && !hasKubeconfig(options) && isInPod({ address })) return openPodAccess({ address, now });
  // Loaded only where there is a kubeconfig: client-node loads a thousand generated modules.
  const { openKubeconfig } = await import('./kubeconfig.ts');
  return openKubeconfig(options);
}

/** The names of the kubeconfig's contexts. */
export async function contextsOf(options: Pick<KubeAccessOptions, 'kubeconfig'>): Promise<string[]> {
  const { readContexts } = await import('./kubeconfig.ts');
  return readContexts(options);
}

function hasKubeconfig({ kubeconfig }: KubeAccessOptions): boolean {
  return kubeconfig !== undefined || existsSync(join(homedir(), '.kube', 'config'));
}
