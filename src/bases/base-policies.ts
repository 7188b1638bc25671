/** The BaseImagePolicies of selected namespaces, as the reconcile reads and writes them. */
import { isNewer } from '../core/model/workload.ts';
import { readBaseStatus } from '../core/model/base-status.ts';
import type { NoticeSink } from '../core/model/notice-sink.ts';
import { isAsPlanned } from './policies/same-base-plan.ts';
import type { KubeClient } from '../service/kube/client.ts';
import { isKubeError } from '../service/kube/kube-error.ts';
import { objectPath } from '../service/kube/objects.ts';
import { patchStatus } from '../service/kube/patch-status.ts';
import { baseResource } from '../service/resources/group.ts';
import type { BasePolicyCache } from './base-policy-cache.ts';
import { baseNotices } from './policies/base-notices.ts';
import { PolicyChanged } from './policies/brake.ts';
import type { BasePolicies } from './policies/ports.ts';

export interface BasePoliciesMeans {
  readonly client: KubeClient;
  readonly cache: BasePolicyCache;
  readonly isSelected: (namespace: string) => boolean;
  readonly notices: Pick<NoticeSink, 'add'>;
}

/** Creates the view of the policies. A status is written with the notices of its changes, which are stored before it. */
export function createBasePolicies({ client, cache, isSelected, notices }: BasePoliciesMeans): BasePolicies {
  return {
    all: () => cache.policies.values(),
    find: (namespace, name) => (isSelected(namespace) ? cache.policies.get(namespace, name) : undefined),
    async read(namespace, name, signal) {
      const policy = await cache.read({ namespace, name }, signal);
      return isSelected(namespace) ? policy : undefined;
    },
    async isAsPlanned(planned, base, signal) {
      const { object } = await cache.readConfirmed(planned, signal);
      return isAsPlanned(planned, object, base) && isSelected(planned.namespace);
    },
    subscribe: cache.policies.subscribe,
    async writeStatus(policy, update, { signal, eventId, isExclusive = false }) {
      const cached = cache.policies.get(policy.namespace, policy.name);
      const isBehind = cached?.uid !== policy.uid || isNewer(policy.resourceVersion, cached.resourceVersion);
      const written = await patchStatus({
        client,
        path: objectPath(baseResource, policy.namespace, policy.name),
        current: isBehind || isExclusive ? policy : cached,
        update: (status) => update(readBaseStatus(status)),
        beforeWrite: (before, after) =>
          notices.add(
            baseNotices(policy, { before: readBaseStatus(before), after: readBaseStatus(after) }, new Date().toISOString(), eventId),
            policy.labels,
          ),
        isExclusive,
        signal,
      }).catch((error: unknown) => {
        throw isExclusive && isKubeError(error, 409) ? new PolicyChanged('its status was written meanwhile') : error;
      });
      return written === undefined ? policy : cache.observe(written);
    },
    underWay: new Set(),
  };
}
