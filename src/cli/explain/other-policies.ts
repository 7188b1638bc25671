/** Reads the other policies of a workload. What they follow is not taken over unless the spec of a policy says so. */
import { readPolicy } from '../../service/resources/read-policy.ts';
import type { ReadContext } from '../../service/resources/read-spec.ts';
import type { KubeClient } from '../../service/kube/client.ts';
import { isKubeError } from '../../service/kube/kube-error.ts';
import { type ImagePolicy, type PolicySpec, scopeOf } from '../../core/model/image-policy.ts';
import { sameRepository, tryParseImageReference } from '../../core/model/image-reference.ts';
import { matchesTarget } from '../../core/model/resolve-target.ts';
import { imagesOf, type Workload } from '../../core/model/workload.ts';
import { consentTo, namespacesIn, type ConsentRules } from '../../core/plan/consent.ts';
import { listPolicies } from '../../service/command-line/policy-client.ts';

/** The client and the context with which policies are read. */
interface Means extends ReadContext {
  readonly client: KubeClient;
}

/** The other policies, and what could not be read. */
export interface Others {
  readonly policies: readonly ImagePolicy[];
  readonly doubt?: string;
}

/**
 * Reads the policies of the namespaces that may have one for these workloads, with the caller's own rights. Reads none if every container runs what the policy
 * selects, because they would affect nothing.
 */
export async function readOthers(
  policy: ImagePolicy,
  spec: PolicySpec,
  workloads: readonly Workload[],
  { client, ...context }: Means,
): Promise<Others> {
  const isForeign = (image: string) => {
    const running = tryParseImageReference(image, context.aliases);
    const isOurs = running !== undefined && sameRepository(running.repository, spec.repository);
    return isOurs && running.tag !== undefined && spec.strategy.reject(running.tag) !== undefined;
  };
  const concerned = workloads.filter((workload) => imagesOf(workload).some(({ container }) => isForeign(container.image)));
  if (concerned.length === 0) return { policies: [] };
  const namespaces = concerned.flatMap(({ namespace, allowPoliciesFrom = '' }) => [namespace, ...namespacesIn(allowPoliciesFrom)]);
  const policies: ImagePolicy[] = [];
  const refused: string[] = [];
  for (const namespace of new Set([policy.namespace, ...namespaces].filter((name) => name !== '*'))) {
    try {
      for await (const { items } of listPolicies(client, namespace)) policies.push(...items.map((raw) => readPolicy(raw, context)));
    } catch (error) {
      if (!isKubeError(error, 403)) throw error;
      refused.push(namespace);
    }
  }
  if (refused.length === 0) return { policies };
  return {
    policies,
    doubt: `you may not list ImagePolicies in ${refused.join(', ')}, so whether another policy follows what runs is not known here`,
  };
}

/** The policies that name or select a workload, and may see it. */
export function policiesFor(policies: readonly ImagePolicy[], rules: ConsentRules): (workload: Workload) => readonly ImagePolicy[] {
  return (workload) =>
    policies.filter(
      (policy) =>
        scopeOf(policy.spec)?.targets.some((target) => matchesTarget(target, workload)) === true &&
        consentTo(workload, policy, rules).granted,
    );
}
