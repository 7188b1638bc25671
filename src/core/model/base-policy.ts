/** A BaseImagePolicy as the program works with it: which base to watch, whose images may be built on it, and what happens when a new base is found. */
import { z } from 'zod';
import type { PolicyActions } from './policy-actions.ts';
import { conditions, maxLengths, type Immutable } from './policy-status.ts';
import { withoutOddFields } from './stored-status.ts';
import { policyKey, type PolicyProblem, type PolicySpec, type WaveSettings } from './image-policy.ts';
import type { LabelSelector } from './label-selector.ts';

export interface BaseImagePolicy {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly resourceVersion: string;
  readonly createdAt?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** It was deleted, and a finalizer keeps it. */
  readonly isDeleting?: boolean;
  /** The spec, or why it cannot be used. */
  readonly spec: BasePolicySpec | PolicyProblem;
  readonly status: BaseStatus;
  /** What users request by annotations; those of an ImagePolicy. */
  readonly actions?: PolicyActions;
}

export interface BasePolicySpec {
  /** Selects the base, as an ImagePolicy without targets would; with its mode, windows, minAgeMs, pullSecrets, pollIntervalMs and suspended. */
  readonly base: PolicySpec;
  /** Whose images are examined. */
  readonly workloads: readonly BaseWorkloads[];
  /** What happens to an image that is behind: the first action that applies to it. The last one is `report`. */
  readonly onNewBase: readonly BaseAction[];
  readonly waves: WaveSettings;
}

/** Workloads of some kinds, by the labels of their namespaces and their own. */
export interface BaseWorkloads {
  /** Absent: the namespace of the policy. */
  readonly namespaceSelector?: LabelSelector;
  /** Absent: all workloads of these kinds. */
  readonly selector?: LabelSelector;
  readonly kinds: readonly string[];
}

/** What happens to an image that is behind its base. `images` are patterns of repositories, in which `*` stands for any characters. */
export type BaseAction = RebaseAction | TriggerAction | RestartAction | { readonly kind: 'report' };

