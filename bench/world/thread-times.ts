/** For how long the main thread of the product is taken at a time, in processor time: what a push can wait for it, whatever else runs on the machine. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempFolder } from '../../test/harness/temp-folder.ts';

/** What was recorded in about a second. */
export interface Recorded {
  /** The end, in ms since 1970. */
  readonly at: number;
  /** How long it took, in ms. */
  readonly ms: number;
  /** The times for which the thread was taken without a turn for others, in ms of processor time; short ones are left out. */
  readonly taken: readonly number[];
}

export interface ThreadTimes {
  /** What the process is to be started with. */
  readonly nodeOptions: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** What was recorded between two times, in ms since 1970. */
  between(begin: number, end: number): readonly Recorded[];
}

/** A recording of a process that is about to be started. */
export function recordThreadTimes(): ThreadTimes {
  const file = join(tempFolder('thread-times'), 'recorded');
  return {
    nodeOptions: ['--import', join(import.meta.dirname, 'thread-recorder.ts')],
    env: { THREAD_TIMES: file },
    between(begin, end) {
      const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
      return lines.map((line) => JSON.parse(line) as Recorded).filter(({ at, ms }) => at - ms >= begin && at <= end);
    },
  };
}

/** What a push that comes at any moment waits for the thread, in ms of processor time: so many of all (`share`, 0 to 1) wait no longer. */
export function threadWait(recorded: readonly Recorded[], share: number): number {
  const all = recorded.reduce((sum, { ms }) => sum + ms, 0);
  const taken = recorded.flatMap((one) => one.taken);
  const longer = (wait: number) => taken.reduce((sum, ms) => sum + Math.max(0, ms - wait), 0) / all;
  let [low, high] = [0, Math.max(0, ...taken)];
  while (high - low > 0.001) {
    const middle = (low + high) / 2;
    if (longer(middle) > 1 - share) low = middle;
    else high = middle;
  }
  return high;
}
