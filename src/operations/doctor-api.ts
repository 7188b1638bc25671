/** `/api/v1/doctor`: the report on the installation, for those who may see all policies. */
import { createTtlCache } from '../async/bounded-map.ts';
import type { ServiceReport } from '../doctor/finding.ts';
import { type Access, AccessError } from './authenticate.ts';

/** Makes a report; never rejects. */
export type MakeReport = () => Promise<ServiceReport>;

/** A report costs requests to registries and to the API server: all callers get the same one for so long. */
const lifeMs = 15_000;

/** Reports that are shared by all callers; one is made at a time. */
export function shareReports(make: MakeReport, now: () => number): MakeReport {
  const reports = createTtlCache<ServiceReport>({ ttlMs: lifeMs, limit: 1, now });
  return () => reports.get('', make);
}

/** The report for a caller; it names policies, Secrets and registries of all namespaces. Throws AccessError. */
export async function answerDoctor(report: MakeReport | undefined, access: Access): Promise<ServiceReport> {
  if (!(await access.may({ verb: 'list' })))
    throw new AccessError(403, 'a report on the installation needs the right to list imagepolicies in all namespaces');
  if (report === undefined)
    throw new AccessError(503, 'this process does not have the role work, so it can check nothing: send the request to one that has');
  return report();
}
