/** The last report on the installation. A report takes up to 16 s while something is down, and who opens a page then must not wait for it. */
import { within } from '../../core/async/deadline.ts';
import type { ServiceReport } from '../doctor/finding.ts';

/** A report is made anew when somebody asks and the last one is older than this, because it costs requests to registries and to the API server. */
const lifeMs = 60_000;
/** How long the first caller waits for the first report. */
const patienceMs = 1_500;

/** Returns the last report, and makes the next one in the background when it is due; undefined while there is none yet. */
export type RecentReport = () => Promise<ServiceReport | undefined>;

/** Creates the memory of the last report. `makeReport` never rejects. `elapsed`: a monotonic clock in ms. */
export function createRecentReport(makeReport: () => Promise<ServiceReport>, elapsed = () => performance.now()): RecentReport {
  let last: ServiceReport | undefined;
  let madeAt = -Infinity;
  let making: Promise<ServiceReport> | undefined;
  const make = async () => {
    try {
      last = await makeReport();
      return last;
    } finally {
      madeAt = elapsed();
      making = undefined;
    }
  };
  return async () => {
    if (elapsed() - madeAt >= lifeMs) making ??= make();
    return last ?? (making && within(patienceMs, making));
  };
}
