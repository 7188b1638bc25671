/** BullMQ's worker, with fewer exchanges with Redis for each job. */
import { createRedisBackend, Worker, type BackendFactory, type Processor, type RedisQueueBackend, type WorkerOptions } from 'bullmq';
import type { RedisConnection } from './connection.ts';
import type { QueueAccess } from './producer.ts';

type OwnOptions = Omit<WorkerOptions, 'connection' | 'prefix' | 'concurrency'> & { readonly concurrency: number };

/** A worker that can also take a job in the write to Redis that stores it, where BullMQ's would fetch it in a second exchange. */
export class DirectWorker<T> extends Worker<T> {
  readonly #taken = new Set<Promise<void>>();
  #count = 0;

  constructor(queue: string, processor: Processor<T>, { redis, prefix, onError }: QueueAccess, options: OwnOptions) {
    super(queue, processor, { connection: redis, prefix, ...options }, backendFor(redis, onError));
  }

  /** See `QueueWorker`. */
  takerOn({ redis, onError }: Pick<QueueAccess, 'redis' | 'onError'>): () => boolean {
    const backend = backendFor(redis, onError)(this.name, { ...this.opts, connection: redis, skipWaitingForReady: true });
    backend.on('error', onError);
    return () => {
      if (!this.isRunning() || this.closing || this.#taken.size + this.lockManager.getActiveJobCount() >= this.concurrency) return false;
      const taken = this.#take(backend, `${this.id}:direct:${this.#count++}`).catch(onError);
      this.#taken.add(taken);
      void taken.finally(() => this.#taken.delete(taken));
      return true;
    };
  }

  /** Takes over `backend`, and processes over the worker's own connection. */
  async #take(backend: RedisQueueBackend, token: string): Promise<void> {
    const [data, id] = await backend.moveToActive(token);
    if (!data) return;
    const job = this.createJob(data, id);
    job.token = token;
    await this.processJob(job, token, () => false);
  }

  /** Also waits for the jobs that were taken directly. */
  override close(force?: boolean): Promise<void> {
    this.mainLoopRunning &&= Promise.all([this.mainLoopRunning, ...this.#taken]).then(() => undefined);
    return super.close(force);
  }
}

/**
 * KEYS: the waiting jobs, those with a priority, and the marker that ends the blocking read of one worker. BullMQ sets the marker again whenever a job is taken, for the next job;
 * where there is none, a worker would ask for nothing. All scripts that add a job set it.
 */
const removeMarkerScript = `
if redis.call('LLEN', KEYS[1]) == 0 and redis.call('ZCARD', KEYS[2]) == 0 then return redis.call('ZREM', KEYS[3], '0') end
return 0`;

/** BullMQ's access to a queue, which leaves no marker when it takes the last job: this saves two requests and a write to disk for each job. */
function backendFor(redis: RedisConnection, onError: (error: Error) => void): BackendFactory<RedisQueueBackend> {
  return (...options) => {
    const backend = createRedisBackend(...options);
    const { wait = '', prioritized = '', marker = '' } = backend.keys;
    const execute = backend.execCommand.bind(backend);
    backend.execCommand = (client, command, args: unknown[]) => {
      const answer: unknown = execute(client, command, args);
      // Sent at once, it reaches Redis in the same write, after the command.
      if (command === 'moveToActive') redis.eval(removeMarkerScript, 3, wait, prioritized, marker).catch(onError);
      return answer;
    };
    return backend;
  };
}
