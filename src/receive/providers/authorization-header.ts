import { hash, timingSafeEqual } from 'node:crypto';
import { headerOf } from './header-of.ts';
import type { Delivery } from './provider.ts';

/** For senders that repeat a configured Authorization header: the whole value, or what follows `Bearer `. */
export function verifyAuthorizationHeader(delivery: Delivery, secrets: readonly string[]): boolean {
  const value = headerOf(delivery, 'authorization');
  if (value === undefined) return false;
  return matchesAny(value, secrets) || matchesAny(value.replace(/^Bearer +/i, ''), secrets);
}

/** For senders that log in: the password of `Authorization: Basic …`, or, where the secret is to hold both, `user:password`. */
export function verifyBasicPassword(delivery: Delivery, secrets: readonly string[]): boolean {
  const encoded = /^Basic +([A-Za-z0-9+/_-]+={0,2}) *$/i.exec(headerOf(delivery, 'authorization') ?? '')?.[1];
  if (encoded === undefined) return false;
  const credentials = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = credentials.indexOf(':');
  if (colon === -1) return false;
  return matchesAny(credentials, secrets) || matchesAny(credentials.slice(colon + 1), secrets);
}

/** Compares with every secret in constant time, whatever the lengths. */
export function matchesAny(given: string, secrets: readonly string[]): boolean {
  const digest = sha256(given);
  let matches = false;
  for (const secret of secrets) matches = timingSafeEqual(digest, sha256(secret)) || matches;
  return matches;
}

function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
