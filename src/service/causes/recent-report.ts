/** The last report on the installation. A report takes up to 16 s while something is down, and who opens a page then must not wait for it. */
import { within } from '../../core/async/deadline.ts';
import type { ServiceReport } from '../doctor/finding.ts';
import { findingCauses } from './finding-causes.ts';
import type { DateFound } from './found-since.ts';

/** A report is made anew when somebody asks and the last one is older than this, because it costs requests to registries and to the API server. */
const lifeMs = 15_000;
/** A report that is older than this says nothing about now: callers wait for the next one for a moment. */
const outdatedMs = 60_000;
/** How long a caller waits. */
const patienceMs = 1_500;

/** A report, and since when it has had each of its causes, by id. */
export interface DatedReport {
  readonly report: ServiceReport;
  readonly since: ReadonlyMap<string, string>;
}

/** Makes a report whose causes are dated. */
export async function makeDated(makeReport: () => Promise<ServiceReport>, date: DateFound): Promise<DatedReport> {
  const report = await makeReport();
  return { report, since: await date(findingCauses(report.findings).map(({ id }) => id)) };
}

/** Returns the last report, and makes the next one in the background when it is due; undefined while there is none yet. */
export type RecentReport = () => Promise<DatedReport | undefined>;

/** Creates the memory of the last report. `makeReport` never rejects. `elapsed`: a monotonic clock in ms. */
export function createRecentReport(makeReport: () => Promise<DatedReport>, elapsed = () => performance.now()): RecentReport {
  let last: DatedReport | undefined;
  let madeAt = -Infinity;
  let making: Promise<DatedReport> | undefined;
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
    const age = elapsed() - madeAt;
    if (age >= lifeMs) making ??= make();
    if (making !== undefined && (last === undefined || age >= outdatedMs)) await within(patienceMs, making);
    return last;
  };
}
