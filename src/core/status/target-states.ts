/** What the status shows of the targets: each container, their counts, and what they run. */
import { tryParseImageReference } from '../model/image-reference.ts';
import { maxLengths, maxTargetsListed, type ContainerState, type PolicyStatus, type TargetCounts } from '../model/policy-status.ts';
import { tagOfImage } from '../model/running-image.ts';
import { cut } from '../model/text.ts';
import { identityOf, isSameObject, isSameWorkload, type WorkloadIdentity } from '../model/workload.ts';
import type { SeenContainer } from '../plan/seen-targets.ts';
import { hashOfTargets } from '../plan/unlisted-targets.ts';

type Targets = Pick<PolicyStatus, 'targets' | 'targetCounts' | 'running'>;

/** A container whose image was changed to one that the policy does not select. */
export interface NewImage {
  readonly workload: WorkloadIdentity;
  readonly container: string;
  readonly image: string;
  readonly message: string;
}

/** `sha256:` and 12 digits, as in `docker images`. */
const shortDigestLength = 19;

/** The fields of the status that show these containers; the list of them is limited. */
export function showTargets(containers: readonly (ContainerState & SeenContainer)[], status: PolicyStatus = {}): Required<Targets> {
  const unlisted = hashOfTargets(containers.slice(maxTargetsListed));
  const counts = { total: containers.length, upToDate: having('UpToDate', containers), problems: having('Problem', containers) };
  return {
    running: describeRunning(containers, status),
    targets: containers.slice(0, maxTargetsListed).map(fit),
    targetCounts: { ...counts, ...(unlisted !== undefined && { unlisted }) },
  };
}

/**
 * The same fields where what the policy selects was not compared with these containers. What is known of an image that still runs stays; a target that shows no
 * container keeps its problem.
 */
export function showSeen(old: PolicyStatus, seen: readonly SeenContainer[], changes: readonly NewImage[] = []): Targets {
  const { targets: listed = [], latest } = old;
  const stateOf = (one: SeenContainer): ContainerState => {
    const known = listed.find((state) => state.container === one.container && isSameObject(state, one));
    if (known !== undefined && known.image === one.image) return known;
    const { kind, namespace, name, apiVersion, uid, container, image } = one;
    const place = identityOf({ ...(apiVersion !== undefined && { apiVersion }), kind, namespace, name, ...(uid !== undefined && { uid }) });
    const state = { ...place, ...(container !== undefined && { container }), ...(image !== undefined && { image }) };
    if (container === undefined) return { ...state, state: 'Problem' };
    const change = changes.find(
      ({ workload, ...made }) => isSameObject(workload, one) && made.container === container && made.image === image,
    );
    if (change !== undefined) return { ...state, state: 'Kept', message: change.message };
    if (latest !== undefined && one.tag === latest.tag && !isOtherDigest(image, latest)) return { ...state, state: 'UpToDate' };
    return { ...state, state: 'Kept', message: 'not compared yet with what the policy selects' };
  };
  const isShown = (state: ContainerState) => seen.some((one) => isSameWorkload(one, state));
  const problems = listed.filter((state) => state.container === undefined && !isShown(state));
  const containers = [...problems, ...seen.map((one) => ({ ...stateOf(one), ...(one.tag !== undefined && { tag: one.tag }) }))];
  return containers.length === 0 && listed.length === 0 ? {} : showTargets(containers, old);
}

function isOtherDigest(image: string | undefined, latest: NonNullable<PolicyStatus['latest']>): boolean {
  const digest = image === undefined ? undefined : tryParseImageReference(image)?.digest;
  return digest !== undefined && latest.digest !== undefined && digest !== latest.digest;
}

/** The same fields after these changes, if any concerns a listed container. Of the others, only the number is known. */
export function showChanges(old: PolicyStatus, changes: readonly NewImage[]): Targets {
  const { targets: listed = [], targetCounts } = old;
  const targets = listed.map((state): ContainerState => {
    const change = changes.find(({ workload, container }) => isSameObject(state, workload) && state.container === container);
    return change === undefined ? state : fit({ ...state, image: change.image, message: change.message, state: 'Kept' });
  });
  if (targets.every((state, index) => state === listed[index])) return {};
  const counts: TargetCounts | undefined = targetCounts && {
    ...targetCounts,
    upToDate: Math.max(0, targetCounts.upToDate - having('UpToDate', listed) + having('UpToDate', targets)),
  };
  return { running: describeRunning(targets, old), targets, ...(counts !== undefined && { targetCounts: counts }) };
}

function having(state: ContainerState['state'], containers: readonly ContainerState[]): number {
  return containers.filter((container) => container.state === state).length;
}

function fit(container: ContainerState & SeenContainer): ContainerState {
  // The tag follows from the image, and is not stored.
  const { image, message, tag: _, ...state } = container;
  return {
    ...state,
    ...(image !== undefined && { image: cut(image, maxLengths.image) }),
    ...(message !== undefined && { message: cut(message, maxLengths.message) }),
  };
}

/** `1.4.2`, or `1.4.2,+1` where some containers run another tag. Without spaces, because it is one column of `kubectl get`. */
function describeRunning(containers: readonly (ContainerState & SeenContainer)[], status: PolicyStatus): string {
  const counts = new Map<string, number>();
  for (const { image, tag } of containers) {
    const name = tag ?? (image === undefined ? undefined : nameOf(image, status));
    if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  // The sort is stable: of equally many, the first.
  const [most = '<none>', ...others] = [...counts].sort(([, a], [, b]) => b - a).map(([name]) => name);
  return others.length === 0 ? most : `${most},+${others.length}`;
}

/** The tag of an image, or the start of a digest that nothing knows by a tag. */
function nameOf(image: string, status: PolicyStatus): string | undefined {
  return tagOfImage(image, { status }) ?? tryParseImageReference(image)?.digest?.slice(0, shortDigestLength);
}
