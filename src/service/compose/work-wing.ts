/**
 * The parts that a wing adds to the role `work`. They are built in three steps, each with what exists by then: the wing's caches, before those of the cluster;
 * its parts of the ports; its own processors, on the ports.
 */
import type { IdentifiedActivity } from '../../core/model/activity.ts';
import type { NoticeSink } from '../../core/model/notice-sink.ts';
import type { IdentifiedNotice } from '../../core/model/notice.ts';
import type { ImagePolicy, PolicySpec } from '../../core/model/image-policy.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import type { KindRef } from '../../core/model/workload.ts';
import type { Question } from '../api/access.ts';
import type { FindCauses } from '../api/ports.ts';
import type { Route } from '../api/route.ts';
import type { AccessCache } from '../cluster/access-cache.ts';
import type { ClusterCache } from '../cluster/cluster-cache.ts';
import type { WhyHeld } from '../cluster/effective-policies.ts';
import type { NamespaceCache } from '../cluster/namespace-cache.ts';
import type { OtherCertificate } from '../doctor/checks/certificates.ts';
import type { TargetFacts } from '../doctor/checks/notifications.ts';
import type { KubeClient } from '../kube/client.ts';
import type { EventLog } from '../queue/event-log.ts';
import type { RedisConnection } from '../queue/connection.ts';
import type { QueueAccess, WorkQueues } from '../queue/producer.ts';
import type { RedisHealth } from '../queue/redis-health.ts';
import type { QueueWorker } from '../queue/worker.ts';
import type { Bases, Policies, Ports } from '../reconcile/ports.ts';
import type { RegistryClient } from '../registry/client.ts';
import type { Foundation } from './foundation.ts';

/** Step 1 of a wing: its caches. They do not connect before step 3 has ended. */
export type OpenWorkWing = (foundation: Foundation, client: KubeClient, namespaces: NamespaceCache) => WorkWing;

export interface WorkWing {
  /** Kinds of workloads that are watched even if no policy names them. */
  readonly otherKinds?: () => readonly KindRef[];
  /** Why a policy must not do anything now; undefined if it may. */
  readonly whyHeld?: WhyHeld;
  /** What becomes of a notice about a policy of the wing: another notice, or none. A notice about any other policy stays as it is. */
  readonly rewriteNotice?: (policy: ImagePolicy, notice: IdentifiedNotice) => IdentifiedNotice | undefined;
  /** Step 2 of a wing, when the caches of the cluster exist. */
  readonly join: (means: WorkMeans) => JoinedWing;
}

/** The parts of the role that a wing may use. */
export interface WorkMeans {
  readonly cache: ClusterCache;
  readonly namespaces: NamespaceCache;
  readonly access: AccessCache;
  readonly registry: RegistryClient;
  readonly queue: QueueAccess;
  readonly queues: WorkQueues;
  /** A connection whose commands fail where Redis does not answer, for those who wait for an answer. */
  readonly failFastRedis: RedisConnection;
  readonly redisHealth: () => RedisHealth;
  readonly eventLog: EventLog;
  readonly sourceOf: (policy: ImagePolicy, spec: PolicySpec) => ImageSource;
  /** What all wings make of a notice about a policy. */
  readonly rewriteNotice: NonNullable<WorkWing['rewriteNotice']>;
  /** Reads the certificates that the service serves or trusts. */
  readonly readCertificates: () => Promise<readonly NamedCertificate[]>;
}

/** A certificate in PEM, or why it cannot be read. */
export type NamedCertificate = Pick<OtherCertificate, 'name' | 'pem'>;

/** Receives activities for the record. */
export type NoteActivity = (activities: readonly IdentifiedActivity[]) => void;

/** Where a wing reports what happened. */
export interface Sinks {
  readonly notices: NoticeSink;
  readonly noteActivity: NoteActivity;
}

export interface JoinedWing {
  /** Confirms that a policy may still be acted for. Returns when that was true; undefined if it is not true any more. */
  readonly confirm?: Policies['confirm'];
  /** Finds the source of the images of one of the wing's objects, by the object's name in the record of a push. */
  readonly findSource?: (key: string) => ImageSource | undefined;
  readonly notices?: NoticeSink;
  /** Called with what people asked for. */
  readonly onActivity?: NoteActivity;
  /** Step 3 of a wing: its processors, built on the ports. */
  readonly work?: (ports: Omit<Ports, 'bases'>, sinks: Sinks) => WingWork;
}

/** The work of a wing while the role runs. */
export interface WingWork {
  readonly workers: readonly QueueWorker[];
  readonly onPush?: Bases['onPush'];
  /** The routes that the wing adds to the API: those of `ServiceWing.routes`, with the wing's caches. */
  readonly routes?: readonly Route[];
  /** Finds the causes for which something of the wing does not go on. */
  readonly causes?: FindCauses;
  /** What the wing asks about callers to decide what it shows them. */
  readonly sight?: readonly Question[];
  /** Reads which targets of notifications accept messages. */
  readonly readTargets?: () => Promise<readonly TargetFacts[]>;
  /** Starts the watches of the wing, of these namespaces or (undefined) of all. */
  watch(namespaces: readonly (string | undefined)[]): void;
  /** Resolves when the watched objects are known, or when it is known that there are none. */
  settled(): Promise<unknown>;
  /** Starts the work. The caches are complete, and the workers start. */
  start(): void;
  /** Called at regular intervals, because Redis may have lost its data. */
  resync?(): void;
  /** Called when a Secret of a namespace has changed. */
  onSecret?(namespace: string): void;
  /** Updates the gauges before a scrape. */
  measure?(): void;
  /** Stops enqueuing jobs; called before the workers stop. */
  quiet?(): void;
  stop(): Promise<void>;
}

/** Creates one sink that passes every notice to all sinks. */
export function joinNotices(sinks: readonly NoticeSink[]): NoticeSink {
  return {
    async onPolicyStatus(...written) {
      await Promise.all(sinks.map((sink) => sink.onPolicyStatus(...written)));
    },
    async add(...notices) {
      await Promise.all(sinks.map((sink) => sink.add(...notices)));
    },
  };
}

/** Creates one function that lets every wing rewrite a notice, one after the other. */
export function joinRewrites(wings: readonly WorkWing[]): WorkMeans['rewriteNotice'] {
  return (policy, notice) => {
    let found: IdentifiedNotice | undefined = notice;
    for (const { rewriteNotice } of wings) if (found !== undefined && rewriteNotice !== undefined) found = rewriteNotice(policy, found);
    return found;
  };
}
