import type { Artifact } from './artifact.ts';
import type { Alongside } from './companions.ts';
import type { Reason } from './reasons.ts';
import type { Repository } from './image-reference.ts';
import type { LabelSelector } from './label-selector.ts';
import type { ChartFields } from './oci-chart.ts';
import type { PolicyActions, RequestedAction } from './policy-actions.ts';
import type { Origins } from './policy-defaults.ts';
import type { PolicyStatus } from './policy-status.ts';
import type { CheckSettings } from './rollout-check.ts';
import type { TagStrategy } from './tag-strategy.ts';
import type { Verification } from './verification.ts';
import type { VulnerabilityRules, WaitException } from './vulnerabilities.ts';
import type { KindRef, WorkloadRef } from './workload.ts';

/** What the program knows of the metadata of an object of the API group. */
export interface ApiObject {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly resourceVersion: string;
  /** The creation time in the form of the API server. */
  readonly createdAt?: string;
  /** When an author last wrote the spec; ISO, whole seconds. Absent if metadata.managedFields do not say so. */
  readonly writtenAt?: string;
  /** The labels; absent if the object has none. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** The model of an ImagePolicy, independent of the API version in which it was written. */
export interface ImagePolicy extends ApiObject {
  readonly apiVersion: string;
  /** The one Deployment of a policy whose spec v1alpha1 can express. With `crossNamespace: legacy` it needs no consent until the owners have answered. */
  readonly legacyTarget?: WorkloadRef;
  /** The spec, or why it cannot be used. */
  readonly spec: PolicySpec | PolicyProblem;
  readonly status: PolicyStatus;
  /** The requests of users, which are annotations. */
  readonly actions?: PolicyActions;
  /** Who last changed the spec, as the annotation last-edited-by says. */
  readonly editedBy?: string;
  /** The last requested action, if it came through the API. */
  readonly requested?: RequestedAction;
  /** The consent annotation of the policy: the namespaces whose policies may follow it. Absent if it has none, and that of the Namespace decides. */
  readonly allowPoliciesFrom?: string;
  /** The BaseImagePolicy that created the policy; absent if a user did. */
  readonly parent?: PolicyParent;
}

/** The parent of a policy: a BaseImagePolicy of the same namespace, with the digest of the base to roll out, and the uid of the workload. */
export interface PolicyParent {
  readonly name: string;
  readonly uid: string;
  readonly base?: string;
  readonly workload?: string;
}

export interface PolicySpec {
  readonly repository: Repository;
  /** What is selected in the repository; absent for images. */
  readonly artifact?: Artifact;
  /** The images that are changed together with the selected one; absent if there are none. */
  readonly alongside?: Alongside;
  /** The strategy that chooses among the tags that pass the policy's filter. */
  readonly strategy: TagStrategy;
  /** The form of written images. `Tag`: repo:tag. `Digest`: repo:tag@sha256:… */
  readonly pin: 'Tag' | 'Digest';
  /** Whether the selected tag also replaces newer ones. */
  readonly allowDowngrade: boolean;
  /** The platforms that the image must have, each as `os/architecture[/variant]`. */
  readonly platforms?: readonly string[];
  /** How long a digest must have been known before it is applied, in ms. */
  readonly minAgeMs?: number;
  /** Which images need not be that old; absent if all must be. */
  readonly minAgeUnless?: WaitException;
  /** `Automatic`: workloads are changed. `Approval`: they are changed after somebody has approved the digest. `DryRun`: changes are only reported. */
  readonly mode: 'Automatic' | 'Approval' | 'DryRun';
  /** Who has to approve an image; absent if one person is enough. */
  readonly approvals?: ApprovalRules;
  /** The windows in which workloads may be changed; empty for always. */
  readonly windows: readonly UpdateWindow[];
  /** Which images are applied outside of the windows; absent if none are. */
  readonly windowsUnless?: WaitException;
  readonly targets: readonly PolicyTarget[];
  /** The policies that must have run an image before it is applied; absent if there are none. With `select.proven`, they also choose it. */
  readonly after?: ProofRules;
  /** The Secrets, in the namespace of the policy, with which the registry is accessed. */
  readonly pullSecrets?: readonly string[];
  /** The maximum number of workloads that are changed at the same time; 10 by default. */
  readonly maxParallel?: number;
  readonly pollIntervalMs: number;
  /** The required signatures of an image; absent if none are required. */
  readonly verification?: Verification;
  /** The evidence of vulnerabilities, and what it must satisfy; absent if none is asked for. */
  readonly vulnerabilities?: VulnerabilityRules<Pick<Verification, 'keys' | 'signers'>>;
  /** Whether the policy is suspended. */
  readonly suspended: boolean;
  /** Why the policy counts as suspended although its spec is not: its parent holds it. */
  readonly heldBecause?: string;
  /** The settings for rollouts; absent if rollouts are not watched. */
  readonly rollout?: RolloutSettings;
  /** The origins of the settings that may have defaults. */
  readonly origins: Origins;
}

/** How many people have to approve an image, and whose approvals do not count. */
export interface ApprovalRules {
  /** How many people have to approve an image. */
  readonly count: number;
  /** How far apart the approvals of an image may be, in ms. */
  readonly withinMs: number;
  /** Whether the approval of who last changed the spec does not count. */
  readonly notByAuthor: boolean;
}

/** Which policies must have run an image, and for how long, before another one applies it. */
export interface ProofRules {
  readonly policies: readonly PolicyName[];
  readonly forMs: number;
}

/** A policy, by its namespace and name. */
export interface PolicyName {
  readonly namespace: string;
  readonly name: string;
}

/** The timeout of a rollout, and the reaction to a failed one. */
export interface RolloutSettings {
  readonly timeoutMs: number;
  readonly onFailure: 'Rollback' | 'Hold' | 'Ignore';
  /** The settings for waves; absent to change all workloads together. */
  readonly waves?: WaveSettings;
  /** The checks of an image before, during and after its rollout. */
  readonly checks?: readonly CheckSettings[];
}

/** The order in which workloads are changed. */
export interface WaveSettings {
  /** The maximum number of workloads that roll out at the same time. */
  readonly maxParallel: number;
  /** The workloads that are changed first. */
  readonly canaries?: LabelSelector;
  /** The pause between two waves, in ms. */
  readonly pauseMs: number;
  /** The maximum number of failed rollouts. After them, no more workloads are changed to the image. */
  readonly maxFailures: number;
}

/** A workload, or those that a selector matches, and the containers to update: the named ones, or all that run the repository. */
export type PolicyTarget = NamedWorkload | SelectedWorkloads;
type NamedWorkload = WorkloadRef & TargetParts & { readonly selector?: undefined };
type SelectedWorkloads = KindRef &
  TargetParts & { readonly namespace: string; readonly selector: LabelSelector; readonly name?: undefined };

/** Which parts of a workload to update. */
export interface TargetParts {
  readonly containers?: readonly string[];
  /** Whether init containers are updated as well. */
  readonly initContainers?: boolean;
  /** Whether image volumes are updated as well, whatever their names. */
  readonly volumes?: boolean;
  /** Whether containers whose image is of another track are changed as well. */
  readonly takeOver?: boolean;
  /** The fields of a custom resource to write, instead of containers. */
  readonly fields?: TargetFields;
}

/** The paths of the fields that make an image: one field for the whole image, or one for each part. */
export interface TargetFields {
  readonly image?: string;
  readonly repository?: string;
  readonly tag?: string;
  readonly digest?: string;
  /** The field with the version of the image, which rules of the kind name, not policies. If it is set, it is written together with the image. */
  readonly version?: string;
  /** How the fields hold a chart, for fields of charts. Rules of the kind name it, not policies. */
  readonly chart?: ChartFields;
}

/** A spec that cannot be used. The policy is Stalled with this reason, and other policies are not affected. */
export interface PolicyProblem {
  readonly problem: { readonly reason: Reason; readonly message: string };
  readonly suspended?: boolean;
  /** The readable part of the spec. It is used to show what the targets run, and to assign pushes for the repository. */
  readonly scope?: PolicyScope;
}

/** The images and targets of a policy. It is known for most specs that cannot be used. */
export interface PolicyScope {
  readonly repository: Repository;
  readonly targets: readonly PolicyTarget[];
  /** The meaning of a digest without a tag in a field of a custom resource. */
  readonly strategy: Pick<TagStrategy, 'mutableTag' | 'replaces'>;
}

/** The images and targets of a policy, whether or not its spec can be used. */
export function scopeOf(spec: PolicySpec | PolicyProblem): PolicyScope | undefined {
  return isUsable(spec) ? spec : spec.scope;
}

/** Whether the spec can be used. */
export function isUsable(spec: PolicySpec | PolicyProblem): spec is PolicySpec {
  return !('problem' in spec);
}

/** The only text form of a policy's name: `shop/web`. */
export function policyKey(policy: { namespace: string; name: string }): string {
  return `${policy.namespace}/${policy.name}`;
}

export const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;

/** A time of the week in which workloads may be changed. */
export interface UpdateWindow {
  /** The days on which the window opens; absent for every day. */
  readonly days?: readonly (typeof days)[number][];
  /** The opening time, as `HH:MM` in the time zone. */
  readonly from: string;
  /** The closing time. If it is earlier than `from`, it is on the next day. */
  readonly to: string;
  /** The IANA name of the time zone. */
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
