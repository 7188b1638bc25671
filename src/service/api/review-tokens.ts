/** Bounds the questions about tokens: whoever can connect may send any text as one, and the API server has to check each. */
import { isIP, isIPv4, isIPv6 } from 'node:net';
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { AccessError, type Caller, type ReviewToken } from './access.ts';
import type { Vouched } from './vouch.ts';

/** Returns whom a token belongs to; throws AccessError where the client has sent too many unknown ones, or too many are being checked. Neither stops a session. */
export type BoundedReview = (token: { readonly value: string; readonly hash: string }, from: Vouched) => Promise<Caller | undefined>;

const minuteMs = 60_000;
/** Unknown tokens of one address in a minute. */
const maxUnknown = 30;
const maxAtOnce = 16;
/** Of one network: whoever has many addresses leaves room for others. */
const maxOfNetwork = 8;
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
  const ofNetworks = new Map<string, number>();

  return async ({ value, hash }, { client: named, isSession }) => {
    // A proxy passes on what a client writes into X-Forwarded-For, and the client may be at an address that the proxy trusts.
    const client = isIP(named) === 0 ? '' : named;
    // Its token was valid when it began: whoever sends others cannot use up what it needs.
    if (isSession) return review(value);
    const network = networkOf(client);
    const ofNetwork = ofNetworks.get(network) ?? 0;
    if ((known.get(hash) ?? 0) <= now()) {
      if (recentUnknown(client).count >= maxUnknown)
        throw new AccessError(429, 'too many tokens from this address were unknown to the API server; try again in a minute');
      if (atOnce >= maxAtOnce || ofNetwork >= maxOfNetwork) throw new AccessError(503, 'too many tokens are being checked; try again');
    }
    atOnce++;
    ofNetworks.set(network, ofNetwork + 1);
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
      const left = (ofNetworks.get(network) ?? 1) - 1;
      if (left > 0) ofNetworks.set(network, left);
      else ofNetworks.delete(network);
    }
  };
}

/** An address of IPv4, the first 64 bits of one of IPv6 (which a single host chooses among), or one name for everything that is no address. */
function networkOf(client: string): string {
  if (isIPv4(client)) return client;
  if (!isIPv6(client)) return '';
  const { hostname } = new URL(`http://[${client.replace(/%.*$/, '')}]`);
  const [start = '', end = ''] = hostname.slice(1, -1).split('::');
  const groups = [start, end].map((part) => (part === '' ? [] : part.split(':')));
  const zeros = hostname.includes('::') ? 8 - groups.flat().length : 0;
  const all = [...(groups[0] ?? []), ...Array.from({ length: zeros }, () => '0'), ...(groups[1] ?? [])];
  // An address of IPv4 that is written as one of IPv6.
  return all.slice(0, 6).join() === '0,0,0,0,0,ffff' ? all.join(':') : all.slice(0, 4).join(':');
}
