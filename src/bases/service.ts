import type { ServiceWing } from '../service/compose/wing.ts';
import type { JoinedWing, WorkMeans, WorkWing } from '../service/compose/work-wing.ts';
import type { Foundation } from '../service/compose/foundation.ts';
import type { NamespaceCache } from '../service/cluster/namespace-cache.ts';
import { namespaceRulesOf } from '../service/config/policy-defaults.ts';
import type { KubeClient } from '../service/kube/client.ts';
import { followRequests } from '../service/cluster/follow-requests.ts';
import { readContextOf } from '../service/compose/work-ports.ts';
import { createBaseCauses } from './api/causes.ts';
import { createBaseRoutes } from './api/routes.ts';
import { baseSight } from './api/view.ts';
import { createBasePolicyCache, type BasePolicyCache } from './base-policy-cache.ts';
import { createBaseWorkers, storeBases } from './base-workers.ts';
import { composeBasePolicies } from './compose-bases.ts';
import { findBaseSource } from './find-base-source.ts';
import { createConfirmParent, createWhyHeld, followParents } from './hold-children.ts';
import { measureBases } from './measure-bases.ts';
import { createNoticeForChild } from './notices-for-child.ts';

/** The part of the wing in the role `work`, and its routes. */
export const service: ServiceWing = { work: openBases, routes: createBaseRoutes(undefined) };

function openBases(foundation: Foundation, client: KubeClient, { labelsOf, onLabels }: NamespaceCache): WorkWing {
  const { logger, settings } = foundation;
  const defaults = { rules: namespaceRulesOf(settings.config), labelsOf };
  const cache = createBasePolicyCache({ client, readContext: readContextOf(foundation), defaults, logger });
  onLabels(cache.refresh);
  return {
    otherKinds: cache.kinds,
    whyHeld: createWhyHeld(cache),
    rewriteNotice: createNoticeForChild(cache.policies),
    join: (means) => joinBases(foundation, client, cache, means),
  };
}

function joinBases(foundation: Foundation, client: KubeClient, cache: BasePolicyCache, means: WorkMeans): JoinedWing {
  const { cache: cluster, namespaces, registry, queue, queues, redisHealth, access, sourceOf } = means;
  followParents(cache, cluster);
  return {
    confirm: createConfirmParent(cache, cluster, namespaces),
    findSource: findBaseSource(cache.policies, sourceOf),
    work(ports, { notices, noteActivity }) {
      followRequests(cache.policies, 'BaseImagePolicy', noteActivity);
      const { readSecret } = access;
      const bases = composeBasePolicies(foundation, {
        client,
        cache,
        namespaces,
        registry,
        ...storeBases(queue, queues, redisHealth),
        ports,
        readSecret,
        notices,
        isSelected: cluster.isSelected,
        listEveryWorkload: cluster.workloads.values,
      });
      return {
        workers: createBaseWorkers(foundation, { queue, queues, bases, readSecret }),
        onPush: bases.onPush,
        routes: createBaseRoutes(bases.view),
        causes: createBaseCauses(bases.view),
        sight: baseSight,
        watch: bases.start,
        settled: cache.settled,
        start: () => bases.follow(cluster),
        resync: bases.enqueuer.resync,
        measure: () => measureBases(cache.policies.values(), foundation.metrics),
        quiet: bases.enqueuer.stop,
        stop() {
          bases.stop();
          return cache.stop();
        },
      };
    },
  };
}
