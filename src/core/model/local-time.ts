/**
 * Local times of time zones. A policy may have 32 windows in as many time zones, each window is compared with hundreds of workloads, and formatting a time
 * costs some microseconds. Therefore the offsets of a zone are computed once for weeks, and everything else is arithmetic.
 */
const dayMs = 86_400_000;
const periodMs = 32 * dayMs;
/** The step of the search for changes. No zone changes its offset twice in so short a time. */
const stepMs = dayMs;
/** The maximum number of cached periods. There are some 600 named zones, and an offset zone for each minute. */
const maxKnown = 4_096;

/** The offset of local clocks from UTC from a time on, both in ms. */
interface Offset {
  readonly since: number;
  readonly offsetMs: number;
}

/** The offsets by zone and period. Formatters are not kept, because they take much more memory. */
const known = new Map<string, readonly Offset[]>();

/** The local time of a time zone as if it were UTC: milliseconds since 1970-01-01T00:00 local time. Throws RangeError for an unknown time zone. */
export function localTimeAt(timeZone: string, at: number): number {
  return at + (offsetsOf(timeZone, at).findLast(({ since }) => since <= at)?.offsetMs ?? 0);
}

/** The moments after `from` and before `to` at which the UTC offset of a time zone changes. */
export function zoneChanges(timeZone: string, from: number, to: number): number[] {
  const changes: number[] = [];
  let before = localTimeAt(timeZone, from) - from;
  for (let at = from; at < to; at = endOfPeriod(at)) {
    for (const { since, offsetMs } of offsetsOf(timeZone, at)) {
      if (since <= from || since >= to) continue;
      if (offsetMs !== before) changes.push(since);
      before = offsetMs;
    }
  }
  return changes;
}

function endOfPeriod(at: number): number {
  return (Math.floor(at / periodMs) + 1) * periodMs;
}

/** The offsets in the period of a time, the first one since its start. Names of zones are case-insensitive. */
function offsetsOf(timeZone: string, at: number): readonly Offset[] {
  const zone = timeZone.toLowerCase();
  const end = endOfPeriod(at);
  const key = `${zone} ${end}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  const offsets = findOffsets(zone, end - periodMs, end);
  if (known.size >= maxKnown) known.clear();
  known.set(key, offsets);
  return offsets;
}

function findOffsets(zone: string, start: number, end: number): Offset[] {
  const format = formatOf(zone);
  const offsetAt = (at: number) => readOffset(format, at);
  const offsets = [{ since: start, offsetMs: offsetAt(start) }];
  for (let at = start; at < end; at += stepMs) {
    const before = offsets.at(-1)?.offsetMs;
    if (offsetAt(at + stepMs) === before) continue;
    let [low, high] = [at, at + stepMs];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (offsetAt(middle) === before) low = middle;
      else high = middle;
    }
    offsets.push({ since: high, offsetMs: offsetAt(high) });
  }
  return offsets;
}

function readOffset(format: Intl.DateTimeFormat, at: number): number {
  const parts: Partial<Record<Intl.DateTimeFormatPartTypes, string>> = {};
  for (const { type, value } of format.formatToParts(at)) parts[type] = value;
  const part = (type: Intl.DateTimeFormatPartTypes) => Number(parts[type]);
  const seconds = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
  return seconds - (at - (((at % 1_000) + 1_000) % 1_000));
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
}
