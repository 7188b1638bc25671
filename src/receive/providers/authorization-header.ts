import { createHash, timingSafeEqual } from 'node:crypto';
import type { Delivery } from './provider.ts';

/** For senders that repeat a configured Authorization header: the whole value, or what follows `Bearer `. */
export function verifyAuthorizationHeader(delivery: Delivery, secrets: readonly string[]): boolean {
  const value = delivery.headers['authorization'];
  if (typeof value !== 'string') return false;
  return matchesAny(value, secrets) || matchesAny(value.replace(/^Bearer +/i, ''), secrets);
}

/** Compares with every secret in constant time, whatever the lengths. */
export function matchesAny(given: string, secrets: readonly string[]): boolean {
  const digest = sha256(given);
  let matches = false;
  for (const secret of secrets) matches = timingSafeEqual(digest, sha256(secret)) || matches;
  return matches;
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
