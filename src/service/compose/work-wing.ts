/**
 * What a wing adds to the role `work`. It is built in three steps, each with what exists by then: its caches, before those of the cluster; what the ports
 * need of it; its own processors, on the ports.
 */
import type { NoticeSink } from '../../core/model/notice-sink.ts';
import type { NoticeKind } from '../../core/model/notice.ts';
import type { ImagePolicy, PolicySpec } from '../../core/model/image-policy.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import type { KindRef } from '../../core/model/workload.ts';
import type { AccessCache } from '../cluster/access-cache.ts';
import type { ClusterCache } from '../cluster/cluster-cache.ts';
import type { WhyHeld } from '../cluster/effective-policies.ts';
import type { NamespaceCache } from '../cluster/namespace-cache.ts';
import type { OtherCertificate } from '../doctor/checks/certificates.ts';
import type { KubeClient } from '../kube/client.ts';
import type { EventLog } from '../queue/event-log.ts';
import type { QueueAccess, WorkQueues } from '../queue/producer.ts';
import type { RedisHealth } from '../queue/redis-health.ts';
import type { QueueWorker } from '../queue/worker.ts';
import type { Bases, Policies, Ports } from '../reconcile/ports.ts';
import type { RegistryClient } from '../registry/client.ts';
import type { Foundation } from './foundation.ts';

/** Step 1: its caches. They do not connect before step 3 has ended. */
export type OpenWorkWing = (foundation: Foundation, client: KubeClient) => WorkWing;

export interface WorkWing {
  /** Kinds of workloads that are watched although no policy names them. */
  readonly otherKinds?: () => readonly KindRef[];
  /** Why a policy must not do anything now. */
  readonly whyHeld?: WhyHeld;
  /** Whether the wing itself reports this about the policy, so that nobody else has to. */
  readonly reports?: (policy: ImagePolicy, kind: NoticeKind) => boolean;
  /** Step 2, when the caches of the cluster exist. */
  readonly join: (means: WorkMeans) => JoinedWing;
}

/** What a wing shares with the rest of the role. */
export interface WorkMeans {
  readonly cache: ClusterCache;
  readonly namespaces: NamespaceCache;
  readonly access: AccessCache;
  readonly registry: RegistryClient;
  readonly queue: QueueAccess;
  readonly queues: WorkQueues;
  readonly redisHealth: () => RedisHealth;
  readonly eventLog: EventLog;
  readonly sourceOf: (policy: ImagePolicy, spec: PolicySpec) => ImageSource;
  /** Whether a wing reports this about the policy. */
  readonly reports: NonNullable<WorkWing['reports']>;
  /** The certificates that the service serves or trusts. */
  readonly readCertificates: () => Promise<readonly NamedCertificate[]>;
}

/** A certificate in PEM, or why it cannot be read. */
export type NamedCertificate = Pick<OtherCertificate, 'name' | 'pem'>;

export interface JoinedWing {
  /** Confirms that a policy may still be acted for: when that was known, or undefined. */
  readonly confirm?: Policies['confirm'];
  /** Finds where the images of an object of the wing come from, by its name in the record of a push. */
  readonly findSource?: (key: string) => ImageSource | undefined;
  readonly notices?: NoticeSink;
  /** Step 3, on the ports. */
  readonly work?: (ports: Omit<Ports, 'bases'>, notices: NoticeSink) => WingWork;
}

/** What a wing does while the role works. */
export interface WingWork {
  readonly workers: readonly QueueWorker[];
  readonly onPush?: Bases['onPush'];
  /** Starts its watches, of these namespaces or (undefined) of all. */
  watch(namespaces: readonly (string | undefined)[]): void;
  /** Resolves when what it watches is known, or when it is known that there is nothing. */
  settled(): Promise<unknown>;
  /** The caches are complete, and the workers start. */
  start(): void;
  /** Called now and then: Redis may have lost its data. */
  resync?(): void;
  /** A Secret of a namespace has changed. */
  onSecret?(namespace: string): void;
  /** Updates the gauges before a scrape. */
  measure?(): void;
  /** Enqueues nothing any more; called before the workers stop. */
  quiet?(): void;
  stop(): Promise<void>;
}

/** One sink that passes everything to all. */
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
