/**
 * What Redis holds of one queue, and what the scripts of BullMQ do with it, each in one step: `job-store.test.ts` compares them. A replica's clock decides when a
 * delayed job is due, as in BullMQ; the clock of Redis ends locks.
 */
import type { JobsOptions } from 'bullmq';

export interface NewJob {
  readonly name: string;
  readonly data: unknown;
  readonly opts: JobsOptions;
}

export type JobState = 'waiting' | 'active' | 'delayed' | 'completed' | 'failed';

/** A job as a worker gets it. */
export interface TakenJob {
  readonly id: string;
  readonly name: string;
  readonly data: unknown;
  readonly opts: JobsOptions;
  readonly timestamp: number;
  readonly attemptsMade: number;
  readonly stalledCounter: number;
  /** How often it was taken. */
  readonly starts: number;
}

/** The next job; without one, when the first delayed one is due. */
export type Taken = { readonly job: TakenJob } | { readonly job?: undefined; readonly dueAt: number | undefined };

/** How many finished jobs are kept, and for how many seconds. */
export interface Kept {
  readonly count?: number;
  readonly age?: number;
}

interface StoredJob {
  readonly id: string;
  readonly name: string;
  readonly opts: JobsOptions;
  readonly timestamp: number;
  json: string;
  state: JobState;
  attemptsMade: number;
  stalledCounter: number;
  starts: number;
  lock?: { readonly token: string; readonly until: number };
  /** When a delayed job is due, and when a finished one ended. */
  at: number;
}

interface Scheduler {
  readonly everyMs: number;
  readonly job: NewJob;
  nextAt: number;
  offset: number;
}

export type JobStore = ReturnType<typeof createJobStore>;

