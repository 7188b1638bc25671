/** The last report on the installation. A report takes up to 16 s while something is down, and who opens a page then must not wait for it. */
import { within } from '../../core/async/deadline.ts';
import type { ServiceReport } from '../doctor/finding.ts';
import { findingCauses } from './finding-causes.ts';
import type { DateFound } from './found-since.ts';

/** A report is made anew when somebody asks and the last one is older than this, because it costs requests to registries and to the API server. */
const lifeMs = 15_000;
/** A report that is older than this says nothing about now: callers wait for the next one for a moment. */
const outdatedMs = 60_000;
/** How long a caller waits for a new report, before it gets the last one. */
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

/** Returns the last report, and makes the next one in the background as soon as that is due; undefined while there is none yet. */
export type RecentReport = () => Promise<DatedReport | undefined>;

export interface ReportMemory {
  /** A monotonic clock in ms. */
  readonly elapsed: () => number;
  /** Called when a report has other causes than the one before, so that who has read that one reads again. */
  readonly onChange: () => void;
  /** Ends the planned reports. */
  readonly signal: AbortSignal;
}

/** Creates the memory of the last report. `makeReport` never rejects. */
export function createRecentReport(makeReport: () => Promise<DatedReport>, { elapsed, onChange, signal }: ReportMemory): RecentReport {
  let last: DatedReport | undefined;
  let madeAt = -Infinity;
  let making: Promise<DatedReport> | undefined;
  let planned: NodeJS.Timeout | undefined;
  signal.addEventListener('abort', () => clearTimeout(planned));
  const make = async () => {
    const before = causesIn(last);
    try {
      last = await makeReport();
      if (causesIn(last) !== before) onChange();
      return last;
    } finally {
      madeAt = elapsed();
      making = undefined;
    }
  };
  const begin = () => {
    planned = undefined;
    making ??= make();
  };
  return async () => {
    const age = elapsed() - madeAt;
    if (age >= lifeMs) making ??= make();
    // Whoever asks too early may ask because something has changed since the last report.
    else if (making === undefined && !signal.aborted) planned ??= setTimeout(begin, lifeMs - age).unref();
    if (making !== undefined && (last === undefined || age >= outdatedMs)) await within(patienceMs, making);
    return last;
  };
}

/** The causes in a report, as one text. */
function causesIn(dated: DatedReport | undefined): string {
  return findingCauses(dated?.report.findings ?? [])
    .map(({ id }) => id)
    .toSorted()
    .join(' ');
}
