/** Plans what the service would do about a policy now: the stages of a reconcile, up to the change itself, without any request to a registry. */
import type { Assessment } from '../../core/model/assessment.ts';
import { onlyPins } from '../../core/plan/only-pins.ts';
import { notReconciledYet, resultCondition } from '../../core/model/decisive-condition.ts';
import { defined } from '../../core/model/defined.ts';
import type { NamedHold } from '../../core/model/named-hold.ts';
import { holdOn } from '../../core/model/promotion.ts';
import type { ImagePolicy, PolicySpec } from '../../core/model/image-policy.ts';
import { formatRepository, sameRepository, type Candidate, type ImageReference } from '../../core/model/image-reference.ts';
import { checkStates, type CheckState } from '../../core/rollout/check-states.ts';
import { asSeenBy } from '../../core/plan/consent.ts';
import { explainPlan, guardPlan, type TargetExplanation } from '../../core/plan/guard-plan.ts';
import { heldChanges } from '../../core/plan/guards/unlikely-version.ts';
import type { Condition, LatestImage } from '../../core/model/policy-status.ts';
import type { CreationTimes } from '../../core/model/tag-strategy.ts';
import { decidePending, isPending, type PendingCandidate } from '../../core/plan/pending-candidate.ts';
import type { ContainerChange } from '../../core/model/workload.ts';
import { assessmentOf, exceptionOf } from '../../core/plan/security-rules.ts';
import { hasChanges, type UnchangedContainer, type UpdatePlan } from '../../core/plan/plan-update.ts';
import { planWith, propose } from '../reconcile/plan.ts';
import type { ClusterView, SeenCluster } from '../reconcile/ports.ts';
import { mayGoBack, selectKnown, usableSpec, type Selection } from '../reconcile/selection.ts';

/** A policy with its defaults, or why its namespace is not considered. */
export interface Considered {
  readonly policy: ImagePolicy;
  readonly why?: string | undefined;
  /** The facts that could not be found out. */
  readonly doubt?: string;
}

/** The action of the service now: for each target, or why the reconcile ends before a plan. */
export type PlannedNow =
  | { readonly policy: ImagePolicy; readonly why: string; readonly reason?: string; readonly isSelected: boolean; readonly doubt?: string }
  | {
      readonly policy: ImagePolicy;
      readonly spec: PolicySpec;
      readonly candidate: Candidate;
      /** The decision of each guard, also about changes that another guard blocks. */
      readonly targets: readonly TargetExplanation[];
      /** The plan that remains after the guards have decided. */
      readonly allowed: UpdatePlan;
      /** The checks of the candidate, with what they have answered. */
      readonly checks: readonly CheckState[];
      /** When the images were created, if that was read for a first change. */
      readonly ages?: CreationTimes;
      /** What is known of the vulnerabilities of the candidate, if the policy asks for that. */
      readonly assessment?: Assessment;
      /** The candidate whose minimum age has to be reached before anything is changed. */
      readonly pending?: PendingCandidate;
      /** The hold of the last reconcile over first changes, which only the registry can judge. */
      readonly hold?: Condition;
      /** What keeps the policy at what it runs, whether or not something waits. */
      readonly onHold?: NamedHold;
      /** The facts that could not be found out. */
      readonly doubt?: string;
    };

/** An image that is treated as if it had been pushed. */
export type Pushed = ImageReference & { readonly tag: string };

/** The view of the cluster, and the facts that could not be found out. */
type Seen = ClusterView & { readonly doubt?: string };

/** Runs the stages of the service, and stops before anything is applied. `viewFor` returns a view of the targets that the spec names. */
export async function planNow(
  { policy, why, doubt: unknown }: Considered,
  viewFor: (policy: ImagePolicy, spec: PolicySpec) => Seen | Promise<Seen>,
  pushed?: Pushed,
): Promise<PlannedNow> {
  const doubt = unknown === undefined ? {} : { doubt: unknown };
  if (why !== undefined) return { policy, why, reason: 'NamespaceNotSelected', isSelected: false, ...doubt };
  const selection = select(policy, pushed);
  if ('why' in selection) return { policy, ...selection, isSelected: true, ...doubt };
  const cluster = await viewFor(policy, selection.spec);
  const doubts = [unknown, cluster.doubt].filter((one) => one !== undefined);
  return { ...planSelection(policy, selection, cluster), ...(doubts.length > 0 && { doubt: doubts.join('; ') }) };
}

