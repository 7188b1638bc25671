import type { ImagePolicy } from '../model/image-policy.ts';
import type { PolicyStatus } from '../model/policy-status.ts';

/** How long to wait for a signature after the push, or after the cause of the reconcile. The pauses grow with the elapsed time. */
const patience = { totalMs: 300_000, firstPauseMs: 1_000, longestPauseMs: 30_000 };

/** When to check again for a missing signature, because signatures are pushed after their image. Undefined once the wait has timed out. */
export function nextSignatureCheck(sinceMs: number, nowMs: number): Date | undefined {
  const passedMs = Math.max(0, nowMs - sinceMs);
  if (passedMs >= patience.totalMs) return undefined;
  const pauseMs = Math.min(Math.max(passedMs, patience.firstPauseMs), patience.longestPauseMs);
  return new Date(nowMs + pauseMs);
}

/** The parts of an ImagePolicy or a BaseImagePolicy that the wait depends on. */
interface WaitingPolicy extends Pick<ImagePolicy, 'generation'> {
  readonly status: Pick<PolicyStatus, 'conditions'>;
}

/** Whether the policy is already Stalled because this digest is not signed. Later reconciles do not start the wait again. */
export function hasWaitedForSignature({ generation, status }: WaitingPolicy, digest: string): boolean {
  const stalled = status.conditions?.find(({ type }) => type === 'Stalled');
  return (
    stalled?.status === 'True' &&
    stalled.reason === 'NotSigned' &&
    stalled.observedGeneration === generation &&
    stalled.message.includes(digest)
  );
}
