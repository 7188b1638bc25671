/** Where the images of a policy run, and whether each place is behind what the policy selects. Read from the caches, without any request. */
import { decisiveCondition } from '../../core/model/decisive-condition.ts';
import { defined } from '../../core/model/defined.ts';
import { isUsable, scopeOf, type ImagePolicy, type PolicySpec } from '../../core/model/image-policy.ts';
import { formatRepository, tryParseImageReference, type Candidate } from '../../core/model/image-reference.ts';
import { heldUpdate, lastUpdateOf, type LastUpdate } from '../../core/model/last-update.ts';
import { stateOf } from '../../core/model/policy-state.ts';
import { runningDigest } from '../../core/model/running-image.ts';
import { resolveTargets } from '../../core/model/resolve-target.ts';
import { findContainer, workloadKey, type Workload } from '../../core/model/workload.ts';
import { asSeenBy } from '../../core/plan/consent.ts';
import { seeTargets } from '../../core/plan/seen-targets.ts';
import type { ClusterView } from '../reconcile/ports.ts';
import { selectKnown } from '../reconcile/selection.ts';
import { describePending, planSelection } from './plan-now.ts';

/**
 * Behind: the policy would replace the image, if nothing were in the way. Kept: the policy leaves another image than the selected one alone. Current: the
 * selected image runs. Unknown: nothing is selected, or the target cannot be compared.
 */
export const placeStates = ['Behind', 'Unknown', 'Kept', 'Current'] as const;
export type PlaceState = (typeof placeStates)[number];

/** How the digest of a place is known: from the image itself, from the record of our change, or as that of the same tag when the policy selected it. */
export const digestSources = ['Image', 'Change', 'Selection'] as const;

/** A container that runs an image of a policy's repository. */
export interface Place {
  readonly policy: ImagePolicy;
  readonly workload: Workload;
  readonly container: string;
  readonly repository: string;
  /** The image as it is written. */
  readonly image: string;
  readonly tag?: string;
  readonly digest?: string;
  readonly digestFrom?: (typeof digestSources)[number];
  /** The latest time at which the image began to run here: when we changed it, or when the owner of the field last wrote. */
  readonly since?: string;
  /** The image that the policy selects, and when it was selected. */
  readonly wants?: Candidate & { readonly selectedAt: string };
  readonly state: PlaceState;
  /** Why the place is not Current, if that is known. */
  readonly reason?: string;
  readonly message?: string;
  readonly behindSince?: string;
}

type Verdict = Pick<Place, 'state' | 'reason' | 'message'>;
type Running = Omit<Place, 'wants' | 'state' | 'reason' | 'message' | 'behindSince'>;
type Selected = NonNullable<ImagePolicy['status']['latest']>;

interface Remembered {
  readonly workloads: readonly Workload[];
  readonly at: number;
  readonly places: readonly Place[];
  /** Whether nothing else than the policy and its workloads decides: what is selected runs. */
  readonly isLasting: boolean;
}

/** Remembered for a while, because every open page asks for all places whenever one policy changes. The caches replace an object that changes. */
const remembered = new WeakMap<ImagePolicy, Remembered>();
/** The decision also depends on the clock and on other policies, which change what is in the way, and seldom. */
const rememberedMs = 5_000;

/** The places of a policy; undefined while its workloads are not known. */
export function placesOf(policy: ImagePolicy, cluster: ClusterView): readonly Place[] | undefined {
  const scope = scopeOf(policy.spec);
  if (scope === undefined) return undefined;
  const view = asSeenBy(policy, cluster);
  const workloads = resolveTargets(scope.targets, view);
  const [known, at] = [remembered.get(policy), cluster.now()];
  const isSame = known?.workloads.length === workloads.length && known.workloads.every((one, index) => one === workloads[index]);
  const isRecent = known?.isLasting === true || Math.abs(at - (known?.at ?? 0)) < rememberedMs;
  if (known !== undefined && isSame && isRecent) return known.places;
  const seen = seeTargets(policy, view);
  if (seen === undefined) return undefined;
  const places = readPlaces(policy, formatRepository(scope.repository), seen, cluster);
  const isLasting = places.every(({ state }) => state === 'Current');
  remembered.set(policy, { workloads, at, places, isLasting });
  return places;
}

