/** Which receivers there are, for workers: with the chart, only receivers have them in their configuration. */
import { z } from 'zod';
import { backoffMs, requestBackoff } from '../../core/async/backoff.ts';
import { repeat, type Repetition } from '../../core/async/repeat.ts';
import type { RedisConnection } from './connection.ts';

const listedReceiver = z.object({ name: z.string().min(1).max(63), provider: z.string().min(1).max(63) });
const list = z.array(listedReceiver).max(1_000);

/** A receiver without its secrets. */
export type ListedReceiver = Readonly<z.infer<typeof listedReceiver>>;

/** Without processes with the role receive, the list ends. */
const lifeMs = 900_000;
const everyMs = lifeMs / 5;

const pauseMs = (failures: number) => backoffMs(failures, Math.random, requestBackoff);

/** Writes the list until it is stopped, so that it returns after a loss of Redis. Of replicas with different lists, the last one counts. */
export function publishReceivers(redis: RedisConnection, prefix: string, receivers: readonly ListedReceiver[]): Repetition {
  const text = JSON.stringify(receivers.map(({ name, provider }) => ({ name, provider })));
  const write = async () => void (await redis.set(keyOf(prefix), text, 'PX', lifeMs));
  // Whether Redis answers is reported elsewhere.
  return repeat(write, { everyMs, backoffMs: pauseMs, onProblem: () => undefined });
}

/** The list; empty if no process with the role receive has run lately. Whoever can write to Redis can write anything, so anything else is empty, too. */
export async function readReceivers(redis: RedisConnection, prefix: string): Promise<readonly ListedReceiver[]> {
  const text = (await redis.get(keyOf(prefix))) ?? '[]';
  try {
    return list.parse(JSON.parse(text));
  } catch {
    return [];
  }
}

function keyOf(prefix: string): string {
  return `${prefix}:receivers`;
}
