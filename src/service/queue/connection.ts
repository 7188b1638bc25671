import { Cluster, type ClusterOptions, type Command, Redis } from 'ioredis';
import { defined } from '../../core/model/defined.ts';

/** The address of Redis; a string is the URL of a single server. */
export type RedisAddress =
  | string
  | {
      /** The URL of Redis. With `sentinels`, its host is the name of their group; with `cluster`, it is any node. */
      readonly url: string;
      readonly sentinels: readonly string[];
      readonly sentinelPassword?: string | undefined;
      readonly cluster: boolean;
    };

/** A client for any form of Redis. */
export type RedisConnection = Redis | Cluster;

/** The pause before the next connection, in ms. A connection may recover at any moment, so it is retried at short intervals, without end. */
const retryStrategy = (times: number): number => Math.min(50 * times, 1_000);

/** How long a worker waits for an answer before it considers the connection dead. Redis lets a worker wait for a job for at most 10 s. */
const silenceMs = 20_000;

/**
 * Connects receivers of webhooks to Redis. Every command is answered or rejected: without delay when Redis is down, within `commandTimeoutMs` when it hangs. No
 * command waits in an offline queue, where a killed process would lose it. A connection that is silent for twice as long is replaced: when a node crashes,
 * nothing closes it, and TCP gives up only after a quarter of an hour.
 */
export function connectProducer(address: RedisAddress, commandTimeoutMs = 2_000): RedisConnection {
  // One command without an answer may be a busy disk.
  const socketTimeout = 2 * commandTimeoutMs;
  const connection = connect(address, { maxRetriesPerRequest: 1, connectTimeout: 2_000, socketTimeout, reconnectOnError: andFail }, false);
  ofEachServer(connection, (server) => {
    gatherWrites(server);
    limitCommands(server, commandTimeoutMs);
  });
  return connection;
}

/** Connects workers to Redis. Their commands wait until Redis is back, because a worker can do nothing without it. */
export function connectWorker(address: RedisAddress): RedisConnection {
  const patience = { maxRetriesPerRequest: null, connectTimeout: 5_000, socketTimeout: silenceMs, reconnectOnError: andRepeat };
  const connection = connect(address, patience, true);
  ofEachServer(connection, gatherWrites);
  return connection;
}

/** Prepares each server of a connection. A Cluster has a connection to each node. */
function ofEachServer(connection: RedisConnection, prepare: (server: Redis) => void): void {
  if (connection instanceof Cluster) connection.on('+node', prepare);
  else prepare(connection);
}

/** Whether a server refuses writes as a replica. After a failover, the address may belong to another server, which only a new connection reaches. */
const isReadOnly = ({ message }: Error): boolean => message.includes('READONLY');
const andFail = (error: Error): false | 1 => isReadOnly(error) && 1;
const andRepeat = (error: Error): false | 2 => isReadOnly(error) && 2;

interface Patience {
  readonly maxRetriesPerRequest: number | null;
  readonly connectTimeout: number;
  /** So long a connection waits for data before it is replaced. A server that hangs keeps it open, and another one may be the master by then. */
  readonly socketTimeout: number;
  readonly reconnectOnError: (error: Error) => false | 1 | 2;
}

interface Login {
  readonly username?: string;
  readonly password?: string;
  readonly tls?: Record<string, never>;
}

