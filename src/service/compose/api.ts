/** Composes the ports of the API, which the operations listener serves. */
import { randomUUID } from 'node:crypto';
import { defined } from '../../core/model/defined.ts';
import { textOrEmpty } from '../../core/model/untyped.ts';
import { apiVersion, basePlural, group, kind, plural, policyResource } from '../resources/group.ts';
import { AccessError } from '../api/access.ts';
import { type OperationsAuth } from '../api/authenticate.ts';
import { createVouching } from '../api/vouch.ts';
import type { AddedRoutes, ApiOptions } from '../api/add-api.ts';
import type { Doctor } from '../api/doctor-api.ts';
import type { SelectedNamespaces } from '../api/namespaces-api.ts';
import { createRecordFeed } from '../api/record-feed.ts';
import { ActionRefused, type PolicyPorts, type PolicyResource, type RunningService, type Stale } from '../api/ports.ts';
import { createKubeClient, type KubeClient } from '../kube/client.ts';
import type { KubeAccessSource } from '../kube/kube-access.ts';
import { isKubeError, KubeError } from '../kube/kube-error.ts';
import { objectPath } from '../kube/objects.ts';
import { reviewAccess, reviewToken } from '../kube/review-access.ts';
import { createNewActivities } from '../queue/activity-stream.ts';
import { createChangedEvents } from '../queue/changed-events.ts';
import { readDeliveryTimes } from '../queue/delivery-times.ts';
import { createNoteFound } from '../queue/found-since.ts';
import { createPushQueue } from '../queue/producer.ts';
import { createEventReader } from '../queue/read-events.ts';
import { readProcesses } from '../queue/process-list.ts';
import { readServer } from '../queue/read-server.ts';
import { readReceivers } from '../queue/receiver-list.ts';
import { readAnnouncements } from '../queue/unannounced-finds.ts';
import { readVersion } from '../config/version.ts';
import type { Foundation } from './foundation.ts';
import { createReadPods } from './read-pods.ts';
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
  { settings, aliases, logger, turns }: Pick<Foundation, 'settings' | 'aliases' | 'logger' | 'turns'>,
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
  const patch = patchWith(noActions === undefined ? users : undefined);
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
          read: readWith(reviews),
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

/** Reads what runs. A version that is not said in time is left out. */
async function readRunning(redis: RedisAccess['connection'], prefix: string, cluster: KubeClient | undefined): Promise<RunningService> {
  const versionOf = cluster?.request<{ gitVersion?: unknown }>({ method: 'GET', path: '/version', timeoutMs: 2_000 });
  const [processes, info, version] = await Promise.all([
    readProcesses(redis, prefix, Date.now()),
    readServer(redis, prefix, Date.now).then(
      ({ info }) => info['redis_version'],
      () => undefined,
    ),
    versionOf?.then(
      ({ gitVersion }) => textOrEmpty(gitVersion) || undefined,
      () => undefined,
    ),
  ]);
  return { processes, ...defined({ redis: info, kubernetes: version }) };
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

/** Reads policies with the service's own rights. The caller's permission must be checked before. */
function readWith(cluster: KubeClient): PolicyPorts['read'] {
  return async ({ namespace, name }) => {
    try {
      const { metadata, ...rest } = await cluster.request<PolicyResource>({
        method: 'GET',
        path: objectPath(policyResource, namespace, name),
      });
      return { ...rest, metadata: { ...metadata, managedFields: undefined } };
    } catch (error) {
      if (isKubeError(error, 404)) throw new AccessError(404, `there is no ImagePolicy ${namespace}/${name}`);
      throw new AccessError(503, 'the API server does not answer; try again', { cause: error });
    }
  };
}

/** Patches policies with only the token of the caller. */
function patchWith(users: KubeClient | undefined): PolicyPorts['patch'] {
  return async (caller, { namespace, name, of = { kind, plural } }, body) => {
    if (users === undefined || caller.kind !== 'token') throw new ActionRefused(403, 'actions need the token of a caller');
    try {
      await users.request({
        method: 'PATCH',
        path: objectPath({ apiVersion, resource: of.plural }, namespace, name),
        query: { fieldManager: 'image-watcher-api' },
        body,
        contentType: 'application/merge-patch+json',
        authorization: `Bearer ${caller.token}`,
      });
    } catch (error) {
      if (isKubeError(error, 404)) throw new ActionRefused(404, `there is no ${of.kind} ${namespace}/${name}`);
      if (error instanceof KubeError && (error.status === 401 || error.status === 403)) throw new ActionRefused(403, error.detail);
      if (error instanceof KubeError && error.status < 500 && error.status !== 429) throw new ActionRefused(409, error.detail);
      throw new ActionRefused(503, 'the API server does not answer; try again');
    }
  };
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
