/** Checks in the headers of a request that its sender knows a secret. Unauthenticated clients reach all of this code, so nothing is parsed and the cost is bounded. */
import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import type { Delivery } from './provider.ts';

/** The value of a header that occurs exactly once; the name is in lower case. */
export function headerOf({ headers }: Delivery, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}

/** Whether the value of the Authorization header, or the part after `Bearer `, is one of the secrets. For senders where users configure this header. */
export function verifyAuthorizationHeader(delivery: Delivery, secrets: readonly string[]): boolean {
  const value = headerOf(delivery, 'authorization');
  if (value === undefined) return false;
  return matchesAny(value, secrets) || matchesAny(value.replace(/^Bearer +/i, ''), secrets);
}

/** Whether the password, or `user:password` as a whole, is one of the secrets. For senders with Basic authentication. */
export function verifyBasicPassword(delivery: Delivery, secrets: readonly string[]): boolean {
  const encoded = /^Basic +([A-Za-z0-9+/_-]+={0,2}) *$/i.exec(headerOf(delivery, 'authorization') ?? '')?.[1];
  if (encoded === undefined) return false;
  const credentials = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = credentials.indexOf(':');
  if (colon === -1) return false;
  return matchesAny(credentials, secrets) || matchesAny(credentials.slice(colon + 1), secrets);
}

/** Whether a text is one of the secrets. Compares it with all of them in constant time, whatever their lengths. */
export function matchesAny(given: string, secrets: readonly string[]): boolean {
  const digest = sha256(given);
  let matches = false;
  for (const secret of secrets) matches = timingSafeEqual(digest, sha256(secret)) || matches;
  return matches;
}

function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

/** The limit for the headers that are compared with secrets. It is far above what senders and proxies add; an unauthenticated client can send thousands. */
const maxHeaders = 128;

/** Whether any header value, bearer token or Basic password is one of the secrets. For senders whose users choose the name of the header. */
export function verifyAnyHeader(delivery: Delivery, secrets: readonly string[]): boolean {
  const values = Object.values(delivery.headers).filter((value) => typeof value === 'string');
  if (values.length > maxHeaders) return false;
  const isInOne = values.map((value) => matchesAny(value, secrets)).includes(true);
  return isInOne || verifyAuthorizationHeader(delivery, secrets) || verifyBasicPassword(delivery, secrets);
}

/** How a sender signs the body, and where it puts the signature: `{headers: ['x-hub-signature-256'], algorithm: 'sha256', prefix: 'sha256='}`. */
export interface HmacScheme {
  /** The names of the headers, in lower case. Any of them may hold the signature. */
  readonly headers: readonly string[];
  readonly algorithm: 'sha256' | 'sha1';
  /** The text before the hex digits of the signature. */
  readonly prefix?: string;
}

const digestBytes = { sha256: 32, sha1: 20 } as const;

/**
 * Whether one of the headers holds the HMAC of the exact bytes of the body, in hex, made with one of the secrets. Compares with all secrets in constant time.
 * Each secret costs one pass over the body, however many headers there are, and nothing is hashed if no header can hold a signature.
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

/**
 * `verify` for senders that support nothing but a URL: always false. Their secret is the last part of the URL, which the receiver compares. A short secret is
 * rejected at startup.
 */
export function provesNothing(): boolean {
  return false;
}
