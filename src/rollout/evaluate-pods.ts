/** What the pods of a new revision say of its rollout. Pure. */
import type { PodEvidence, RolloutFailure } from './evaluate-rollout.ts';

/** As much of a pod as tells why it does not start. */
export interface PodState {
  readonly name: string;
  /** When its node began with it, or it was created. */
  readonly startedAt: string;
  /** Its condition Ready. */
  readonly ready: boolean;
  readonly containers: readonly PodContainer[];
}

export interface PodContainer {
  readonly name: string;
  /** What it mounts, by the names of `volumeName`: the kubelet says of a container that an image which it mounts cannot be pulled. */
  readonly mounts?: readonly string[];
  readonly ready: boolean;
  readonly restarts: number;
  /** `state.waiting`. */
  readonly waiting?: { readonly reason: string; readonly message?: string };
  /** How it ended last: `Error (exit code 1)`. */
  readonly lastEnd?: string;
}

/** What no second try of the kubelet heals. */
const hopeless: ReadonlySet<string> = new Set(['InvalidImageName', 'ErrImageNeverPull']);
const pullFailures: ReadonlySet<string> = new Set(['ErrImagePull', 'ImagePullBackOff', 'ImageInspectError', 'RegistryUnavailable']);
/** Registries have bad moments: a pull that fails is given this long, by the pod's own times. */
const pullPatienceMs = 20_000;
const crashes = { inBackOff: 2, otherwise: 3 } as const;

/** What the pods are evidence of, where these containers (or image volumes) were changed. */
export function evidenceOf(pods: readonly PodState[], containers: ReadonlySet<string>, now: Date): PodEvidence {
  const failure = evaluatePods(pods, containers, now);
  const starts = pods.filter(({ ready }) => !ready).map(({ startedAt }) => Date.parse(startedAt));
  return { ...(failure && { failure }), ...(starts.length > 0 && { unreadySince: new Date(Math.min(...starts)) }) };
}

/**
 * Why the pods cannot start, by those of the containers that were changed or mount what was: what others do is not the fault of the new image, and only told when time is
 * over. Undefined while there is hope.
 */
export function evaluatePods(pods: readonly PodState[], containers: ReadonlySet<string>, now: Date): RolloutFailure | undefined {
  for (const pod of pods) {
    for (const container of pod.containers.filter(({ name, mounts = [] }) => [name, ...mounts].some((one) => containers.has(one)))) {
      const failure = judgeContainer(pod, container, now);
      if (failure !== undefined) return failure;
    }
  }
  return undefined;
}

function judgeContainer(pod: PodState, container: PodContainer, now: Date): RolloutFailure | undefined {
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
