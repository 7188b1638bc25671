const units = { s: 1_000, m: 60_000, h: 3_600_000 } as const;
const pattern = /^(?:\d+[hms])+$/;

/** The milliseconds of a duration such as `90s`, `10m`, `1h30m`; undefined if it is not one. */
export function parseDuration(text: string): number | undefined {
  if (!pattern.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+)([hms])/g)) total += Number(amount) * units[unit as keyof typeof units];
  return total;
}
