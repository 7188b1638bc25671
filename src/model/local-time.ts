const stepMs = 6 * 3_600_000;
const formats = new Map<string, Intl.DateTimeFormat>();

/** The local time of a time zone as if it were UTC: milliseconds since 1970-01-01T00:00 local time. Throws RangeError for an unknown time zone. */
export function localTimeAt(timeZone: string, at: number): number {
  let format = formats.get(timeZone);
  if (format === undefined) formats.set(timeZone, (format = formatOf(timeZone)));
  const parts: Partial<Record<Intl.DateTimeFormatPartTypes, string>> = {};
  for (const { type, value } of format.formatToParts(at)) parts[type] = value;
  const part = (type: Intl.DateTimeFormatPartTypes) => Number(parts[type]);
  const seconds = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
  return seconds + (at % 1_000);
}

/** The moments after `from` and before `to` at which the UTC offset of a time zone changes. */
export function zoneChanges(timeZone: string, from: number, to: number): number[] {
  const offsetAt = (at: number) => localTimeAt(timeZone, at) - at;
  const changes: number[] = [];
  for (let at = from; at < to; at += stepMs) {
    const [before, after] = [offsetAt(at), offsetAt(Math.min(at + stepMs, to))];
    if (before === after) continue;
    let [low, high] = [at, Math.min(at + stepMs, to)];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (offsetAt(middle) === before) low = middle;
      else high = middle;
    }
    changes.push(high);
  }
  return changes;
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
