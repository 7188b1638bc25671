/** What Harbor's scanner found in an image: https://goharbor.io/docs/main/administration/vulnerability-scanning/ */
import { describeError } from '../../core/model/errors.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import { formatDuration } from '../../core/model/text.ts';
import { noEvidence, type Evidence, type ScanReport } from '../../core/model/vulnerabilities.ts';
import { createAdvisoryCollector, readScanner, readScanTime, type FoundVulnerability } from './collect-advisories.ts';
import type { EvidenceSource } from './read-evidence.ts';

/** What Harbor says of one image: the report of its scan, or why there is none, for people. */
export type Scan = { readonly none: string } | { readonly report: WrittenReport };

/** A report as the scanner wrote it. */
export interface WrittenReport {
  readonly generatedAt: string;
  readonly scanner: string;
  readonly vulnerabilities: readonly FoundVulnerability[];
}

/** The request of the registry client that is used. */
export interface ScanRegistry {
  /** The scans of a digest; of an index, those of its images. Undefined if the registry does not have the digest. */
  readonly readScanReports: (
    source: ImageSource,
    digest: string,
    signal: AbortSignal,
  ) => Promise<readonly { readonly digest: string; readonly platform?: string; readonly scan: Scan }[] | undefined>;
}

/** How far apart the scans of the images of an index may be, since they count as one, of the time of the first. */
const maxApartMs = 24 * 3_600_000;

/** Creates the source that asks Harbor, at the registry of the image. */
export function createHarborSource({ registry }: { readonly registry: ScanRegistry }): EvidenceSource {
  return {
    name: "Harbor's scanner",
    isWanted: ({ harbor }) => harbor,
    async read({ source, digest }, signal) {
      const images = await registry.readScanReports(source, digest, signal);
      const [first] = images ?? [];
      if (images === undefined || first === undefined) return problem(`${source.registry} does not have an image ${digest}`);
      const reports: ScanReport[] = [];
      for (const { platform, scan } of images) {
        const subject = platform === undefined ? '' : ` (${platform})`;
        if ('none' in scan) return problem(`${scan.none}${subject}`);
        try {
          reports.push(readReport(scan.report, `Harbor at ${source.registry}`));
        } catch (error) {
          return problem(`Harbor's report of ${digest}${subject} does not count: ${describeError(error)}`);
        }
      }
      return join(reports, digest);
    },
  };
}

function readReport({ generatedAt, scanner: name, vulnerabilities }: WrittenReport, by: string): ScanReport {
  const scanner = readScanner(name);
  if (scanner === undefined) throw new Error('the name of its scanner cannot be read');
  const scannedMs = readScanTime(generatedAt);
  if (scannedMs === undefined) throw new Error('the time of its scan cannot be read');
  const collector = createAdvisoryCollector();
  for (const one of vulnerabilities) collector.add(one);
  return { scanner, by, scannedMs, advisories: collector.advisories() };
}

/** The reports of the images of an index as one, which knows what the earliest scan knew. */
function join(reports: readonly ScanReport[], digest: string): Evidence {
  const [first] = reports;
  if (first === undefined) return noEvidence;
  if (reports.some(({ scanner }) => scanner !== first.scanner))
    return problem(`the images of ${digest} were scanned by different scanners`);
  const times = reports.map(({ scannedMs }) => scannedMs);
  const scannedMs = Math.min(...times);
  if (Math.max(...times) - scannedMs > maxApartMs)
    return problem(
      `the scans of the images of ${digest} are more than ${formatDuration(maxApartMs)} apart: have all of them scanned again`,
    );
  const collector = createAdvisoryCollector();
  try {
    for (const { advisories } of reports) for (const one of advisories) collector.add(one);
  } catch (error) {
    return problem(`Harbor's reports of ${digest} do not count: ${describeError(error)}`);
  }
  return { ...noEvidence, reports: [{ ...first, scannedMs, advisories: collector.advisories() }] };
}

function problem(text: string): Evidence {
  return { ...noEvidence, problems: [text] };
}
