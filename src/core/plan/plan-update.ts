/** Plans the changes of a policy as a value, without I/O. Apply, status, Events, metrics and dry runs all use this plan. */
import {
  formatRepository,
  sameRepository,
  tryParseImageReference,
  type ImageReference,
  type RegistryAliases,
  type Candidate,
} from '../model/image-reference.ts';
import { defined } from '../model/defined.ts';
import type { PolicyTarget } from '../model/image-policy.ts';
import { formatSelector } from '../model/label-selector.ts';
import { decideImage, type Comparison } from './decide-image.ts';
import { mergeTargetPlans } from './merge-target-plans.ts';
import { withCompanions } from './plan-companions.ts';
import { planFields } from './plan-fields.ts';
import type { Reversion } from '../model/policy-status.ts';
import type { Reason } from '../model/reasons.ts';
import { targetImages, resolveTarget, type WorkloadView } from '../model/resolve-target.ts';
import { cut } from '../model/text.ts';
import {
  formatWorkload,
  isCustomVersion,
  readVolumeName,
  refOf,
  type ImagePosition,
  type Workload,
  type WorkloadContainer,
  type WorkloadIdentity,
  type WorkloadRef,
  type ContainerChange,
} from '../model/workload.ts';
import type { WaitReason } from './wait-reasons.ts';

/** A change that was made. */
export interface AppliedChange extends ContainerChange {
  readonly workload: WorkloadIdentity;
  /** The image that the API server stored, if admission rewrote the written one. */
  readonly became?: string;
  /** When the change was made, as the workload records it; absent if it does not. */
  readonly at?: string;
}

/** A container that is not changed, and the reason. */
export interface UnchangedContainer {
  readonly container: string;
  readonly image: string;
  readonly reason: Reason;
  readonly message: string;
  /** The field manager that wrote the image. */
  readonly owner?: string;
}

/** Why a target cannot be changed in its current state. */
export interface TargetProblem {
  readonly reason: Reason;
  readonly message: string;
}

/** The state of a target's kind: not listed yet, known since a time, or the reason why it cannot be known. */
export type TargetState = 'starting' | { readonly since: number } | { readonly problem: TargetProblem };

/** Changes that a guard blocks, until a time or another event. Their containers are among the unchanged ones. */
export type Blocked = { readonly message: string; readonly changes: readonly ContainerChange[] } & (
  | { readonly kind: 'blocked'; readonly reason: Reason }
  | { readonly kind: 'waits'; readonly reason: WaitReason; readonly until: Date }
);

/** A container with a companion: whether it runs the image that belongs to the candidate, or will after the change (`to`). */
export interface CompanionState {
  readonly container: string;
  readonly image: string;
  readonly state: 'UpToDate' | 'Kept';
  readonly message?: string;
  readonly to?: string;
}

export interface TargetPlan {
  /** The workload. If a selector matches none, its name is the text of the selector. */
  readonly target: WorkloadRef;
  readonly workload?: Workload;
  readonly changes: readonly ContainerChange[];
  readonly unchanged: readonly UnchangedContainer[];
  /** The containers of companions; absent if there are none, or their images are not known. */
  readonly companions?: readonly CompanionState[];
  readonly problem?: TargetProblem;
  readonly blocked?: readonly Blocked[];
}

export interface UpdatePlan {
  readonly candidate: Candidate;
  readonly targets: readonly TargetPlan[];
  /** The changes that GitOps tools have reverted. */
  readonly reverted?: readonly Reversion[];
}

export interface PlanInput extends WorkloadView, Comparison {
  readonly aliases: RegistryAliases;
  /** Why workloads of a target's kind cannot be found; undefined if they can. */
  readonly kindProblem: (target: PolicyTarget) => TargetProblem | undefined;
  /** The problem to report for a target that the policy may not see. It reveals nothing about the target (`unseenProblem`). */
  readonly unseenProblem: (target: WorkloadRef) => TargetProblem | undefined;
  /** Whether companions are changed whoever has set what they run: a user has asked for this very set. */
  readonly isForced?: boolean;
}

/** The maximum number of workloads of a policy. A plan is made in one turn of the event loop, and takes about 15 µs for each. */
export const maxWorkloads = 2_000;

/** Plans the change of every target to the candidate. */
export function planUpdate(input: PlanInput): UpdatePlan {
  let left = maxWorkloads;
  const plans = input.spec.targets.flatMap((target) => {
    const planned = planTarget(target, input, left);
    left -= planned.length;
    return planned;
  });
  const { isForced = false } = input;
  return { candidate: input.candidate, targets: mergeTargetPlans(plans).map((plan) => withCompanions(plan, { ...input, isForced })) };
}

/** Whether the plan has changes or blocked changes. Only then is the registry asked for the candidate's details. */
export function hasChanges(plan: UpdatePlan): boolean {
  return plan.targets.some(wantsChange);
}

/** Whether a target has changes or blocked changes. */
export function wantsChange({ changes, blocked = [] }: TargetPlan): boolean {
  return changes.length > 0 || blocked.length > 0;
}

const maxNameLength = 253;