function connect(address: RedisAddress, patience: Patience, enableOfflineQueue: boolean): RedisConnection {
  const common = { keepAlive: 10_000, ...patience };
  const single = { retryStrategy, enableOfflineQueue, ...common };
  if (typeof address === 'string') return new Redis(address, single);
  const { url, sentinels, sentinelPassword, cluster } = address;
  if (cluster)
    return new Cluster([addressOf(url)], { ...clusterOptions, enableOfflineQueue, redisOptions: { ...loginOf(url), ...common } });
  if (sentinels.length === 0) return new Redis(url, single);
  return new Redis(url, {
    ...single,
    name: new URL(url).hostname,
    sentinels: sentinels.map((text) => addressOf(`redis://${text}`, 26_379)),
    ...defined({ sentinelPassword }),
    // The Sentinels decide which server receives the pushes, so their connection is secured, too.
    ...(isSecure(url) && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
    // Without `failoverDetector`: a failover that is announced while ioredis asks a Sentinel ends the connection for ever (ioredis 6.0.0).
    sentinelRetryStrategy: retryStrategy,
    // A Sentinel that hangs is passed over.
    sentinelCommandTimeout: 2_000,
  });
}

/**
 * Two options of ioredis 6.0.0 are off. With the ready check, `connect()` may never settle, and BullMQ waits for it without end. With `slotsRefreshInterval`, a
 * connection that is closed during a refresh goes on with refreshing, and the process does not end. The slots are refreshed when one has moved or a node is lost.
 */
const clusterOptions: ClusterOptions = { clusterRetryStrategy: retryStrategy, slotsRefreshTimeout: 2_000, enableReadyCheck: false };

function addressOf(url: string, defaultPort = 6_379): { host: string; port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port || defaultPort) };
}

/** The login and TLS options that all nodes of a Cluster share. */
function loginOf(url: string): Login {
  const { username, password } = new URL(url);
  return {
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
    ...(isSecure(url) && { tls: {} }),
  };
}

function isSecure(url: string): boolean {
  return url.startsWith('rediss:');
}

/** The message of a command that timed out, the same as that of ioredis. */
export const tooLate = 'Command timed out';

/** The text of an error for operators. While there is no connection, ioredis only reports which of its own options ended the command. */
export function describeRedisError(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.startsWith("Stream isn't writeable") ? 'there is no connection to it' : message;
}

/**
 * Sends the commands of one turn of the event loop in one write. Under load, this saves a system call for each command here, and in Redis a read and, with
 * `appendfsync always`, an fsync. Commands are sent at the end of the turn. ioredis has no hook for it, so the declared but undocumented `sendCommand` is
 * wrapped; without the wrapper, everything works, with more writes. `enableAutoPipelining` is not used because it holds all commands back until the previous
 * ones are answered, fsync and WAIT included: a push takes 1.4 times as long with 200 at the same time (measured).
 */
function gatherWrites(server: Redis): void {
  const send = server.sendCommand.bind(server);
  server.sendCommand = (command, stream) => {
    const socket = server.stream;
    if (socket !== undefined && socket.writableCorked === 0) {
      socket.cork();
      setImmediate(() => socket.uncork());
    }
    return send(command, stream);
  };
}

/**
 * Rejects every command that has no answer after this many milliseconds with `tooLate`. Unlike `commandTimeout` of ioredis, it works
 * after a stall of the process: timers then fire before received answers are read, and such an answer must not count as missing.
 */
export function limitCommands(connection: Redis, milliseconds: number): void {
  const send = connection.sendCommand.bind(connection);
  // The commands that have a deadline. ioredis sends a command again after a lost connection or a redirection in a Cluster.
  const limited = new WeakSet<Command>();
  connection.sendCommand = (command, stream) => {
    if (!limited.has(command)) {
      limited.add(command);
      limit(command, milliseconds);
    }
    return send(command, stream);
  };
}

function limit(command: Command, milliseconds: number): void {
  const giveUp = () => command.reject(new Error(tooLate));
  const timer = setTimeout(() => setImmediate(giveUp), milliseconds);
  const stop = () => clearTimeout(timer);
  command.promise.then(stop, stop);
}

/** The server that holds our keys: in a Cluster, the node of their slot, over the connection that writes use. Rejects while it is unknown. */
export async function ownerOf(connection: RedisConnection, prefix: string): Promise<Redis> {
  if (!('slots' in connection)) return connection;
  const slot = await connection.cluster('KEYSLOT', prefix);
  const [address] = connection.slots[slot] ?? [];
  const owner = connection.nodes('master').find(({ options: { host, port } }) => `${host}:${port}` === address);
  if (owner === undefined) throw new Error(`no node of the Redis Cluster has slot ${slot} at present`);
  return owner;
}
