import { createHmac, timingSafeEqual } from 'node:crypto';
import { headerOf } from './header-of.ts';
import type { Delivery } from './provider.ts';

/** Where a sender puts the signature of the body, and how it makes it: `{headers: ['x-hub-signature-256'], algorithm: 'sha256', prefix: 'sha256='}`. */
export interface HmacScheme {
  /** In lower case; the signature may be in any of them. */
  readonly headers: readonly string[];
  readonly algorithm: 'sha256' | 'sha1';
  /** What stands before the hex digits. */
  readonly prefix?: string;
}

const digestBytes = { sha256: 32, sha1: 20 } as const;

/**
 * Whether one of the headers holds the HMAC of the exact bytes of the body, in hex, made with one of the secrets; tries them all in constant time. Each secret
 * costs one walk over the body, however many headers there are, and nothing is hashed where no header can hold a signature.
 */
export function verifyHmac(delivery: Delivery, secrets: readonly string[], { headers, algorithm, prefix = '' }: HmacScheme): boolean {
  const signatures = headers.flatMap((header) => signatureIn(headerOf(delivery, header), prefix, digestBytes[algorithm]));
  if (signatures.length === 0) return false;
  let matches = false;
  for (const secret of secrets) {
    const expected = createHmac(algorithm, secret).update(delivery.body).digest();
    for (const signature of signatures) matches = timingSafeEqual(signature, expected) || matches;
  }
  return matches;
}

function signatureIn(value: string | undefined, prefix: string, bytes: number): Buffer[] {
  if (value === undefined || value.length !== prefix.length + 2 * bytes || !value.startsWith(prefix)) return [];
  const hex = value.slice(prefix.length);
  return /^[0-9a-f]+$/i.test(hex) ? [Buffer.from(hex, 'hex')] : [];
}
