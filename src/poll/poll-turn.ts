/** When a repository's turn to be polled comes: once per interval, at a place of its own, so that polls are spread without any memory. */
import { formatRepository, type Repository } from '../model/image-reference.ts';

/** How often ticks come; the first one after a wiped Redis looks back this far. */
export const tickMs = 5_000;

export interface PollTurn {
  /** The same text for the same repository and interval. */
  readonly key: string;
  readonly intervalMs: number;
  /** It hangs on the key: the same in every replica, and after every restart. */
  readonly offsetMs: number;
}

const hourMs = 3_600_000;
const minuteMs = 60_000;

/** The turn of those who list this repository so often. */
export function pollTurn(repository: Repository, intervalMs: number): PollTurn {
  const key = `${formatRepository(repository)} ${intervalMs}`;
  return { key, intervalMs, offsetMs: hash(key) % intervalMs };
}

/**
 * How long to wait with the turn that falls into the time after `from` up to `to`; undefined where none does. Turns that were missed for long do
 * not all come at once: they keep the order of their next turns, and are spread like those.
 */
export function dueIn({ intervalMs, offsetMs }: PollTurn, from: number, to: number): number | undefined {
  const turnAt = (at: number) => Math.floor((at + offsetMs) / intervalMs);
  const turn = turnAt(to);
  if (turn <= turnAt(from)) return undefined;
  const lateMs = to + offsetMs - turn * intervalMs;
  if (lateMs <= Math.max(2 * tickMs, Math.min(minuteMs, intervalMs / 10))) return 0;
  return Math.floor(((intervalMs - lateMs) / intervalMs) * spreadMs(intervalMs));
}

/** How much later those come who ask for the same repository on behalf of somebody (`accessKey`): each at a time of its own. */
export function accessDelayMs(access: string, intervalMs: number): number {
  return access === '' ? 0 : hash(access) % Math.max(1, Math.floor(spreadMs(intervalMs)));
}

/** Over how much time polls are spread that would come together: a tenth of their interval, and an hour at most. */
function spreadMs(intervalMs: number): number {
  return Math.min(intervalMs / 10, hourMs);
}

/** FNV-1a. */
function hash(text: string): number {
  let hash = 2_166_136_261;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 16_777_619) >>> 0;
  return hash;
}
