import type { Candidate } from '../model/image-reference.ts';
import { fieldManager, heldUpdate, type LastUpdate } from '../model/last-update.ts';
import { isRebasedTag } from '../model/rebased-tag.ts';
import type { SeenContainer } from './seen-targets.ts';
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

/** The result of reconciling one policy after a push, a poll or a change of its own. Expected results are values, never exceptions. */
export interface Outcome {
  readonly kind: OutcomeKind;
  readonly reason: Reason;
  readonly message: string;
  readonly tag?: string;
  readonly digest?: string;
  readonly changes?: readonly AppliedChange[];
  /** The containers that already run the candidate because we applied it. */
  readonly ours?: readonly OwnImage[];
  /** What each target runs, for the Ready condition. */
  readonly running?: string;
  /** What the policy selects and the state of its targets; absent where the reconcile evaluated something else, such as an older tag. */
  readonly selection?: Selection;
  /** What the targets run, as the plan for something else read them. */
  readonly seen?: readonly SeenContainer[];
  /** What the policy selected earlier was compared with what runs, and the registry was not asked. */
  readonly isRemembered?: boolean;
  /** The pending candidate; absent where it was not evaluated. */
  readonly pending?: PendingChange;
  /** What guards blocked. */
  readonly blocked?: readonly Blocked[];
  /** What GitOps tools have reverted. */
  readonly reverted?: readonly Reversion[];
  /** Targets in other namespaces whose owners have not answered and that `crossNamespace: legacy` lets the policy change; absent where that was not checked. */
  readonly legacy?: readonly WorkloadRef[];
  /** Descriptions of containers whose tags are gone from the registry; absent where the tags were not listed. */
  readonly gone?: readonly string[];
  /** What it was made from; absent where no image was selected. */
  readonly basis?: Basis;
  /** When to retry a stalled policy whose problem may resolve itself. */
  readonly retryAt?: Date;
}

/** What an outcome was made from: it is written to a status only as long as that still holds (`status/is-outdated.ts`). */
export interface Basis {
  /** The status of the policy: its selection as of when the registry was asked, its history as of the last attempt. */
  readonly status: Pick<PolicyStatus, 'latest' | 'history'>;
  /** The targets, as the reconcile left them. */
  readonly workloads: readonly Workload[];
  /** When the image was selected, in ms since 1970: later than the selection of that status. */
  readonly selectedAt: number;
}

/** What a policy selects, and the state of its targets. */
export interface Selection {
  readonly candidate: Candidate;
  readonly containers: readonly (ContainerState & SeenContainer)[];
  /** The candidate was named by a push or the like: not all tags were evaluated, and something newer may have been selected meanwhile. */
  readonly isNamed?: boolean;
}

/**
 * updated: a workload was changed · unchanged: nothing to do · ignored: the push is not for this policy · stalled: the user must act ·
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
  /** The earliest time of the retry; absent where it is retried automatically. */
  readonly until?: Date;
  /** The image that waits. */
  readonly tag?: string;
  readonly digest?: string;
}

/** The outcome of a plan of a policy once its changes were made (`applied`; empty if there were none). `isSelection`: the candidate is what the policy selects. */
export function outcomeOf(
  plan: UpdatePlan,
  applied: readonly AppliedChange[],
  { uid, isSelection }: { readonly uid: string; readonly isSelection: boolean },
): Outcome {
  const { tag, digest, createdAt } = plan.candidate;
  const image = { tag, ...(digest !== undefined && { digest }) };
  const candidate = { ...image, ...(createdAt !== undefined && { createdAt }) };
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
    ...(plan.reverted !== undefined && { reverted: plan.reverted }),
    ...(isSelection ? { selection: { candidate, containers } } : { seen: containers }),
  };
  // What must be mended whatever the image is comes first.
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

/** The outcome with its pending candidate. `postponed`: because of it, what is selected is not applied yet. */
export function withPending(outcome: Outcome, pending: PendingChange, postponed: boolean): Outcome {
  const { next } = pending;
  if (!postponed || outcome.kind !== 'unchanged' || next === undefined) return { ...outcome, pending };
  const { tag, digest } = next;
  return {
    ...outcome,
    kind: 'waiting',
    reason: next.reason,
    message: describeWaiting(next),
    tag,
    ...(digest !== undefined && { digest }),
    pending,
  };
}

/** The outcome with notes that explain it to the user. */
export function withNotes(outcome: Outcome, notes: readonly string[]): Outcome {
  if (notes.length === 0) return outcome;
  const { message, running } = outcome;
  return { ...outcome, message: [message, ...notes].join('; '), ...(running !== undefined && { running: [running, ...notes].join('; ') }) };
}

/** A rebased image was applied for a BaseImagePolicy: whoever selects the tag that it was made from does not watch its rollout, and does not reject that tag if it fails. */
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
    return { workload: workload === undefined ? target : identityOf(workload), container, image, ...(update !== undefined && { update }) };
  });
}

/** The record of the change of fields, while they hold what was written. */
function updateOfField(workload: Workload | undefined, name: string, image: string): LastUpdate | undefined {
  const update = workload?.fieldUpdates?.get(name);
  return update?.to === image ? update : undefined;
}

/** `Deployment shop/web: web from a:1 to a:2`. */
export function describeChange(change: AppliedChange): string {
  return `${formatWorkload(change.workload)}: ${change.container} from ${change.from} to ${change.to}`;
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

/** What each container of the targets runs once the plan's changes were made, for the status. A target with a problem gets one entry of its own. */
export function containerStates(plan: UpdatePlan, applied: readonly AppliedChange[]): (ContainerState & SeenContainer)[] {
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

function statesOf({ target, workload, changes, unchanged, problem }: TargetPlan, done: ReadonlyMap<string, string>): ContainerState[] {
  const ref = identityOf({ ...target, ...(workload && { uid: workload.uid }) });
  const changed = changes.map(({ container, from, to }): ContainerState => {
    const made = done.get(doneKey(target, container, to));
    if (made !== undefined) return { ...ref, container, image: made, state: 'UpToDate' };
    return { ...ref, container, image: from, state: 'Kept', message: 'about to be changed' };
  });
  const stayed = unchanged.map((one): ContainerState => ({ ...ref, container: one.container, image: one.image, ...stateOf(one, problem) }));
  // The containers that it concerns show the problem; a target that shows none has an entry of its own.
  const isTold = problem === undefined || unchanged.some(({ reason }) => reason === problem.reason);
  return [...(isTold ? [] : [{ ...ref, state: 'Problem' as const, message: problem.message }]), ...stayed, ...changed];
}

function stateOf({ reason, message }: UnchangedContainer, problem: TargetPlan['problem']): Pick<ContainerState, 'state' | 'message'> {
  if (reason === 'UpToDate') return { state: 'UpToDate' };
  return { state: reason === 'NotComparable' || reason === problem?.reason ? 'Problem' : 'Kept', message };
}

/** The outcome of every reconcile of a suspended policy, without any request or change; undefined for a policy that is not suspended. */
export function suspendedOutcome({ spec }: Pick<ImagePolicy, 'spec'>): Outcome | undefined {
  if (spec.suspended !== true) return undefined;
  if ('heldBecause' in spec && spec.heldBecause !== undefined)
    return { kind: 'suspended', reason: 'Suspended', message: `nothing is checked or changed, because ${spec.heldBecause}` };
  const message = 'suspended: nothing is checked or changed until spec.suspend is false';
  const then = 'problem' in spec ? `; then it will not act before this is mended: ${spec.problem.message}` : '';
  return { kind: 'suspended', reason: 'Suspended', message: message + then };
}
