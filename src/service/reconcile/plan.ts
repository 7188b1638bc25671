/** The stage `plan`: what would change, and what blocks it. Computed from the caches; costs no request. */
import { onlyPins } from '../../core/plan/only-pins.ts';
import { defined } from '../../core/model/defined.ts';
import { unseenProblem } from '../../core/plan/consent.ts';
import { guardPlan } from '../../core/plan/guard-plan.ts';
import type { GuardContext } from '../../core/plan/guards/guard.ts';
import { pastOf } from '../../core/plan/guards/last-change.ts';
import { digestsOfTags } from '../../core/plan/past.ts';
import { decidePending, isSameImage, type PendingDecision } from '../../core/plan/pending-candidate.ts';
import { nextOpening } from '../../core/plan/next-opening.ts';
import { exceptionOf } from '../../core/plan/security-rules.ts';
import { refuseShared } from '../../core/plan/shared-companions.ts';
import { hasChanges, planUpdate, type UpdatePlan } from '../../core/plan/plan-update.ts';
import { followedBy } from '../../core/plan/proven.ts';
import { tracksOf } from '../../core/plan/tracks.ts';
import type { ImagePolicy, PolicyTarget } from '../../core/model/image-policy.ts';
import type { Candidate } from '../../core/model/image-reference.ts';
import { resolveTargets } from '../../core/model/resolve-target.ts';
import { snapshotOf } from '../../core/model/target-snapshot.ts';
import type { Attempt } from './attempt.ts';
import type { SeenCluster } from './ports.ts';
import { waveProgress } from '../../core/rollout/wave-progress.ts';
import { mayGoBack, withTime, type Plannable, type Selected } from './selection.ts';

/** The plan for a selection, and the decision that it is based on. */
export interface Planned {
  readonly selected: Selected;
  /** Which candidate is applied now, if any (the selected or the pending one), and which one is pending afterwards. */
  readonly decision: PendingDecision;
  /** The plan for the candidate that is applied now, or for the selected candidate if none is. */
  readonly plan: UpdatePlan;
  /** Each wait that the candidate skips, and why: `it did not wait for spec.minAge: it fixes CVE-2026-1 (Critical)`. */
  readonly skipped: readonly string[];
}

/** Decides between the selected and the pending candidate, and plans the change to it. Consents are read in a later stage. */
export function plan(attempt: Attempt, selected: Selected): Planned {
  const { selection } = selected;
  const decision = decide(attempt, selected);
  const candidate = withTime(decision.apply === undefined ? selection.candidate : wholeOf(decision.apply, selected), selection);
  const planned = planFor(attempt, { ...selection, candidate });
  return { selected, decision, plan: planned, skipped: skippedWaits(attempt, { selected, decision, plan: planned }) };
}

/** The waits that the candidate of a plan skips because of an exception. */
function skippedWaits(
  { cluster }: Attempt,
  { selected: { selection }, decision, plan: { candidate } }: Omit<Planned, 'skipped'>,
): readonly string[] {
  const { spec, assessments, rules } = selection;
  if (decision.apply === undefined || rules !== undefined) return [];
  const isClosed = nextOpening(spec.windows, new Date(cluster.now())) !== undefined;
  const waits = { MinAge: decision.isEarly === true && 'spec.minAge', Window: isClosed && 'a window' };
  return Object.entries(waits).flatMap(([wait, what]) => {
    const exception = what === false ? undefined : exceptionOf(wait, spec, candidate, assessments);
    return exception?.holds === true ? [`it did not wait for ${what}: ${exception.why}`] : [];
  });
}

/** The candidate with its companions, which the status does not hold of a pending one. */
function wholeOf(candidate: Candidate, { selection, pendingImage }: Selected): Candidate {
  return [selection.candidate, pendingImage].find((one) => one !== undefined && isSameImage(one, candidate)) ?? candidate;
}

