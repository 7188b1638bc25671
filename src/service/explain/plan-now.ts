/** What the service would do about a policy now: the stages of a reconcile, up to the change itself, without any request to a registry. */
import { notReconciledYet, resultCondition } from '../../core/model/decisive-condition.ts';
import type { ImagePolicy, PolicySpec } from '../../core/model/image-policy.ts';
import { formatRepository, sameRepository, type Candidate, type ImageReference } from '../../core/model/image-reference.ts';
import { explainPlan, guardPlan, type TargetExplanation } from '../../core/plan/guard-plan.ts';
import type { LatestImage } from '../../core/model/policy-status.ts';
import { decidePending, isPending, type PendingCandidate } from '../../core/plan/pending-candidate.ts';
import { hasChanges, type UpdatePlan } from '../../core/plan/plan-update.ts';
import { planWith, propose } from '../reconcile/plan.ts';
import type { ClusterView } from '../reconcile/ports.ts';
import { mayGoBack, selectKnown, usableSpec, type Selection } from '../reconcile/selection.ts';

/** A policy with its defaults, or why its namespace is not considered. */
export interface Considered {
  readonly policy: ImagePolicy;
  readonly why?: string | undefined;
  /** What could not be found out. */
  readonly doubt?: string;
}

/** What the service would do now: to each target, or why it does not come so far. */
export type PlannedNow =
  | { readonly policy: ImagePolicy; readonly why: string; readonly reason?: string; readonly isSelected: boolean; readonly doubt?: string }
  | {
      readonly policy: ImagePolicy;
      readonly spec: PolicySpec;
      readonly candidate: Candidate;
      /** What each guard decides, also about changes that another guard blocks. */
      readonly targets: readonly TargetExplanation[];
      /** What is left when the guards have decided. */
      readonly allowed: UpdatePlan;
      /** The candidate whose minimum age has to be reached before anything is changed. */
      readonly pending?: PendingCandidate;
      /** What could not be found out. */
      readonly doubt?: string;
    };

/** An image that is taken as pushed. */
export type Pushed = ImageReference & { readonly tag: string };

/** What was seen of the cluster, and what could not be found out. */
type Seen = ClusterView & { readonly doubt?: string };

/** Calls the stages of the service, and stops before anything is applied. `viewFor` shows the targets that the spec names. */
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

/** What the service would do about an image that is selected. */
export function planSelection(policy: ImagePolicy, selection: Selection, cluster: ClusterView): Exclude<PlannedNow, { why: string }> {
  const { spec, candidate } = selection;
  const { plan, context } = propose(policy, selection, cluster);
  const targets = explainPlan(plan, context);
  const allowed = guardPlan(plan, context);
  const pending = findPending(policy, selection, cluster);
  if (pending === undefined) return { policy, spec, candidate, targets, allowed };
  return { policy, spec, candidate, targets, allowed: postpone(allowed, pending), pending };
}

/** The candidate that is too young, as far as nothing is changed before it has the minimum age. */
function findPending(policy: ImagePolicy, { candidate, spec }: Selection, cluster: ClusterView): PendingCandidate | undefined {
  const { status } = policy;
  const { minAgeMs } = spec;
  if (minAgeMs === undefined) return undefined;
  const { apply, next } = decidePending({
    minAgeMs,
    candidate,
    ...(isPending(status.waiting) && spec.strategy.reject(status.waiting.tag) === undefined && { pending: status.waiting }),
    status,
    isWanted: (image) => hasChanges(planWith(policy, { spec, candidate: image }, cluster)),
    now: cluster.now(),
  });
  return apply === undefined ? next : undefined;
}

function postpone(plan: UpdatePlan, pending: PendingCandidate): UpdatePlan {
  const targets = plan.targets.map(({ changes, unchanged, ...target }) => {
    const postponed = changes.map(
      ({ container, from }) => ({ container, image: from, reason: 'MinAge', message: describePending(pending) }) as const,
    );
    return { ...target, changes: [], unchanged: [...unchanged, ...postponed] };
  });
  return { ...plan, targets };
}

/** Until when nothing is changed. */
export function describePending({ tag, until }: PendingCandidate): string {
  return `${tag} is pending until ${until}`;
}

/** The image that the guards are asked about, or why it does not come so far. */
function select(policy: ImagePolicy, pushed: Pushed | undefined): Selection | { readonly why: string; readonly reason?: string } {
  const spec = usableSpec(policy);
  if ('kind' in spec) return { why: spec.kind === 'stalled' ? `${spec.reason}: ${spec.message}` : spec.message, reason: spec.reason };
  if (pushed !== undefined && !sameRepository(pushed.repository, spec.repository))
    return { why: `the policy watches ${formatRepository(spec.repository)}, not ${formatRepository(pushed.repository)}` };
  const { latest } = policy.status;
  if (pushed !== undefined && latest !== undefined && isOutranked(pushed, latest, spec))
    return { why: `the policy selects ${latest.tag}, and ${pushed.tag} only if the registry has nothing better` };
  const hint = pushed && { tag: pushed.tag, ...(pushed.digest !== undefined && { digest: pushed.digest }) };
  const selection = selectKnown(policy, spec, hint) ?? notReconciled(policy);
  if (!('kind' in selection)) return selection;
  return { why: pushed === undefined ? `not selected: ${selection.message}` : selection.message, reason: selection.reason };
}

/** Where a policy may downgrade, a push has it choose among all tags. */
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
