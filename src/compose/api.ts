/** The ports of the API of the operations listener. */
import { randomUUID } from 'node:crypto';
import { group, plural } from '../api-versions/group.ts';
import type { KubeClient } from '../kube/client.ts';
import { reviewAccess, reviewToken } from '../kube/review-access.ts';
import type { OperationsAuth } from '../operations/authenticate.ts';
import type { ApiOptions } from '../operations/events-api.ts';
import type { SelectedNamespaces } from '../operations/namespaces-api.ts';
import { createPushQueue } from '../queue/producer.ts';
import { createEventReader } from '../queue/read-events.ts';
import type { Foundation } from './foundation.ts';
import type { Doctor } from '../operations/doctor-api.ts';
import { type RedisAccess, refusalOf } from './redis.ts';

/** What the API answers from; all undefined in a process without the role `work`. */
interface ApiMeans {
  readonly cluster: KubeClient | undefined;
  readonly doctor: Doctor | undefined;
  readonly namespaces: SelectedNamespaces | undefined;
}

/** Builds the ports. */
export function composeApi(
  { settings, aliases, logger }: Pick<Foundation, 'settings' | 'aliases' | 'logger'>,
  redis: RedisAccess,
  { cluster, doctor, namespaces }: ApiMeans,
): ApiOptions {
  const { config } = settings;
  const access = {
    redis: redis.connection,
    prefix: config.redis.prefix,
    onError: (error: Error) => logger.debug({ err: error }, 'event queue error'),
  };
  const queue = createPushQueue(access, config.redis.minReplicas, config.listen.confirmWithin);
  return {
    auth: authOf(settings, cluster),
    reader: createEventReader(access),
    storePushes: (events) => queue.add(events),
    refusal: () => refusalOf(redis.health(), config.redis.durability),
    doctor,
    namespaces,
    now: () => new Date(),
    unique: randomUUID,
    aliases,
    logger,
  };
}

function authOf({ config, proxySecret }: Foundation['settings'], client: KubeClient | undefined): OperationsAuth {
  const { auth, proxy } = config.operations;
  if (auth === 'none') return { kind: 'none' };
  if (client === undefined) {
    const why =
      'this process does not have the role work, so it cannot authenticate you with the API server: send the request to one that has';
    return { kind: 'unavailable', why };
  }
  const review: Extract<OperationsAuth, { kind: 'proxy' }>['reviewAccess'] = (caller, { verb, namespace }) =>
    reviewAccess(client, caller, { group, resource: plural, verb, namespace });
  if (auth === 'proxy') return { kind: 'proxy', proxy: { ...proxy, secret: proxySecret }, reviewAccess: review };
  return { kind: 'kubernetes', reviewToken: (token) => reviewToken(client, token), reviewAccess: review };
}
