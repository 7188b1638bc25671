import type { ImagePolicy, PolicySpec, PolicyTarget } from './image-policy.ts';
import type { PullAccess, PullSecret } from './image-source.ts';
import type { Workload } from './workload.ts';

/** What the caches know of whose Secrets may be used. */
export interface AccessCaches {
  /** The workloads that a target means. */
  readonly workloadsOf: (target: PolicyTarget) => readonly Workload[];
  /** The names of a service account's imagePullSecrets. */
  readonly pullSecretsOf: (namespace: string, serviceAccount: string) => readonly string[];
}

/** A selector may mean hundreds of workloads: the registry is not asked with the Secrets of all of them. */
const maxSecrets = 32;
const defaultServiceAccount = 'default';

/**
 * The Secrets that may be tried for a policy: those it names itself, then those of its targets' pods, then those of their service accounts; only of its
 * own namespace. Undefined where there is none, so that such policies share what the registry says.
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
