/** The caches of the role `work`: policies, workloads, Namespaces, Secrets, and the caches of wings. No cache connects before it is started. */
import { namespaceRulesOf } from '../config/policy-defaults.ts';
import { kindsOfRestarts, namedConfigMaps } from '../../core/model/config-map-target.ts';
import type { ImagePolicy } from '../../core/model/image-policy.ts';
import { needsLabels, notSelected, notWatched } from '../../core/model/policy-defaults.ts';
import { createAccessCache } from '../cluster/access-cache.ts';
import { type ClusterCache, createClusterCache } from '../cluster/cluster-cache.ts';
import { createDefinitionWatch } from '../cluster/definition-watch.ts';
import { watchOf } from '../cluster/optional-watch.ts';
import { createNamespaceCache, type NamespaceCache } from '../cluster/namespace-cache.ts';
import { areConnected, areListed, logWatchErrors, watchedNamespaces, watchPolicies, type PolicyWatch } from '../cluster/policy-watches.ts';
import type { KubeClient } from '../kube/client.ts';
import { createDiscovery } from '../kube/discovery.ts';
import type { Foundation } from './foundation.ts';
import { readContextOf } from './work-ports.ts';
import type { OpenWorkWing, WorkWing } from './work-wing.ts';

/** A Namespace whose labels have changed, and those of its policies that were not selected before. */
interface Selected {
  readonly namespace: string;
  readonly policies: readonly ImagePolicy[];
}

export type WorkCaches = ReturnType<typeof openWorkCaches>;

/** Builds the caches of the role, with the caches of the wings. */
export function openWorkCaches(foundation: Foundation, client: KubeClient, openWings: readonly OpenWorkWing[]) {
  const { settings, logger } = foundation;
  const { config } = settings;
  const watched = { namespaces: config.watch.namespaces, logger };
  const { consents } = config;
  const watchedIn = watchedNamespaces(config.watch.namespaces);
  const rules = namespaceRulesOf(config);
  const namespaces = createNamespaceCache({ ...watched, consents, usesLabels: needsLabels(rules) }, client);
  const named = namedConfigMaps(config.customTargets);
  const restarting = kindsOfRestarts(named);
  const wings = openWings.map((open) => open(foundation, client, namespaces));
  const cluster = createClusterCache(
    {
      client,
      discovery: createDiscovery(client, config.customTargets),
      namespaces: watchedIn,
      onError: logWatchErrors(logger),
      now: Date.now,
      random: Math.random,
      otherKinds: () => [...wings.flatMap(({ otherKinds }) => otherKinds?.() ?? []), ...restarting],
      whyHeld: whyHeldBy(wings),
    },
    { rules, labelsOf: namespaces.labelsOf },
  );
  const definitions = createDefinitionWatch({ ...watched, rediscover: cluster.workloads.rediscover }, client);
  const access = createAccessCache({ ...watched, fallback: config.credentials.secret }, client);
  let policyWatches: readonly PolicyWatch[] = [];
  return {
    client,
    wings,
    watchedIn,
    rules,
    cluster,
    namespaces,
    definitions,
    access,
    /** The ConfigMaps that policies may write. */
    namedConfigMaps: named,
    policyWatches: () => policyWatches,
    /** Calls the listener when the labels of a Namespace change, or become known. */
    onLabels: followLabels(namespaces, cluster),
    /** Starts the watches of the policies. */
    watchPolicies() {
      policyWatches = watchedIn.map((namespace) =>
        watchPolicies(namespace, { readContext: readContextOf(foundation), logger }, client, cluster),
      );
    },
    isWatching: () => areConnected(policyWatches) && namespaces.areLabelsKnown(),
    /** Whether all policies have been listed. Without a connection, they are those of the last one. */
    haveListed: () => areListed(policyWatches) && namespaces.areLabelsListed(),
    policyWatchOf: (namespace: string) => watchOf(policyWatches, namespace),
    whyNotSelected(namespace: string) {
      if (!watchedIn.some((one) => one === undefined || one === namespace)) return notWatched(namespace);
      return cluster.isSelected(namespace) ? undefined : notSelected(namespace);
    },
  };
}

/** Evaluates the policies of a Namespace again when its labels change, or become known, and then calls the listeners. Returns what adds a listener. */
function followLabels({ onLabels }: NamespaceCache, cluster: ClusterCache): (listener: (selected: Selected) => void) => void {
  const listeners = new Set<(selected: Selected) => void>();
  onLabels((namespace) => {
    const policies = cluster.refresh(namespace);
    for (const listener of listeners) listener({ namespace, policies });
  });
  return (listener) => void listeners.add(listener);
}

function whyHeldBy(wings: readonly WorkWing[]): NonNullable<WorkWing['whyHeld']> {
  return (policy) => {
    for (const { whyHeld } of wings) {
      const why = whyHeld?.(policy);
      if (why !== undefined) return why;
    }
    return undefined;
  };
}
