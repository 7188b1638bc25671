import type { ImagePolicy, PolicySpec, PolicyTarget } from './image-policy.ts';
import type { PullAccess, PullSecret } from './image-source.ts';
import type { Workload } from './workload.ts';

/** What the caches know about the Secrets that may be used. */
export interface AccessCaches {
  /** The workloads that a target selects. */
  readonly workloadsOf: (target: PolicyTarget) => readonly Workload[];
  /** The names of a service account's imagePullSecrets. */
  readonly pullSecretsOf: (namespace: string, serviceAccount: string) => readonly string[];
}

/** A selector may match hundreds of workloads: the Secrets of only so many are tried. */
const maxSecrets = 32;
const defaultServiceAccount = 'default';

/**
 * The Secrets that may be tried for a policy: its own, then those of its targets' pods, then those of their service accounts; only from its
 * own namespace. Undefined if there are none, so that such policies share the registry's answers.
 */
export function pullAccess({ namespace }: ImagePolicy, spec: PolicySpec, caches: AccessCaches): PullAccess | undefined {
  const found = new Map<string, PullSecret>();
  const add = (namedBy: PullSecret['namedBy'], names: readonly string[] = []) => {
    for (const name of names) if (!found.has(name) && found.size < maxSecrets) found.set(name, { namespace, name, namedBy });
  };
  add('policy', spec.pullSecrets);
  const workloads = spec.targets.filter((target) => target.namespace === namespace).flatMap(caches.workloadsOf);
  for (const { pullSecrets } of workloads) add('target', pullSecrets);
  const accounts = new Set(workloads.map(({ serviceAccount = defaultServiceAccount }) => serviceAccount));
  for (const account of accounts) add('serviceAccount', caches.pullSecretsOf(namespace, account));
  return found.size === 0 ? undefined : { secrets: [...found.values()] };
}
