/** Seconds since 1970 (or fractions of them) as RFC 3339; undefined for what is no time. */
export function fromUnixSeconds(seconds: unknown): string | undefined {
  if (typeof seconds !== 'number' || !(Math.abs(seconds) <= 8_640_000_000_000)) return undefined;
  return new Date(seconds * 1_000).toISOString();
}