/** `clock`: that of Redis. */
export function createJobStore(clock: () => number) {
  let jobs = new Map<string, StoredJob>();
  /** Ids by state, in the order in which they are taken or have ended. */
  let lists: Record<JobState, string[]> = emptyLists();
  let coalesced = new Map<string, string>();
  let schedulers = new Map<string, Scheduler>();
  let suspects = new Set<string>();
  let nextStalledCheck = 0;
  const marker = createMarker();

  const jobOf = (id: string): StoredJob | undefined => jobs.get(id);
  const jobsIn = (state: JobState): StoredJob[] => lists[state].flatMap((id) => jobs.get(id) ?? []);
  /** Moves a job to the end of a list: behind those that are due or ended at the same time. `first`: to its front. */
  const move = (job: StoredJob, state: JobState, at = 0, first = false): void => {
    leave(job);
    const list = lists[state];
    const place =
      state === 'delayed' || state === 'completed' || state === 'failed' ? jobsIn(state).findIndex((other) => other.at > at) : -1;
    Object.assign(job, { state, at });
    list.splice(first ? 0 : place === -1 ? list.length : place, 0, job.id);
    if (state === 'waiting') marker.set(0);
    if (state === 'delayed') marker.set(jobsIn('delayed')[0]?.at ?? at);
  };
  const promote = (now: number): void => {
    for (const due of jobsIn('delayed').filter(({ at }) => at <= now)) move(due, 'waiting');
  };
  const leave = (job: StoredJob): void => {
    lists[job.state] = lists[job.state].filter((id) => id !== job.id);
  };
  const remove = (job: StoredJob): void => {
    leave(job);
    jobs.delete(job.id);
  };
  const store = ({ name, data, opts }: NewJob, id: string, now: number): string => {
    const { delay = 0 } = opts;
    const job = {
      id,
      name,
      opts,
      timestamp: now,
      json: JSON.stringify(data),
      state: 'waiting',
      attemptsMade: 0,
      stalledCounter: 0,
      starts: 0,
      at: 0,
    } as const;
    jobs.set(id, { ...job });
    move(jobs.get(id) ?? { ...job }, delay > 0 ? 'delayed' : 'waiting', now + delay);
    return id;
  };
  /** The lock of a worker ends; throws where it has none any more. */
  const unlock = (id: string, token: string): StoredJob => {
    const job = jobOf(id);
    if (job === undefined) throw new Error(`no job ${id}`);
    if (job.lock?.token !== token || job.lock.until <= clock()) throw new Error(`no lock for job ${id}`);
    delete job.lock;
    suspects.delete(id);
    if (job.state !== 'active') throw new Error(`job ${id} is not active`);
    return job;
  };
  const finish = (job: StoredJob, state: 'completed' | 'failed', now: number, { count, age }: Kept): void => {
    job.attemptsMade++;
    const { id: coalescedId = '' } = job.opts.deduplication ?? {};
    if (coalesced.get(coalescedId) === job.id) coalesced.delete(coalescedId);
    if (count === 0) return remove(job);
    move(job, state, now);
    const old = jobsIn(state).filter(({ at }) => age !== undefined && at <= now - age * 1_000);
    const surplus = count === undefined || count < 0 ? [] : jobsIn(state).toReversed().slice(count);
    for (const one of [...old, ...surplus]) remove(one);
  };
  const scheduled = (id: string, { job, nextAt }: Scheduler, now: number): void => {
    const jobId = `repeat:${id}:${nextAt}`;
    if (!jobs.has(jobId)) store({ ...job, opts: { ...job.opts, delay: Math.max(0, nextAt - now) } }, jobId, now);
  };

  return {
    marker,
    /** Adds a job unless its id is known, or one that it is coalesced with; returns the id of the job that there is. */
    add(job: NewJob, now: number): string {
      const id = job.opts.jobId ?? '';
      if (jobs.has(id)) return id;
      const { id: coalescedId } = job.opts.deduplication ?? {};
      const other = coalesced.get(coalescedId ?? '');
      if (other !== undefined && jobs.has(other)) return other;
      if (coalescedId !== undefined) coalesced.set(coalescedId, id);
      return store(job, id, now);
    },
    /** Gives a job that has not started new data; returns whether there is one. Otherwise, nothing is coalesced with it any more. */
    join(id: string, coalescedId: string, data: unknown): boolean {
      const job = jobOf(id);
      if (job !== undefined && job.starts === 0) {
        job.json = JSON.stringify(data);
        return true;
      }
      if (coalesced.get(coalescedId) === id) coalesced.delete(coalescedId);
      return false;
    },
    take(token: string, now: number, lockMs: number): Taken {
      promote(now);
      const [job] = jobsIn('waiting');
      if (job === undefined) return { dueAt: jobsIn('delayed')[0]?.at };
      move(job, 'active');
      job.starts++;
      job.lock = { token, until: clock() + lockMs };
      marker.set(0);
      return { job: { ...job, data: JSON.parse(job.json) as unknown } };
    },
    complete: (id: string, token: string, now: number, kept: Kept) => finish(unlock(id, token), 'completed', now, kept),
    fail: (id: string, token: string, now: number, kept: Kept) => finish(unlock(id, token), 'failed', now, kept),
    /** A failed try, with a pause until the next. */
    retry(id: string, token: string, now: number, pauseMs: number): void {
      if (pauseMs === 0) promote(now);
      const job = unlock(id, token);
      job.attemptsMade++;
      move(job, pauseMs > 0 ? 'delayed' : 'waiting', now + pauseMs);
    },
    /** Waits until a time; this is no failed try. */
    delay(id: string, token: string, now: number, until: number): void {
      move(unlock(id, token), 'delayed', Math.max(now, until));
    },
    extend(id: string, token: string, lockMs: number): boolean {
      const job = jobOf(id);
      if (job?.lock?.token !== token || job.lock.until <= clock()) return false;
      job.lock = { token, until: clock() + lockMs };
      suspects.delete(id);
      return true;
    },
    /** Jobs whose worker is lost are taken next: those that had no lock at two checks. One worker checks at a time. */
    checkStalled(everyMs: number): void {
      if (clock() < nextStalledCheck) return;
      nextStalledCheck = clock() + everyMs;
      for (const id of suspects) {
        const job = jobOf(id);
        if (job?.state !== 'active' || (job.lock?.until ?? 0) > clock()) continue;
        job.stalledCounter++;
        move(job, 'waiting', 0, true);
      }
      suspects = new Set(lists.active);
    },
    /** Adds the next job of a schedule, or moves it to the time that it has. */
    schedule(id: string, everyMs: number, job: NewJob, now: number): void {
      const known = schedulers.get(id);
      const waiting = jobOf(`repeat:${id}:${known?.nextAt}`);
      const isReplaced = waiting?.state === 'waiting' || waiting?.state === 'delayed';
      if (waiting !== undefined && isReplaced) remove(waiting);
      const next = nextOf(known?.everyMs === everyMs ? known.nextAt : undefined, everyMs, 0, now);
      const nextAt = isReplaced && known?.everyMs === everyMs ? known.nextAt : next;
      schedulers.set(id, { everyMs, job, nextAt, offset: isReplaced ? (known?.offset ?? 0) : nextAt % everyMs });
      scheduled(id, schedulers.get(id) ?? { everyMs, job, nextAt, offset: 0 }, now);
    },
    /** The job of a schedule has been taken: adds the next one. */
    scheduleNext(jobId: string, now: number): void {
      for (const [id, scheduler] of schedulers) {
        if (jobId !== `repeat:${id}:${scheduler.nextAt}`) continue;
        scheduler.nextAt = nextOf(scheduler.nextAt, scheduler.everyMs, scheduler.offset, now);
        scheduled(id, scheduler, now);
      }
    },
    /** Removes finished jobs, the oldest first; returns how many. */
    forget(state: 'completed' | 'failed', count: number): number {
      const oldest = jobsIn(state).slice(0, count);
      for (const job of oldest) remove(job);
      return oldest.length;
    },
    /** The jobs in a state, in their order. */
    list: (state: JobState): readonly TakenJob[] => jobsIn(state).map((job) => ({ ...job, data: JSON.parse(job.json) as unknown })),
    /** Redis has lost its data. */
    wipe(): void {
      jobs = new Map();
      lists = emptyLists();
      coalesced = new Map();
      schedulers = new Map();
      suspects = new Set();
      nextStalledCheck = 0;
      marker.wipe();
    },
  };
}

