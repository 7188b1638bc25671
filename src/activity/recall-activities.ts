/** Remembers the activities that were read last, for the time when Redis does not answer. */
import { defined } from '../core/model/defined.ts';
import { toSeconds } from '../core/model/text.ts';
import type { RecordedActivity } from '../service/queue/activity-stream.ts';
import type { ReadActivities } from './list-activity.ts';

/** How many of the newest are remembered. */
const maxKnown = 1_000;

/** Reads as `read` does; what was read last if it rejects. Rejects if nothing was read before. */
export function recallActivities(read: ReadActivities, now: () => number): ReadActivities {
  let known: readonly RecordedActivity[] = [];
  let asOf: string | undefined;
  return async (of) => {
    try {
      const page = await read(of);
      const found = new Map([...known, ...page.found].map((one) => [one.id, one]));
      known = [...found.values()].sort((a, b) => compareIds(b.id, a.id)).slice(0, maxKnown);
      if (of.before === undefined) asOf = toSeconds(new Date(now()));
      return page;
    } catch (error) {
      if (asOf === undefined) throw error;
      const { before, count } = of;
      const rest = known.filter(({ id }) => before === undefined || compareIds(id, before) < 0);
      const found = rest.slice(0, count);
      const last = rest.length > count ? found.at(-1)?.id : undefined;
      return { found, asOf, ...defined({ last }) };
    }
  };
}

/** Compares the ids of entries of a stream, `MS-N`. */
function compareIds(a: string, b: string): number {
  const [[aMs = 0, aNumber = 0], [bMs = 0, bNumber = 0]] = [a.split('-').map(Number), b.split('-').map(Number)];
  return aMs - bMs || aNumber - bNumber;
}
