/** Confirms that a change is still permitted, before each request that changes something: the policy or a consent may be withdrawn at any moment. */

/** How long after a confirmation a change may be sent. */
export const confirmedForMs = 3_000;

/**
 * Checks again whether a change may still be made. Returns a time at which all its conditions were true, by the monotonic clock of this process; undefined if
 * the change must not be made any more.
 */
export type Confirm = () => Promise<number | undefined>;

/** Calls several confirmations, one after the other, because most cost no request. Returns the earliest time; undefined if one of them returns undefined. */
export async function confirmAll(confirms: readonly Confirm[]): Promise<number | undefined> {
  let confirmedAt = Number.POSITIVE_INFINITY;
  for (const confirm of confirms) {
    const at = await confirm();
    if (at === undefined) return undefined;
    confirmedAt = Math.min(confirmedAt, at);
  }
  return confirmedAt;
}
