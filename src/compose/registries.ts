import type { AccessCache } from '../cluster/access-cache.ts';
import type { Foundation } from './foundation.ts';
import type { RedisConnection } from '../queue/connection.ts';
import { createRegistrySlots } from '../queue/registry-slots.ts';
import { createRegistryClient, type RegistryClient } from '../registry/client.ts';
import { openCredentials } from './credentials.ts';
import { observeRegistries } from './observe-registries.ts';

/** The client of all registries, with all sources of credentials; `redis` fails fast, for the limits that all replicas share. */
export function openRegistries(
  foundation: Foundation,
  { readSecret, versionOf }: Pick<AccessCache, 'readSecret' | 'versionOf'>,
  redis: RedisConnection,
): RegistryClient {
  const { settings } = foundation;
  const { config } = settings;
  return createRegistryClient({
    registries: config.registries.map(({ caFile, requestsPerSecond, concurrency, ...rest }) => ({
      ...rest,
      ...(caFile !== undefined && { caFile }),
      ...(requestsPerSecond !== undefined && { requestsPerSecond }),
      ...(concurrency !== undefined && { concurrency }),
    })),
    allowedRegistries: config.allowedRegistries,
    credentials: openCredentials(settings, readSecret),
    credentialVersions: ({ access }) => [...(access?.secrets ?? []), config.credentials.secret].map(versionOf).join(','),
    ...observeRegistries(foundation),
    sharedSlots: createRegistrySlots(redis, config.redis.prefix),
  });
}
