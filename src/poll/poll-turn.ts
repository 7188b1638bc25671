/** When a repository is polled: once per interval, at an offset of its own, so that polls are spread without any stored state. */
import { formatRepository, type Repository } from '../model/image-reference.ts';

/** The time between ticks; the first one after Redis was wiped covers this much of the past. */
export const tickMs = 5_000;

export interface PollTurn {
  /** The same text for the same repository and interval. */
  readonly key: string;
  readonly intervalMs: number;
  /** Derived from the key: the same in every replica, and after every restart. */
  readonly offsetMs: number;
}

const hourMs = 3_600_000;
const minuteMs = 60_000;

/** The schedule of polls of a repository with this interval. */
export function pollTurn(repository: Repository, intervalMs: number): PollTurn {
  const key = `${formatRepository(repository)} ${intervalMs}`;
  return { key, intervalMs, offsetMs: hash(key) % intervalMs };
}

/**
 * How long to delay the poll that became due after `from` and no later than `to`; undefined where none did. Polls that are long overdue do not all run at once:
 * they keep the order of their next regular times, and are spread like those.
 */
export function dueIn({ intervalMs, offsetMs }: PollTurn, from: number, to: number): number | undefined {
  const turnAt = (at: number) => Math.floor((at + offsetMs) / intervalMs);
  const turn = turnAt(to);
  if (turn <= turnAt(from)) return undefined;
  const lateMs = to + offsetMs - turn * intervalMs;
  if (lateMs <= Math.max(2 * tickMs, Math.min(minuteMs, intervalMs / 10))) return 0;
  return Math.floor(((intervalMs - lateMs) / intervalMs) * spreadMs(intervalMs));
}

/** The delay of polls of the same repository with other credentials (`accessKey`): each access has a time of its own. */
export function accessDelayMs(access: string, intervalMs: number): number {
  return access === '' ? 0 : hash(access) % Math.max(1, Math.floor(spreadMs(intervalMs)));
}

/** The time over which simultaneous polls are spread: a tenth of their interval, and an hour at most. */
function spreadMs(intervalMs: number): number {
  return Math.min(intervalMs / 10, hourMs);
}

/** FNV-1a. */
function hash(text: string): number {
  let hash = 2_166_136_261;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 16_777_619) >>> 0;
  return hash;
}
