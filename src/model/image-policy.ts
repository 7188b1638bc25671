import type { Repository } from './image-reference.ts';
import type { LabelSelector } from './label-selector.ts';
import type { PolicyActions } from './policy-actions.ts';
import type { PolicyStatus } from './policy-status.ts';
import type { Reason } from './reasons.ts';
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
  /** Its one Deployment, where its spec says nothing that v1alpha1 could not say: `crossNamespace: legacy` asks nobody who has not answered. */
  readonly legacyTarget?: WorkloadRef;
  /** What is wanted, or why it cannot be understood. */
  readonly spec: PolicySpec | PolicyProblem;
  readonly status: PolicyStatus;
  /** What users ask of it by annotations. */
  readonly actions?: PolicyActions;
}

export interface PolicySpec {
  readonly repository: Repository;
  /** Chooses among the tags that the policy's filter lets through. */
  readonly strategy: TagStrategy;
  /** `Tag`: repo:tag. `Digest`: repo:tag@sha256:… */
  readonly pin: 'Tag' | 'Digest';
  /** Whether what is selected replaces what is newer, too. */
  readonly allowDowngrade: boolean;
  /** `os/architecture[/variant]`: the image must have all of them. */
  readonly platforms?: readonly string[];
  /** How long a digest must have been known before it is used. */
  readonly minAgeMs?: number;
  /** `Automatic`: workloads are changed. `Approval`: when somebody approves the digest. `DryRun`: it is only told. */
  readonly mode: 'Automatic' | 'Approval' | 'DryRun';
  /** When workloads may be changed; empty: always. */
  readonly windows: readonly UpdateWindow[];
  readonly targets: readonly PolicyTarget[];
  /** The Secrets of its namespace with which the registry is asked. */
  readonly pullSecrets?: readonly string[];
  /** How many workloads are changed at the same time at most; 10 unless given. */
  readonly maxParallel?: number;
  readonly pollIntervalMs: number;
  /** What has to hold of an image before it is used; nothing unless given. */
  readonly verification?: Verification;
  /** Whether the policy is left alone. */
  readonly suspended: boolean;
  /** What follows a change; absent where nobody watches it. */
  readonly rollout?: RolloutSettings;
}

/** How long a rollout may take, and what is done when it fails. */
export interface RolloutSettings {
  readonly timeoutMs: number;
  readonly onFailure: 'Rollback' | 'Hold' | 'Ignore';
}

/** A workload or those that a selector finds, and which of their containers are meant: all that run the repository unless they are named. */
export type PolicyTarget = NamedWorkload | SelectedWorkloads;
type NamedWorkload = WorkloadRef & TargetParts & { readonly selector?: undefined };
type SelectedWorkloads = KindRef &
  TargetParts & { readonly namespace: string; readonly selector: LabelSelector; readonly name?: undefined };

/** What of a workload is meant. */
export interface TargetParts {
  readonly containers?: readonly string[];
  /** Whether init containers are meant, too. */
  readonly initContainers?: boolean;
  /** Whether image volumes are meant, too, whatever their names. */
  readonly volumes?: boolean;
  /** Of a custom resource: the fields to write, instead of containers. */
  readonly fields?: TargetFields;
}

/** Paths of the fields that make an image: either all of it in one, or its parts. */
export interface TargetFields {
  readonly image?: string;
  readonly repository?: string;
  readonly tag?: string;
  readonly digest?: string;
}

/** A spec that cannot be acted on: the policy is Stalled with this, and the others go on. */
export interface PolicyProblem {
  readonly problem: { readonly reason: Reason; readonly message: string };
  readonly suspended?: boolean;
}

/** Whether the spec could be understood. */
export function isUsable(spec: PolicySpec | PolicyProblem): spec is PolicySpec {
  return !('problem' in spec);
}

/** `shop/web`: the one text form of a policy's name. */
export function policyKey(policy: { namespace: string; name: string }): string {
  return `${policy.namespace}/${policy.name}`;
}

export const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;

/** A time of the week in which workloads may be changed. */
export interface UpdateWindow {
  /** The days on which it opens; without them every day. */
  readonly days?: readonly (typeof days)[number][];
  /** `HH:MM` on the clocks of the time zone. */
  readonly from: string;
  /** Earlier than `from`: on the next day. */
  readonly to: string;
  /** IANA name. */
  readonly timeZone: string;
}
