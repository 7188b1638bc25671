/** What a change rests on (the policy, a consent) may be taken back at any moment, so it is confirmed for a short time, before each request that changes something. */

/** How long after a confirmation a change may be sent. */
export const confirmedForMs = 3_000;

/**
 * Asks again whether a change may still be made. Returns a time at which all that it rests on was true, by the monotonic clock of the process; undefined if it
 * must not be made any more.
 */
export type Confirm = () => Promise<number | undefined>;

/** Asks several, one after the other, because most cost no request. The time is that of the oldest; undefined if one of them says so. */
export async function confirmAll(confirms: readonly Confirm[]): Promise<number | undefined> {
  let confirmedAt = Number.POSITIVE_INFINITY;
  for (const confirm of confirms) {
    const at = await confirm();
    if (at === undefined) return undefined;
    confirmedAt = Math.min(confirmedAt, at);
  }
  return confirmedAt;
}
