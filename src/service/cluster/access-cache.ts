/** The cache of Secrets and service accounts. It shows without a request which Secrets a policy may use, and reads a Secret only after a change. */
import type { SecretRef } from '../../core/model/image-source.ts';
import type { KubeClient } from '../kube/client.ts';
import { createObjectStore, type StoredObject } from '../kube/object-store.ts';
import { projectMetadata, projectServiceAccount, readSecretContent, type ServiceAccount, serviceAccountResource } from '../kube/secrets.ts';
import { listPath } from '../kube/objects.ts';
import { createSecretCache, type SecretCache } from './secret-cache.ts';
import type { Logger } from '../telemetry/logger.ts';
import { startOptionalWatch, type OptionalWatch } from './optional-watch.ts';

export interface AccessCache {
  /** Reads the content of a Secret, which is cached while it is known to be unchanged. */
  readonly readSecret: SecretCache;
  /** The names of a service account's imagePullSecrets. */
  readonly pullSecretsOf: (namespace: string, serviceAccount: string) => readonly string[];
  /** The version of a Secret, `shop/harbor@1234`, which changes with it if the Secret is watched. */
  readonly versionOf: (secret: SecretRef) => string;
  /** Calls the listener when a Secret or service account changes. */
  subscribe(listener: (changed: SecretRef) => void): void;
  /** Starts the watches. Resolves when everything is listed or forbidden. */
  start(): Promise<void>;
  /** The watches that have started. */
  watches(): readonly OptionalWatch[];
  stop(): Promise<void>;
}

const secretResource = { apiVersion: 'v1', resource: 'secrets' } as const;
/** Excludes types of Secrets that are numerous or large, and never contain registry credentials or signature keys. */
const fieldsOfOtherTypes = 'type!=helm.sh/release.v1,type!=kubernetes.io/service-account-token';

/** The namespaces to watch (none: all of them), and the Secret with the service's own credentials for registries. */
export interface AccessCacheOptions {
  readonly namespaces: readonly string[];
  readonly fallback: SecretRef;
  readonly logger: Logger;
}

/** Creates the cache, which does not connect before `start`. */
export function createAccessCache({ namespaces, fallback, logger }: AccessCacheOptions, client: KubeClient): AccessCache {
  const secrets = createObjectStore<StoredObject>();
  const accounts = createObjectStore<ServiceAccount>();
  /** The watches of Secrets by namespace; '' means all namespaces. */
  const secretWatches = new Map<string, OptionalWatch>();
  const accountWatches: OptionalWatch[] = [];
  const watches = () => [...secretWatches.values(), ...accountWatches];

  const watchSecrets = (namespace: string | undefined, fieldSelector: string) => {
    const watch = startOptionalWatch({
      name: `secrets${suffixOf(namespace)}`,
      without: 'contents of Secrets are read again every 30 s, and policies do not notice a changed Secret before their next poll',
      client,
      path: listPath(secretResource, namespace),
      fieldSelector,
      metadataOnly: true,
      project: projectMetadata,
      store: secrets,
      logger,
    });
    secretWatches.set(namespace ?? '', watch);
  };

  const watchAccounts = (namespace: string | undefined) => {
    const watch = startOptionalWatch({
      name: `serviceaccounts${suffixOf(namespace)}`,
      without: 'the imagePullSecrets of service accounts are not used',
      client,
      path: listPath(serviceAccountResource, namespace),
      project: projectServiceAccount,
      store: accounts,
      logger,
    });
    accountWatches.push(watch);
  };

  const isWatched = ({ namespace }: SecretRef) => (secretWatches.get('') ?? secretWatches.get(namespace))?.isCurrent() ?? false;

  return {
    readSecret: createSecretCache({ read: (secret) => readSecretContent(client, secret), watched: secrets, isWatched }),
    pullSecretsOf: (namespace, name) => accounts.get(namespace, name)?.pullSecrets ?? [],
    versionOf(secret) {
      const { namespace, name } = secret;
      const version = isWatched(secret) ? (secrets.get(namespace, name)?.resourceVersion ?? 'none') : 'unknown';
      return `${namespace}/${name}@${version}`;
    },
    subscribe(listener) {
      secrets.subscribe(({ object }) => listener(object));
      accounts.subscribe(({ object }) => listener(object));
    },
    async start() {
      for (const namespace of namespaces.length > 0 ? namespaces : [undefined]) {
        watchSecrets(namespace, fieldsOfOtherTypes);
        watchAccounts(namespace);
      }
      // If the fallback Secret's namespace is not watched, only this Secret is watched there.
      if (namespaces.length > 0 && !namespaces.includes(fallback.namespace)) {
        watchSecrets(fallback.namespace, `metadata.name=${fallback.name}`);
      }
      await Promise.all(watches().map(({ synced }) => synced));
    },
    watches,
    async stop() {
      await Promise.all(watches().map(({ reflector }) => reflector.stop()));
    },
  };
}

function suffixOf(namespace: string | undefined): string {
  return namespace === undefined ? '' : ` in ${namespace}`;
}
