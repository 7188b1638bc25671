import { days, type UpdateWindow } from '../model/image-policy.ts';
import { localTimeAt, zoneChanges } from '../model/local-time.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;
/** How far ahead openings are searched. A weekly window may fall into the hour that a clock change skips; then it opens a week later. */
export const horizonMs = 15 * dayMs;

/**
 * When the first of the windows opens. Undefined if one is open now, or there are none. A window is open exactly while local clocks show a time inside it: an
 * hour that a clock change skips is skipped, and one that it repeats is open twice.
 */
export function nextOpening(windows: readonly UpdateWindow[], now: Date): Date | undefined {
  const at = now.getTime();
  const before = closed.get(windows);
  if (before !== undefined && before.since <= at && at < before.until) return new Date(before.until);
  if (windows.length === 0 || windows.some((window) => isOpen(window, at))) return undefined;
  const openings = windows.map((window) => openingAfter(window, at)).filter((opening) => opening !== undefined);
  // If no window opens within the horizon, the wait ends with the horizon, and the opening is computed again.
  const until = openings.length === 0 ? at + horizonMs : Math.min(...openings);
  closed.set(windows, { since: at, until });
  return new Date(until);
}

/** Until when the windows of a policy are known to be closed, in ms since 1970. It is cached because they are compared with each of its workloads. */
const closed = new WeakMap<readonly UpdateWindow[], { readonly since: number; readonly until: number }>();

function isOpen(window: UpdateWindow, at: number): boolean {
  return isOpenAt(window, localTimeAt(window.timeZone, at));
}

/** Whether a window is open at a local time, in milliseconds since 1970-01-01T00:00 on local clocks. */
function isOpenAt({ days: wanted, from, to }: UpdateWindow, local: number): boolean {
  const [opens, closes] = [minuteOf(from), minuteOf(to)];
  const minute = Math.floor((local % dayMs) / minuteMs);
  const isDay = (time: number) => wanted === undefined || wanted.some((name) => name === dayOf(time));
  if (opens < closes) return isDay(local) && minute >= opens && minute < closes;
  return (isDay(local) && minute >= opens) || (isDay(local - dayMs) && minute < closes);
}

/** When a window opens: local clocks show `from`, or jump past it into the window. */
function openingAfter(window: UpdateWindow, now: number): number | undefined {
  const changes = zoneChanges(window.timeZone, now, now + horizonMs);
  for (const [index, start] of [now, ...changes].entries()) {
    const end = changes[index] ?? now + horizonMs;
    const offset = localTimeAt(window.timeZone, start) - start;
    if (isOpenAt(window, start + offset)) return start;
    const midnight = Math.floor((start + offset) / dayMs) * dayMs;
    for (let day = midnight; day - offset < end; day += dayMs) {
      const opening = day + minuteOf(window.from) * minuteMs;
      if (opening - offset >= start && opening - offset < end && isOpenAt(window, opening)) return opening - offset;
    }
  }
  return undefined;
}

function minuteOf(text: string): number {
  const [hours = '0', minutes = '0'] = text.split(':');
  return Number(hours) * 60 + Number(minutes);
}

/** The weekday of a local time. 1970-01-01 was a Thursday. */
function dayOf(local: number): (typeof days)[number] | undefined {
  return days[(Math.floor(local / dayMs) + 4) % 7];
}
