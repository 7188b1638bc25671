import { createHmac, timingSafeEqual } from 'node:crypto';
import { headerOf } from './header-of.ts';
import type { Delivery } from './provider.ts';

/** Where a sender puts the signature of the body, and how it makes it: `{header: 'x-hub-signature-256', algorithm: 'sha256', prefix: 'sha256='}`. */
export interface HmacScheme {
  /** In lower case. */
  readonly header: string;
  readonly algorithm: 'sha256' | 'sha1';
  /** What stands before the hex digits. */
  readonly prefix?: string;
}

/** Whether the header holds the HMAC of the exact bytes of the body, in hex, made with one of the secrets; tries them all in constant time. */
export function verifyHmac(delivery: Delivery, secrets: readonly string[], { header, algorithm, prefix = '' }: HmacScheme): boolean {
  const value = headerOf(delivery, header);
  if (value === undefined || !value.startsWith(prefix)) return false;
  const hex = value.slice(prefix.length);
  if (!/^[0-9a-f]+$/i.test(hex)) return false;
  const given = Buffer.from(hex, 'hex');
  let matches = false;
  for (const secret of secrets) {
    const expected = createHmac(algorithm, secret).update(delivery.body).digest();
    const fits = hex.length === 2 * expected.length && timingSafeEqual(given, expected);
    matches = fits || matches;
  }
  return matches;
}
