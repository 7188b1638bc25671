/** BullMQ's queue and worker, with fewer exchanges with Redis for each job. */
import { createRedisBackend, Worker, type BackendFactory, type Processor, type RedisQueueBackend, type WorkerOptions } from 'bullmq';
import type { RedisConnection } from './connection.ts';
import type { QueueAccess } from './producer.ts';

type OwnOptions = Omit<WorkerOptions, 'connection' | 'prefix' | 'concurrency'> & { readonly concurrency: number };

/** Takes jobs for a worker, in the write to Redis that stores them. */
export interface DirectTaker {
  /** Whether the worker runs and has room for a job. */
  isFree(): boolean;
  /** Takes a waiting job, if there is one. To be called when the command that stores a job has been sent over the same connection; `stored`: its answer. */
  take(stored: Promise<unknown>): void;
}

/** A worker that can also take a job in the write to Redis that stores it, where BullMQ's would fetch it in a second exchange. */
export class DirectWorker<T> extends Worker<T> {
  readonly #taken = new Set<Promise<unknown>>();
  #unanswered = 0;
  #count = 0;

  constructor(queue: string, processor: Processor<T>, { redis, prefix, onError }: QueueAccess, options: OwnOptions) {
    super(queue, processor, { connection: redis, prefix, ...options }, workingBackend(redis, onError));
  }

  /** A taker for what stores jobs over this connection in the same process. */
  takerOn({ redis, onError }: Pick<QueueAccess, 'redis' | 'onError'>): DirectTaker {
    const backend = takingBackend(redis, onError)(this.name, { ...this.opts, connection: redis, skipWaitingForReady: true });
    const { set } = markerOf(this.keys, redis);
    backend.on('error', onError);
    return {
      isFree: () => this.isRunning() && !this.closing && this.#unanswered + this.lockManager.getActiveJobCount() < this.concurrency,
      take: (stored) => {
        const taken = this.#take(backend)
          // Redis stored the job later if it did not know the script yet, or had moved the keys to another server.
          .then((isTaken) => isTaken || stored.then(set))
          .then(undefined, onError);
        this.#taken.add(taken);
        void taken.finally(() => this.#taken.delete(taken));
      },
    };
  }

  /** Takes a job over `backend`, and processes it over the worker's own connection; returns whether there was one. */
  async #take(backend: RedisQueueBackend): Promise<boolean> {
    const token = `${this.id}:direct:${this.#count++}`;
    this.#unanswered++;
    const [data, id] = await backend.moveToActive(token).finally(() => this.#unanswered--);
    if (!data) return false;
    const job = this.createJob(data, id);
    job.token = token;
    await this.processJob(job, token, () => false);
    return true;
  }

  /** Also waits for the jobs that were taken directly. */
  override close(force?: boolean): Promise<void> {
    this.mainLoopRunning &&= Promise.all([this.mainLoopRunning, ...this.#taken]).then(() => undefined);
    return super.close(force);
  }
}

/** The access of a queue whose jobs are taken directly: no worker is called to a job that is taken in the same write. */
export function storingBackend(redis: RedisConnection, taker: DirectTaker): BackendFactory<RedisQueueBackend> {
  return backendFor(redis, ({ command, args, send }, { without }) => {
    if (command !== 'addStandardJob' || !taker.isFree()) return send(args);
    const stored = Promise.resolve(send(without(args)));
    taker.take(stored);
    return stored;
  });
}

/** The access of the taker. Other jobs may be waiting, to which a worker must be called. */
function takingBackend(redis: RedisConnection, onError: (error: Error) => void): BackendFactory<RedisQueueBackend> {
  return backendFor(redis, ({ command, args, send }, { without, set }) => {
    if (command !== 'moveToActive') return send(args);
    const answer = send(without(args));
    set().catch(onError);
    return answer;
  });
}

/** The access of the worker. It is called once more where a job waits for which nobody was called: its taker died before Redis had all of a write. */
function workingBackend(redis: RedisConnection, onError: (error: Error) => void): BackendFactory<RedisQueueBackend> {
  return backendFor(redis, ({ command, args, send }, { remove, set }) => {
    const answer = send(args);
    if (command === 'moveToActive') remove().catch(onError);
    if (command === 'moveStalledJobsToWait') set().catch(onError);
    return answer;
  });
}

/** A command of BullMQ. What is sent with it in the same turn of the event loop reaches Redis in the same write. */
interface Call {
  readonly command: string;
  readonly args: readonly unknown[];
  readonly send: (args: readonly unknown[]) => unknown;
}

/** BullMQ's access to a queue, with its commands sent by `around`. */
function backendFor(redis: RedisConnection, around: (call: Call, marker: Marker) => unknown): BackendFactory<RedisQueueBackend> {
  return (...options) => {
    const backend = createRedisBackend(...options);
    const marker = markerOf(backend.keys, redis);
    const execute = backend.execCommand.bind(backend);
    backend.execCommand = (client, command, args: readonly unknown[]) =>
      around({ command, args, send: (changed) => execute(client, command, [...changed]) }, marker);
    return backend;
  };
}

/** BullMQ's marker calls one worker, whose blocking read it ends. It is set with each job that is stored, and again with each that is taken, for the next one. */
interface Marker {
  /** The arguments of a command that shall not set it. */
  without(args: readonly unknown[]): readonly unknown[];
  /** Sets it if jobs are waiting. */
  set(): Promise<unknown>;
  /** Removes it if none is: otherwise a worker would be called to nothing. */
  remove(): Promise<unknown>;
}

/** KEYS of both scripts: the waiting jobs, those with a priority, the marker, and the key that is set instead of it. */
const setMarkerScript = `
redis.call('DEL', KEYS[4])
if redis.call('LLEN', KEYS[1]) > 0 or redis.call('ZCARD', KEYS[2]) > 0 then return redis.call('ZADD', KEYS[3], 0, '0') end
return 0`;
const removeMarkerScript = `
if redis.call('LLEN', KEYS[1]) == 0 and redis.call('ZCARD', KEYS[2]) == 0 then return redis.call('ZREM', KEYS[3], '0') end
return 0`;

function markerOf({ wait = '', prioritized = '', marker = '' }: Readonly<Record<string, string>>, redis: RedisConnection): Marker {
  const other = `${marker}:unused`;
  const run = (script: string) => redis.eval(script, 4, wait, prioritized, marker, other);
  return {
    without: (args) => args.map((arg) => (arg === marker ? other : arg)),
    set: () => run(setMarkerScript),
    remove: () => run(removeMarkerScript),
  };
}
