/** What the reconcile of a BaseImagePolicy reaches the world through; `compose-bases.ts` makes the real ones. */
import type { FactsReader } from '../recognize/facts-reader.ts';
import type { BaseImagePolicy, BaseStatus } from '../../core/model/base-policy.ts';
import type { LabelSelector } from '../../core/model/label-selector.ts';
import type { BaseJob } from '../../service/queue/jobs.ts';
import type { ClusterView, Registry, Report, Signatures } from '../../service/reconcile/ports.ts';
import type { ActPorts } from './act.ts';
import type { Change, WaitMemory } from './enqueue-bases.ts';
import type { DigestMemory } from './examine-images.ts';
import type { SelectedBase } from './plan-roll-out.ts';
import type { NamespaceMatches } from './selects-workload.ts';
import type { VersionsMemory } from './select-base.ts';

export interface BasePorts extends ActPorts {
  readonly basePolicies: BasePolicies;
  readonly cluster: ClusterView & {
    readonly namespacesWith: (selector: LabelSelector) => readonly string[];
    readonly namespaceMatches: NamespaceMatches;
  };
  readonly registry: Registry;
  readonly signatures: Signatures;
  readonly facts: FactsReader;
  readonly versions: VersionsMemory;
  /** The digests of tags, for a minute. */
  readonly digests: DigestMemory;
  readonly waits: WaitMemory;
  readonly queues: { readonly addBaseJobs: (jobs: readonly BaseJob[]) => Promise<void> };
  readonly report: Pick<Report, 'eventLog' | 'recordEvent' | 'logger'>;
}

/** How a status is written. `isExclusive`: only as long as nobody else has written the policy since it was read; rejects with PolicyChanged otherwise. */
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
  /** Whether the policy, as it was at most 3 s ago, is what an act for the base was planned from. */
  readonly isAsPlanned: (planned: BaseImagePolicy, base: SelectedBase, signal: AbortSignal) => Promise<boolean>;
  /** Calls the listener after each change of the cache; returns a function that ends that. */
  readonly subscribe: (listener: (change: Change<BaseImagePolicy>) => void) => () => void;
  /** Writes what `update` makes of the newest status; writes nothing when it returns the same. Returns the policy with it. */
  readonly writeStatus: (
    policy: BaseImagePolicy,
    update: (status: BaseStatus) => BaseStatus,
    options: WriteOptions,
  ) => Promise<BaseImagePolicy>;
  /** The keys of those that this process reconciles now: each is reconciled by one job at a time. */
  readonly underWay: Set<string>;
}
