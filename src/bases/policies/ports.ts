/** The ports of the reconcile of a BaseImagePolicy; `compose-bases.ts` makes the real ones. */
import type { BoundedMap } from '../../core/async/bounded-map.ts';
import type { FactsReader } from '../recognize/facts-reader.ts';
import type { DependentsStore } from '../record/kept-dependents.ts';
import type { ReportedNotices } from '../record/reported-notices.ts';
import type { BaseImagePolicy } from '../../core/model/base-policy.ts';
import type { BaseStatus } from '../../core/model/base-status.ts';
import type { Repository } from '../../core/model/image-reference.ts';
import type { LabelSelector } from '../../core/model/label-selector.ts';
import type { NoticeSink } from '../../core/model/notice-sink.ts';
import type { Workload } from '../../core/model/workload.ts';
import type { BaseJob } from '../../service/queue/jobs.ts';
import type { ClusterView, Registry, Report, Signatures } from '../../service/reconcile/ports.ts';
import type { ActPorts } from './act.ts';
import type { Change, WaitMemory } from './enqueue-bases.ts';
import type { DigestMemory } from './digest-memory.ts';
import type { SelectedBase } from './plan-roll-out.ts';
import type { VersionRecords } from './learn-versions.ts';
import type { NamespaceMatches } from './selects-workload.ts';
import type { VersionsMemory } from './select-base.ts';

export interface BasePorts extends ActPorts {
  readonly basePolicies: BasePolicies;
  readonly cluster: ClusterView & {
    readonly namespacesWith: (selector: LabelSelector) => readonly string[];
    readonly namespaceMatches: NamespaceMatches;
    /** The workloads of all kinds that are watched for any policy, in all namespaces. */
    readonly listEveryWorkload: () => Iterable<Workload>;
  };
  readonly registry: Registry;
  readonly signatures: Signatures;
  readonly facts: FactsReader;
  readonly versions: VersionsMemory;
  readonly records: VersionRecords;
  /** Whether policies of a namespace may push to a repository with the credentials of image-watcher. */
  readonly mayPush: (namespace: string, repository: Repository) => boolean;
  /** All dependents that a reconcile has found. */
  readonly dependents: Pick<DependentsStore, 'keep'>;
  readonly notices: Pick<NoticeSink, 'add'>;
  /** The notices about images that were reported. */
  readonly reported: ReportedNotices;
  /** The digests of tags. */
  readonly digests: DigestMemory;
  /** The images by tag that are restarted, as policies listed them at their last reconcile by this process, by the uid of the policy. */
  readonly listed: BoundedMap<string, ReadonlySet<string>>;
  readonly waits: WaitMemory;
  readonly queues: { readonly addBaseJobs: (jobs: readonly BaseJob[]) => Promise<void> };
  readonly report: Pick<Report, 'eventLog' | 'recordEvent' | 'logger'>;
}

/** How a status is written. With `isExclusive`, the write rejects with PolicyChanged if somebody else has written the policy since it was read. */
interface WriteOptions {
  readonly signal: AbortSignal;
  readonly eventId?: string | undefined;
  readonly isExclusive?: boolean;
}

/** The BaseImagePolicies, in the cache and at the API server. */
export interface BasePolicies {
  readonly all: () => Iterable<BaseImagePolicy>;
  readonly find: (namespace: string, name: string) => BaseImagePolicy | undefined;
  readonly read: (namespace: string, name: string, signal: AbortSignal) => Promise<BaseImagePolicy | undefined>;
  /** Whether the policy, as it was at most 3 s ago, is the one from which a write for the base was planned. */
  readonly isAsPlanned: (planned: BaseImagePolicy, base: SelectedBase, signal: AbortSignal) => Promise<boolean>;
  /** Calls the listener after each change of the cache. Returns a function that unsubscribes it. */
  readonly subscribe: (listener: (change: Change<BaseImagePolicy>) => void) => () => void;
  /** Passes the newest status to `update` and writes the result, unless it is the same. Returns the policy with the result. */
  readonly writeStatus: (
    policy: BaseImagePolicy,
    update: (status: BaseStatus) => BaseStatus,
    options: WriteOptions,
  ) => Promise<BaseImagePolicy>;
  /** The keys of the policies that this process is reconciling. Each policy is reconciled by one job at a time. */
  readonly underWay: Set<string>;
}
