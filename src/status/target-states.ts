/** What the status shows of the targets: each container, their counts, and what they run. */
import { tryParseImageReference } from '../model/image-reference.ts';
import { maxLengths, maxTargetsListed, type ContainerState, type PolicyStatus, type TargetCounts } from '../model/policy-status.ts';
import { cut } from '../model/text.ts';
import { isSameObject, type WorkloadIdentity } from '../model/workload.ts';

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
export function showTargets(containers: readonly ContainerState[]): Required<Targets> {
  return {
    running: describeRunning(containers),
    targets: containers.slice(0, maxTargetsListed).map(fit),
    targetCounts: { total: containers.length, upToDate: having('UpToDate', containers), problems: having('Problem', containers) },
  };
}

/** The same fields after these changes, if any concerns a listed container. Of the others, only the number is known. */
export function showChanges(old: Targets, changes: readonly NewImage[]): Targets {
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
  return { running: describeRunning(targets), targets, ...(counts !== undefined && { targetCounts: counts }) };
}

function having(state: ContainerState['state'], containers: readonly ContainerState[]): number {
  return containers.filter((container) => container.state === state).length;
}

function fit({ image, message, ...state }: ContainerState): ContainerState {
  return {
    ...state,
    ...(image !== undefined && { image: cut(image, maxLengths.image) }),
    ...(message !== undefined && { message: cut(message, maxLengths.message) }),
  };
}

/** `1.4.2`, or `1.4.2,+1` where some containers run another tag. Without spaces, because it is one column of `kubectl get`. */
function describeRunning(containers: readonly ContainerState[]): string {
  const counts = new Map<string, number>();
  for (const { image } of containers) {
    const tag = image === undefined ? undefined : tagOf(image);
    if (tag !== undefined) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  }
  // The sort is stable: of equally many, the first.
  const [most = '<none>', ...others] = [...counts].sort(([, a], [, b]) => b - a).map(([tag]) => tag);
  return others.length === 0 ? most : `${most},+${others.length}`;
}

/** The tag of an image, or the start of its digest; Kubernetes pulls `latest` where there is neither. */
function tagOf(image: string): string | undefined {
  const reference = tryParseImageReference(image);
  return reference && (reference.tag ?? reference.digest?.slice(0, shortDigestLength) ?? 'latest');
}
