const few = 10;

/** The first ten entries of a list as text, and the number of the others. A policy may have hundreds of targets. */
export function listFew<T>(items: readonly T[], describe: (item: T) => string): string {
  const more = items.length > few ? [`and ${items.length - few} more`] : [];
  return [...items.slice(0, few).map(describe), ...more].join('; ');
}

/** A time in whole seconds, as in a status (metav1.Time). */
export function toSeconds(date: Date): string {
  return date.toISOString().replace(/\.\d{3}Z$/, 'Z');
}

/** A time with its milliseconds, if it has any, for comparisons with others. */
export function toTime(date: Date): string {
  return date.toISOString().replace('.000Z', 'Z');
}

/** Cuts a text to the length of its field, with an ellipsis and between characters. The API server would reject the whole status for a longer text. */
export function cut(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

const units = { s: 1_000, m: 60_000, h: 3_600_000 } as const;
const pattern = /^(?:\d+[hms])+$/;

/** A duration as text, such as `1h30m`. Fractions of a second are left out. */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1_000);
  const parts: readonly (readonly [number, string])[] = [
    [Math.floor(seconds / 3_600), 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ];
  const text = parts.flatMap(([amount, unit]) => (amount === 0 ? [] : [`${amount}${unit}`])).join('');
  return text === '' ? '0s' : text;
}

/** The milliseconds of a duration such as `90s`, `10m`, `1h30m`; undefined for any other text. */
export function parseDuration(text: string): number | undefined {
  if (!pattern.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+)([hms])/g)) total += Number(amount) * units[unit as keyof typeof units];
  return total;
}

/** The time that a text says, with its offset (RFC 3339); undefined if it says none. */
export function readTime(text: string): Date | undefined {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/.test(text)) return undefined;
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? undefined : time;
}
