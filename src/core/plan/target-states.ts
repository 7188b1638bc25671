/** The fields of the status about the targets: each container, their counts, and the running tags. */
import { defined } from '../model/defined.ts';
import { tryParseImageReference } from '../model/image-reference.ts';
import { maxTargetsListed, type ContainerState, type PolicyStatus, type TargetCounts } from '../model/policy-status.ts';
import { maxLengths } from '../model/status-fields.ts';
import { tagOfImage } from '../model/running-image.ts';
import { cut } from '../model/text.ts';
import { identityOf, isSameObject, isSameWorkload, type WorkloadIdentity } from '../model/workload.ts';
import type { SeenContainer } from './seen-targets.ts';
import { hashOfTargets } from './unlisted-targets.ts';

type Targets = Pick<PolicyStatus, 'targets' | 'targetCounts' | 'running'>;

/** A container that was changed to an image that the policy does not select. */
export interface NewImage {
  readonly workload: WorkloadIdentity;
  readonly container: string;
  readonly image: string;
  readonly message: string;
}

/** The length of `sha256:` and 12 digits, as in `docker images`. */
const shortDigestLength = 19;

/** The fields of the status for these containers. The length of the list is limited. */
export function showTargets(containers: readonly (ContainerState & SeenContainer)[], status: PolicyStatus = {}): Required<Targets> {
  const unlisted = hashOfTargets(containers.slice(maxTargetsListed));
  const counts = { total: containers.length, upToDate: having('UpToDate', containers), problems: having('Problem', containers) };
  return {
    running: describeRunning(containers, status),
    targets: containers.slice(0, maxTargetsListed).map(fit),
    targetCounts: { ...counts, ...defined({ unlisted }) },
  };
}

/**
 * The fields of the status for containers that were not compared with the selection. Known facts about an image that still runs stay. A target without a
 * container keeps its problem.
 */
export function showSeen(old: PolicyStatus, seen: readonly SeenContainer[], changes: readonly NewImage[] = []): Targets {
  const { targets: listed = [], latest } = old;
  const stateOf = (one: SeenContainer): ContainerState => {
    const known = listed.find((state) => state.container === one.container && isSameObject(state, one));
    if (known !== undefined && known.image === one.image) return known;
    const { kind, namespace, name, apiVersion, uid, container, image, companion } = one;
    const place = identityOf({ ...defined({ apiVersion }), kind, namespace, name, ...defined({ uid }) });
    const state = { ...place, ...defined({ container, image, companion }) };
    if (container === undefined) return { ...state, state: 'Problem' };
    const change = changes.find(
      ({ workload, ...made }) => isSameObject(workload, one) && made.container === container && made.image === image,
    );
    if (change !== undefined) return { ...state, state: 'Kept', message: change.message };
    if (companion !== true && latest !== undefined && one.tag === latest.tag && !isOtherDigest(image, latest))
      return { ...state, state: 'UpToDate' };
    return { ...state, state: 'Kept', message: 'not compared yet with what the policy selects' };
  };
  const isShown = (state: ContainerState) => seen.some((one) => isSameWorkload(one, state));
  const problems = listed.filter((state) => state.container === undefined && !isShown(state));
  const containers = [...problems, ...seen.map((one) => ({ ...stateOf(one), ...defined({ tag: one.tag }) }))];
  return containers.length === 0 && listed.length === 0 ? {} : showTargets(containers, old);
}

function isOtherDigest(image: string | undefined, latest: NonNullable<PolicyStatus['latest']>): boolean {
  const digest = image === undefined ? undefined : tryParseImageReference(image)?.digest;
  return digest !== undefined && latest.digest !== undefined && digest !== latest.digest;
}

/** The fields of the status after these changes, if any concerns a listed container. Of the containers that are not listed, only the number is known. */
export function showChanges(old: PolicyStatus, changes: readonly NewImage[]): Targets {
  const { targets: listed = [], targetCounts } = old;
  const targets = listed.map((state): ContainerState => {
    const change = changes.find(({ workload, container }) => isSameObject(state, workload) && state.container === container);
    if (change === undefined) return state;
    const { reason: _, ...others } = state;
    return fit({ ...others, image: change.image, message: change.message, state: 'Kept' });
  });
  if (targets.every((state, index) => state === listed[index])) return {};
  const counts: TargetCounts | undefined = targetCounts && {
    ...targetCounts,
    upToDate: Math.max(0, targetCounts.upToDate - having('UpToDate', listed) + having('UpToDate', targets)),
  };
  return { running: describeRunning(targets, old), targets, ...defined({ targetCounts: counts }) };
}

function having(state: ContainerState['state'], containers: readonly ContainerState[]): number {
  return containers.filter((container) => container.state === state).length;
}

function fit(container: ContainerState & SeenContainer): ContainerState {
  // The tag is derived from the image, and is not stored.
  const { image, message, tag: _, ...state } = container;
  return {
    ...state,
    ...(image !== undefined && { image: cut(image, maxLengths.image) }),
    ...(message !== undefined && { message: cut(message, maxLengths.message) }),
  };
}

/** The running tags: `1.4.2`, or `1.4.2,+1` if some containers run another tag. Without spaces, because it is one column of `kubectl get`. */
function describeRunning(containers: readonly (ContainerState & SeenContainer)[], status: PolicyStatus): string {
  const counts = new Map<string, number>();
  for (const { image, tag, companion } of containers) {
    if (companion === true) continue;
    const name = tag ?? (image === undefined ? undefined : nameOf(image, status));
    if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  // The sort is stable, so of equally frequent tags the first is taken.
  const [most = '<none>', ...others] = [...counts].sort(([, a], [, b]) => b - a).map(([name]) => name);
  return others.length === 0 ? most : `${most},+${others.length}`;
}

/** The tag of an image, or the start of its digest if the tag is not known. */
function nameOf(image: string, status: PolicyStatus): string | undefined {
  return tagOfImage(image, { status }) ?? tryParseImageReference(image)?.digest?.slice(0, shortDigestLength);
}
