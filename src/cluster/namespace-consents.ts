/** The cache of the Namespaces' consent annotations: from a watch of all of them, or, if only some namespaces are watched, read one by one. */
import { PermanentError, describeError } from '../model/errors.ts';
import type { KubeClient } from '../kube/client.ts';
import { namespaceResource, projectNamespaceConsent, readNamespaceConsent, type NamespaceConsent } from '../kube/namespace-consent.ts';
import { createObjectStore } from '../kube/object-store.ts';
import { listPath } from '../kube/objects.ts';
import type { Check } from '../telemetry/readiness.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { inParallel } from '../async/in-parallel.ts';
import type { CrossNamespace } from '../plan/consent.ts';
import type { Logger } from '../telemetry/logger.ts';
import { startOptionalWatch, type OptionalWatch } from './optional-watch.ts';

export interface NamespaceConsents {
  /** Null if the Namespace has no consent annotation, undefined if that is not known. */
  readonly namespaceConsent: (namespace: string) => string | null | undefined;
  readonly readNamespaceConsent: (namespace: string, signal: AbortSignal) => Promise<string | null>;
  /** Reads those that no watch reports. */
  readonly readNamespaceConsents: (namespaces: readonly string[], signal: AbortSignal) => Promise<void>;
  /** Calls the listener when the consent of a Namespace changes. */
  subscribe(listener: (namespace: string) => void): void;
  /** Resolves when everything is listed or forbidden. */
  start(): Promise<void>;
  /** If only some namespaces are watched: reads their annotations again. */
  refresh(): Promise<void>;
  checks(): Check[];
  measure(metrics: Metrics): void;
  stop(): Promise<void>;
}

const maxParallel = 8;

/** The namespaces to watch (none: all of them), and the rule for targets in other namespaces. */
export interface NamespaceConsentOptions {
  readonly namespaces: readonly string[];
  readonly crossNamespace: CrossNamespace;
  readonly logger: Logger;
}

/** Does not connect before `start`. */
export function createNamespaceConsents(
  { namespaces, crossNamespace, logger }: NamespaceConsentOptions,
  client: KubeClient,
): NamespaceConsents {
  const isAsked = crossNamespace === 'consent' || crossNamespace === 'legacy';
  const store = createObjectStore<NamespaceConsent>();
  let watch: OptionalWatch | undefined;
  const isCurrent = () => watch?.isCurrent() ?? false;
  const valueOf = (namespace: string) => store.get('', namespace)?.allowPoliciesFrom;
  const read = async (namespace: string, signal?: AbortSignal) => {
    const found = await readNamespaceConsent(client, namespace, signal);
    if (found !== undefined) store.put(found);
    return found?.allowPoliciesFrom ?? null;
  };
  const readUnwatched = async (names: readonly string[], signal?: AbortSignal) => {
    if (isCurrent()) return;
    const results = await inParallel(names, maxParallel, (namespace) => read(namespace, signal));
    // A Namespace that may not be read stays unknown, which is no consent.
    const failed = results.find((result) => result.status === 'rejected' && !(result.reason instanceof PermanentError));
    if (failed?.status === 'rejected') throw failed.reason;
  };
  const refresh = async () => {
    if (!isAsked || watch !== undefined) return;
    await readUnwatched(namespaces).catch((error: unknown) => logger.warn({ why: describeError(error) }, 'watch failed, will be repeated'));
  };
  return {
    // A complete list without it: there is no such Namespace.
    namespaceConsent: (namespace) => valueOf(namespace) ?? (store.get('', namespace) !== undefined || isCurrent() ? null : undefined),
    readNamespaceConsent: read,
    readNamespaceConsents: readUnwatched,
    refresh,
    subscribe(listener) {
      store.subscribe(({ object, previous, type }) => {
        if (type === 'deleted' || object.allowPoliciesFrom !== (previous?.allowPoliciesFrom ?? null)) listener(object.name);
      });
    },
    async start() {
      // A Role cannot grant the list of Namespaces.
      if (!isAsked || namespaces.length > 0) return refresh();
      watch = startOptionalWatch({
        name: 'namespaces',
        without: 'the consent of a Namespace is read at each reconcile of a policy, and policies do not notice it before their next poll',
        client,
        path: listPath(namespaceResource),
        metadataOnly: true,
        project: projectNamespaceConsent,
        store,
        logger,
      });
      await watch.synced;
    },
    checks: () => (watch === undefined ? [] : [watch.check()]),
    measure(metrics) {
      if (watch !== undefined) metrics.watchConnected.set({ resource: watch.name }, watch.reflector.state().connected ? 1 : 0);
    },
    async stop() {
      await watch?.reflector.stop();
    },
  };
}
