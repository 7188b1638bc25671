import type { Candidate } from '../model/image-reference.ts';
import { containerStates } from './container-states.ts';
import { fieldManager } from '../model/field-manager.ts';
import type { AppliedChange, KeptContainer, TargetPlan, UpdatePlan, Blocked } from './plan-update.ts';
import type { ContainerState, Reversion } from '../model/policy-status.ts';
import { heldUpdate, type LastUpdate } from '../model/last-update.ts';
import { listFew } from '../model/list-few.ts';
import type { Reason } from '../model/reasons.ts';
import { describeWaiting, type Place } from './waiting.ts';
import { findContainer, formatWorkload, identityOf, workloadKey, type WorkloadIdentity, type WorkloadRef } from '../model/workload.ts';

/** How one policy's look at a push (or a poll, or its own change) ended. An expected ending is a value, never an exception. */
export interface Outcome {
  readonly kind: OutcomeKind;
  readonly reason: Reason;
  readonly message: string;
  readonly tag?: string;
  readonly digest?: string;
  readonly changes?: readonly AppliedChange[];
  /** What runs the candidate already, and by our hand. */
  readonly ours?: readonly OwnImage[];
  /** What each target runs, for the Ready condition. */
  readonly running?: string;
  /** What the policy selects and where its targets stand to that; absent where the look was at something else, such as an older tag. */
  readonly selection?: Selection;
  /** What waits to be applied; absent where that was not looked at. */
  readonly place?: Place;
  /** What guards blocked. */
  readonly blocked?: readonly Blocked[];
  /** What GitOps tools have put back. */
  readonly reverted?: readonly Reversion[];
  /** Targets in other namespaces whose owners have not answered, and which `crossNamespace: legacy` leaves to the policy; absent where that was not asked. */
  readonly legacy?: readonly WorkloadRef[];
  /** Containers whose tags the registry does not hold any more, in words; absent where nobody looked at all tags. */
  readonly gone?: readonly string[];
  /** Stalled by what may pass: when it is tried again. */
  readonly retryAt?: Date;
}

/** What a policy selects, and where its targets stand to that. */
export interface Selection {
  readonly candidate: Candidate;
  readonly containers: readonly ContainerState[];
  /** Somebody pointed at it: nobody looked at all tags, and something newer may have been selected meanwhile. */
  readonly isPointedAt?: boolean;
}

/**
 * updated: a workload was changed · unchanged: nothing to do · ignored: the push is not for this policy · stalled: the user must act ·
 * suspended: the user wants nothing to be done · waiting: something is selected, and applied later.
 */
export type OutcomeKind = 'updated' | 'unchanged' | 'ignored' | 'stalled' | 'suspended' | 'waiting';

/** A container that runs an image by our hand. */
export interface OwnImage {
  readonly workload: WorkloadIdentity;
  readonly container: string;
  readonly image: string;
  /** What its workload remembers of the change. */
  readonly update?: LastUpdate;
}

/** What happens to a policy while it waits for another try. */
export interface Postponement {
  readonly kind: 'postponed';
  readonly reason: Reason;
  readonly message: string;
  /** Not before then; absent where it is tried again by itself. */
  readonly until?: Date;
  /** What waits. */
  readonly tag?: string;
  readonly digest?: string;
}

/** The outcome of a plan once its changes were made (`applied`; empty when there were none). `isSelection`: the candidate is what the policy selects. */
export function outcomeOf(plan: UpdatePlan, applied: readonly AppliedChange[], isSelection: boolean): Outcome {
  const { tag, digest, createdAt } = plan.candidate;
  const image = { tag, ...(digest !== undefined && { digest }) };
  const candidate = { ...image, ...(createdAt !== undefined && { createdAt }) };
  const problems = plan.targets.flatMap((target) => (target.problem === undefined ? [] : [target.problem]));
  const kept = plan.targets.flatMap((target) => target.kept);
  const ours = plan.targets.flatMap(ownImages);
  const blocked = plan.targets.flatMap((target) => target.blocked ?? []).filter(({ reason }) => reason !== 'UpToDate');
  const details = {
    ...image,
    running: describeRunning(plan, applied),
    ...(applied.length > 0 && { changes: applied }),
    ...(ours.length > 0 && { ours }),
    ...(blocked.length > 0 && { blocked }),
    ...(plan.reverted !== undefined && { reverted: plan.reverted }),
    ...(isSelection && { selection: { candidate, containers: containerStates(plan, applied) } }),
  };
  const problem = problems[0] ?? kept.find((container) => container.reason === 'NotComparable');
  if (problem !== undefined) {
    const others = problems.length > 1 ? ` (and ${problems.length - 1} more ${problems.length === 2 ? 'target' : 'targets'})` : '';
    return { kind: 'stalled', reason: problem.reason, message: problem.message + others, ...details };
  }
  if (applied.length > 0) return { kind: 'updated', reason: 'Updated', message: listFew(applied, describeChange), ...details };
  const notable = blocked[0] ?? kept.find((container) => container.reason !== 'UpToDate') ?? kept[0];
  return { kind: 'unchanged', ...(notable ? pick(notable) : { reason: 'UpToDate', message: 'nothing to change' }), ...details };
}

/** The outcome with what waits after it. `postponed`: something is selected that is not applied because of that. */
export function withPlace(outcome: Outcome, place: Place, postponed: boolean): Outcome {
  const { next } = place;
  if (!postponed || outcome.kind !== 'unchanged' || next === undefined) return { ...outcome, place };
  const { tag, digest } = next;
  return {
    ...outcome,
    kind: 'waiting',
    reason: next.reason,
    message: describeWaiting(next),
    tag,
    ...(digest !== undefined && { digest }),
    place,
  };
}

/** The outcome, and what a user would not understand it without. */
export function withNotes(outcome: Outcome, notes: readonly string[]): Outcome {
  if (notes.length === 0) return outcome;
  const { message, running } = outcome;
  return { ...outcome, message: [message, ...notes].join('; '), ...(running !== undefined && { running: [running, ...notes].join('; ') }) };
}

function isOurs({ reason, owner }: KeptContainer): boolean {
  return reason === 'UpToDate' && owner === fieldManager;
}

function ownImages({ target, workload, kept }: TargetPlan): OwnImage[] {
  return kept.filter(isOurs).map(({ container, image }) => {
    const found = workload === undefined ? undefined : findContainer(workload, container);
    const update = found && heldUpdate(found);
    return { workload: workload === undefined ? target : identityOf(workload), container, image, ...(update !== undefined && { update }) };
  });
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
  return [...new Set([...target.kept.map((container) => container.image), ...changed])];
}

function pick({ reason, message }: { reason: Reason; message: string }): { reason: Reason; message: string } {
  return { reason, message };
}
