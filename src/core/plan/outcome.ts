import type { Assessment } from '../model/assessment.ts';
import { defined } from '../model/defined.ts';
import type { Followed } from '../model/followed-status.ts';
import type { Candidate } from '../model/image-reference.ts';
import { fieldManager, heldUpdate, type LastUpdate } from '../model/last-update.ts';
import { isRebasedTag } from '../model/rebased-tag.ts';
import type { SeenContainer } from './seen-targets.ts';
import { describeImages } from './changed-images.ts';
import type { AppliedChange, Blocked, TargetPlan, UnchangedContainer, UpdatePlan } from './plan-update.ts';
import type { ContainerState, PolicyStatus, Reversion } from '../model/policy-status.ts';
import { tagOfImage } from '../model/running-image.ts';
import { listFew } from '../model/text.ts';
import type { Reason } from '../model/reasons.ts';
import { describeWaiting, type PendingChange } from './pending-candidate.ts';
import {
  findContainer,
  formatWorkload,
  identityOf,
  type Workload,
  type WorkloadIdentity,
  workloadKey,
  type WorkloadRef,
} from '../model/workload.ts';
import type { ImagePolicy } from '../model/image-policy.ts';

/** The result of reconciling one policy after a push, a poll or a change of its own. Expected results are values and not exceptions. */
export interface Outcome {
  readonly kind: OutcomeKind;
  readonly reason: Reason;
  readonly message: string;
  readonly tag?: string;
  readonly digest?: string;
  readonly changes?: readonly AppliedChange[];
  /** The containers that already run the candidate because we applied it. */
  readonly ours?: readonly OwnImage[];
  /** The running tags of the targets, for the Ready condition. */
  readonly running?: string;
  /** The selection and the state of the targets. Absent if the reconcile evaluated another image, such as an older tag. */
  readonly selection?: Selection;
  /** The running images of the targets, as they were read to plan another image. */
  readonly seen?: readonly SeenContainer[];
  /** Whether an earlier selection was compared with the running images, without a request to the registry. */
  readonly isRemembered?: boolean;
  /** The followed policies, as they were seen; absent if they were not evaluated. */
  readonly follows?: readonly Followed[];
  /** The image that waits until the pending one was applied; absent if none does. */
  readonly behind?: Candidate;
  /** The pending candidate; absent if it was not evaluated. */
  readonly pending?: PendingChange;
  /** What is known of the vulnerabilities of the images that are selected and not applied; absent if that was not evaluated. */
  readonly assessments?: readonly Assessment[];
  /** Each wait that the changes have skipped, and why. */
  readonly skipped?: readonly string[];
  /** The image whose checks are to be asked, because it waits for nothing else. */
  readonly toCheck?: Candidate;
  /** The changes that guards blocked. */
  readonly blocked?: readonly Blocked[];
  /** The images whose companions the registry was asked for. */
  readonly sets?: readonly SeenSet[];
  /** The changes that GitOps tools have reverted. */
  readonly reverted?: readonly Reversion[];
  /** Targets in other namespaces that `crossNamespace: legacy` permits to change, because their owners have not answered; absent if that was not checked. */
  readonly legacy?: readonly WorkloadRef[];
  /** Descriptions of containers whose tags are gone from the registry; absent if the tags were not listed. */
  readonly gone?: readonly string[];
  /** The state from which the outcome was made; absent if no image was selected. */
  readonly basis?: Basis;
  /** The image that the policy is stalled because of; absent if it would be with another image as well. */
  readonly refused?: Candidate;
  /** When to retry a stalled policy whose problem may resolve itself. */
  readonly retryAt?: Date;
}

/** The state from which an outcome was made. It is written to a status only while that state is valid (`status/is-outdated.ts`). */
export interface Basis {
  /** The status of the policy: its selection when the registry was asked, its history at the last attempt, and the images that were rejected then. */
  readonly status: Pick<PolicyStatus, 'latest' | 'history' | 'rejected'>;
  /** The targets in the state in which the reconcile left them. */
  readonly workloads: readonly Workload[];
  /** When the image was selected, in ms since 1970. It is later than the selection in the status. */
  readonly selectedAt: number;
}

/** An image of a policy with companions, as the registry had it: what is missing, if anything, and since when. */
export interface SeenSet {
  readonly tag: string;
  readonly digest?: string;
  readonly missing: readonly string[];
  /** Since when the registry has had the image like this; RFC 3339, whole seconds. */
  readonly since: string;
}

/** The image that a policy selects, and the state of its targets. */
export interface Selection {
  readonly candidate: Candidate;
  readonly containers: readonly (ContainerState & SeenContainer)[];
  /** Whether a push or the like named the candidate. Then not all tags were evaluated, and a newer one may have been selected since. */
  readonly isNamed?: boolean;
}

