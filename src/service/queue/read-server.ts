import { ownerOf, type RedisConnection } from './connection.ts';
import { parseInfo } from './redis-health.ts';

/** Facts about the server that holds our keys, as the server reports them. */
export interface ServerFacts {
  /** The fields of INFO, by name. */
  readonly info: Readonly<Record<string, string>>;
  /** The answers of CONFIG GET for settings that durability depends on; undefined if the server refuses the command. */
  readonly settings: Readonly<Record<string, string>> | undefined;
  /** How much the server's clock is ahead of ours, and how exactly that is known. */
  readonly aheadMs: number;
  readonly toleranceMs: number;
}

/** Reads the facts about the server; rejects if Redis does not answer. */
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
    // Each setting is read alone: Redis before 7 accepts a single name, and a read of all settings (*) would include passwords.
    const answers: readonly unknown[] = await Promise.all(settingNames.map((name) => server.config('GET', name)));
    return Object.fromEntries(
      answers.flatMap((answer) => (Array.isArray(answer) && answer.length === 2 ? [[String(answer[0]), String(answer[1])]] : [])),
    );
  } catch (error) {
    // With these errors, a managed Redis has renamed the command or forbids it. Any other error is one of the connection.
    if (error instanceof Error && /^(?:ERR|NOPERM)/.test(error.message)) return undefined;
    throw error;
  }
}