export interface RebaseAction {
  readonly kind: 'rebase';
  readonly images: readonly string[];
  /** With `$tag` and `$date`. */
  readonly tag: string;
  /** Names of the rules that are not checked. */
  readonly allow: readonly string[];
  /** The Secret, in the namespace of the policy, with the credentials for pushing; used for nothing else. */
  readonly pushSecret: string;
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

/** Restarts workloads that run a mutable tag with imagePullPolicy Always, when its digest has changed. */
export interface RestartAction {
  readonly kind: 'restart';
  readonly images: readonly string[];
}

/** Where a rebuild is requested; `$source` in a text is the repository of the image's source, such as `shop/web`. */
export interface CiSystem {
  readonly system: 'githubDispatch' | 'githubWorkflow' | 'gitlab' | 'gitea' | 'tekton' | 'jenkins' | 'webhook';
  /** The API or endpoint; absent: that of the public service. */
  readonly url?: string;
  /** `owner/name` or a path; `$source` takes it from the image. */
  readonly project?: string;
  /** The event, workflow or job. */
  readonly name?: string;
  /** The branch or tag. */
  readonly ref?: string;
  /** The Secret, in the namespace of the policy, with the token or the signing key. */
  readonly secret?: { readonly name: string; readonly key: string };
}

/** On each ImagePolicy that a BaseImagePolicy has created: the digest of the base that it rolls out. */
export const baseAnnotation = 'operator.technomad.dev/base-digest';

/** On the same: the uid of the workload that it is for. */
export const workloadAnnotation = 'operator.technomad.dev/workload-uid';

/** The kinds of workloads whose images can be examined. */
export const baseKinds = ['Deployment', 'StatefulSet', 'DaemonSet', 'CronJob'] as const;

/** The maximum lengths of the lists of a status. */
export const maxDependents = 20;
const maxHistory = 10;
export const maxRequests = 20;

/** The most that `waves.maxParallel` may be. */
const maxWave = 100;

const text = (max: number, description: string) => z.string().max(max).describe(description);
const time = (description: string) => z.iso.datetime().describe(description);
const count = (description: string) => z.int().min(0).describe(description);
const digest = (description: string) => text(maxLengths.digest, description);
const tag = (description: string) => text(maxLengths.tag, description);
const image = (description: string) => text(maxLengths.image, description);
const message = (description: string) => text(maxLengths.message, description);

const base = z
  .object({ tag: tag('The tag.'), digest: digest('Its digest.'), selectedAt: time('When the policy first selected it.') })
  .describe('The base that applications should be built on.');

const dependent = z
  .object({
    image: image('The repository and tag that the workloads run.'),
    digest: digest('The digest that was examined.').exactOptional(),
    base: text(maxLengths.digest + maxLengths.tag, 'The base that it is built on: tag@digest, or one of them.').exactOptional(),
    recognizedBy: z.enum(['Layers', 'Annotation', 'Buildpacks', 'Provenance']).exactOptional().describe('How the base was recognized.'),
    state: z
      .enum(['Current', 'Behind', 'Unknown', 'Requested', 'RebuildOverdue', 'Rebased', 'Updating', 'Updated', 'Failed', 'Refused'])
      .describe(
        'Current: built on the selected base. Behind: on an older one, and nothing is done about it. Unknown: the base could not be recognized. Requested: a rebuild was requested. RebuildOverdue: it has not come in time. Rebased: the image is rebased and waits for its wave. Updating, Updated: its workloads are rolling out, or have. Failed: a rollout failed. Refused: the image cannot be rebased.',
      ),
    action: z.enum(['rebase', 'trigger', 'restart', 'report']).exactOptional().describe('What is done about it.'),
    behindSince: time('When the first newer base was selected.').exactOptional(),
    at: time('When the state was reached.').exactOptional(),
    workloads: count('How many workloads run it.'),
    example: text(400, 'One of them: "Deployment shop/web".').exactOptional(),
    rebased: tag('The tag of the rebased image.').exactOptional(),
    reason: text(maxLengths.reason, 'The reason, as a stable word for programs.').exactOptional(),
    message: message('The explanation, for people.').exactOptional(),
  })
  .describe('One image of the workloads.');

const request = z
  .object({
    base: digest('The digest of the base that the rebuild was requested for.'),
    source: text(512, 'The source that was to be rebuilt.'),
    at: time('When the rebuild was requested, or is to be.'),
    state: z.enum(['Pending', 'Requested', 'Failed']).describe('Whether the CI system has accepted the request.'),
    message: message('Why it has not.').exactOptional(),
  })
  .describe('A rebuild that was requested from a CI system.');

const entry = z
  .object({
    tag: tag('The tag of the base.'),
    digest: digest('Its digest.'),
    selectedAt: time('When the policy selected it.'),
    requested: count('Sources whose rebuild was requested.'),
    updated: count('Workloads that were brought to it.'),
    failed: count('Workloads whose rollout failed.'),
    result: z.enum(['Selected', 'Rejected']).describe('Rejected: rollouts failed, and the base is not used again.'),
  })
  .describe('One base, and what was done for it.');

/** The schema of `status`. Every field is optional: a reader drops one that does not fit. */
export const baseStatusSchema = z
  .object({
    observedGeneration: z.int().min(0).exactOptional().describe('The generation of the policy that was last reconciled.'),
    conditions: conditions
      .exactOptional()
      .describe('Ready, and Reconciling, Stalled and others while they are true.')
      .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] }),
    latest: base.exactOptional(),
    lastCheckTime: z.string().meta({ format: 'date-time', description: 'When the registry was last asked for the base.' }).exactOptional(),
    lastHandledRequest: text(maxLengths.request, 'The value of the annotation requested-at that was last handled.').exactOptional(),
    waiting: z
      .object({
        tag: tag('The tag of the base that waits.'),
        digest: digest('Its digest.'),
        since: time('When it was first seen.'),
        until: time('When the policy is reconciled again.').exactOptional(),
        reason: text(maxLengths.reason, 'The reason, as a stable word for programs.'),
      })
      .exactOptional()
      .describe('A base that is not used yet.'),
    images: z
      .object({
        total: count('The images that the selected workloads run.'),
        current: count('Those that are built on the selected base.'),
        behind: count('Those that are built on another base of the same repository, or under whose tag pods still run such an image.'),
        unknown: count('Those whose base could not be recognized.'),
        unrelated: count('Those that are built on something else.'),
      })
      .exactOptional()
      .describe('Counts of images, each digest once.'),
    behindSince: time('The earliest time since which an image is behind.').exactOptional(),
    dependents: z
      .array(dependent)
      .max(maxDependents)
      .exactOptional()
      .describe(`The first ${maxDependents} images that are built on the base or may be, those that are behind first.`),
    waves: z
      .object({
        base: digest('The digest of the base that is rolled out.'),
        pending: count('Workloads that wait for their wave.'),
        progressing: count('Workloads that are rolling out.'),
        done: count('Workloads that have rolled out.'),
        failed: count('Workloads whose rollout failed.'),
        lastDoneAt: time('When the last rollout was complete.').exactOptional(),
        stopped: message('Why no further wave begins.').exactOptional(),
      })
      .exactOptional()
      .describe('The waves in which rebased images are rolled out.'),
    lastWave: z
      .object({
        base: digest('The digest of the base that is rolled out.'),
        workloads: z
          .array(text(600, 'A workload: "Deployment/shop/web".'))
          .max(maxWave)
          .describe('The workloads that are changed or restarted in it.'),
      })
      .exactOptional()
      .describe('The wave that began last. It is written before anything is changed, so that no other one begins meanwhile.'),
    requests: z
      .array(request)
      .max(maxRequests)
      .exactOptional()
      .describe(`The first ${maxRequests} rebuilds that were requested for the base, those that are not accepted first.`),
    history: z.array(entry).max(maxHistory).exactOptional().describe(`The last ${maxHistory} bases, the latest first.`),
    rejected: z
      .array(
        z
          .object({ digest: digest('The digest of the base.'), tag: tag('Its tag.'), at: time('When.'), message: message('Why.') })
          .describe('A base that is not used again.'),
      )
      .max(maxHistory)
      .exactOptional()
      .describe(`The last ${maxHistory} bases that failed.`),
    pendingApproval: z
      .object({ tag: tag('The tag that waits for approval.'), digest: digest('The digest that waits for approval.') })
      .exactOptional()
      .describe('The base that waits for approval.'),
  })
  .describe('What the service found and did.');

