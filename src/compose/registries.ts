import type { Foundation } from './foundation.ts';
import type { KubeClient } from '../kube/client.ts';
import { isKubeError } from '../kube/kube-error.ts';
import { readSecret } from '../kube/read-secret.ts';
import { createRegistryClient, type RegistryClient } from '../registry/client.ts';
import { credentialSources } from '../registry/credentials/index.ts';

/** The client of all registries, with the fallback Secret as its credentials. */
export function openRegistries({ settings, logger, metrics }: Foundation, client: KubeClient): RegistryClient {
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
    registries: config.registries.map(({ caFile, requestsPerSecond, ...rest }) => ({
      ...rest,
      ...(caFile !== undefined && { caFile }),
      ...(requestsPerSecond !== undefined && { requestsPerSecond }),
    })),
    allowedRegistries: config.allowedRegistries,
    credentials: credentialSources.secret({ name: `${namespace}/${name}`, readSecret: readFallback }),
    onRequest({ host, kind, status, durationMs }) {
      const answer = typeof status === 'number' ? `${Math.floor(status / 100)}xx` : status;
      metrics.registryRequests.inc({ host, kind, answer });
      metrics.registrySeconds.observe({ host, kind }, durationMs / 1_000);
    },
  });
}
