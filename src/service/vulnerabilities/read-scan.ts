/** Reads the record of a scan: https://github.com/sigstore/cosign/blob/main/specs/COSIGN_VULN_ATTESTATION_SPEC.md */
import { isObject } from '../../core/model/untyped.ts';
import { z } from 'zod';
import { anyMember, element, type SplitJson, readPieces, splitLists } from '../../core/async/split-lists.ts';
import { readTime } from '../../core/model/text.ts';
import type { ScanReport } from '../../core/model/vulnerabilities.ts';
import { checkShape } from '../verify/simple-bundle.ts';
import { createAdvisoryCollector, type FoundVulnerability } from './collect-advisories.ts';

/** Where the long lists are in a statement: in the scanner's own report, the packages and the vulnerabilities. */
export const longLists = ['predicate', 'scanner', 'result', anyMember];

const predicateSchema = z.object({
  // The lists in it are split off, so that each of them is a number.
  scanner: z.object({ result: z.looseObject({}) }),
  metadata: z.object({ scanFinishedOn: z.string() }),
});
type Result = Readonly<Record<string, unknown>>;

/** A scanner, and its own format. */
interface Format {
  readonly scanner: string;
  is(result: Result): boolean;
  find(result: Result, lists: SplitJson['lists']): AsyncGenerator<FoundVulnerability>;
}

const formats: readonly Format[] = [
  {
    // https://trivy.dev/docs/latest/configuration/reporting/#json
    scanner: 'trivy',
    is: ({ SchemaVersion, ArtifactName }) => typeof SchemaVersion === 'number' && typeof ArtifactName === 'string',
    find: ({ Results }, lists) => findInTrivy(Results, lists),
  },
  {
    // https://github.com/anchore/grype
    scanner: 'grype',
    is: ({ descriptor, matches }) => isObject(descriptor) && matches !== undefined,
    find: ({ matches }, lists) => findInGrype(matches, lists),
  },
];

/** Earlier times are those that programs write if they know none: 1970, and the year 1 of Go. */
const firstCredible = Date.parse('2000-01-01T00:00:00Z');

/** Reads the record of a scan, with its lists split off. Throws an Error if it does not count, as a whole, that says why. */
export async function readScan(predicate: unknown, lists: SplitJson['lists'], by: string): Promise<ScanReport> {
  const { scanner, metadata } = checkShape(predicateSchema, predicate, 'its record of a scan');
  const scannedMs = readTime(metadata.scanFinishedOn)?.getTime();
  if (scannedMs === undefined || scannedMs < firstCredible)
    throw new Error('it does not say when the scan ended (metadata.scanFinishedOn)');
  const format = formats.find((one) => one.is(scanner.result));
  if (format === undefined) throw new Error(`its result is not one of ${formats.map((one) => one.scanner).join(' or ')} as JSON`);
  const collector = createAdvisoryCollector();
  for await (const found of format.find(scanner.result, lists)) collector.add(found);
  return { scanner: format.scanner, by, scannedMs, advisories: collector.advisories() };
}

/** Trivy leaves out what is empty. */
async function* findInTrivy(results: unknown, lists: SplitJson['lists']): AsyncGenerator<FoundVulnerability> {
  if (isAbsent(results)) return;
  const split = await splitLists(Buffer.concat([Buffer.from('['), listAt(results, lists), Buffer.from(']')]), [element, anyMember]);
  for (const result of Array.isArray(split.rest) ? (split.rest as unknown[]) : []) {
    const { Vulnerabilities } = recordOf(result);
    if (isAbsent(Vulnerabilities)) continue;
    for await (const { VulnerabilityID, Severity, PkgName, PublishedDate } of readRecords(Vulnerabilities, split.lists))
      yield { id: VulnerabilityID, severity: Severity, package: PkgName, published: PublishedDate };
  }
}

async function* findInGrype(matches: unknown, lists: SplitJson['lists']): AsyncGenerator<FoundVulnerability> {
  for await (const { vulnerability, artifact } of readRecords(matches, lists)) {
    const { id, severity } = recordOf(vulnerability);
    yield { id, severity, package: isObject(artifact) ? recordOf(artifact)['name'] : undefined };
  }
}

async function* readRecords(index: unknown, lists: SplitJson['lists']): AsyncGenerator<Result> {
  const list = listAt(index, lists);
  if (list.toString('latin1').trim() === '') return;
  for await (const piece of readPieces(list)) for (const one of piece) yield recordOf(one);
}

function listAt(index: unknown, lists: SplitJson['lists']): Buffer {
  const list = typeof index === 'number' ? lists[index] : undefined;
  if (list === undefined) throw new Error('its result lists vulnerabilities in another way than the scanner does');
  return list;
}

function recordOf(value: unknown): Result {
  if (!isObject(value)) throw new Error('its result lists vulnerabilities in another way than the scanner does');
  return value;
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}
