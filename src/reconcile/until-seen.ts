import { setTimeout as delay } from 'node:timers/promises';

const stepMs = 50;
const maxSteps = 40;

/** Gives our own watches up to two seconds to show what another replica has already seen; after that, their state is used as it is. */
export async function untilSeen(isSeen: () => boolean, signal: AbortSignal): Promise<void> {
  for (let step = 0; step < maxSteps && !isSeen(); step++) await delay(stepMs, undefined, { signal });
}
