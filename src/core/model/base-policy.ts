/** The model of a BaseImagePolicy: which base to watch, whose images may be built on it, and what happens when a new base is found. */
import type { PolicyActions, RequestedAction } from './policy-actions.ts';
import type { BaseStatus } from './base-status.ts';
import { policyKey, type ApiObject, type PolicyProblem, type PolicySpec, type WaveSettings } from './image-policy.ts';
import type { LabelSelector } from './label-selector.ts';

export interface BaseImagePolicy extends ApiObject {
  /** Whether the policy was deleted and a finalizer still keeps it. */
  readonly isDeleting?: boolean;
  /** The spec, or why it cannot be used. */
  readonly spec: BasePolicySpec | PolicyProblem;
  readonly status: BaseStatus;
  /** The requests of users, which are the annotations of an ImagePolicy. */
  readonly actions?: PolicyActions;
  /** The last requested action, if it came through the API. */
  readonly requested?: RequestedAction;
  /** Who last changed the spec, as an annotation says. */
  readonly editedBy?: string;
}

export interface BasePolicySpec {
  /** The selection of the base in the form of an ImagePolicy without targets, with its mode, approvals, windows, minAgeMs, pullSecrets, pollIntervalMs and suspended. */
  readonly base: PolicySpec;
  /** Patterns of tags, in which `*` stands for any characters: their images count as older versions, although the selection does not admit them. */
  readonly from: readonly string[];
  /** Whether an application is left to the policy of a base in between, which is brought forward first. */
  readonly basesBetween: 'Follow' | 'Skip';
  /** The workloads whose images are examined. */
  readonly workloads: readonly BaseWorkloads[];
  /** The actions for an image that is behind, of which the first that applies is taken. The last one is `report`. */
  readonly onNewBase: readonly BaseAction[];
  readonly waves: WaveSettings;
}

/** Workloads of some kinds, selected by the labels of their namespaces and their own. */
export interface BaseWorkloads {
  /** The namespaces of the workloads; absent for the namespace of the policy. */
  readonly namespaceSelector?: LabelSelector;
  /** The labels of the workloads; absent for all workloads of these kinds. */
  readonly selector?: LabelSelector;
  readonly kinds: readonly string[];
}

/** An action for images that are behind their base. `images` are patterns of repositories, in which `*` stands for any characters. */
export type BaseAction = RebaseAction | TriggerAction | RestartAction | { readonly kind: 'report' };

export interface RebaseAction {
  readonly kind: 'rebase';
  readonly images: readonly string[];
  /** The template of the tag of rebased images, with `$tag` and `$date`. */
  readonly tag: string;
  /** The names of the rebase rules that the policy skips. */
  readonly allow: readonly string[];
  /** The Secret, in the namespace of the policy, with the credentials for pushing. It is used for nothing else. Absent: those of image-watcher, if granted. */
  readonly pushSecret?: string;
  /** The Secret, in the namespace of the policy, with the private key for signing rebased images. */
  readonly signingKey?: { readonly secret: string; readonly key: string; readonly passwordKey?: string };
}

export interface TriggerAction {
  readonly kind: 'trigger';
  readonly images: readonly string[];
  /** The repositories of the CI system that images may name as their source; absent: all. */
  readonly sources?: readonly string[];
  readonly ci: CiSystem;
  /** How long a rebuilt image may take before the dependent is RebuildOverdue. */
  readonly rebuildWithinMs: number;
}

/** Restarts workloads that run a mutable tag with imagePullPolicy Always after the digest of the tag has changed. */
export interface RestartAction {
  readonly kind: 'restart';
  readonly images: readonly string[];
}

/** The CI system that rebuilds images. `$source` in a text is the repository of the image's source, such as `shop/web`. */
export interface CiSystem {
  readonly system: 'githubDispatch' | 'githubWorkflow' | 'gitlab' | 'gitea' | 'tekton' | 'jenkins' | 'webhook';
  /** The URL of the API or endpoint; absent for the public service. */
  readonly url?: string;
  /** The project: `owner/name` or a path. `$source` takes it from the image. */
  readonly project?: string;
  /** The name of the event, workflow or job. */
  readonly name?: string;
  /** The branch or tag to build. */
  readonly ref?: string;
  /** The Secret, in the namespace of the policy, with the token or the signing key. */
  readonly secret?: { readonly name: string; readonly key: string };
}

/** The annotation with the digest of the base that is rolled out, on each ImagePolicy that a BaseImagePolicy has created. */
export const baseAnnotation = 'operator.technomad.dev/base-digest';

/** The annotation with the uid of the workload that is changed, on each ImagePolicy that a BaseImagePolicy has created. */
export const workloadAnnotation = 'operator.technomad.dev/workload-uid';

/** The kinds of workloads whose images can be examined. */
export const baseKinds = ['Deployment', 'StatefulSet', 'DaemonSet', 'CronJob'] as const;

/** Whether the spec can be used. */
export function isUsableBase(spec: BaseImagePolicy['spec']): spec is BasePolicySpec {
  return !('problem' in spec);
}

/** Whether the policy is active: its spec can be used, and it is neither suspended nor being deleted. */
export function isActiveBase(policy: BaseImagePolicy): policy is BaseImagePolicy & { readonly spec: BasePolicySpec } {
  return isUsableBase(policy.spec) && !policy.spec.base.suspended && policy.isDeleting !== true;
}

/** The name of a policy in the record of a push: `platform/bipol:java`. */
export function baseKey({ namespace, name }: Pick<BaseImagePolicy, 'namespace' | 'name'>): string {
  return policyKey({ namespace, name: `${basePrefix}${name}` });
}

/** The name of the BaseImagePolicy in the record of a push; undefined for the name of an ImagePolicy. */
export function baseNameOf(name: string): string | undefined {
  return name.startsWith(basePrefix) ? name.slice(basePrefix.length) : undefined;
}

const basePrefix = 'bipol:';
