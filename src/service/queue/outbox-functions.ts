/** Adds to the outbox of the durable record, as part of the request that stores the entry itself. */
import { z } from 'zod';

/** How many entries wait at most. If the record cannot be written for so long that there are more, the oldest are dropped and counted. */
export const maxOutbox = 50_000;

/** The keys of the outbox under a prefix. */
export function outboxKeys(prefix: string) {
  const stream = `${prefix}:record`;
  return { stream, lost: `${stream}:lost`, tail: `${stream}:tail`, lease: `${stream}:lease`, problem: `${stream}:problem` };
}

/**
 * `OUTBOX stream most field value`: adds an entry, and counts in `stream:lost` what has no room. `OUTPUSH stream most hash id`: adds a push whose result is final. A push
 * that waits already moves to the end, so that many results for one push are one entry.
 */
export const outboxFunctions = `
function functions.OUTBOX(stream, most, field, value)
  local id = redis.call('XADD', stream, '*', field, value)
  redis.call('EXPIRE', stream, 7776000)
  local dropped = redis.call('XTRIM', stream, 'MAXLEN', '~', most)
  if dropped > 0 then redis.call('INCRBY', stream .. ':lost', dropped) end
  return id
end
function functions.OUTPUSH(stream, most, hash, id)
  local before = redis.call('HGET', hash, 'outbox')
  if before then redis.call('XDEL', stream, before) end
  redis.call('HSET', hash, 'outbox', functions.OUTBOX(stream, most, 'push', id))
end`;

/** The tail of the record: the number of its last segment, the number of its last line, and the hash of that line. */
export const tailSchema = z.object({
  segment: z.coerce.number().int().min(0).max(9_999_999_999),
  sequence: z.coerce.number().int().min(0),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
});
export type Tail = Readonly<z.output<typeof tailSchema>>;
