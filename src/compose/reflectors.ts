import { readPolicy } from '../api-versions/read-policy.ts';
import { describeError } from '../core/errors.ts';
import type { KubeClient } from '../kube/client.ts';
import { projectWorkload } from '../kube/project-workload.ts';
import { startReflector, type Reflector } from '../kube/reflector.ts';
import { listPath } from '../kube/resource-path.ts';
import { targets } from '../kube/targets/index.ts';
import type { Check } from '../operations/readiness.ts';
import type { ClusterCache } from './cluster-cache.ts';
import type { Foundation } from './foundation.ts';
import { policyResource, readContextOf } from './work-ports.ts';

export interface NamedReflector {
  readonly name: string;
  readonly holds: 'policies' | 'workloads';
  readonly reflector: Reflector;
}

/** Watches the policies and every kind of target, in one namespace or (undefined) in all. */
export function startReflectors(
  namespace: string | undefined,
  foundation: Foundation,
  client: KubeClient,
  cache: ClusterCache,
): NamedReflector[] {
  const { logger } = foundation;
  const readContext = readContextOf(foundation);
  const suffix = namespace === undefined ? '' : ` in ${namespace}`;
  const onError = (error: unknown, nextTryMs: number | undefined) => logger.warn({ why: describeError(error), nextTryMs }, 'watch');
  return [
    {
      name: `policies${suffix}`,
      holds: 'policies',
      reflector: startReflector({
        client,
        path: listPath(policyResource, namespace),
        project: (raw) => readPolicy(raw, readContext),
        store: cache.policies,
        onError,
      }),
    },
    ...targets.map((target) => ({
      name: `${target.resource}${suffix}`,
      holds: 'workloads' as const,
      reflector: startReflector({
        client,
        path: listPath(target, namespace),
        project: (raw) => projectWorkload(target, raw),
        store: cache.workloads,
        onError,
      }),
    })),
  ];
}

/** For /readyz: told, but never a reason to be not ready. */
export function checkReflector({ name, reflector }: NamedReflector): Check {
  const { synced, connected, lastError, objects } = reflector.state();
  const detail = lastError ?? (synced ? `${objects} objects` : 'listing');
  return { name: `kubernetes ${name}`, ok: synced && connected, required: false, detail };
}
