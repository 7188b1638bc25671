/** Evaluates a rollout by the pods of the new revision. Pure. */
import type { PodEvidence, RolloutFailure } from './evaluate-rollout.ts';

/** The fields of a pod that explain why it does not start. */
export interface PodState {
  readonly name: string;
  /** When its kubelet started it, or else when it was created. */
  readonly startedAt: string;
  /** Its Ready condition. */
  readonly ready: boolean;
  readonly containers: readonly PodContainer[];
}

export interface PodContainer {
  readonly name: string;
  /** The images that it mounts, by the names of `volumeName`: the kubelet reports on the container when an image that it mounts cannot be pulled. */
  readonly mounts?: readonly string[];
  readonly ready: boolean;
  readonly restarts: number;
  /** `state.waiting`. */
  readonly waiting?: { readonly reason: string; readonly message?: string };
  /** How it last terminated: `Error (exit code 1)`. */
  readonly lastEnd?: string;
}

/** Reasons that no retry of the kubelet can fix. */
const hopeless: ReadonlySet<string> = new Set(['InvalidImageName', 'ErrImageNeverPull']);
const pullFailures: ReadonlySet<string> = new Set(['ErrImagePull', 'ImagePullBackOff', 'ImageInspectError', 'RegistryUnavailable']);
/** Registries have short outages: a failing pull is tolerated for this long, measured by the pod's own timestamps. */
const pullPatienceMs = 20_000;
const crashes = { inBackOff: 2, otherwise: 3 } as const;

/** What the pods show about a rollout that changed these containers (or image volumes). */
export function evidenceOf(pods: readonly PodState[], containers: ReadonlySet<string>, now: Date): PodEvidence {
  const failure = evaluatePods(pods, containers, now);
  const starts = pods.filter(({ ready }) => !ready).map(({ startedAt }) => Date.parse(startedAt));
  return { ...(failure && { failure }), ...(starts.length > 0 && { unreadySince: new Date(Math.min(...starts)) }) };
}

/**
 * Why the pods cannot start, judging only by containers that were changed or that mount a changed image volume. Other containers are not the new image's fault and are
 * mentioned only after a timeout. Undefined while the pods may still start.
 */
export function evaluatePods(pods: readonly PodState[], containers: ReadonlySet<string>, now: Date): RolloutFailure | undefined {
  for (const pod of pods) {
    for (const container of pod.containers.filter(({ name, mounts = [] }) => [name, ...mounts].some((one) => containers.has(one)))) {
      const failure = evaluateContainer(pod, container, now);
      if (failure !== undefined) return failure;
    }
  }
  return undefined;
}

function evaluateContainer(pod: PodState, container: PodContainer, now: Date): RolloutFailure | undefined {
  const { waiting, restarts, ready } = container;
  const reason = waiting?.reason ?? '';
  const isOld = now.getTime() - Date.parse(pod.startedAt) >= pullPatienceMs;
  if (hopeless.has(reason) || (pullFailures.has(reason) && isOld)) return { reason: 'ImagePullFailed', message: describe(pod, container) };
  const isInBackOff = reason === 'CrashLoopBackOff' && restarts >= crashes.inBackOff;
  if (isInBackOff || (!ready && restarts >= crashes.otherwise)) return { reason: 'CrashLoop', message: describe(pod, container) };
  return undefined;
}

function describe({ name: pod }: PodState, { name, waiting, restarts, lastEnd }: PodContainer): string {
  const why = [waiting?.reason, waiting?.message].filter(Boolean).join(': ');
  const end = lastEnd === undefined ? '' : `, last ended with ${lastEnd}`;
  const again = restarts > 0 ? ` (${restarts} restarts${end})` : '';
  return `pod ${pod}, container ${name}: ${why || 'keeps ending'}${again}`;
}
