/** Loaded by a process before its program (`--import`): writes for how long its main thread is taken at a time to the file THREAD_TIMES, as lines of `Recorded` (thread-times.ts). */
import { appendFileSync } from 'node:fs';
import { env, threadCpuUsage } from 'node:process';
import type { Recorded } from './thread-times.ts';

/** Shorter times are not kept, in ms. */
const shortest = 1;

let [before, begin] = [spent(), performance.now()];
let taken: number[] = [];

// A timer that is due comes when the thread is free: what the thread has spent since the last time, it spent in one piece, or in pieces of less than a millisecond.
setInterval(() => {
  const now = spent();
  if (now - before >= shortest) taken.push(Number((now - before).toFixed(2)));
  before = now;
  const ms = performance.now() - begin;
  if (ms < 1_000) return;
  const recorded: Recorded = { at: Date.now(), ms: Math.round(ms), taken };
  appendFileSync(env['THREAD_TIMES'] ?? '', `${JSON.stringify(recorded)}\n`);
  [before, begin, taken] = [spent(), performance.now(), []];
}, 1).unref();

/** Processor time of this thread, in ms. */
function spent(): number {
  const { user, system } = threadCpuUsage();
  return (user + system) / 1_000;
}
