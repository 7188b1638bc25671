/** What Trivy Operator found in the images that run in the namespaces of the targets. */
import { createTtlCache } from '../../core/async/bounded-map.ts';
import { abortable } from '../../core/async/deadline.ts';
import { describeError } from '../../core/model/errors.ts';
import { isDigest } from '../../core/model/image-reference.ts';
import { isAtLeast, joinEvidence, noEvidence, type Advisory, type Evidence, type ScanReport } from '../../core/model/vulnerabilities.ts';
import type { KubeClient } from '../kube/client.ts';
import { isKubeError } from '../kube/kube-error.ts';
import { listVulnerabilityReports, type ListedReport } from '../kube/vulnerability-reports.ts';
import { createAdvisoryCollector, readScanner, readScanTime } from './collect-advisories.ts';
import type { EvidenceSource } from './read-evidence.ts';

/** The client of the API server, and a monotonic clock in ms. */
export interface TrivyOperatorMeans {
  readonly client: Pick<KubeClient, 'request'>;
  readonly elapsed: () => number;
}

/** What a namespace knows, by digest. */
interface NamespaceReports {
  readonly byDigest: ReadonlyMap<string, Evidence>;
  /** How many reports name no digest. */
  readonly withoutDigest: number;
}

/** How long the reports of a namespace are remembered, in ms. */
const freshMs = 60_000;
/** How many namespaces are remembered, and how many vulnerabilities of each. */
const maxNamespaces = 8;
const maxRemembered = 50_000;
const timeoutMs = 30_000;

/** Creates the source that reads VulnerabilityReports. Simultaneous readers of a namespace share one list. */
export function createTrivyOperatorSource({ client, elapsed }: TrivyOperatorMeans): EvidenceSource {
  const namespaces = createTtlCache<NamespaceReports>({ ttlMs: freshMs, limit: maxNamespaces, elapsed });
  return {
    name: 'Trivy Operator',
    isWanted: ({ trivyOperator }) => trivyOperator,
    async read({ digest, targetNamespaces }, signal) {
      const found: Evidence[] = [];
      for (const namespace of targetNamespaces) {
        // The list is for all readers, so it has a deadline of its own.
        const load = () => readNamespace(client, namespace, AbortSignal.timeout(timeoutMs));
        try {
          found.push(findIn(await abortable(namespaces.get(namespace, load), signal), namespace, digest));
        } catch (error) {
          signal.throwIfAborted();
          found.push({ ...noEvidence, problems: [describeFailure(error, namespace)] });
        }
      }
      return joinEvidence(found);
    },
  };
}

function findIn({ byDigest, withoutDigest }: NamespaceReports, namespace: string, digest: string): Evidence {
  const found = byDigest.get(digest);
  if (found !== undefined || withoutDigest === 0) return found ?? noEvidence;
  const which = withoutDigest === 1 ? '1 VulnerabilityReport' : `${withoutDigest} VulnerabilityReports`;
  return { ...noEvidence, problems: [`${which} of the namespace ${namespace} cannot be assigned, without a digest`] };
}

async function readNamespace(client: Pick<KubeClient, 'request'>, namespace: string, signal: AbortSignal): Promise<NamespaceReports> {
  const byDigest = new Map<string, Evidence>();
  let withoutDigest = 0;
  let remembered = 0;
  for await (const listed of listVulnerabilityReports(client, namespace, signal)) {
    signal.throwIfAborted();
    if (listed.digest === undefined || !isDigest(listed.digest)) {
      withoutDigest++;
      continue;
    }
    const known = byDigest.get(listed.digest) ?? noEvidence;
    const found = withNewest(known, await readReport(listed, namespace));
    byDigest.set(listed.digest, found);
    remembered += sizeOf(found) - sizeOf(known);
    if (remembered > maxRemembered) throw new Error(`its images have more than ${maxRemembered} vulnerabilities together`);
  }
  return { byDigest, withoutDigest };
}

function sizeOf({ reports }: Evidence): number {
  return reports.reduce((sum, { advisories }) => sum + advisories.length, 0);
}

/**
 * Adds a report, or why it does not count. Of each scanner, the newest report is kept, and of several of the same time what any of them found: several workloads
 * run the same image, and each has its own.
 */
function withNewest({ reports, statements, problems }: Evidence, added: ScanReport | string): Evidence {
  if (typeof added === 'string') return { reports, statements, problems: [...problems, added].slice(0, 5) };
  const known = reports.find(({ scanner }) => scanner === added.scanner);
  if (known !== undefined && known.scannedMs > added.scannedMs) return { reports, statements, problems };
  const next = known?.scannedMs === added.scannedMs ? { ...known, advisories: union(known.advisories, added.advisories) } : added;
  return { reports: [...reports.filter((report) => report !== known), next], statements, problems };
}

/** Each id once, with its highest severity. */
function union(some: readonly Advisory[], others: readonly Advisory[]): readonly Advisory[] {
  const byId = new Map(some.map((one) => [one.id, one]));
  for (const one of others) {
    const known = byId.get(one.id);
    if (known === undefined || !isAtLeast(known.severity, one.severity)) byId.set(one.id, one);
  }
  return [...byId.values()];
}

/** Reads a report; returns in words why it does not count. */
async function readReport(
  { name, scanner: written, updatedAt, vulnerabilities }: ListedReport,
  namespace: string,
): Promise<ScanReport | string> {
  const by = `VulnerabilityReport ${namespace}/${name}`;
  try {
    const scanner = readScanner(written);
    if (scanner === undefined) throw new Error('the name of its scanner cannot be read');
    const scannedMs = readScanTime(updatedAt);
    if (scannedMs === undefined) throw new Error('the time of its scan cannot be read');
    const collector = createAdvisoryCollector();
    for await (const piece of vulnerabilities) for (const one of piece) collector.add(toFound(one));
    return { scanner, by, scannedMs, advisories: collector.advisories() };
  } catch (error) {
    return `${by} does not count: ${describeError(error)}`;
  }
}

function toFound(written: unknown) {
  const { vulnerabilityID: id, severity, resource, publishedDate: published } = (written ?? {}) as Record<string, unknown>;
  return { id, severity, package: resource, published };
}

function describeFailure(error: unknown, namespace: string): string {
  if (isKubeError(error, 404))
    return 'the API server has no VulnerabilityReports: install Trivy Operator, or remove verify.vulnerabilities.trivyOperator from the policy';
  if (isKubeError(error, 403))
    return `image-watcher may not list VulnerabilityReports in the namespace ${namespace}: set permissions.vulnerabilityReports: true in the values of the chart, or grant list of vulnerabilityreports of aquasecurity.github.io`;
  return `the VulnerabilityReports of the namespace ${namespace} could not be read: ${describeError(error)}`;
}
