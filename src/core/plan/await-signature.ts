import type { ImagePolicy } from '../model/image-policy.ts';
import type { PolicyStatus } from '../model/policy-status.ts';

/** How long to wait for a signature after the push, or after whatever caused the reconcile; the pauses grow with the time that has passed. */
const patience = { totalMs: 300_000, firstPauseMs: 1_000, longestPauseMs: 30_000 };

/** When to check again for a missing signature, or undefined once the wait has timed out. Signatures are pushed after their image. */
export function nextSignatureCheck(sinceMs: number, nowMs: number): Date | undefined {
  const passedMs = Math.max(0, nowMs - sinceMs);
  if (passedMs >= patience.totalMs) return undefined;
  const pauseMs = Math.min(Math.max(passedMs, patience.firstPauseMs), patience.longestPauseMs);
  return new Date(nowMs + pauseMs);
}

/** An ImagePolicy, or a BaseImagePolicy. */
interface WaitingPolicy extends Pick<ImagePolicy, 'generation'> {
  readonly status: Pick<PolicyStatus, 'conditions'>;
}

/** Whether the policy is already Stalled because this digest is not signed: later reconciles do not start the wait again. */
export function hasWaitedForSignature({ generation, status }: WaitingPolicy, digest: string): boolean {
  const stalled = status.conditions?.find(({ type }) => type === 'Stalled');
  return (
    stalled?.status === 'True' &&
    stalled.reason === 'NotSigned' &&
    stalled.observedGeneration === generation &&
    stalled.message.includes(digest)
  );
}
