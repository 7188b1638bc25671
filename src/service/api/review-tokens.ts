/** Bounds the reviews of tokens. Anybody who can connect may send any text as a token, and the API server has to check each. */
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { networkOf } from '../../core/async/network-of.ts';
import type { Caller } from '../../core/model/caller.ts';
import { AccessError, type ReviewToken } from './access.ts';
import type { Vouched } from './vouch.ts';

/** Returns the user of a token. Throws AccessError if the client or its network has sent too many unknown tokens, or too many are being checked; sessions are exempt. */
export type BoundedReview = (token: { readonly value: string; readonly hash: string }, from: Vouched) => Promise<Caller | undefined>;

const minuteMs = 60_000;
/** How many unknown tokens of one address are reviewed in a minute, and how many of one network, whose addresses a single host may choose among. */
const maxUnknown = 30;
const maxUnknownOfNetwork = 240;
const maxAtOnce = 16;
/** How many tokens of one network are reviewed at the same time. A client with many addresses leaves room for others. */
const maxOfNetwork = 8;
/** How long a token that was valid is not limited. Its user may share an address with senders of unknown tokens, as behind an Ingress. */
const knownMs = 3_600_000;
const maxRemembered = 10_000;

/** Creates the bounds of one process. */
export function boundReviews(review: ReviewToken, elapsed: () => number): BoundedReview {
  const known = new BoundedMap<string, number>(maxRemembered);
  const unknown = new BoundedMap<string, { readonly since: number; readonly count: number }>(maxRemembered);
  const recentUnknown = (sender: string) => {
    const recent = unknown.get(sender);
    return recent !== undefined && elapsed() - recent.since < minuteMs ? recent : { since: elapsed(), count: 0 };
  };
  let atOnce = 0;
  const ofNetworks = new Map<string, number>();

  return async ({ value, hash }, { client, isSession }) => {
    // The token of a session was valid when the session began, so other senders cannot use up what it needs.
    if (isSession) return review(value);
    const network = networkOf(client);
    const [ofAddress, ofAll] = [`address ${network === '' ? '' : client}`, `network ${network}`];
    const ofNetwork = ofNetworks.get(network) ?? 0;
    if ((known.get(hash) ?? 0) <= elapsed()) {
      if (recentUnknown(ofAddress).count >= maxUnknown || recentUnknown(ofAll).count >= maxUnknownOfNetwork)
        throw new AccessError(429, 'too many tokens from this address were unknown to the API server; try again in a minute');
      if (atOnce >= maxAtOnce || ofNetwork >= maxOfNetwork) throw new AccessError(503, 'too many tokens are being checked; try again');
    }
    atOnce++;
    ofNetworks.set(network, ofNetwork + 1);
    try {
      const caller = await review(value);
      if (caller !== undefined) known.set(hash, elapsed() + knownMs);
      else {
        for (const sender of [ofAddress, ofAll]) {
          const { since, count } = recentUnknown(sender);
          unknown.set(sender, { since, count: count + 1 });
        }
        known.delete(hash);
      }
      return caller;
    } finally {
      atOnce--;
      const left = (ofNetworks.get(network) ?? 1) - 1;
      if (left > 0) ofNetworks.set(network, left);
      else ofNetworks.delete(network);
    }
  };
}