/**
 * The kind of an outcome. updated: a workload was changed · unchanged: nothing to do · ignored: the push is not for this policy · stalled: the user must act ·
 * suspended: the user wants nothing to be done · waiting: something is selected and will be applied later.
 */
export type OutcomeKind = 'updated' | 'unchanged' | 'ignored' | 'stalled' | 'suspended' | 'waiting';

/** A container that runs an image that we applied. */
export interface OwnImage {
  readonly workload: WorkloadIdentity;
  readonly container: string;
  readonly image: string;
  /** The record of the change in the workload's annotation. */
  readonly update?: LastUpdate;
}

/** The state of a policy while it waits for a retry. */
export interface Postponement {
  readonly kind: 'postponed';
  readonly reason: Reason;
  readonly message: string;
  /** The earliest time of the retry; absent if the retry is automatic. */
  readonly until?: Date;
  /** The tag of the waiting image. */
  readonly tag?: string;
  readonly digest?: string;
}

/** The outcome of a plan after its changes (`applied`; empty if none were made). `isSelection`: the candidate is the image that the policy selects. */
export function outcomeOf(
  plan: UpdatePlan,
  applied: readonly AppliedChange[],
  { uid, isSelection }: { readonly uid: string; readonly isSelection: boolean },
): Outcome {
  const { tag, digest, createdAt, companions, setDigest } = plan.candidate;
  const image = { tag, ...defined({ digest }) };
  const candidate = { ...image, ...defined({ createdAt, companions, setDigest }) };
  const problems = plan.targets.flatMap((target) => (target.problem === undefined ? [] : [target.problem]));
  const unchanged = plan.targets.flatMap((target) => target.unchanged);
  const ours = plan.targets.flatMap((target) => ownImages(target, plan.candidate)).filter(({ update }) => (update?.policy ?? uid) === uid);
  const blocked = plan.targets.flatMap((target) => target.blocked ?? []).filter(({ reason }) => reason !== 'UpToDate');
  const containers = containerStates(plan, applied);
  const details = {
    ...image,
    running: describeRunning(plan, applied),
    ...(applied.length > 0 && { changes: applied }),
    ...(ours.length > 0 && { ours }),
    ...(blocked.length > 0 && { blocked }),
    ...defined({ reverted: plan.reverted }),
    ...(isSelection ? { selection: { candidate, containers } } : { seen: containers }),
  };
  // A problem that is independent of the image comes first.
  const problem =
    problems.find(({ reason }) => reason !== 'RejectedDigest') ??
    problems[0] ??
    unchanged.find((container) => container.reason === 'NotComparable');
  if (problem !== undefined) {
    const others = problems.length > 1 ? ` (and ${problems.length - 1} more ${problems.length === 2 ? 'target' : 'targets'})` : '';
    return { kind: 'stalled', reason: problem.reason, message: problem.message + others, ...details };
  }
  if (applied.length > 0) return { kind: 'updated', reason: 'Updated', message: listFew(applied, describeChange), ...details };
  const notable = blocked[0] ?? unchanged.find((container) => container.reason !== 'UpToDate') ?? unchanged[0];
  return { kind: 'unchanged', ...(notable ? pick(notable) : { reason: 'UpToDate', message: 'nothing to change' }), ...details };
}

/** The outcome with its pending candidate. `postponed`: the selected image is not applied yet because of it. */
export function withPending(outcome: Outcome, pending: PendingChange, postponed: boolean): Outcome {
  const { next, kept } = pending;
  if (!postponed || outcome.kind !== 'unchanged' || next === undefined) return { ...outcome, pending };
  const { tag, digest } = next;
  const own = outcome.tag === undefined ? undefined : { tag: outcome.tag, ...defined({ digest: outcome.digest }) };
  return {
    ...outcome,
    kind: 'waiting',
    reason: next.reason,
    message: describeWaiting(next, outcome.sets, kept),
    tag,
    ...defined({ digest, behind: own?.tag === tag ? undefined : own }),
    pending,
  };
}

/** The outcome with notes that explain it to the user. */
export function withNotes(outcome: Outcome, notes: readonly string[]): Outcome {
  if (notes.length === 0) return outcome;
  const { message, running } = outcome;
  return { ...outcome, message: [message, ...notes].join('; '), ...(running !== undefined && { running: [running, ...notes].join('; ') }) };
}

/** Whether the image counts as ours. A rebased image is the parent BaseImagePolicy's: others do not watch its rollout or reject its original tag. */
function isOurs({ reason, owner, container, image }: UnchangedContainer, workload: Workload | undefined, candidate: Candidate): boolean {
  const tag = tagOfImage(image, { candidate, workload, container });
  const isOther = tag !== undefined && tag !== candidate.tag && isRebasedTag(tag);
  return reason === 'UpToDate' && owner === fieldManager && !isOther;
}

