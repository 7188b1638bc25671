/** The ports of the processors: a few bundles, each one concept. Every stage names the bundles that it uses; `compose/work-ports.ts` creates the real ones. */
import type { ObjectEvent } from '../../core/model/object-event.ts';
import type { KeyedMutex } from '../../core/async/serialize.ts';
import type { Unusable } from '../../core/model/artifact.ts';
import type { Confirm } from '../../core/model/confirmation.ts';
import type { ImageList } from '../../core/model/image-list.ts';
import type { ImagePolicy, PolicySpec, PolicyTarget } from '../../core/model/image-policy.ts';
import type { RegistryAliases, Repository } from '../../core/model/image-reference.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import type { LabelSelector } from '../../core/model/label-selector.ts';
import type { PushEvent } from '../../core/model/push-event.ts';
import type { OnAnswered } from '../../core/model/server-clock.ts';
import type { WorkloadView } from '../../core/model/resolve-target.ts';
import type { Verification, VerificationResult } from '../../core/model/verification.ts';
import type { Evidence } from '../../core/model/vulnerabilities.ts';
import type { WriteStatus } from '../../core/model/write-status.ts';
import type { ContainerChange, KindRef, Workload, WorkloadRef } from '../../core/model/workload.ts';
import type { ConsentRules, Seen } from '../../core/plan/consent.ts';
import type { GuardContext } from '../../core/plan/guards/guard.ts';
import type { TargetState } from '../../core/plan/plan-update.ts';
import type { EventLog } from '../queue/event-log.ts';
import type { PolicyJob, PushJob } from '../queue/jobs.ts';
import type { PodState } from '../../core/rollout/evaluate-pods.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { RecentPushes } from './recent-pushes.ts';
import type { RegistryMemory } from './registry-memory.ts';

export interface Ports {
  readonly policies: Policies;
  readonly cluster: ClusterView;
  readonly workloads: Workloads;
  readonly registry: Registry;
  readonly signatures: Signatures;
  readonly vulnerabilities: Vulnerabilities;
  readonly report: Report;
  readonly queues: JobQueue;
  readonly bases: Bases;
}

/** The BaseImagePolicies, for pushes of their bases. */
export interface Bases {
  /** Enqueues the BaseImagePolicies that watch the repository; returns their names for the record of the push. */
  readonly onPush: (push: PushEvent) => Promise<readonly string[]>;
}

/** The policies, in the caches and at the API server. */
export interface Policies {
  readonly all: () => Iterable<ImagePolicy>;
  readonly find: (namespace: string, name: string) => ImagePolicy | undefined;
  /** The policies that watch a repository. */
  readonly match: (repository: Repository) => readonly ImagePolicy[];
  /** The policies of which this repository is a companion (`spec.alongside`). */
  readonly matchCompanions: (repository: Repository) => readonly ImagePolicy[];
  /** The policies of this repository that are not considered, because their namespace is not selected. */
  readonly matchUnselected: (repository: Repository) => readonly ImagePolicy[];
  /** Whether the watch on policies is connected at present. */
  readonly isWatching: () => boolean;
  /**
   * Whether the cache shows all policies that existed when this was first asked for `key`; if false, ask again later. Usually it costs no request of its own,
   * but shares a list with other callers.
   */
  readonly isComplete: (key: string, signal: AbortSignal) => Promise<boolean>;
  /** The pushes that were matched lately. */
  readonly recentPushes: RecentPushes;
  /** Reads the policy from the API server. */
  readonly read: (namespace: string, name: string, signal: AbortSignal, onAnswered?: OnAnswered) => Promise<ImagePolicy | undefined>;
  /**
   * Confirms that the policy has not changed since the plan was made, in all that decides. Returns when that was true, by the monotonic clock; undefined if it
   * has changed.
   */
  readonly confirm: (policy: ImagePolicy, signal: AbortSignal) => Promise<number | undefined>;
  readonly secretVersions: SecretVersions;
  readonly writeStatus: WriteStatus;
  /** Runs the jobs of one policy one after the other, by the policy's key. */
  readonly mutex: KeyedMutex;
}

