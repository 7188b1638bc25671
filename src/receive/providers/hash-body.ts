import { hash } from 'node:crypto';

/** The idempotency key of senders without one whose body holds the time of the push: only a repeated delivery has the same bytes. */
export function hashBody(body: Buffer): string {
  return hash('sha256', body);
}
