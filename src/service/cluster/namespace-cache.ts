/** The cache of the Namespaces' labels and consent annotations, from a watch of all Namespaces. If only some are watched, they are read one by one. */
import { PermanentError, describeError } from '../../core/model/errors.ts';
import type { KubeClient } from '../kube/client.ts';
import { namespaceResource, projectNamespace, readNamespace, readNamespaceConsent, type NamespaceState } from '../kube/namespaces.ts';
import { matchesSelector, sameLabels, type LabelSelector } from '../../core/model/label-selector.ts';
import { type ConsentGrant, withGrants } from '../../core/plan/consent.ts';
import type { Labels } from '../../core/model/policy-defaults.ts';
import { createObjectStore, type StoreView } from '../kube/object-store.ts';
import { listPath } from '../kube/objects.ts';
import { inParallel } from '../../core/async/in-parallel.ts';
import type { Logger } from '../telemetry/logger.ts';
import { startOptionalWatch, type OptionalWatch } from './optional-watch.ts';

export interface NamespaceCache {
  /** The consent annotation of a Namespace, with what the configuration grants; null if there is none, undefined if that is not known. */
  readonly namespaceConsent: (namespace: string) => string | null | undefined;
  readonly readNamespaceConsent: (namespace: string, signal: AbortSignal) => Promise<string | null>;
  /** Reads the consents of those Namespaces that no watch reports. */
  readonly readNamespaceConsents: (namespaces: readonly string[], signal: AbortSignal) => Promise<void>;
  /** The labels of a Namespace; undefined if there is none, or it is not known. */
  readonly labelsOf: (namespace: string) => Labels;
  /** The names of the known Namespaces that a selector matches. */
  readonly namesWith: (selector: LabelSelector) => string[];
  /** Reads the labels of a Namespace that is not known. The listeners are called before this resolves. */
  readonly readLabels: (namespace: string, signal?: AbortSignal) => Promise<void>;
  /** The version of a Namespace, which changes with each change of it. */
  readonly versionOf: (namespace: string) => string;
  /** Whether the labels are up to date, if they decide anything. */
  readonly areLabelsKnown: () => boolean;
  /** Whether the labels have been listed, if they decide anything; without a connection, they are those of the last one. */
  readonly areLabelsListed: () => boolean;
  /** Calls the listener when the consent of a Namespace changes. */
  onConsent(listener: (namespace: string) => void): void;
  /** Calls the listener when the labels of a Namespace change, or become known. */
  onLabels(listener: (namespace: string) => void): void;
  /** Calls the listener after each change of a Namespace. */
  readonly subscribe: StoreView<NamespaceState>['subscribe'];
  /** Starts the watch. Resolves when everything is listed or forbidden. */
  start(): Promise<void>;
  /** Reads the labels and annotations again, if only some namespaces are watched. */
  refresh(): Promise<void>;
  /** The watch of the Namespaces, if it has started. */
  watches(): readonly OptionalWatch[];
  stop(): Promise<void>;
}

const maxParallel = 8;
const withoutConsents =
  'the consent of a Namespace is read at each reconcile of a policy, and policies do not notice it before their next poll';
const withoutLabels =
  'the labels of Namespaces are not known: watch.namespaceSelector selects none of them, and policyDefaults with a selector are not used';

/** The namespaces to watch (none: all of them), and whether the configuration selects by labels. BaseImagePolicies always may. */
export interface NamespaceCacheOptions {
  readonly namespaces: readonly string[];
  /** Whether the labels of Namespaces decide which policies there are; only if all of them are watched. */
  readonly usesLabels: boolean;
  /** The consents that the configuration gives. */
  readonly consents?: readonly ConsentGrant[];
  readonly logger: Logger;
}

/** Creates the cache, which does not connect before `start`. */
export function createNamespaceCache(
  { namespaces, usesLabels, consents = [], logger }: NamespaceCacheOptions,
  client: KubeClient,
): NamespaceCache {
  const store = createObjectStore<NamespaceState>();
  let watch: OptionalWatch | undefined;
  const isCurrent = () => watch?.isCurrent() ?? false;
  const valueOf = (namespace: string) => store.get('', namespace)?.allowPoliciesFrom;
  const read = async (namespace: string, signal?: AbortSignal) => {
    const found = await readNamespaceConsent(client, namespace, signal);
    if (found !== undefined) store.put(found);
    return withGrants(found?.allowPoliciesFrom ?? null, namespace, consents);
  };
  const readUnwatched = async (names: readonly string[], signal?: AbortSignal) => {
    if (isCurrent()) return;
    const results = await inParallel(names, maxParallel, (namespace) => read(namespace, signal));
    // If a Namespace may not be read, its consent stays unknown, which counts as no consent.
    const failed = results.find((result) => result.status === 'rejected' && !(result.reason instanceof PermanentError));
    if (failed?.status === 'rejected') throw failed.reason;
  };
  const refresh = async () => {
    if (watch !== undefined) return;
    await readUnwatched(namespaces).catch((error: unknown) => logger.warn({ why: describeError(error) }, 'watch failed, will be repeated'));
  };
  return {
    // If a complete list does not contain the Namespace, it does not exist, and there is no consent.
    namespaceConsent: (namespace) =>
      withGrants(valueOf(namespace) ?? (store.get('', namespace) !== undefined || isCurrent() ? null : undefined), namespace, consents),
    readNamespaceConsent: read,
    readNamespaceConsents: readUnwatched,
    refresh,
    labelsOf: (namespace) => store.get('', namespace)?.labels,
    namesWith: (selector) => [...store.values()].flatMap(({ name, labels }) => (matchesSelector(selector, labels) ? [name] : [])),
    async readLabels(namespace, signal) {
      const found = await readNamespace(client, namespace, signal);
      if (found !== undefined) store.put(found);
    },
    versionOf: (namespace) => store.get('', namespace)?.resourceVersion ?? '',
    subscribe: store.subscribe,
    areLabelsKnown: () => !usesLabels || isCurrent(),
    areLabelsListed: () => !usesLabels || watch?.reflector.state().synced === true,
    onLabels(listener) {
      store.subscribe(({ object, previous, type }) => {
        if (type !== 'updated' || !sameLabels(object.labels, previous?.labels)) listener(object.name);
      });
    },
    onConsent(listener) {
      store.subscribe(({ object, previous, type }) => {
        if (type === 'deleted' || object.allowPoliciesFrom !== (previous?.allowPoliciesFrom ?? null)) listener(object.name);
      });
    },
    async start() {
      // Some namespaces are read one by one, because a Role cannot grant the list of Namespaces.
      if (namespaces.length > 0) return refresh();
      watch = startOptionalWatch({
        name: 'namespaces',
        without: usesLabels ? withoutLabels : withoutConsents,
        isNeeded: usesLabels,
        client,
        path: listPath(namespaceResource),
        metadataOnly: true,
        project: projectNamespace,
        store,
        logger,
      });
      await watch.synced;
    },
    watches: () => (watch === undefined ? [] : [watch]),
    async stop() {
      await watch?.reflector.stop();
    },
  };
}