/** The Secrets that a policy depends on, with their known versions, as one text. */
export type SecretVersions = (policy: ImagePolicy, spec: PolicySpec) => string;

/** The data that a plan is made from without any request: the workloads in the caches, what their owners and the configuration permit, and the clock. */
export interface ClusterView extends WorkloadView, ConsentRules, Pick<GuardContext, 'repeatsPerHour'> {
  readonly targetState: (target: PolicyTarget, policy: Pick<ImagePolicy, 'namespace'>) => TargetState;
  /** A text that changes with each change of the Namespace; absent if the caller needs none. */
  readonly namespaceVersion?: (namespace: string) => string;
  /** Whether policies may use the registry; absent if the caller does not need it. */
  readonly mayUseRegistry?: (registry: string) => boolean;
  /** Whether there is a trust root to verify keyless signatures; absent if the caller does not need it. */
  readonly hasTrustRoot?: boolean;
  readonly aliases: RegistryAliases;
  /** The policies that name or select this workload and may see it; absent if other policies are not known. */
  readonly policiesOf?: (workload: Workload) => readonly ImagePolicy[];
  /** Finds a policy in the caches, which is shown to others only with its owners' consent (`plan/proven.ts`); absent if other policies are not known. */
  readonly findPolicy?: (namespace: string, name: string) => ImagePolicy | undefined;
  /** Whether another policy, which may, follows this one; absent if other policies are not known. */
  readonly isFollowed?: (policy: ImagePolicy) => boolean;
  /** The only wall clock of the processors, in ms since 1970. */
  readonly now: () => number;
}

/** The view of the cluster, limited to what one policy may see. */
export type SeenCluster = ClusterView & Seen;

/** The workloads at the API server, and the consent of their owners. */
export interface Workloads {
  /** Resolves when the workloads of the kinds of the targets are known, or when a longer wait is pointless. */
  readonly awaitTargets: (policy: Pick<ImagePolicy, 'namespace'>, spec: PolicySpec, signal: AbortSignal) => Promise<void>;
  readonly read: (ref: WorkloadRef, signal: AbortSignal, onAnswered?: OnAnswered) => Promise<Workload | undefined>;
  /** Reads the workloads that a selector matches. */
  readonly readSelected: (
    target: KindRef & { namespace: string; selector: LabelSelector },
    signal: AbortSignal,
  ) => Promise<readonly Workload[]>;
  /** Reads the pods of the workload's newest revision. Used only while the workload is rolling out. */
  readonly readPods: (workload: WorkloadRef, signal: AbortSignal, onAnswered?: OnAnswered) => Promise<readonly PodState[]>;
  /** Reads a Namespace's consent annotation, null if it has none; throws PermanentError(NoConsent) if the Namespace may not be read. */
  readonly readConsent: (namespace: string, signal: AbortSignal) => Promise<string | null>;
  /** Brings `namespaceConsent` up to date for these Namespaces; does not fail if one may not be read. */
  readonly refreshConsents: (namespaces: readonly string[], signal: AbortSignal) => Promise<void>;
  /** Sends one guarded patch; calls `confirm` before each try. `conflict`: the workload is not the planned one. `outdated`: `confirm` returned undefined. */
  readonly patchImages: (
    workload: Workload,
    changes: readonly ContainerChange[],
    options: { readonly changeCause: string; readonly confirm: Confirm },
    signal: AbortSignal,
  ) => Promise<{ kind: 'patched'; workload: Workload } | { kind: 'conflict' } | { kind: 'outdated' }>;
}

/** Requests to registries, and the answers that this process remembers. */
export interface Registry extends RegistryReads, RegistryMemory {
  /** The source of a policy's images, and the policy on whose behalf the registry is asked. */
  readonly sourceOf: (policy: ImagePolicy, spec: PolicySpec) => ImageSource;
  /** Whether the credentials of the source have read the repository. */
  readonly hasRead: (source: ImageSource) => Promise<boolean>;
}

