/**
 * The ImagePolicies through which rebased images reach workloads: one for each workload and image, created when the wave of the workload begins, and never changed.
 * Guards, consent, rollouts and rollbacks are those of every ImagePolicy.
 */
import { defined } from '../../core/model/defined.ts';
import { isDeepStrictEqual } from 'node:util';
import { baseKind, kind } from '../../service/resources/group.ts';
import { apiVersion } from '../../service/resources/v1.ts';
import { baseAnnotation, workloadAnnotation, type BaseImagePolicy, type BasePolicySpec } from '../../core/model/base-policy.ts';
import { isUsable, type ImagePolicy, type PolicySpec, type UpdateWindow } from '../../core/model/image-policy.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import { isRebasedTag } from '../../core/model/rebased-tag.ts';
import { hashId } from '../../core/model/push-event.ts';
import type { Reason } from '../../core/model/reasons.ts';
import { refOf, workloadKey, type WorkloadRef } from '../../core/model/workload.ts';

/** The label of each child with the name of its BaseImagePolicy. */
export const parentLabel = 'operator.technomad.dev/base-policy';

/** The replacement of an image of a workload by the rebased one. */
export interface Replacement {
  readonly workload: WorkloadRef;
  /** The uid of the workload: one that is created again under its name has to wait for its turn. Absent if the workload was not found. */
  readonly uid?: string;
  /** The names of the containers that run the image. */
  readonly containers: readonly string[];
  /** Whether init containers run the image. */
  readonly hasInitContainers: boolean;
  /** The repository of the image: `harbor.example.com/shop/web`. */
  readonly repository: string;
  /** The tag that the workload runs. */
  readonly from: string;
  /** The tag of the rebased image. */
  readonly to: string;
  /** Whether the workload names the image by its digest. The rebased image is then named by its digest as well. */
  readonly isPinned: boolean;
}

/** A child at the API server. */
export interface Child {
  readonly policy: ImagePolicy;
  /** The digest of the base that the child rolls out. */
  readonly base: string;
  readonly replacement: Replacement;
}

/** The object from which a child is created. */
export type ChildManifest = ReturnType<typeof childManifest>;

/** The child for one replacement. Its name is derived from the replacement, so that it is created once. */
export function childManifest(
  parent: BaseImagePolicy & { readonly spec: BasePolicySpec },
  base: { readonly digest: string },
  replacement: Replacement,
) {
  const { workload, uid, containers, hasInitContainers, repository, from, to, isPinned } = replacement;
  const windows = ownWindows(parent.spec.base);
  const update = { ...(isPinned && { pin: 'Digest' as const }), ...defined({ windows }) };
  return {
    apiVersion,
    kind,
    metadata: {
      namespace: parent.namespace,
      name: childName(parent, replacement),
      labels: { [parentLabel]: labelValue(parent) },
      annotations: { [baseAnnotation]: base.digest, ...(uid !== undefined && { [workloadAnnotation]: uid }) },
      ownerReferences: [{ apiVersion, kind: baseKind, name: parent.name, uid: parent.uid, controller: true, blockOwnerDeletion: false }],
    },
    spec: {
      image: repository,
      select: { replace: { from, to } },
      targets: [{ ...refOf(workload), containers, ...(hasInitContainers && { initContainers: true }) }],
      ...(Object.keys(update).length > 0 && { update }),
      rollout: { onFailure: 'Rollback' },
    },
  } as const;
}

const maxPrefix = 200;

/** The name of a child: `java-3f9c2a7d51`. */
export function childName(
  { name, uid }: Pick<BaseImagePolicy, 'name' | 'uid'>,
  { workload, repository, from, to }: Pick<Replacement, 'workload' | 'repository' | 'from' | 'to'>,
): string {
  const hash = hashId([uid, workloadKey(workload), repository, from, to]).slice(0, 16);
  return `${name.slice(0, maxPrefix).replace(/[^a-z0-9]+$/, '')}-${hash}`;
}

/**
 * Whether the policy is a child of `parent`, which is the BaseImagePolicy that has the name of its owner now. Owner, name and replacement must fit together.
 * Labels do not count, because the author of any policy may write them.
 */
export function isChildOf(policy: Pick<ImagePolicy, 'name' | 'parent' | 'spec'>, parent: BaseImagePolicy | undefined): boolean {
  if (parent === undefined || policy.parent?.uid !== parent.uid || !isUsable(policy.spec)) return false;
  const { strategy, targets, repository } = policy.spec;
  const [workload, ...others] = targets;
  const { replaces: from, mutableTag: to } = strategy;
  if (from === undefined || to === undefined || workload?.name === undefined || others.length > 0) return false;
  const { name } = workload;
  return (
    isRebasedTag(to) &&
    policy.name === childName(parent, { workload: { ...workload, name }, repository: formatRepository(repository), from, to })
  );
}

/** The value of the label that names the parent. It is shortened, because a name of a policy may be longer than a label. */
export function labelValue({ name, uid }: Pick<BaseImagePolicy, 'name' | 'uid'>): string {
  return name.length <= 63 ? name : uid;
}

/** The windows that a policy says itself, also that it has none; undefined if it does not. The configuration gives a child and its parent the same ones. */
function ownWindows({ origins, windows }: PolicySpec): readonly UpdateWindow[] | undefined {
  return origins.windows === 'policy' ? windows : undefined;
}

/** Whether a child says other windows than its parent. */
export function hasOtherWindows({ spec }: ImagePolicy, parent: PolicySpec): boolean {
  return isUsable(spec) && !isDeepStrictEqual(ownWindows(spec), ownWindows(parent));
}

/** The progress of a child. */
export interface ChildState {
  /** The state of a child. In the state Blocked, something other than a rollout prevents the change, possibly for long. */
  readonly state: 'Progressing' | 'Blocked' | 'Done' | 'Failed';
  readonly reason?: string;
  readonly message?: string;
}

const failures: ReadonlySet<string> = new Set<Reason>(['RolloutFailed', 'RejectedDigest']);

/** The progress of a child according to its status. */
export function childState({ policy: { spec, status, generation }, replacement: { to } }: Child): ChildState {
  if (!isUsable(spec)) return { state: 'Blocked', ...spec.problem };
  const { rejected = [], running, conditions = [], observedGeneration, history = [] } = status;
  const rejection = rejected.find(({ tag }) => tag === to);
  if (rejection !== undefined) return { state: 'Failed', reason: rejection.reason, message: rejection.message ?? rejection.reason };
  const ready = conditions.find(({ type }) => type === 'Ready');
  // The child was held together with its parent, and has not been reconciled since.
  if (ready?.reason === 'Suspended' && !spec.suspended) return { state: 'Progressing' };
  if (ready === undefined || observedGeneration !== generation) return { state: 'Progressing' };
  const why = { reason: ready.reason, message: ready.message };
  // A failure that is not caused by the image is rolled back and tried again.
  const failure = history.find(({ result }) => result === 'Failed')?.failure;
  const isOutside = failure !== undefined && failure.against !== 'image';
  if (failures.has(ready.reason)) return { state: isOutside ? 'Progressing' : 'Failed', ...why };
  if (ready.status === 'True' && running === to) return { state: 'Done' };
  const isUnderWay = conditions.some(({ type, status }) => type === 'Reconciling' && status === 'True');
  return { state: isUnderWay ? 'Progressing' : 'Blocked', ...why };
}