function readPlaces(
  policy: ImagePolicy,
  repository: string,
  seen: NonNullable<ReturnType<typeof seeTargets>>,
  cluster: ClusterView,
): readonly Place[] {
  const running = seen.map(({ workload, container, image, tag }): Running => {
    const known = { policy, workload, container, repository, image, ...defined({ tag }) };
    return { ...known, ...digestOf(known, cluster), ...defined({ since: sinceOf(known) }) };
  });
  const selected = selectedBy(policy);
  if (selected === undefined) return running.map((place) => ({ ...place, state: 'Unknown' }));
  const { tag, digest, selectedAt } = selected.latest;
  const wants = { tag, ...defined({ digest }), selectedAt };
  const verdicts = running.every((place) => runsSelected(place, selected)) ? undefined : planned(policy, selected, cluster);
  return running.map((place) => {
    const verdict = runsSelected(place, selected)
      ? ({ state: 'Current' } as const)
      : (verdicts?.(place) ?? ({ state: 'Unknown' } as const));
    const behindSince = verdict.state === 'Behind' ? later(selectedAt, place.since) : undefined;
    return { ...place, wants, ...verdict, ...defined({ behindSince }) };
  });
}

interface Selection {
  readonly spec: PolicySpec;
  readonly latest: Selected;
}

/** What the policy selects, if its present spec would still select it. */
function selectedBy(policy: ImagePolicy): Selection | undefined {
  const { spec, status } = policy;
  if (!isUsable(spec) || status.latest === undefined) return undefined;
  const known = selectKnown(policy, spec);
  return known === undefined || 'kind' in known ? undefined : { spec, latest: status.latest };
}

/** Whether a place runs exactly what is selected: for this, no plan is needed. */
function runsSelected({ image, tag }: Running, { spec, latest }: Selection): boolean {
  if (tag !== latest.tag || spec.strategy.replaces !== undefined) return false;
  const digest = tryParseImageReference(image)?.digest;
  return latest.digest === undefined || digest === latest.digest || (digest === undefined && spec.pin === 'Tag');
}

/** The decisions of the plan about the places that run something else. */
function planned(policy: ImagePolicy, { spec, latest }: Selection, cluster: ClusterView): (place: Running) => Verdict | undefined {
  const { tag, digest, createdAt } = latest;
  const candidate = { tag, ...defined({ digest, createdAt }) };
  const plan = planSelection(policy, { spec, candidate, basis: 'OneTag', notes: [] }, cluster);
  const targets = new Map(plan.targets.map((target) => [workloadKey(target.target), target]));
  const ofPolicy = conditionOf(policy);
  const pending = plan.pending && ({ reason: 'MinAge', message: describePending(plan.pending) } as const);
  return ({ workload, container }) => {
    const target = targets.get(workloadKey(workload));
    const kept = target?.unchanged.find((one) => one.container === container);
    if (kept !== undefined) {
      const { reason, message } = kept;
      return reason === 'UpToDate' ? { state: 'Current' } : { state: 'Kept', reason, message };
    }
    if (target?.changes.some((change) => change.container === container) !== true)
      return { state: 'Unknown', ...(target?.problem && { reason: target.problem.reason, message: target.problem.message }) };
    const { reason, message } = target.guards.find(({ result }) => result !== 'pass') ?? {};
    const ofGuard = reason === undefined ? undefined : { reason, ...defined({ message }) };
    return { state: 'Behind', ...(spec.suspended ? ofPolicy : (ofGuard ?? pending ?? ofPolicy)) };
  };
}

/** The reason that the policy gives, unless it is in order. */
function conditionOf(policy: ImagePolicy): Pick<Place, 'reason' | 'message'> | undefined {
  const condition = decisiveCondition(policy.status.conditions ?? []);
  return condition === undefined || stateOf(policy) === 'Ready' ? undefined : { reason: condition.reason, message: condition.message };
}

type Known = Pick<Place, 'policy' | 'workload' | 'container' | 'image' | 'tag'>;

function digestOf(place: Known, { aliases }: ClusterView): Pick<Place, 'digest' | 'digestFrom'> {
  const { policy, workload, container, image, tag } = place;
  const { spec, status } = policy;
  const written = tryParseImageReference(image, aliases) ?? {};
  const digest = runningDigest(written, tag, { status, workload, container });
  if (digest !== undefined) return { digest, digestFrom: 'Image' };
  const changed = recordOf(place)?.digest;
  if (changed !== undefined) return { digest: changed, digestFrom: 'Change' };
  const isFixed = isUsable(spec) && spec.strategy.mutableTag === undefined;
  const selected = isFixed && status.latest?.tag === tag ? status.latest?.digest : undefined;
  return selected === undefined ? {} : { digest: selected, digestFrom: 'Selection' };
}

function sinceOf(place: Known): string | undefined {
  return recordOf(place)?.at ?? findContainer(place.workload, place.container)?.imageSetAt;
}

/** The record of our change to the image that runs. */
function recordOf({ workload, container, image }: Known): LastUpdate | undefined {
  const found = findContainer(workload, container);
  if (found !== undefined) return heldUpdate(found);
  const update = lastUpdateOf(workload, container);
  return update?.to === image ? update : undefined;
}

function later(a: string, b: string | undefined): string {
  return b !== undefined && Date.parse(b) > Date.parse(a) ? b : a;
}
