import { ownerOf, type RedisConnection } from './connection.ts';
import { parseInfo } from './redis-health.ts';

/** What the server that holds our keys says of itself. */
export interface ServerFacts {
  /** INFO, by field. */
  readonly info: Readonly<Record<string, string>>;
  /** CONFIG GET of what durability depends on; undefined where the server refuses the command. */
  readonly settings: Readonly<Record<string, string>> | undefined;
  /** How much its clock is ahead of ours, and how exactly that is known. */
  readonly aheadMs: number;
  readonly toleranceMs: number;
}

/** Reads it; rejects if Redis does not answer. */
export async function readServer(redis: RedisConnection, prefix: string, now: () => number): Promise<ServerFacts> {
  const server = await ownerOf(redis, prefix);
  const info = parseInfo(await server.info());
  const sentAt = now();
  const [seconds, microseconds] = await server.time();
  const halfTripMs = (now() - sentAt) / 2;
  const time = Number(seconds) * 1_000 + Number(microseconds) / 1_000;
  return { info, settings: await readSettings(server), aheadMs: time - (sentAt + halfTripMs), toleranceMs: halfTripMs };
}

const settingNames = ['appendfsync', 'save', 'maxmemory-policy'] as const;

async function readSettings(server: Awaited<ReturnType<typeof ownerOf>>): Promise<Readonly<Record<string, string>> | undefined> {
  try {
    // One by one: a Redis before 7 accepts a single name, and all settings (*) include passwords.
    const answers: readonly unknown[] = await Promise.all(settingNames.map((name) => server.config('GET', name)));
    return Object.fromEntries(
      answers.flatMap((answer) => (Array.isArray(answer) && answer.length === 2 ? [[String(answer[0]), String(answer[1])]] : [])),
    );
  } catch (error) {
    // A managed Redis has renamed the command or forbids it; any other error is one of the connection.
    if (error instanceof Error && /^(?:ERR|NOPERM)/.test(error.message)) return undefined;
    throw error;
  }
}
