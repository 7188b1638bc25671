/** Bounds the questions about tokens: whoever can connect may send any text as one, and the API server has to check each. */
import { BoundedMap } from '../async/bounded-map.ts';
import { AccessError, type Caller, type ReviewToken } from './access.ts';
import type { Vouched } from './vouch.ts';

/** Returns whom a token belongs to; throws AccessError where the client has sent too many unknown ones, or too many are being checked. Neither stops a session. */
export type BoundedReview = (token: { readonly value: string; readonly hash: string }, from: Vouched) => Promise<Caller | undefined>;

const minuteMs = 60_000;
/** Unknown tokens of one address in a minute. */
const maxUnknown = 30;
const maxAtOnce = 16;
/** How long a token that was valid does not count: its user is served also where others send unknown ones from the same address, as behind an Ingress. */
const knownMs = 3_600_000;
const maxRemembered = 10_000;

/** The bounds of one process. */
export function boundReviews(review: ReviewToken, now: () => number): BoundedReview {
  const known = new BoundedMap<string, number>(maxRemembered);
  const unknown = new BoundedMap<string, { readonly since: number; readonly count: number }>(maxRemembered);
  const recentUnknown = (client: string) => {
    const recent = unknown.get(client);
    return recent !== undefined && now() - recent.since < minuteMs ? recent : { since: now(), count: 0 };
  };
  let atOnce = 0;

  return async ({ value, hash }, { client, isSession }) => {
    // Its token was valid when it began: whoever sends others cannot use up what it needs.
    if (isSession) return review(value);
    if ((known.get(hash) ?? 0) <= now()) {
      if (recentUnknown(client).count >= maxUnknown)
        throw new AccessError(429, 'too many tokens from this address were unknown to the API server; try again in a minute');
      if (atOnce >= maxAtOnce) throw new AccessError(503, 'too many tokens are being checked; try again');
    }
    atOnce++;
    try {
      const caller = await review(value);
      if (caller !== undefined) known.set(hash, now() + knownMs);
      else {
        const { since, count } = recentUnknown(client);
        unknown.set(client, { since, count: count + 1 });
        known.delete(hash);
      }
      return caller;
    } finally {
      atOnce--;
    }
  };
}
