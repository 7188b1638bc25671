/** Lists the receivers in Redis for workers. With the chart, only processes with the role receive have receivers in their configuration. */
import { parseJson } from '../../core/model/untyped.ts';
import { z } from 'zod';
import { backoffMs, requestBackoff } from '../../core/async/backoff.ts';
import { repeat, type Repetition } from '../../core/async/repeat.ts';
import type { RedisConnection } from './connection.ts';

const listedReceiver = z.object({ name: z.string().min(1).max(63), provider: z.string().min(1).max(63) });
const list = z.array(listedReceiver).max(1_000);

/** A receiver without its secrets. */
export type ListedReceiver = Readonly<z.infer<typeof listedReceiver>>;

/** How long the list is kept after a process with the role receive last wrote it. */
const lifeMs = 900_000;
const everyMs = lifeMs / 5;

const pauseMs = (failures: number) => backoffMs(failures, Math.random, requestBackoff);

/** Writes the list repeatedly until it is stopped, so that it returns after a loss of Redis. If replicas have different lists, the last one counts. */
export function publishReceivers(redis: RedisConnection, prefix: string, receivers: readonly ListedReceiver[]): Repetition {
  const text = JSON.stringify(receivers.map(({ name, provider }) => ({ name, provider })));
  const write = async () => void (await redis.set(keyOf(prefix), text, 'PX', lifeMs));
  // Failed writes are ignored here, because the health of Redis is reported elsewhere.
  return repeat(write, { everyMs, backoffMs: pauseMs, onProblem: () => undefined });
}

/** Reads the list. It is empty if no process with the role receive has run lately, or if anybody with write access to Redis has written something else. */
export async function readReceivers(redis: RedisConnection, prefix: string): Promise<readonly ListedReceiver[]> {
  return list.safeParse(parseJson(await redis.get(keyOf(prefix)))).data ?? [];
}

function keyOf(prefix: string): string {
  return `${prefix}:receivers`;
}