function emptyLists(): Record<JobState, string[]> {
  return { waiting: [], active: [], delayed: [], completed: [], failed: [] };
}

/** When a schedule is due next; periods that have passed are left out. */
function nextOf(previous: number | undefined, everyMs: number, offset: number, now: number): number {
  if (previous === undefined) return now;
  if (previous + everyMs >= now) return previous + everyMs;
  const aligned = Math.floor(now / everyMs) * everyMs + offset;
  return aligned <= now ? aligned + everyMs : aligned;
}

/** Calls one waiting worker for each job: 0, or the time at which a delayed one is due. */
function createMarker() {
  let now = false;
  let dueAt: number | undefined;
  let waiters: ((found: number | undefined) => void)[] = [];
  const pop = (): number | undefined => {
    if (now) {
      now = false;
      return 0;
    }
    const due = dueAt;
    dueAt = undefined;
    return due;
  };
  return {
    set(at: number): void {
      if (at === 0) now = true;
      else dueAt = at;
      const [first] = waiters;
      if (first !== undefined) first(pop());
    },
    /** Resolves with what is set, at once or later; with undefined after `withinMs`, or when `end` is called. */
    wait(withinMs: number): { readonly found: Promise<number | undefined>; readonly end: () => void } {
      const { promise: found, resolve } = Promise.withResolvers<number | undefined>();
      const call = (at: number | undefined) => {
        clearTimeout(timer);
        waiters = waiters.filter((waiter) => waiter !== call);
        resolve(at);
      };
      const end = () => call(undefined);
      const timer = setTimeout(end, withinMs);
      if (now || dueAt !== undefined) call(pop());
      else waiters.push(call);
      return { found, end };
    },
    wipe(): void {
      now = false;
      dueAt = undefined;
    },
  };
}
