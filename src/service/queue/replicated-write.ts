import type { Redis } from 'ioredis';
import { type RedisConnection, ownerOf } from './connection.ts';
import { batchWrites } from '../../core/async/serialize.ts';

/** The timeout of one WAIT. It blocks its connection and all commands on it, so several short ones replace one as long as the deadline. */
const waitMs = 100;

/** The state of a connection to the server that holds our keys. */
interface ServerState {
  /** How often the connection was lost. */
  losses: number;
  /** Returns how many replicas have everything that was written before. Simultaneous callers share a WAIT. */
  readonly countReplicas: () => Promise<number>;
}

/**
 * Creates a function that writes, and resolves when `minReplicas` replicas have the write; rejects when that is uncertain after `withinMs`, the write included.
 * WAIT covers only what its own connection has written: on a new connection to a promoted server that never saw the write, it would still confirm. So a
 * confirmation counts only if the connection was not lost since the write.
 */
export function createReplicatedWrite(
  connection: RedisConnection,
  prefix: string,
  { minReplicas, withinMs }: { readonly minReplicas: number; readonly withinMs: number },
) {
  const states = new WeakMap<Redis, ServerState>();
  const stateOf = (server: Redis): ServerState => {
    const known = states.get(server);
    if (known !== undefined) return known;
    const state = { losses: 0, countReplicas: shareWaits(server, minReplicas) };
    server.on('close', () => state.losses++);
    states.set(server, state);
    return state;
  };
  return async (write: () => Promise<unknown>): Promise<void> => {
    if (minReplicas === 0) return void (await write());
    const deadline = performance.now() + withinMs;
    const server = await ownerOf(connection, prefix);
    const state = stateOf(server);
    const { losses } = state;
    await write();
    let replicas: number;
    do replicas = await state.countReplicas();
    while (replicas < minReplicas && performance.now() < deadline);
    if (state.losses !== losses || (await ownerOf(connection, prefix)) !== server) {
      throw new Error('the connection to Redis was lost before its replicas had confirmed the push');
    }
    if (replicas < minReplicas) throw new Error(`the push reached ${replicas} of ${minReplicas} Redis replicas in time`);
  };
}

function shareWaits(server: Redis, minReplicas: number): () => Promise<number> {
  let replicas = 0;
  const ask = batchWrites(async () => {
    replicas = await server.wait(minReplicas, waitMs);
  });
  return async () => {
    await ask(undefined);
    return replicas;
  };
}
