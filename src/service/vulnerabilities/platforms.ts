/** Images of several platforms: without a report of the index, those of its images count together. */
import { z } from 'zod';
import { isAttestation } from '../../core/model/artifact.ts';
import { parseBoundedJson } from '../../core/model/bounded-json.ts';
import { isDigest } from '../../core/model/image-reference.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import {
  lastStatements,
  noEvidence,
  type Advisory,
  type Evidence,
  type ScanReport,
  type VexStatement,
} from '../../core/model/vulnerabilities.ts';
import type { SignaturePorts } from '../verify/find-attached.ts';
import { createAdvisoryCollector } from './collect-advisories.ts';

/** How many images of an index are read. */
const maxPlatforms = 8;

/** What is known of the image of one platform. */
export interface PlatformEvidence {
  readonly platform: string;
  readonly evidence: Evidence;
}

const platformText = z.string().regex(/^[\x21-\x7e]{1,64}$/);
const indexSchema = z.object({
  manifests: z.array(
    z.object({
      digest: z.string().refine(isDigest),
      platform: z.object({ os: platformText, architecture: platformText, variant: platformText.optional() }).optional(),
      annotations: z.record(z.string(), z.string()).optional().catch(undefined),
    }),
  ),
});

/** Reads the evidence about the images of an index, each digest once; undefined for an image of one platform, a string if they are not read, for people. */
export async function readPlatforms(
  { source, digest }: { readonly source: ImageSource; readonly digest: string },
  read: (digest: string) => Promise<Evidence>,
  { registry, signal }: SignaturePorts,
): Promise<readonly PlatformEvidence[] | string | undefined> {
  const manifest = await registry.readManifest(source, digest, signal);
  const index = manifest === undefined ? undefined : indexSchema.safeParse(parseBoundedJson(manifest.bytes)).data;
  if (index === undefined) return undefined;
  const images = new Map(index.manifests.filter((entry) => !isAttestation(entry)).map((entry) => [entry.digest, entry.platform]));
  if (images.size > maxPlatforms)
    return `the attestations of its ${images.size} platforms are not read, because at most ${maxPlatforms} are`;
  const found: PlatformEvidence[] = [];
  for (const [image, platform] of images) {
    const { os, architecture, variant } = platform ?? {};
    const name = platform === undefined ? image : [os, architecture, variant].filter((part) => part !== undefined).join('/');
    found.push({ platform: name, evidence: await read(image) });
  }
  return found;
}

/** The evidence about an index, with that about its images: a scanner counts if it has reported all of them. */
export function joinPlatforms(own: Evidence, found: readonly PlatformEvidence[] | string | undefined): Evidence {
  if (found === undefined || found.length === 0) return own;
  if (typeof found === 'string') return { ...own, problems: [...own.problems, found] };
  const ofPlatforms = found.flatMap(({ platform, evidence }) => evidence.problems.map((problem) => `${platform}: ${problem}`));
  const problems = [...own.problems, ...ofPlatforms];
  const statements = [...own.statements, ...joinStatements(own, found)];
  const newest = found.map(({ evidence }) => newestReports(evidence.reports));
  const scanners = new Set(newest.flatMap((reports) => [...reports.keys()]));
  if (scanners.size === 0) return { ...noEvidence, statements, problems };
  const reports: ScanReport[] = [];
  for (const scanner of scanners) {
    const lacking = found.filter((_, index) => newest[index]?.has(scanner) !== true);
    if (lacking.length > 0) {
      problems.push(
        `no attestation of ${scanner} about ${lacking.map(({ platform }) => platform).join(', ')} counts, so that those about the other platforms do not`,
      );
      continue;
    }
    const all = newest.flatMap((known) => known.get(scanner) ?? []);
    try {
      reports.push(...joinReports(all));
    } catch {
      problems.push(`the reports of ${scanner} about all platforms have too many vulnerabilities together`);
    }
  }
  return { reports, statements, problems };
}

/** The newest report of each scanner; reports of the same time count together. */
function newestReports(reports: readonly ScanReport[]): ReadonlyMap<string, ScanReport> {
  const newest = new Map<string, ScanReport>();
  for (const report of reports) {
    const known = newest.get(report.scanner);
    if (known === undefined || report.scannedMs > known.scannedMs) newest.set(report.scanner, report);
    else if (report.scannedMs === known.scannedMs)
      newest.set(report.scanner, { ...known, advisories: [...known.advisories, ...report.advisories] });
  }
  return newest;
}

/** Reports of one scanner about several images as one, as old as the oldest of them. Throws an Error if they have too many vulnerabilities. */
function joinReports(reports: readonly ScanReport[]): readonly ScanReport[] {
  const [oldest] = reports.toSorted((a, b) => a.scannedMs - b.scannedMs);
  if (oldest === undefined) return [];
  const collector = createAdvisoryCollector();
  for (const { advisories } of reports)
    for (const { publishedMs, ...one } of advisories) collector.add({ ...one, published: timeOf(publishedMs) });
  return [{ ...oldest, advisories: collector.advisories() }];
}

function timeOf(publishedMs: Advisory['publishedMs']): string | undefined {
  return publishedMs === undefined ? undefined : new Date(publishedMs).toISOString();
}

/** The statements about the images of an index: those that ask for caution, and the others only where they are the last word about each of the images. */
function joinStatements(own: Evidence, found: readonly PlatformEvidence[]): readonly VexStatement[] {
  const words = found.map(({ evidence }) => lastStatements([...own.statements, ...evidence.statements]));
  const isGoodForAll = (id: string) => words.every((last) => isGood(last.get(id)));
  return found.flatMap(({ evidence }) => evidence.statements.filter((one) => !isGood(one) || one.ids.every(isGoodForAll)));
}

function isGood(statement: VexStatement | undefined): boolean {
  return statement?.status === 'fixed' || statement?.status === 'not_affected';
}
