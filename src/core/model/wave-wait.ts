import type { Waiting } from './policy-status.ts';

/** Whether an image waits for its next wave (`rollout.waves`). */
export function isWaveWait(waiting: Waiting | undefined): waiting is Waiting {
  return waiting?.reason.startsWith('Wave') === true;
}
