import type { Reason } from './reasons.ts';
import type { Repository } from './image-reference.ts';
import type { LabelSelector } from './label-selector.ts';
import type { PolicyActions, RequestedAction } from './policy-actions.ts';
import type { Origins } from './policy-defaults.ts';
import type { PolicyStatus } from './policy-status.ts';
import type { TagStrategy } from './tag-strategy.ts';
import type { Verification } from './verification.ts';
import type { KindRef, WorkloadRef } from './workload.ts';

/** An ImagePolicy as the program works with it, whichever API version it was written in. */
export interface ImagePolicy {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly resourceVersion: string;
  /** When it was created, as the API server writes it. */
  readonly createdAt?: string;
  readonly apiVersion: string;
  /** Its one Deployment, if v1alpha1 could express its spec: with `crossNamespace: legacy` it needs no consent while the owners have not answered. */
  readonly legacyTarget?: WorkloadRef;
  /** The spec, or why it cannot be used. */
  readonly spec: PolicySpec | PolicyProblem;
  readonly status: PolicyStatus;
  /** What users request by annotations. */
  readonly actions?: PolicyActions;
  /** The last of these, if it came through the API. */
  readonly requested?: RequestedAction;
  /** Absent if it has none. */
  readonly labels?: Readonly<Record<string, string>>;
  /** The BaseImagePolicy that has created it; absent if a user has. */
  readonly parent?: PolicyParent;
}

/** A BaseImagePolicy of the same namespace, the digest of the base that it has the policy roll out, and the uid of the workload that this is for. */
export interface PolicyParent {
  readonly name: string;
  readonly uid: string;
  readonly base?: string;
  readonly workload?: string;
}

export interface PolicySpec {
  readonly repository: Repository;
  /** Chooses among the tags that pass the policy's filter. */
  readonly strategy: TagStrategy;
  /** `Tag`: repo:tag. `Digest`: repo:tag@sha256:… */
  readonly pin: 'Tag' | 'Digest';
  /** Whether the selected tag also replaces newer ones. */
  readonly allowDowngrade: boolean;
  /** `os/architecture[/variant]`: the image must have all of them. */
  readonly platforms?: readonly string[];
  /** How long a digest must have been known before it is applied. */
  readonly minAgeMs?: number;
  /** `Automatic`: workloads are changed. `Approval`: when somebody approves the digest. `DryRun`: changes are only reported. */
  readonly mode: 'Automatic' | 'Approval' | 'DryRun';
  /** When workloads may be changed; empty: always. */
  readonly windows: readonly UpdateWindow[];
  readonly targets: readonly PolicyTarget[];
  /** The Secrets of its namespace with which the registry is accessed. */
  readonly pullSecrets?: readonly string[];
  /** The maximum number of workloads that are changed at the same time; 10 by default. */
  readonly maxParallel?: number;
  readonly pollIntervalMs: number;
  /** What an image must satisfy before it is used; absent: nothing. */
  readonly verification?: Verification;
  /** Whether the policy is suspended. */
  readonly suspended: boolean;
  /** Why it counts as suspended although its own spec does not say so: its parent holds it. */
  readonly heldBecause?: string;
  /** What to do after a change; absent if rollouts are not watched. */
  readonly rollout?: RolloutSettings;
  /** Where the values come from that a policy may leave to defaults. */
  readonly origins: Origins;
}

/** The timeout of a rollout, and the reaction to a failed one. */
export interface RolloutSettings {
  readonly timeoutMs: number;
  readonly onFailure: 'Rollback' | 'Hold' | 'Ignore';
  /** In which order workloads are changed; absent: all at once. */
  readonly waves?: WaveSettings;
}

/** In which order workloads are changed. */
export interface WaveSettings {
  /** How many workloads roll out at the same time. */
  readonly maxParallel: number;
  /** The workloads that are changed first. */
  readonly canaries?: LabelSelector;
  /** Between two waves. */
  readonly pauseMs: number;
  /** After so many failed rollouts, nothing more is changed to the image. */
  readonly maxFailures: number;
}

/** A workload or those that a selector matches, and which of their containers to update: all that run the repository, unless they are named. */
export type PolicyTarget = NamedWorkload | SelectedWorkloads;
type NamedWorkload = WorkloadRef & TargetParts & { readonly selector?: undefined };
type SelectedWorkloads = KindRef &
  TargetParts & { readonly namespace: string; readonly selector: LabelSelector; readonly name?: undefined };

/** Which parts of a workload to update. */
export interface TargetParts {
  readonly containers?: readonly string[];
  /** Whether to update init containers, too. */
  readonly initContainers?: boolean;
  /** Whether to update image volumes, too, whatever their names. */
  readonly volumes?: boolean;
  /** Whether containers whose image is of another track are changed as well. */
  readonly takeOver?: boolean;
  /** Of a custom resource: the fields to write, instead of containers. */
  readonly fields?: TargetFields;
}

/** The paths of the fields that make an image: one field for all of it, or one for each part. */
export interface TargetFields {
  readonly image?: string;
  readonly repository?: string;
  readonly tag?: string;
  readonly digest?: string;
  /** The field that names the version of the image: the kind has it, and no policy names it. It is written with the image where it is set. */
  readonly version?: string;
}

/** A spec that cannot be used: the policy is Stalled with this reason, and other policies are not affected. */
export interface PolicyProblem {
  readonly problem: { readonly reason: Reason; readonly message: string };
  readonly suspended?: boolean;
  /** What can be read of it all the same: what its targets run is shown, and a push for its repository is not unknown to it. */
  readonly scope?: PolicyScope;
}

/** Which images a policy is about, and where: known also of most specs that cannot be used. */
export interface PolicyScope {
  readonly repository: Repository;
  readonly targets: readonly PolicyTarget[];
  /** What a digest without a tag means in a field of a custom resource. */
  readonly strategy: Pick<TagStrategy, 'mutableTag' | 'replaces'>;
}

/** What a policy is about, whether or not its spec can be used. */
export function scopeOf(spec: PolicySpec | PolicyProblem): PolicyScope | undefined {
  return isUsable(spec) ? spec : spec.scope;
}

/** Whether the spec can be used. */
export function isUsable(spec: PolicySpec | PolicyProblem): spec is PolicySpec {
  return !('problem' in spec);
}

/** `shop/web`: the only text form of a policy's name. */
export function policyKey(policy: { namespace: string; name: string }): string {
  return `${policy.namespace}/${policy.name}`;
}

export const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;

/** A time of the week in which workloads may be changed. */
export interface UpdateWindow {
  /** The days on which it opens; every day if absent. */
  readonly days?: readonly (typeof days)[number][];
  /** `HH:MM` in the local time of the time zone. */
  readonly from: string;
  /** Earlier than `from`: on the next day. */
  readonly to: string;
  /** IANA name. */
  readonly timeZone: string;
}

/** Reasons that a changed Secret, or another choice of Secrets, may clear. Some registries hide what the credentials may not read, and keys are replaced. */
export const clearedBySecret: ReadonlySet<string> = new Set<Reason>([
  'RegistryDenied',
  'RepositoryNotFound',
  'VerificationKeyInvalid',
  'SignatureInvalid',
]);

/** Whether the policy is Stalled for a reason that a changed Secret may clear. */
export function mayBeClearedBySecret({ status }: ImagePolicy): boolean {
  return (
    status.conditions?.some(({ type, status, reason }) => type === 'Stalled' && status === 'True' && clearedBySecret.has(reason)) ?? false
  );
}