/** Decides which candidate is applied. Without a minimum age, it is the selected candidate. */
function decide(attempt: Attempt, { selection, status, pending }: Selected): PendingDecision {
  const { candidate, spec, assessments } = selection;
  const { minAgeMs } = spec;
  if (minAgeMs === undefined) return { apply: candidate };
  const isExempt = (image: Candidate) => exceptionOf('MinAge', spec, image, assessments)?.holds === true;
  const planOf = (image: Candidate) => planFor(attempt, { ...selection, candidate: image });
  const isWanted = (image: Candidate) => hasChanges(planOf(image));
  // If the best image runs already, the change to the pending candidate would be a downgrade.
  const mayStay = pending !== undefined && (!mayGoBack(spec) || isWanted(candidate));
  return decidePending({
    minAgeMs,
    candidate,
    status,
    isWanted,
    onlyPins: (image) => onlyPins(planOf(image)),
    isExempt,
    now: attempt.cluster.now(),
    ...(mayStay && { pending }),
  });
}

/** The plan of an attempt, with the changes that it has already made and those that the API server has refused. */
export function planFor({ policy, cluster, progress: { applied, refused, followed } }: Attempt, selection: Plannable): UpdatePlan {
  return planWith(policy, selection, cluster, { applied, refused, ...defined({ followed }) });
}

/**
 * Plans a change from the caches, limited to the workloads that the policy may see. Without `consents`, the plan must not be applied to targets in other
 * namespaces. Throws if a kind has not been listed yet, because unknown workloads must not be taken for missing ones.
 */
export function planWith(
  policy: ImagePolicy,
  selection: Plannable,
  cluster: SeenCluster,
  known: Pick<GuardContext, 'consents' | 'applied' | 'refused' | 'followed'> = {},
): UpdatePlan {
  const { plan, context } = propose(policy, selection, cluster);
  return guardPlan(plan, { ...context, ...known }, selection.rules?.guards);
}

/** The plan before guards narrow it, and the context in which guards decide. */
export function propose(
  policy: ImagePolicy,
  { spec, candidate, rules, ages, assessments }: Plannable,
  cluster: SeenCluster,
): { readonly plan: UpdatePlan; readonly context: GuardContext } {
  const { targetState, aliases, crossNamespace, repeatsPerHour, now, findWorkload, listWorkloads } = cluster;
  let digests: ReturnType<typeof digestsOfTags> | undefined;
  const kindProblem = (target: PolicyTarget) => {
    const state = targetState(target, policy);
    if (state === 'starting') throw new Error(`the workloads of kind ${target.kind} have not been listed yet`);
    return 'problem' in state ? state.problem : undefined;
  };
  const planned = planUpdate({
    spec: { ...spec, ...rules?.comparison },
    candidate,
    ...(rules?.isFirst === true ? { hasApplied: false } : pastOf(policy)),
    aliases,
    tracks: tracksOf(policy, spec, cluster.policiesOf),
    digestOf: (tag) => (digests ??= digestsOfTags(policy, resolveTargets(spec.targets, cluster))).get(tag),
    status: policy.status,
    kindProblem,
    findWorkload,
    listWorkloads,
    unseenProblem: (target) => unseenProblem(target, policy, crossNamespace),
    isForced: rules?.isFirst === true,
  });
  const { policiesOf = () => [] } = cluster;
  const plan = { ...planned, targets: planned.targets.map((target) => refuseShared(target, { policy, spec, aliases }, policiesOf)) };
  const at = new Date(now());
  const followed = spec.after && { policies: followedBy(policy, spec, cluster), at };
  const progress = spec.rollout?.waves && waveProgress(policy, candidate, snapshotOf(policy, cluster, at));
  return {
    plan,
    context: {
      policy,
      spec,
      candidate,
      crossNamespace,
      repeatsPerHour,
      now: at,
      ...defined({ ages, assessments, progress, followed }),
    },
  };
}