/** The status as the program works with it. */
export type BaseStatus = Immutable<z.output<typeof baseStatusSchema>>;
export type Dependent = Immutable<z.output<typeof dependent>>;
export type RebuildRequest = Immutable<z.output<typeof request>>;

const storedStatus = baseStatusSchema.loose();

/** Reads `status`. A field that does not fit the schema is dropped; one that this version does not know is kept, because a status is written back. */
export function readBaseStatus(raw: unknown): BaseStatus {
  const read = storedStatus.safeParse(raw);
  return read.success ? read.data : storedStatus.parse(withoutOddFields(raw, read.error));
}

/** Whether the spec can be used. */
export function isUsableBase(spec: BaseImagePolicy['spec']): spec is BasePolicySpec {
  return !('problem' in spec);
}

/** Whether anything is done for the policy: its spec can be used, and it is neither suspended nor being deleted. */
export function isActiveBase(policy: BaseImagePolicy): policy is BaseImagePolicy & { readonly spec: BasePolicySpec } {
  return isUsableBase(policy.spec) && !policy.spec.base.suspended && policy.isDeleting !== true;
}

/** `platform/bipol:java`: names a policy in the record of a push. */
export function baseKey({ namespace, name }: Pick<BaseImagePolicy, 'namespace' | 'name'>): string {
  return policyKey({ namespace, name: `${basePrefix}${name}` });
}

/** The name of the BaseImagePolicy that such a name means; undefined for the name of an ImagePolicy. */
export function baseNameOf(name: string): string | undefined {
  return name.startsWith(basePrefix) ? name.slice(basePrefix.length) : undefined;
}

const basePrefix = 'bipol:';