function ownImages({ target, workload, unchanged }: TargetPlan, candidate: Candidate): OwnImage[] {
  const own = unchanged.filter((one) => isOurs(one, workload, candidate));
  return own.map(({ container, image }) => {
    const found = workload === undefined ? undefined : findContainer(workload, container);
    const update = found === undefined ? updateOfField(workload, container, image) : heldUpdate(found);
    return { workload: workload === undefined ? target : identityOf(workload), container, image, ...defined({ update }) };
  });
}

/** The record of the change of fields, while they contain the written values. */
function updateOfField(workload: Workload | undefined, name: string, image: string): LastUpdate | undefined {
  const update = workload?.fieldUpdates?.get(name);
  return update?.to === image ? update : undefined;
}

/** Describes a change: `Deployment shop/web: web from a:1 to a:2`. */
export function describeChange(change: AppliedChange): string {
  return `${formatWorkload(change.workload)}: ${describeImages(change)}`;
}

function describeRunning(plan: UpdatePlan, applied: readonly AppliedChange[]): string {
  const targets = plan.targets.filter((target) => target.problem === undefined);
  return listFew(targets, (target) => `${formatWorkload(target.target)} runs ${imagesOf(target, applied).join(' and ')}`);
}

function imagesOf(target: TargetPlan, applied: readonly AppliedChange[]): string[] {
  const changed = target.changes.map((change) =>
    applied.some((done) => done.to === change.to && workloadKey(done.workload) === workloadKey(target.target)) ? change.to : change.from,
  );
  return [...new Set([...target.unchanged.map((container) => container.image), ...changed])];
}

function pick({ reason, message }: { reason: Reason; message: string }): { reason: Reason; message: string } {
  return { reason, message };
}

/** The image of each container of the targets after the plan's changes, for the status. A target with a problem gets one entry of its own. */
function containerStates(plan: UpdatePlan, applied: readonly AppliedChange[]): (ContainerState & SeenContainer)[] {
  const done = new Map(applied.map(({ workload, container, to, became }) => [doneKey(workload, container, to), became ?? to]));
  return plan.targets.flatMap((target) =>
    statesOf(target, done).map((state) => {
      const known = { candidate: plan.candidate, workload: target.workload, container: state.container ?? '' };
      const tag = state.image === undefined ? undefined : tagOfImage(state.image, known);
      return tag === undefined ? state : { ...state, tag };
    }),
  );
}

function doneKey(workload: WorkloadRef, container: string, to: string): string {
  return JSON.stringify([workloadKey(workload), container, to]);
}

function statesOf(
  { target, workload, changes, unchanged, companions = [], problem }: TargetPlan,
  done: ReadonlyMap<string, string>,
): ContainerState[] {
  const ref = identityOf({ ...target, ...(workload && { uid: workload.uid }) });
  const changed = changes.map(({ container, from, to }): ContainerState => {
    const made = done.get(doneKey(target, container, to));
    if (made !== undefined) return { ...ref, container, image: made, state: 'UpToDate' };
    return { ...ref, container, image: from, state: 'Kept', message: 'about to be changed' };
  });
  const stayed = unchanged.map((one): ContainerState => ({ ...ref, container: one.container, image: one.image, ...stateOf(one, problem) }));
  // The affected containers show the problem. A target without such a container has an entry of its own.
  const isTold = problem === undefined || unchanged.some(({ reason }) => reason === problem.reason);
  const isDone = changes.some((change) => done.has(doneKey(target, change.container, change.to)));
  const beside = companions.map(({ to, container, image, state, message }): ContainerState => {
    const place = { ...ref, container, companion: true };
    return to !== undefined && isDone ? { ...place, image: to, state: 'UpToDate' } : { ...place, image, state, ...defined({ message }) };
  });
  return [
    ...(isTold ? [] : [{ ...ref, state: 'Problem' as const, reason: problem.reason, message: problem.message }]),
    ...stayed,
    ...changed,
    ...beside,
  ];
}

function stateOf(
  { reason, message }: UnchangedContainer,
  problem: TargetPlan['problem'],
): Pick<ContainerState, 'state' | 'reason' | 'message'> {
  if (reason === 'UpToDate') return { state: 'UpToDate' };
  return { state: reason === 'NotComparable' || reason === problem?.reason ? 'Problem' : 'Kept', reason, message };
}

/** The outcome of every reconcile of a suspended policy, without any request or change. Undefined for a policy that is not suspended. */
export function suspendedOutcome({ spec }: ImagePolicy): Outcome | undefined {
  if (spec.suspended !== true) return undefined;
  if ('heldBecause' in spec && spec.heldBecause !== undefined)
    return { kind: 'suspended', reason: 'Suspended', message: `nothing is checked or changed, because ${spec.heldBecause}` };
  const message = 'suspended: nothing is checked or changed until spec.suspend is false';
  const then = 'problem' in spec ? `; then it will not act before this is mended: ${spec.problem.message}` : '';
  return { kind: 'suspended', reason: 'Suspended', message: message + then };
}
