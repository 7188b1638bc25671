import type { Redis } from 'ioredis';
import type { Foundation } from './foundation.ts';
import type { KubeClient } from '../kube/client.ts';
import { isKubeError } from '../kube/kube-error.ts';
import { readSecret } from '../kube/read-secret.ts';
import { createRegistryTurns } from '../queue/registry-turns.ts';
import { createRegistryClient, type RegistryClient } from '../registry/client.ts';
import { credentialSources } from '../registry/credentials/index.ts';
import { observeRegistries } from './observe-registries.ts';

/** The client of all registries, with the fallback Secret as its credentials; `redis` fails fast, for the limits that all replicas share. */
export function openRegistries(foundation: Foundation, client: KubeClient, redis: Redis): RegistryClient {
  const { settings, logger } = foundation;
  const { config } = settings;
  const { namespace, name } = config.credentials.secret;
  const readFallback = async () => {
    try {
      return await readSecret(client, { namespace, name });
    } catch (error) {
      if (!isKubeError(error, 403)) throw error;
      logger.warn({ secret: `${namespace}/${name}` }, 'no permission to read the credentials of registries; asking anonymously');
      return undefined;
    }
  };
  return createRegistryClient({
    registries: config.registries.map(({ caFile, requestsPerSecond, concurrency, ...rest }) => ({
      ...rest,
      ...(caFile !== undefined && { caFile }),
      ...(requestsPerSecond !== undefined && { requestsPerSecond }),
      ...(concurrency !== undefined && { concurrency }),
    })),
    allowedRegistries: config.allowedRegistries,
    credentials: credentialSources.secret({ name: `${namespace}/${name}`, readSecret: readFallback }),
    ...observeRegistries(foundation),
    sharedTurns: createRegistryTurns(redis, config.redis.prefix),
  });
}
