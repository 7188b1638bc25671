/**
 * When a Retry-After header (RFC 9110 §10.2.3: seconds, or an HTTP date) lets the next request in, between one second and one hour from `now`;
 * undefined when there is none that can be understood.
 */
export function parseRetryAfter(header: string | readonly string[] | undefined, now: number): number | undefined {
  const text = (typeof header === 'string' ? header : header?.[0])?.trim() ?? '';
  const at = /^\d+$/.test(text) ? now + Number(text) * 1000 : /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) return undefined;
  return Math.min(Math.max(at, now + 1000), now + 3_600_000);
}
