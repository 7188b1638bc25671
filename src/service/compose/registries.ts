import type { AccessCache } from '../cluster/access-cache.ts';
import type { Foundation } from './foundation.ts';
import type { RedisConnection } from '../queue/connection.ts';
import { createRegistrySlots } from '../queue/shared-limits.ts';
import { observeRegistries } from '../registry/observe-registries.ts';
import { createRegistryClient, type RegistryClient } from '../registry/client.ts';
import type { ReceiverConfig, Settings } from '../config/settings.ts';
import { chainCredentials, type CredentialSource } from '../registry/credential.ts';
import { credentialSources } from '../registry/credentials/index.ts';
import type { ReadSecret } from '../registry/credentials/secret-offer.ts';
import { splitBundle } from '../../core/model/certificate-bundle.ts';
import { readSettingFile } from '../config/setting-file.ts';

/** Opens the client of all registries, with all sources of credentials. `redis` must fail fast; it holds the limits that all replicas share. */
export function openRegistries(foundation: Foundation, { readSecret, versionOf }: AccessCache, redis: RedisConnection): RegistryClient {
  const { settings } = foundation;
  const { config } = settings;
  return createRegistryClient({
    registries: config.registries,
    proxies: settings.proxies,
    allowedRegistries: config.allowedRegistries,
    namedHosts: config.receivers.flatMap(hostsOf),
    credentials: openCredentials(foundation, readSecret),
    credentialVersions: ({ access }) => [...(access?.secrets ?? []), config.credentials.secret].map(versionOf).join(','),
    ...observeRegistries(foundation),
    sharedSlots: createRegistrySlots(redis, config.redis.prefix),
  });
}

/** Throws ConfigError for a file of authorities that cannot be read, or has no certificate: with that, no certificate of the registry would be trusted. */
export function checkAuthorities(settings: Settings): void {
  for (const [index, { caFile }] of settings.config.registries.entries()) {
    if (caFile === undefined) continue;
    readSettingFile(settings, ['registries', index, 'caFile'], caFile, (text) => {
      if (splitBundle(text).length === 0)
        throw new Error('it has no certificate: write the authorities in PEM form (-----BEGIN CERTIFICATE-----)');
    });
  }
}

/** The hosts whose pushes a receiver accepts, as its settings name them. */
export function hostsOf({ registry, repositories = {} }: Pick<ReceiverConfig, 'registry' | 'repositories'>): string[] {
  const mapped = Object.entries(repositories).flatMap(([key, names]) =>
    [names].flat().map((name) => name.replaceAll('{key}', key).replace(/\/.*/, '')),
  );
  return [...(registry === undefined ? [] : [registry]), ...mapped];
}

type SourceName = keyof typeof credentialSources;

/** The settings and connections with which credentials are fetched. */
interface CredentialMeans {
  readonly settings: Pick<Settings, 'config' | 'azure'>;
  readonly outbound: Pick<Foundation['outbound'], 'dispatcherFor'>;
}

/** All sources of credentials that the configuration allows, in the order in which they are tried. */
export function openCredentials(
  { settings: { config, azure }, outbound: { dispatcherFor } }: CredentialMeans,
  readSecret: ReadSecret,
): CredentialSource {
  const { secret, dockerConfigFile: file, cloud } = config.credentials;
  const opened: Record<SourceName, CredentialSource | undefined> = {
    'pull-secrets': credentialSources['pull-secrets']({ readSecret }),
    'fallback-secret': credentialSources['fallback-secret']({ secret, readSecret }),
    'docker-config-file': file === undefined ? undefined : credentialSources['docker-config-file']({ file }),
    ecr: cloud.includes('ecr') ? credentialSources.ecr({ dispatcherFor }) : undefined,
    google: cloud.includes('google') ? credentialSources.google() : undefined,
    azure: cloud.includes('azure') ? credentialSources.azure({ identity: azure, dispatcherFor }) : undefined,
  };
  const names = Object.keys(credentialSources) as SourceName[];
  return chainCredentials(names.flatMap((name) => opened[name] ?? []));
}
