import { z } from 'zod';
import { OversizedDelivery } from './provider.ts';

/** One delivery is one request to the rate limit: it must not hold the process up, or fill Redis, by itself. */
const maxEntries = 1_000;

/** Throws OversizedDelivery when a delivery, or a list of it, has more entries than are read, whether or not they are pushes. */
export function limitEntries(count: number): void {
  if (count > maxEntries) throw new OversizedDelivery(`${count} entries in one delivery; the limit is ${maxEntries}`);
}

/** The list, or undefined for what is none. Throws OversizedDelivery before any entry is read. */
export function readEntries(value: unknown): readonly unknown[] | undefined {
  if (!Array.isArray(value)) return undefined;
  limitEntries(value.length);
  return value;
}

/** `readEntries` as a field. zod's own arrays visit every entry before they compare the length. */
export const entries = z.unknown().optional().transform(readEntries);
