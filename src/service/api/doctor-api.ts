/** `/api/v1/doctor`: the report on the installation, for those who may see all policies. */
import { createTtlCache } from '../../core/async/bounded-map.ts';
import type { ServiceReport } from '../doctor/finding.ts';
import { type Access, AccessError } from './access.ts';
import type { ApiPorts } from './ports.ts';

/** Makes a report; never rejects. */
export type MakeReport = () => Promise<ServiceReport>;

/** The maker of reports, and the namespaces that they concern (none: all namespaces). */
export interface Doctor {
  readonly makeReport: MakeReport;
  readonly namespaces: readonly string[];
}

/** The number of namespaces above which the right for all namespaces is required, because each namespace costs a request to the API server. */
const maxNamespaces = 20;

/** How long a report is shared by all callers, because it costs requests to registries and to the API server. A report takes less time to make. */
const lifeMs = 20_000;

/** Shares reports between all callers; one is made at a time. */
export function shareReports({ makeReport, namespaces }: Doctor, elapsed: () => number): Doctor {
  const reports = createTtlCache<ServiceReport>({ ttlMs: lifeMs, limit: 1, elapsed });
  return { namespaces, makeReport: () => reports.get('', makeReport) };
}

/** Throws AccessError unless the caller may see a report: it names policies, Secrets and registries of all watched namespaces. */
export async function requireReport({ namespaces }: Pick<Doctor, 'namespaces'>, access: Access): Promise<void> {
  const questions = namespaces.length === 0 || namespaces.length > maxNamespaces ? [{}] : namespaces.map((namespace) => ({ namespace }));
  for (const where of questions) {
    if (await access.may({ verb: 'list', ...where })) continue;
    const place = 'namespace' in where ? `the namespace ${where.namespace}` : 'all namespaces';
    throw new AccessError(403, `a report on the installation needs the right to list imagepolicies in ${place}`);
  }
}

/** The report for a caller. Throws AccessError. */
export async function answerDoctor(doctor: Doctor | undefined, access: Access): Promise<ServiceReport> {
  await requireReport({ namespaces: doctor?.namespaces ?? [] }, access);
  if (doctor === undefined)
    throw new AccessError(503, 'this process does not have the role work, so it can check nothing: send the request to one that has');
  return doctor.makeReport();
}

/** The last report for a caller, who does not wait for a new one. Throws AccessError. */
export async function answerRecent({ doctor, recentReport }: ApiPorts, access: Access): Promise<ServiceReport> {
  await requireReport({ namespaces: doctor?.namespaces ?? [] }, access);
  const recent = await recentReport();
  if (recent === undefined) throw new AccessError(503, 'the installation is being checked: try again in a moment');
  return recent.report;
}
