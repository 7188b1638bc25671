/** Evaluates a rollout by the pods of the new revision: whether it has failed, and which side the pods speak against. Pure. */
import { defined } from '../model/defined.ts';
import type { PodEvidence, RolloutFailure } from './evaluate-rollout.ts';
import type { Side } from '../model/failure-side.ts';
import { sideOf } from './failure-sides.ts';

/** The fields of a pod that explain why it does not start. */
export interface PodState {
  readonly name: string;
  /** When the kubelet started the pod, or else when the pod was created. */
  readonly startedAt: string;
  /** Whether the pod's condition Ready is true. */
  readonly ready: boolean;
  /** Why the pod cannot run whatever its containers are: it is not scheduled, was refused by its node, or is being evicted. */
  readonly trouble?: { readonly reason: string; readonly message?: string };
  readonly containers: readonly PodContainer[];
}

export interface PodContainer {
  readonly name: string;
  /** The images that it mounts, by the names of `volumeName`: the kubelet reports on the container when an image that it mounts cannot be pulled. */
  readonly mounts?: readonly string[];
  readonly ready: boolean;
  readonly restarts: number;
  /** The reason and the message of `state.waiting`. */
  readonly waiting?: { readonly reason: string; readonly message?: string };
  /** How the container last terminated. */
  readonly lastEnd?: { readonly reason: string; readonly exitCode?: number; readonly message?: string };
}

/** What a pod that is not ready shows, and which side that speaks against. */
export interface Complaint {
  readonly against: Side;
  readonly message: string;
}

/** Reasons that no retry of the kubelet can fix. */
const hopeless: ReadonlySet<string> = new Set(['InvalidImageName', 'ErrImageNeverPull']);
const pullFailures: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'ImageInspectError',
  'RegistryUnavailable',
  'SignatureValidationFailed',
]);
/** Registries have short outages: a failing pull is tolerated for this long, measured by the pod's own timestamps. */
const pullPatienceMs = 20_000;
const crashes = { inBackOff: 2, otherwise: 3 } as const;
/** The reasons of a waiting container that only say that something before it is not ready yet. */
const preparing: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing']);

/** What the pods show about a rollout that changed these containers (or image volumes). */
export function evidenceOf(pods: readonly PodState[], containers: ReadonlySet<string>, now: Date): PodEvidence {
  const failure = evaluatePods(pods, containers, now);
  const unready = pods.filter(({ ready }) => !ready);
  const starts = unready.map(({ startedAt }) => Date.parse(startedAt));
  const complaint = mostTelling(unready.map((pod) => complaintOf(pod, containers)));
  return {
    ...defined({ failure }),
    ...(starts.length > 0 && { unreadySince: new Date(Math.min(...starts)) }),
    ...defined({ complaint }),
  };
}

/**
 * Why the pods cannot start, judging only by containers that were changed or that mount a changed image volume. Other containers are not the new image's fault and are
 * mentioned only after a timeout. Undefined while the pods may still start.
 */
export function evaluatePods(pods: readonly PodState[], containers: ReadonlySet<string>, now: Date): RolloutFailure | undefined {
  return mostTelling(
    pods.flatMap((pod) => changedIn(pod, containers).flatMap((container) => evaluateContainer(pod, container, now) ?? [])),
  );
}

/** One pod that shows a fault of the image is enough, whatever else keeps the others from starting. */
function mostTelling<C extends Complaint>(complaints: readonly C[]): C | undefined {
  return complaints.find(({ against }) => against === 'image') ?? complaints[0];
}

function changedIn(pod: PodState, containers: ReadonlySet<string>): readonly PodContainer[] {
  return pod.containers.filter(({ name, mounts = [] }) => [name, ...mounts].some((one) => containers.has(one)));
}

function evaluateContainer(pod: PodState, container: PodContainer, now: Date): RolloutFailure | undefined {
  const { waiting, restarts, ready } = container;
  const reason = waiting?.reason ?? '';
  const isOld = now.getTime() - Date.parse(pod.startedAt) >= pullPatienceMs;
  const found = { against: sideOfContainer(container), message: describe(pod, container) };
  if (hopeless.has(reason) || (pullFailures.has(reason) && isOld)) return { reason: 'ImagePullFailed', ...found };
  const isInBackOff = reason === 'CrashLoopBackOff' && restarts >= crashes.inBackOff;
  if (isInBackOff || (!ready && restarts >= crashes.otherwise)) return { reason: 'CrashLoop', ...found };
  return undefined;
}

/** Why a pod is not ready: itself, a changed container, or another one. */
function complaintOf(pod: PodState, containers: ReadonlySet<string>): Complaint {
  const { name, trouble } = pod;
  if (trouble !== undefined)
    return {
      against: sideOf(trouble.reason, trouble.message),
      message: `pod ${name}: ${[trouble.reason, trouble.message].filter(Boolean).join(': ')}`,
    };
  const changed = changedIn(pod, containers);
  if (changed.length === 0) return { against: 'cluster', message: `pod ${name}: its node has not reported anything about it` };
  const unready = changed.filter(({ ready }) => !ready);
  const ofChanged = mostTelling(
    unready.map((container) => ({ against: sideOfContainer(container), message: describe(pod, container), container })),
  );
  if (ofChanged !== undefined && !preparing.has(ofChanged.container.waiting?.reason ?? '')) return ofChanged;
  const other = pod.containers.find((one) => !changed.includes(one) && !one.ready && !preparing.has(one.waiting?.reason ?? ''));
  if (other !== undefined) return { against: 'configuration', message: describe(pod, other) };
  return ofChanged ?? { against: 'cluster', message: `pod ${name}: its containers are ready, and it is not` };
}

/** Which side a container that is not ready speaks against. One that runs has had its chance. */
function sideOfContainer({ waiting, lastEnd }: PodContainer): Side {
  const hasEnded = waiting === undefined || waiting.reason === 'CrashLoopBackOff';
  if (!hasEnded) return sideOf(waiting.reason, waiting.message);
  return lastEnd === undefined ? 'image' : sideOf(lastEnd.reason, lastEnd.message);
}

function describe({ name: pod }: PodState, { name, waiting, restarts, lastEnd }: PodContainer): string {
  const why = [waiting?.reason, waiting?.message].filter(Boolean).join(': ');
  const end = lastEnd === undefined ? '' : `, last ended with ${lastEnd.reason} (exit code ${lastEnd.exitCode ?? 'unknown'})`;
  const again = restarts > 0 ? ` (${restarts} restarts${end})` : '';
  return `pod ${pod}, container ${name}: ${why || (restarts > 0 ? 'keeps ending' : 'runs, and is not ready')}${again}`;
}
