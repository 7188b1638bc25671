/** Composes the ports of the API, which the operations listener serves. */
import { randomUUID } from 'node:crypto';
import { basePlural, group, plural } from '../resources/group.ts';
import { type OperationsAuth } from '../api/authenticate.ts';
import { createVouching } from '../api/vouch.ts';
import type { AddedRoutes, ApiOptions } from '../api/add-api.ts';
import type { Doctor } from '../api/doctor-api.ts';
import type { SelectedNamespaces } from '../api/namespaces-api.ts';
import { createRecordFeed } from '../api/record-feed.ts';
import type { PolicyPorts, Stale } from '../api/ports.ts';
import { createKubeClient, type KubeClient } from '../kube/client.ts';
import type { KubeAccessSource } from '../kube/kube-access.ts';
import { reviewAccess, reviewToken } from '../kube/review-access.ts';
import { createNewActivities } from '../queue/activity-stream.ts';
import { createChangedEvents } from '../queue/changed-events.ts';
import { readDeliveryTimes } from '../queue/delivery-times.ts';
import { createNoteFound } from '../queue/found-since.ts';
import { createPushQueue } from '../queue/producer.ts';
import { createEventReader } from '../queue/read-events.ts';
import { readReceivers } from '../queue/receiver-list.ts';
import { readAnnouncements } from '../queue/unannounced-finds.ts';
import { readVersion } from '../config/version.ts';
import type { Foundation } from './foundation.ts';
import { patchPolicyWith, readPolicyWith } from '../api-cluster/policies.ts';
import { createReadPods } from '../api-cluster/read-pods.ts';
import { readRunning } from '../api-cluster/read-running.ts';
import type { RedisAccess } from './redis.ts';
import { refusalOf } from '../queue/redis-state.ts';

/** The parts that the API needs to answer; all undefined in a process without the role `work`. */
interface ApiMeans {
  /** What wings add to the API. */
  readonly added: AddedRoutes;
  readonly access: KubeAccessSource | undefined;
  readonly policies:
    | (Omit<PolicyPorts, 'noActions' | 'hasAdmissionPolicy' | 'patch' | 'read' | 'readPods'> & {
        readonly staleSince: () => number | undefined;
      })
    | undefined;
  readonly doctor: Doctor | undefined;
  readonly namespaces: SelectedNamespaces | undefined;
}

/** The ports of the API, and what must be closed. */
export interface ApiPart {
  readonly options: ApiOptions;
  close(): Promise<void>;
}

/** Builds the ports of the API. */
export function composeApi(
  { settings, aliases, logger, turns }: Foundation,
  redis: RedisAccess,
  { access, policies, doctor, namespaces, added }: ApiMeans,
): ApiPart {
  const { config } = settings;
  const { prefix } = config.redis;
  const events = { redis: redis.connection, prefix, onError: (error: Error) => logger.debug({ err: error }, 'event queue error') };
  const queue = createPushQueue(events, config.redis.minReplicas, config.listen.confirmWithin);
  const noActions = whyNoActions(config.operations);
  // The reviews have connections of their own, so that callers of the API use up none of the worker's.
  const reviews = access && createKubeClient(access);
  const users = access && createKubeClient(access, { kind: 'users' });
  const deliveries = () => readDeliveryTimes(redis.connection, prefix, Date.now());
  const patch = patchPolicyWith(noActions === undefined ? users : undefined);
  return {
    options: {
      auth: authOf(settings, reviews),
      reader: createEventReader(events),
      changedEvents: createChangedEvents(redis.connection, prefix, turns),
      storePushes: (events) => queue.add(events),
      stale: () => staleOf(redis.awaySince(), policies?.staleSince()),
      recordFeed: createRecordFeed({
        basePlural,
        changedEvents: createChangedEvents(redis.connection, prefix, turns),
        newActivities: createNewActivities(redis.connection, prefix),
        deliveries,
      }),
      noteFound: createNoteFound(redis.connection, prefix, Date.now),
      refusal: () => refusalOf(redis.health(), config.redis.durability),
      installation: {
        running: () => readRunning(redis.connection, prefix, reviews),
        receivers: () => readReceivers(redis.connection, prefix),
        deliveries,
        announcements: (registries) => readAnnouncements(redis.connection, prefix, registries),
      },
      policies: policies &&
        reviews &&
        users && {
          ...policies,
          noActions,
          hasAdmissionPolicy: config.admissionPolicy,
          patch,
          read: readPolicyWith(reviews),
          readPods: createReadPods({ users, own: reviews }, () => performance.now()),
        },
      doctor,
      namespaces,
      added,
      now: () => new Date(),
      unique: randomUUID,
      version: readVersion(),
      aliases,
      logger,
      turns,
    },
    close: async () => {
      await Promise.all([users?.close(), reviews?.close()]);
    },
  };
}

function staleOf(redis: number | undefined, cluster: number | undefined): Stale[] {
  return [
    ...(cluster === undefined ? [] : [{ what: 'cluster', since: cluster } as const]),
    ...(redis === undefined ? [] : [{ what: 'redis', since: redis } as const]),
  ];
}

function whyNoActions({ auth, actions }: Foundation['settings']['config']['operations']): string | undefined {
  if (!actions) return 'actions are off: use the commands or kubectl, or set operations.actions in the configuration of image-watcher';
  return auth === 'kubernetes' ? undefined : 'actions need operations.auth: kubernetes, because they are done with the token of the caller';
}

function authOf({ config, proxySecret, dashboardSecrets }: Foundation['settings'], client: KubeClient | undefined): OperationsAuth {
  const { auth, proxy } = config.operations;
  if (auth === 'none') return { kind: 'none' };
  if (client === undefined) {
    const why =
      'this process does not have the role work, so it cannot authenticate you with the API server: send the request to one that has';
    return { kind: 'unavailable', why };
  }
  const review: Extract<OperationsAuth, { kind: 'proxy' }>['reviewAccess'] = (caller, { verb, resource = plural, namespace }) =>
    reviewAccess(client, caller, { group: resource === 'namespaces' ? '' : group, resource, verb, namespace });
  const trusted = { ...proxy, secret: proxySecret };
  if (auth === 'proxy') return { kind: 'proxy', proxy: trusted, reviewAccess: review };
  const kubernetes = {
    kind: 'kubernetes',
    reviewToken: (token: string) => reviewToken(client, token),
    reviewAccess: review,
    vouching: createVouching(dashboardSecrets.session),
  } as const;
  return proxy.secret === undefined ? kubernetes : { ...kubernetes, proxy: trusted };
}
