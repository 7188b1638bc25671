/** Reads the audit records, newest first, through their indexes. Only the requested records are read, never all. */
import type { Job, JobType, Queue } from 'bullmq';
import { defined } from '../../core/model/defined.ts';
import type { RedisConnection } from './connection.ts';
import { eventKeys, isOfRepository, readHash, readJob, type EventRecord, type PushRecord, type PushState } from './event-record.ts';
import { withBrought } from './brought-results.ts';
import { createKnownRecords } from './known-records.ts';
import { isUnderstood, type PushJob } from './jobs.ts';
import { openQueue, type QueueAccess } from './producer.ts';

/** A position in the list: events are ordered by receipt, then by id, both descending. */
export interface Position {
  readonly at: number;
  readonly id: string;
}

export interface EventReader {
  get(id: string): Promise<EventRecord | undefined>;
  /** Lists events in batches. Further batches are read as they are consumed. */
  list(query: EventQuery): AsyncIterable<readonly EventRecord[]>;
}

export interface EventQuery {
  /** Only events of this repository (`registry/path`); of all repositories unless given. */
  readonly repository?: string | undefined;
  /** Only events that come after this position in the list. */
  readonly before?: Position | undefined;
  /** Whether to list also what receivers ignored. */
  readonly ignored?: boolean;
}

interface Reference extends Position {
  /** The push of an event that has no record yet. */
  readonly queued?: PushRecord;
}

const pageSize = 64;
/** The limit for the queued pushes of each state, newest first. Listing events must not read the whole of a long queue. */
const maxQueued = 1_000;

/** The position before the newest event. */
const start: Position = { at: Infinity, id: '' };

/** Reads the records of `createEventLog` and `createIgnoredLog`, and from the queue the pushes that no worker has recorded yet. */
export function createEventReader(access: QueueAccess): EventReader {
  const { redis, prefix } = access;
  const keys = eventKeys(prefix);
  const queue = openQueue<PushJob>('push', access);

  const read = createKnownRecords();
  const readRecords = async (ids: readonly string[]) => {
    const hashes = await readHashes(redis, ids, keys.hash);
    return new Map(ids.flatMap((id, index) => recordIn(id, hashes[index])));
  };
  const recordIn = (id: string, hash: Readonly<Record<string, string>> = {}) => {
    const record = read(id, hash);
    return record === undefined ? [] : [[id, record] as const];
  };
  const readRecord = async (id: string) => {
    const record = readHash(await redis.hgetall(keys.hash(id)));
    return record && (await withBrought([record], readRecords))[0];
  };

  return {
    async get(id) {
      const record = await readRecord(id);
      if (record !== undefined) return record;
      // A key that is no job is skipped, because BullMQ keeps keys of its own (`wait`, `meta`) beside the jobs.
      const job = await queue.getJob(id).catch((error: unknown) => {
        if (error instanceof Error && error.message.startsWith('WRONGTYPE')) return undefined;
        throw error;
      });
      if (job === undefined || !isUnderstood(job.data)) return undefined;
      const state = stateOf(await job.getState());
      // A job's record is written before the job ends. Without a job, the record exists by now, or has expired.
      return state === undefined ? readRecord(id) : readQueuedJob(job, state);
    },
    async *list({ repository, before = start, ignored = false }) {
      const index = repository === undefined ? keys.byTime : keys.byRepository(repository);
      const indexes = [index, keys.unwatched, ...(ignored ? [keys.ignored] : [])];
      const queued = sortedAfter(before, await readQueued(queue));
      const references = merge([...indexes.map((key) => walk(redis, key, before)), each(queued)]);
      for await (const page of pagesOf(references)) {
        const hashes = await readHashes(
          redis,
          page.map(({ id }) => id),
          keys.hash,
        );
        const found = page.flatMap(({ id, queued }, index) => read(id, hashes[index] ?? {}) ?? queued ?? []);
        const records = await withBrought(found, readRecords);
        yield records.filter((record) => repository === undefined || isOfRepository(record, repository));
      }
    },
  };
}

/** Walks through an index after a position, in pages. */
async function* walk(redis: RedisConnection, index: string, before: Position): AsyncGenerator<Reference> {
  let rank = before.at === Infinity ? 0 : await redis.zcount(index, `(${before.at}`, '+inf');
  for (;;) {
    const flat = await redis.zrevrange(index, rank, rank + pageSize - 1, 'WITHSCORES');
    for (let position = 0; position < flat.length; position += 2) {
      const reference = { id: flat[position] ?? '', at: Number(flat[position + 1]) };
      if (isAfter(reference, before)) yield reference;
    }
    if (flat.length < 2 * pageSize) return;
    rank += pageSize;
  }
}

