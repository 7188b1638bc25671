import type { IncomingHttpHeaders } from 'node:http';
import { parseRetryAfter } from './retry-after.ts';

/** How long a host asked to be left alone, by everybody. */
export interface HostPause {
  /** The time before which nobody may ask; 0 or past: anybody may. */
  readonly until: number;
  /** Learns from an answer; the time until which whoever got it has to wait, or undefined. */
  learn(status: number, headers: IncomingHttpHeaders): number | undefined;
}

const firstPauseMs = 1_000;
const maxPauseMs = 300_000;

/** 429 and 503 with Retry-After are taken at their word; 429 without it pauses for 1 s, and twice as long each time up to 5 min. */
export function createHostPause(now: () => number): HostPause {
  let until = 0;
  let pauseMs = 0;
  return {
    get until() {
      return until;
    },
    learn(status, headers) {
      const at = now();
      const told = status === 429 || status === 503 ? parseRetryAfter(headers['retry-after'], at) : undefined;
      if (told !== undefined) until = Math.max(until, told);
      else if (status === 429) {
        // Those who were turned away together count once.
        if (at >= until) {
          pauseMs = Math.min(pauseMs === 0 ? firstPauseMs : pauseMs * 2, maxPauseMs);
          until = at + pauseMs;
        }
      } else if (status < 500 && at >= until) pauseMs = 0;
      return told ?? (status === 429 ? until : undefined);
    },
  };
}
