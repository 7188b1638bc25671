import type { ImagePolicy } from '../model/image-policy.ts';

/** How long a signature is waited for after the push, or after whatever made us look; the pauses grow with the time that has passed. */
const patience = { totalMs: 300_000, firstPauseMs: 1_000, longestPauseMs: 30_000 };

/** When to look again for a signature that is not there yet, or undefined when that has lasted long enough. Signatures are pushed after their image. */
export function nextSignatureCheck(sinceMs: number, nowMs: number): Date | undefined {
  const passedMs = Math.max(0, nowMs - sinceMs);
  if (passedMs >= patience.totalMs) return undefined;
  const pauseMs = Math.min(Math.max(passedMs, patience.firstPauseMs), patience.longestPauseMs);
  return new Date(nowMs + pauseMs);
}

/** Whether the policy was given up as it is for want of a signature of this digest: it is not put back to waiting by each look. */
export function hasWaitedForSignature({ generation, status }: Pick<ImagePolicy, 'generation' | 'status'>, digest: string): boolean {
  const stalled = status.conditions?.find(({ type }) => type === 'Stalled');
  return (
    stalled?.status === 'True' &&
    stalled.reason === 'NotSigned' &&
    stalled.observedGeneration === generation &&
    stalled.message.includes(digest)
  );
}