async function readQueued(queue: Queue<PushJob>): Promise<Reference[]> {
  const states: [types: JobType[], state: PushState][] = [
    [['active'], 'working'],
    [['waiting', 'prioritized'], 'queued'],
    [['delayed'], 'retrying'],
    [['failed'], 'failed'],
  ];
  const found = await Promise.all(
    states.map(async ([types, state]) => {
      const jobs: (Job<PushJob> | undefined)[] = await queue.getJobs(types, 0, maxQueued - 1);
      // Jobs that were removed between the listing and the read of their data are left out.
      const known = jobs.filter((job) => job?.data !== undefined && isUnderstood(job.data));
      return known.flatMap((job) => (job && readQueuedJob(job, state)) ?? []);
    }),
  );
  return found.flat().map((queued) => ({ id: queued.event.id, at: Date.parse(queued.event.receivedAt), queued }));
}

function readQueuedJob(job: Job<PushJob>, state: PushState): PushRecord | undefined {
  // A delayed job that does not wait for a scan was tried before.
  if (state !== 'retrying' || job.attemptsStarted > 0 || job.data.waitsUntil === undefined)
    return readJob(job.data, state, job.failedReason);
  const until = new Date(job.timestamp + job.delay).toISOString();
  return readJob(job.data, 'waiting', `until the registry announces the end of its scan, or until ${until}`);
}

/** The state of a push by the state of its job; undefined if the queue no longer has the job, or has completed it. */
function stateOf(state: string): PushState | undefined {
  if (state === 'completed' || state === 'unknown') return undefined;
  if (state === 'active') return 'working';
  if (state === 'delayed') return 'retrying';
  return state === 'failed' ? 'failed' : 'queued';
}

/** The hashes of events in their order; empty ones of events without a record. */
async function readHashes(
  redis: RedisConnection,
  ids: readonly string[],
  keyOf: (id: string) => string,
): Promise<readonly Readonly<Record<string, string>>[]> {
  const pipeline = redis.pipeline();
  for (const id of ids) pipeline.hgetall(keyOf(id));
  const answers = (await pipeline.exec()) ?? [];
  return ids.map((_, index) => {
    const [error, hash] = answers[index] ?? [new Error('Redis did not answer')];
    if (error) throw error;
    return hash as Record<string, string>;
  });
}

/** Merges several ordered sources of references; an event in two sources appears once. */
async function* merge(sources: readonly AsyncGenerator<Reference>[]): AsyncGenerator<Reference> {
  const heads = await Promise.all(sources.map(async (source) => ({ source, next: await source.next() })));
  for (;;) {
    const open = heads.filter(({ next }) => !next.done);
    const [first, ...others] = open.sort((a, b) => compare(a.next.value as Reference, b.next.value as Reference));
    if (first === undefined) return;
    const reference = first.next.value as Reference;
    const same = [first, ...others].filter(({ next }) => (next.value as Reference).id === reference.id);
    const queued = same.map(({ next }) => (next.value as Reference).queued).find((record) => record !== undefined);
    yield { ...reference, ...defined({ queued }) };
    for (const head of same) head.next = await head.source.next();
  }
}

async function* pagesOf(references: AsyncIterable<Reference>): AsyncGenerator<readonly Reference[]> {
  let page: Reference[] = [];
  for await (const reference of references) {
    if (page.push(reference) < pageSize) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

// oxlint-disable-next-line typescript/require-await -- a source like the others
async function* each(references: readonly Reference[]): AsyncGenerator<Reference> {
  yield* references;
}

function sortedAfter(before: Position, references: readonly Reference[]): Reference[] {
  return references.filter((reference) => isAfter(reference, before)).sort(compare);
}

/** Whether a position comes after another one in the list. */
export function isAfter(reference: Position, before: Position): boolean {
  return before.at === Infinity || compare(reference, before) > 0;
}

/** Compares two positions; the newest comes first. */
export function compare(a: Position, b: Position): number {
  if (a.at !== b.at) return b.at - a.at;
  return a.id === b.id ? 0 : a.id < b.id ? 1 : -1;
}
