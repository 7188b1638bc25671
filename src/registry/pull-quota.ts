/** How many images a registry lets one account (or address) pull: https://docs.docker.com/docker-hub/usage/pulls/ */
import type { IncomingHttpHeaders } from 'node:http';
import { BoundedMap } from '../async/bounded-map.ts';

/** What the headers say. */
export interface PullRate {
  readonly limit: number;
  readonly remaining: number;
  readonly windowSeconds: number;
}

/** Who may pull again when. */
export interface PullQuota {
  /** Whether there is something to remember. */
  readonly isKnown: boolean;
  /** The time before which an account had better not pull; 0 or past: it may. */
  until(account: string): number;
  /** Learns from an answer to an account; what the registry said, or undefined. */
  learn(account: string, headers: IncomingHttpHeaders): PullRate | undefined;
}

const maxAccounts = 1_000;
const minPauseMs = 60_000;
const maxPauseMs = 3_600_000;

/** `ratelimit-limit: 100;w=21600` and `ratelimit-remaining: 76;w=21600`; undefined for anything else. */
export function parsePullRate(headers: IncomingHttpHeaders): PullRate | undefined {
  const limit = parse(headers['ratelimit-limit']);
  const remaining = parse(headers['ratelimit-remaining']);
  if (!limit || !remaining || limit.windowSeconds === 0 || limit.count === 0) return undefined;
  return { limit: limit.count, remaining: remaining.count, windowSeconds: limit.windowSeconds };
}

/** When nothing remains, pulls wait as long as it takes on average to be given another one: the window slides, and no header says when. */
export function createPullQuota(now: () => number): PullQuota {
  const spent = new BoundedMap<string, number>(maxAccounts);
  return {
    get isKnown() {
      return spent.size > 0;
    },
    until: (account) => spent.get(account) ?? 0,
    learn(account, headers) {
      const rate = parsePullRate(headers);
      if (rate === undefined) return undefined;
      if (rate.remaining > 0) spent.delete(account);
      else if ((spent.get(account) ?? 0) <= now()) {
        const perPullMs = (rate.windowSeconds * 1_000) / rate.limit;
        spent.set(account, now() + Math.min(Math.max(perPullMs, minPauseMs), maxPauseMs));
      }
      return rate;
    },
  };
}

function parse(header: string | readonly string[] | undefined): { count: number; windowSeconds: number } | undefined {
  const text = typeof header === 'string' ? header : header?.[0];
  const match = /^\s*(\d{1,12})\s*;\s*w=(\d{1,9})\s*$/.exec(text ?? '');
  return match ? { count: Number(match[1]), windowSeconds: Number(match[2]) } : undefined;
}
