/** Keeps the durable record while the role `work` runs: one replica at a time writes what waits. */
import { randomUUID } from 'node:crypto';
import { startDeadline } from '../../core/async/deadline.ts';
import { repeat, type Repetition } from '../../core/async/repeat.ts';
import { describeError } from '../../core/model/errors.ts';
import type { Foundation } from '../../service/compose/foundation.ts';
import type { WorkMeans } from '../../service/compose/work-wing.ts';
import type { RecordSettings } from '../../service/config/record.ts';
import { createOutbox, readOutboxState, type Outbox } from '../../service/queue/outbox.ts';
import { createEventReader } from '../../service/queue/read-events.ts';
import { createDescriber } from './describe-entries.ts';
import { openStore } from './open-store.ts';
import { writeRecord, type RecordPorts } from './write-record.ts';

/** How long one replica writes at most, and how long it has the lease: longer, so that two write at once only if one of them was frozen. */
const writeMs = 60_000;
const leaseMs = 75_000;

export interface RecordKeeper {
  start(): void;
  stop(): Promise<void>;
}

/** Creates the keeper; without settings, there is none. It does nothing before it is started. */
export function createKeeper(foundation: Foundation, means: Pick<WorkMeans, 'queue' | 'failFastRedis'>): RecordKeeper | undefined {
  const { settings, logger, metrics } = foundation;
  const { recordWaiting, recordOldest } = metrics;
  if (settings.record === undefined) {
    // A record that is not kept is not behind.
    for (const gauge of [recordWaiting, recordOldest]) gauge.remove();
    return undefined;
  }
  const { intervalMs } = settings.record;
  const redis = means.failFastRedis;
  const { prefix } = settings.config.redis;
  const outbox = createOutbox(redis, prefix);
  const owner = randomUUID();
  const open = portsOpener(foundation, settings.record, { ...means, outbox });
  const measure = async () => {
    const { waiting, oldestAt } = await readOutboxState(redis, prefix);
    recordWaiting.set(waiting);
    recordOldest.set(oldestAt === undefined ? 0 : Math.max(0, (Date.now() - oldestAt) / 1_000));
  };
  const write = async (signal: AbortSignal) => {
    if (!(await outbox.take(owner, leaseMs))) return;
    const deadline = startDeadline(writeMs, signal);
    try {
      await writeRecord(await open(), deadline.signal);
      await outbox.noteProblem(undefined);
    } catch (error) {
      if (!signal.aborted) await outbox.noteProblem(describeError(error));
      throw error;
    } finally {
      deadline.end();
      await outbox.release(owner);
    }
  };
  const writeAndMeasure = async (signal: AbortSignal) => {
    try {
      await write(signal);
    } finally {
      await measure();
    }
  };
  let running: Repetition | undefined;
  return {
    start() {
      running ??= repeat(writeAndMeasure, {
        everyMs: intervalMs,
        backoffMs: () => intervalMs,
        onProblem: (error) => logger.warn({ why: describeError(error) }, 'record not written, will be repeated'),
      });
    },
    stop: async () => running?.stop(),
  };
}

function portsOpener(
  { settings, outbound }: Foundation,
  record: RecordSettings,
  { queue, failFastRedis, outbox }: Pick<WorkMeans, 'queue' | 'failFastRedis'> & { readonly outbox: Outbox },
): () => Promise<RecordPorts> {
  const describe = createDescriber(createEventReader({ ...queue, redis: failFastRedis }).get);
  const source = sourceOf(settings);
  let opened: Promise<RecordPorts> | undefined;
  const openAll = async () => ({ outbox, store: await openStore(record, outbound), describe, source });
  return () => (opened ??= openAll());
}

/** What the lines of this installation name as their source: `/image-watcher/prod-eu`. */
function sourceOf({ config, namespace }: Foundation['settings']): string {
  return `/image-watcher/${encodeURIComponent(config.cluster.name ?? namespace)}`;
}