/** `left`: how many more workloads the policy may have. */
function planTarget(target: PolicyTarget, input: PlanInput, left: number): TargetPlan[] {
  const { selector } = target;
  const ref = refOf({ ...target, name: selector === undefined ? target.name : cut(formatSelector(selector), maxNameLength) });
  const unknown = input.kindProblem(target);
  if (unknown !== undefined) return [{ target: ref, changes: [], unchanged: [], problem: unknown }];
  const workloads = resolveTarget(target, input);
  if (workloads.length > left) {
    const message = `${formatWorkload(ref)} selects ${workloads.length} workloads, and a policy has at most ${maxWorkloads}: give each part of them a policy of its own`;
    return [{ target: ref, changes: [], unchanged: [], problem: { reason: 'TooManyTargets', message } }];
  }
  if (workloads.length > 0) return workloads.map((workload) => planWorkload(target, workload, input));
  const unseen = input.unseenProblem(ref);
  if (unseen !== undefined) return [{ target: ref, changes: [], unchanged: [], problem: unseen }];
  const isDeleted = selector === undefined && input.findWorkload(target)?.isDeleted === true;
  const missing =
    selector === undefined
      ? `${formatWorkload(ref)} ${isDeleted ? 'is being deleted' : 'does not exist'}`
      : `no ${ref.kind} in ${ref.namespace} matches ${ref.name}`;
  const hint = ref.kind === 'ReplicaSet' ? ' (those of a Deployment are changed through it: name the Deployment)' : '';
  return [{ target: ref, changes: [], unchanged: [], problem: { reason: 'TargetNotFound', message: missing + hint } }];
}

function planWorkload(target: PolicyTarget, workload: Workload, input: PlanInput): TargetPlan {
  const ref = refOf(workload);
  const planned = target.fields === undefined ? planContainers(target, workload, input) : [planOfFields(target.fields, workload, input)];
  const changes = planned.filter((part) => 'to' in part);
  const unchanged = planned.filter((part) => 'image' in part);
  const unusable = planned.find((part) => 'problem' in part);
  if (unusable !== undefined) return { target: ref, workload, changes: [], unchanged: [], problem: unusable.problem };
  const problem = target.fields === undefined ? findMissing(workload, target, [...changes, ...unchanged], input) : undefined;
  return { target: ref, workload, changes, unchanged, ...defined({ problem }) };
}

function planOfFields(fields: NonNullable<PolicyTarget['fields']>, workload: Workload, input: PlanInput): ReturnType<typeof planFields> {
  return planFields(fields, workload, {
    ...input,
    decideImage: (running, container, image) => decideImage(running, { workload, container, image, isNamed: true }, input),
  });
}

function planContainers(target: PolicyTarget, workload: Workload, input: PlanInput): (ContainerChange | UnchangedContainer)[] {
  return targetImages(target, workload)
    .map(({ container, position }) => planContainer({ target, container, position }, workload, input))
    .filter((part) => part !== undefined);
}

interface TargetContainer {
  readonly target: PolicyTarget;
  readonly container: WorkloadContainer;
  readonly position: ImagePosition;
}

function planContainer(
  { target, container, position }: TargetContainer,
  workload: Workload,
  input: PlanInput,
): ContainerChange | UnchangedContainer | undefined {
  const running = readOwn(container.image, input);
  if (running === undefined) return undefined;
  const isNamed = target.takeOver === true || target.containers?.includes(container.name) === true;
  const decision = decideImage(running, { workload, container: container.name, image: container.image, isNamed }, input);
  if (decision === 'change') return { container: container.name, ...position, from: container.image, to: rewrite(running, input) };
  const owner = container.imageOwner;
  return { container: container.name, image: container.image, ...decision, ...defined({ owner }) };
}

/** The running image, if it is of the policy's repository. */
function readOwn(image: string, { spec, aliases }: PlanInput): ImageReference | undefined {
  const running = tryParseImageReference(image, aliases);
  return running !== undefined && sameRepository(running.repository, spec.repository) ? running : undefined;
}

/** A problem if containers that the target names do not exist. The others are updated in any case. */
function findMissing(
  workload: Workload,
  { containers: wanted, volumes = false }: PolicyTarget,
  found: readonly { readonly container: string }[],
  input: PlanInput,
): TargetProblem | undefined {
  const missing = wanted?.filter((name) => !found.some(({ container }) => container === name)) ?? [];
  if (found.length > 0 && missing.length === 0) return undefined;
  const what = missing.length === 0 ? 'no container' : `no container ${missing.map((name) => `"${name}"`).join(' or ')}`;
  const orVolume = volumes && found.length === 0 ? ', and no image volume of it' : '';
  const message = `${formatWorkload(workload)} has ${what} that runs ${formatRepository(input.spec.repository)}${orVolume}`;
  const volume = volumes ? undefined : workload.volumes?.find(({ image }) => readOwn(image, input) !== undefined)?.name;
  if (volume !== undefined)
    return {
      reason: 'ContainerNotFound',
      message: `${message}; its volume "${readVolumeName(volume)}" holds it: to update it, write volumes: true`,
    };
  const hasTemplate = workload.containers.length > 0 || !isCustomVersion(workload.apiVersion);
  const hint = hasTemplate ? '' : ': it has no pod template in spec.template, so say with fields where its image is';
  return { reason: 'ContainerNotFound', message: message + hint };
}

/** The new image in the written form of the old one: `nginx:1.2` becomes `nginx:1.3`. */
function rewrite(running: ImageReference, { spec, candidate }: PlanInput): string {
  const pinned = spec.pin === 'Digest' && candidate.digest !== undefined ? `@${candidate.digest}` : '';
  // A tag that points to another image now would only mislead readers.
  const tag = candidate.isMoved === true && pinned !== '' ? '' : `:${candidate.tag}`;
  return `${running.name}${tag}${pinned}`;
}