/** The requests of the registry client that the processors use. */
export interface RegistryReads {
  /** Resolves a tag by HEAD, which does not count as a pull. */
  readonly headManifest: ResolveTag;
  /** Resolves a tag that is about to be used. The request also finds out what the tag is. */
  readonly resolveTag: ResolveTag;
  /** Resolves a tag whose image is not known, if possible by a GET, which returns the bytes of the manifest as well. */
  readonly readTag: (
    source: ImageSource,
    tag: string,
    signal: AbortSignal,
  ) => Promise<{ readonly digest: string; readonly bytes?: Buffer } | undefined>;
  readonly listTags: ListTags;
  /** Reads what a tag or digest points to; undefined if it does not exist. A digest that was read before costs no request. */
  readonly readImage: (source: ImageSource, reference: string, signal: AbortSignal) => Promise<ImageFacts | undefined>;
  /** Reads what a tag or digest points to without the creation time, which takes fewer requests. */
  readonly readPlatforms: (
    source: ImageSource,
    reference: string,
    signal: AbortSignal,
  ) => Promise<Pick<ImageFacts, 'digest' | 'platforms'> | undefined>;
  /** The commit that an image was built from, as its annotations or labels say; undefined if they say none. A digest that was read before costs no request. */
  readonly readRevision: (source: ImageSource, digest: string, signal: AbortSignal) => Promise<string | undefined>;
  /** The list of the images that belong to an image, as it names them itself; undefined if it has none. A digest that was read before costs no request. */
  readonly readImageList: (source: ImageSource, digest: string, signal: AbortSignal) => Promise<ImageList | undefined>;
  /** Why a digest cannot be selected as an image, or as another kind of artifact. Rejects if the digest does not exist. */
  readonly whyUnusable: (source: ImageSource, digest: string, signal: AbortSignal) => Promise<Unusable>;
}

/** Resolves a tag at the registry; undefined if it does not exist. */
export type ResolveTag = (source: ImageSource, tag: string, signal: AbortSignal) => Promise<{ readonly digest: string } | undefined>;

/** Lists all tags of a repository; undefined if the registry does not know the repository. */
export type ListTags = (source: ImageSource, signal: AbortSignal) => Promise<readonly string[] | undefined>;

/** What the registry says about an image. */
export interface ImageFacts {
  readonly digest: string;
  /** `linux/amd64`, `linux/arm/v7`; empty for an artifact that is no image. */
  readonly platforms: readonly string[];
  /** When the image was created, as the image itself states. */
  readonly created?: Date;
  /** Why it cannot be selected as an image, or as another kind of artifact. */
  readonly unusable: Unusable;
}

export interface Signatures {
  /** Whether an image has the demanded signatures; throws PermanentError if nothing can be verified. */
  readonly verify: (
    request: { source: ImageSource; digest: string; tag?: string; verification: Verification; namespace: string },
    signal: AbortSignal,
  ) => Promise<VerificationResult>;
}

/** What is known of the vulnerabilities of images (`spec.verify.vulnerabilities`). */
export interface Vulnerabilities {
  /** Reads what counts about one digest. What cannot be asked is one of the problems. */
  readonly read: (
    request: {
      source: ImageSource;
      digest: string;
      rules: NonNullable<PolicySpec['vulnerabilities']>;
      /** The namespace of the policy, which holds its keys, and those of the targets. */
      namespace: string;
      targetNamespaces: readonly string[];
    },
    signal: AbortSignal,
  ) => Promise<Evidence>;
}

/** The sinks of results beside the status: Events, audit record, metrics, log. */
export interface Report {
  readonly recordEvent: (event: ObjectEvent) => void;
  readonly eventLog: EventLog;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Resolves when no image is being patched, or after a while. Reports that can wait are written after that. */
  readonly untilPatched?: () => Promise<void>;
}

export interface JobQueue {
  readonly addPolicyJobs: (jobs: readonly PolicyJob[]) => Promise<void>;
  /** Adds pushes that were processed before, to be matched again. */
  readonly repeatPushes: (pushes: readonly PushJob[]) => Promise<void>;
}
