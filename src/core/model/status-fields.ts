/** The fields that the statuses of all kinds have in common, with one maximum length for each. Writers keep to them, or the API server refuses the whole status. */
import { z } from 'zod';

/** The maximum number of characters of each field. */
export const maxLengths = {
  tag: 128,
  /** Room for a tag and a count. */
  running: 140,
  digest: 160,
  image: 1_024,
  message: 1_024,
  reason: 64,
  request: 253,
  receiver: 63,
  event: 128,
  /** Longer than any time; without it, a fraction of a second may have any number of digits. */
  time: 64,
} as const;

/** A text of at most `max` characters. */
export const text = (max: number, description: string) => z.string().max(max).describe(description);
export const tag = (description: string) => text(maxLengths.tag, description);
export const digest = (description: string) => text(maxLengths.digest, description);
/** A reference of an image: repository and tag or digest. */
export const image = (description: string) => text(maxLengths.image, description);
/** The schema of a message for people. */
export const message = (description: string) => text(maxLengths.message, description);
export const count = (description: string) => z.int().min(0).describe(description);
/** The schema of a time that this service writes, RFC 3339. */
export const time = (description: string) => z.iso.datetime().max(maxLengths.time).describe(description);
