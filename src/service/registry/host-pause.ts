/** The pauses that a host asks for. They apply to all clients (429, Retry-After), or to the pulls of an account. */
import type { IncomingHttpHeaders } from 'node:http';
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { parseRetryAfter } from '../../core/async/backoff.ts';

/** The pause that a host asked of all clients. */
export interface HostPause {
  /** The time before which no request may be sent (ms since 1970); 0 without a pause. */
  readonly until: number;
  /** Observes an answer; returns the time before which its request must not be repeated, or undefined. */
  observe(status: number, headers: IncomingHttpHeaders): number | undefined;
}

const firstPauseMs = 1_000;
const maxPauseMs = 300_000;
/** The limits for the pause of a Retry-After: at least a second, and at most an hour. */
const retryAfterMs = { min: 1_000, max: 3_600_000 };

/** Creates a pause. 429 and 503 with Retry-After pause until then. 429 without it pauses for 1 s, and twice as long each time, up to 5 min. */
export function createHostPause(now: () => number): HostPause {
  let until = 0;
  let pauseMs = 0;
  return {
    get until() {
      return until;
    },
    observe(status, headers) {
      const at = now();
      const pause = status === 429 || status === 503 ? parseRetryAfter(headers['retry-after'], at) : undefined;
      const retryAt = pause === undefined ? undefined : at + Math.min(Math.max(pause, retryAfterMs.min), retryAfterMs.max);
      if (retryAt !== undefined) until = Math.max(until, retryAt);
      else if (status === 429) {
        // Requests that were refused together double the pause only once.
        if (at >= until) {
          pauseMs = Math.min(pauseMs === 0 ? firstPauseMs : pauseMs * 2, maxPauseMs);
          until = at + pauseMs;
        }
      } else if (status < 500 && at >= until) pauseMs = 0;
      return retryAt ?? (status === 429 ? until : undefined);
    },
  };
}

/** The pulls that a registry allows an account or address, as its headers state: https://docs.docker.com/docker-hub/usage/pulls/ */
export interface PullRate {
  readonly limit: number;
  readonly remaining: number;
  readonly windowSeconds: number;
}

/** When each account may pull again. */
export interface PullQuota {
  /** Whether any account must wait before it pulls. */
  readonly isKnown: boolean;
  /** The time before which the account should not pull; 0 if it may pull. */
  until(account: string): number;
  /** Observes an answer to an account; returns the rate in its headers, or undefined. */
  observe(account: string, headers: IncomingHttpHeaders): PullRate | undefined;
}

const maxAccounts = 1_000;
const quotaPauseMs = { min: 60_000, max: 3_600_000 };

/** Parses `ratelimit-limit: 100;w=21600` and `ratelimit-remaining: 76;w=21600`; undefined for anything else. */
export function parsePullRate(headers: IncomingHttpHeaders): PullRate | undefined {
  const limit = parse(headers['ratelimit-limit']);
  const remaining = parse(headers['ratelimit-remaining']);
  if (!limit || !remaining || limit.windowSeconds === 0 || limit.count === 0) return undefined;
  return { limit: limit.count, remaining: remaining.count, windowSeconds: limit.windowSeconds };
}

/** Creates a quota. If no pulls remain, pulls wait for the average time between two pulls: the window slides, and no header says when the next is allowed. */
export function createPullQuota(now: () => number): PullQuota {
  const spent = new BoundedMap<string, number>(maxAccounts);
  return {
    get isKnown() {
      return spent.size > 0;
    },
    until: (account) => spent.get(account) ?? 0,
    observe(account, headers) {
      const rate = parsePullRate(headers);
      if (rate === undefined) return undefined;
      if (rate.remaining > 0) spent.delete(account);
      else if ((spent.get(account) ?? 0) <= now()) {
        const perPullMs = (rate.windowSeconds * 1_000) / rate.limit;
        spent.set(account, now() + Math.min(Math.max(perPullMs, quotaPauseMs.min), quotaPauseMs.max));
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