/** The action of the service for a selected image. */
export function planSelection(policy: ImagePolicy, selected: Selection, cluster: ClusterView): Exclude<PlannedNow, { why: string }> {
  // Without a request, what the last reconcile knew of this very image counts.
  const { assessments = policy.status.vulnerabilities } = selected;
  const selection = { ...selected, ...defined({ assessments }) };
  const { spec, candidate, ages } = selection;
  const seen = asSeenBy(policy, cluster);
  const { plan, context } = propose(policy, selection, seen);
  const targets = explainPlan(plan, context);
  const { hold, changes = [] } = heldChanges(plan.targets, context) ?? {};
  const guarded = guardPlan(plan, context);
  const unheld = hold === undefined ? guarded : keep(guarded, { reason: 'UnlikelyVersion', message: hold.message }, changes);
  const pending = findPending(policy, selection, seen);
  const allowed = pending === undefined ? unheld : keep(unheld, { reason: 'MinAge', message: describePending(pending) });
  const checks = checkStates(policy, spec, candidate, context.now);
  const onHold = holdOn({}, policy.actions, context.now);
  const assessment = spec.vulnerabilities && assessmentOf(candidate, assessments);
  return { policy, spec, candidate, targets, allowed, checks, ...defined({ ages, hold, onHold, pending, assessment }) };
}

/** The candidate that is too young, as far as nothing is changed before it has the minimum age. */
function findPending(policy: ImagePolicy, { candidate, spec, assessments }: Selection, cluster: SeenCluster): PendingCandidate | undefined {
  const { status } = policy;
  const { minAgeMs } = spec;
  if (minAgeMs === undefined) return undefined;
  const planOf = (image: Candidate) => planWith(policy, { spec, candidate: image }, cluster);
  const { apply, next } = decidePending({
    minAgeMs,
    candidate,
    ...(isPending(status.waiting) && spec.strategy.reject(status.waiting.tag) === undefined && { pending: status.waiting }),
    status,
    isWanted: (image) => hasChanges(planOf(image)),
    onlyPins: (image) => onlyPins(planOf(image)),
    isExempt: (image) => exceptionOf('MinAge', spec, image, assessments)?.holds === true,
    now: cluster.now(),
  });
  return apply === undefined ? next : undefined;
}

/** The plan without these changes, or without any. */
function keep(plan: UpdatePlan, why: Pick<UnchangedContainer, 'reason' | 'message'>, kept?: readonly ContainerChange[]): UpdatePlan {
  const isKept = (change: ContainerChange) => kept === undefined || kept.includes(change);
  const targets = plan.targets.map(({ changes, unchanged, ...target }) => {
    const postponed = changes.filter(isKept).map(({ container, from }) => ({ container, image: from, ...why }));
    return { ...target, changes: changes.filter((change) => !isKept(change)), unchanged: [...unchanged, ...postponed] };
  });
  return { ...plan, targets };
}

/** Describes until when nothing is changed. */
export function describePending({ tag, until }: PendingCandidate): string {
  return `${tag} is pending until ${until}`;
}

/** The image that the guards are asked about, or why the reconcile ends before them. */
function select(policy: ImagePolicy, pushed: Pushed | undefined): Selection | { readonly why: string; readonly reason?: string } {
  const spec = usableSpec(policy);
  if ('kind' in spec) return { why: spec.kind === 'stalled' ? `${spec.reason}: ${spec.message}` : spec.message, reason: spec.reason };
  if (pushed !== undefined && !sameRepository(pushed.repository, spec.repository))
    return { why: `the policy watches ${formatRepository(spec.repository)}, not ${formatRepository(pushed.repository)}` };
  const { latest, waiting } = policy.status;
  if (pushed !== undefined && latest !== undefined && isOutranked(pushed, latest, spec))
    return { why: `the policy selects ${latest.tag}, and ${pushed.tag} only if the registry has nothing better` };
  // What waits is known, although nothing was selected before it.
  const image = pushed ?? (latest === undefined && isPending(waiting) ? waiting : undefined);
  const hint = image && { tag: image.tag, ...defined({ digest: image.digest }) };
  const selection = selectKnown(policy, spec, hint) ?? notReconciled(policy);
  if (!('kind' in selection)) return selection;
  return { why: pushed === undefined ? `not selected: ${selection.message}` : selection.message, reason: selection.reason };
}

/** Whether the pushed tag loses against the selected one. A policy that may downgrade chooses among all tags after a push. */
function isOutranked({ tag }: Pushed, latest: LatestImage, spec: PolicySpec): boolean {
  const { strategy } = spec;
  const areCandidates = strategy.reject(tag) === undefined && strategy.reject(latest.tag) === undefined;
  return mayGoBack(spec) && areCandidates && strategy.compare(tag, latest.tag) < 0;
}

function notReconciled({ status }: ImagePolicy): { readonly why: string; readonly reason?: string } {
  const told = resultCondition(status.conditions ?? []);
  return told === undefined
    ? { why: `the policy is ${notReconciledYet}` }
    : { why: `nothing is selected: ${told.reason}: ${told.message}`, reason: told.reason };
}
