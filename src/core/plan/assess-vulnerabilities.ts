/**
 * Compares the vulnerabilities of an image with those of the images that it would replace. Only reports of the same scanner are compared, and each is taken to
 * know only what was published before its scan:
 *
 * | a vulnerability | counts if                                                                                                                |
 * | --------------- | ------------------------------------------------------------------------------------------------------------------------ |
 * | is fixed        | a scanner found it in the running image, the same scanner knew of it and did not find it in the new one, nobody else did |
 * | is added        | a scanner found it in the new image, nobody in the running one, and it was published before the scan of that             |
 * | may be added    | a scanner found it in the new image, nobody in the running one, which that scanner has not scanned since its publication |
 *
 * Statements of the makers (OpenVEX) take out what does not affect an image or is fixed in it. What cannot be compared is unknown, and never counts as better.
 */
import { maxAdvisories, maxCompared, type Assessment, type ComparedImage } from '../model/assessment.ts';
import { defined } from '../model/defined.ts';
import { cut, formatDuration, listFew, toSeconds } from '../model/text.ts';
import {
  lastStatements,
  vulnerabilitySeverities,
  type Advisory,
  type Evidence,
  type ScanReport,
  type VexStatement,
  type VulnerabilitySeverity,
} from '../model/vulnerabilities.ts';
/** An image, with the evidence that is known of its vulnerabilities. */
export interface KnownImage {
  readonly digest: string;
  readonly evidence: Evidence;
}

/** What is assessed: the image, and those that it would replace; a running image whose digest is not known has no evidence. */
export interface AssessInput {
  readonly candidate: KnownImage & { readonly tag: string };
  readonly running: readonly {
    readonly image: string;
    readonly digest?: string;
    /** Whether the digest is only what the tag points to now. */
    readonly byTag?: boolean;
    readonly evidence: Evidence;
  }[];
  /** How old the scan of the new image may be, in ms. */
  readonly maxAgeMs: number;
  readonly nowMs: number;
}

/** How long scanners need to know of what is published. */
const lagMs = 48 * 3_600_000;
/** How far the clock of a scanner may be ahead. Otherwise a report of the future would never be too old. */
const aheadMs = 3_600_000;
const maxText = 512;

/** Assesses the change to an image. Costs a few steps for each vulnerability of each report, of which there may be hundreds of thousands. */
export function assessVulnerabilities({ candidate, running, maxAgeMs, nowMs }: AssessInput): Assessment {
  const { tag, digest, evidence } = candidate;
  const last = lastStatements(evidence.statements);
  const found = readFindings(evidence, nowMs);
  const fresh = found.filter(({ scannedMs }) => scannedMs >= nowMs - maxAgeMs);
  const problems = [
    ...inFuture(evidence, nowMs).map((report) => `${describeReport(report)} is in the future`),
    ...found.filter((report) => !fresh.includes(report)).map((report) => describeAge(report, maxAgeMs)),
    ...evidence.problems,
  ];
  const base = { tag, digest, at: toSeconds(new Date(nowMs)), ...(problems.length > 0 && { problems: problems.slice(0, 5).map(short) }) };
  const compared = running.slice(0, maxCompared);
  const more = running.length > compared.length ? { unlisted: true } : {};
  if (fresh.length === 0) {
    const unknown = problems.length === 0 ? 'nothing reports its vulnerabilities' : 'no report of its vulnerabilities counts';
    return { ...base, unknown, replaces: compared.map((one) => ({ ...nameOf(one), unknown, fixes: [], adds: [] })), ...more };
  }
  const worst = new Map<string, Advisory>();
  for (const { byId } of fresh) for (const one of byId.values()) put(worst, one);
  return {
    ...base,
    by: short(listFew(fresh, describeReport)),
    ...defined({ highest: listed([...worst.values()])[0]?.severity }),
    replaces: compared.map((one) => compare({ found, fresh, worst, last, nowMs }, one)),
    ...more,
  };
}

/** What a scanner finds in an image, without what its maker states not to affect it. */
interface Findings extends Omit<ScanReport, 'advisories'> {
  readonly byId: ReadonlyMap<string, Advisory>;
}

interface Candidate {
  /** What each scanner finds, also if that is too old to count for the image: it still counts against it. */
  readonly found: readonly Findings[];
  readonly fresh: readonly Findings[];
  /** What any scanner finds, with the highest severity. */
  readonly worst: ReadonlyMap<string, Advisory>;
  readonly last: ReadonlyMap<string, VexStatement>;
  readonly nowMs: number;
}

function compare({ found, fresh, worst, last, nowMs }: Candidate, running: AssessInput['running'][number]): ComparedImage {
  const known = readFindings(running.evidence, nowMs);
  const name = nameOf(running);
  const pairs = fresh.flatMap((report) => known.filter(({ scanner }) => scanner === report.scanner).map((before) => ({ report, before })));
  if (pairs.length === 0) return { ...name, unknown: short(whyUnknown(running, known, fresh)), fixes: [], adds: [] };
  const isAffected = (id: string) =>
    found.some(({ byId }) => byId.has(id)) || ['affected', 'under_investigation'].includes(last.get(id)?.status ?? '');
  const isKnown = (id: string) => known.some(({ byId }) => byId.has(id));
  const fixes = new Map<string, Advisory>();
  const adds = new Map<string, Advisory>();
  for (const { report, before } of pairs) {
    for (const one of before.byId.values())
      if (!isAffected(one.id) && (last.get(one.id)?.status === 'fixed' || knewOf(one, report, before))) put(fixes, one);
    for (const one of report.byId.values()) if (!isKnown(one.id) && couldFind(one, before)) put(adds, worst.get(one.id) ?? one);
  }
  const mayAdd = listed([...worst.values()].filter(({ id }) => !adds.has(id) && !isKnown(id)));
  return {
    ...name,
    fixes: listed([...fixes.values()]),
    adds: listed([...adds.values()]),
    ...(mayAdd.length > 0 && { mayAdd }),
    ...defined({ more: findMore(pairs) }),
  };
}

/** The highest severity from which on a report finds more in the new image than in the running one. */
function findMore(pairs: readonly { readonly report: Findings; readonly before: Findings }[]): ComparedImage['more'] {
  const counted = pairs.map(({ report, before }) => ({
    now: countSeverities([...report.byId.values()].filter((one) => before.byId.has(one.id) || couldFind(one, before))),
    had: countSeverities([...before.byId.values()]),
  }));
  for (const severity of vulnerabilitySeverities.toReversed())
    for (const { now, had } of counted) {
      const [count, running] = [now, had].map((each) => sumFrom(each, severity)) as [number, number];
      if (count > running) return { severity, count, running };
    }
  return undefined;
}

/** Whether the scan of the new image would have found a vulnerability of the running one: it is later than that scan, or than the publication. */
function knewOf({ publishedMs }: Advisory, report: Findings, before: Findings): boolean {
  return report.scannedMs >= before.scannedMs || (publishedMs !== undefined && publishedMs + lagMs <= report.scannedMs);
}

/** Whether the scan of the running image could have found a vulnerability: one that was published since is probably in both. */
function couldFind({ publishedMs }: Advisory, before: Findings): boolean {
  return publishedMs === undefined || publishedMs <= before.scannedMs;
}

/** What each scanner finds, by its newest report; reports of the same time count together. Each id once, with its highest severity. */
function readFindings({ reports, statements }: Evidence, nowMs: number): readonly Findings[] {
  const newest = new Map<string, ScanReport[]>();
  for (const report of reports) {
    // Otherwise it would hide what the same scanner really found.
    if (report.scannedMs > nowMs + aheadMs) continue;
    const [known] = newest.get(report.scanner) ?? [];
    if (known === undefined || report.scannedMs > known.scannedMs) newest.set(report.scanner, [report]);
    else if (report.scannedMs === known.scannedMs) newest.get(report.scanner)?.push(report);
  }
  const last = lastStatements(statements);
  const isStated = (id: string) => ['not_affected', 'fixed'].includes(last.get(id)?.status ?? '');
  return [...newest.values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    const byId = new Map<string, Advisory>();
    for (const { advisories } of same) for (const one of advisories) if (!isStated(one.id)) put(byId, one);
    return [{ scanner: first.scanner, by: first.by, scannedMs: first.scannedMs, byId }];
  });
}

const ranks = Object.fromEntries(vulnerabilitySeverities.map((severity, index) => [severity, index])) as Readonly<
  Record<VulnerabilitySeverity, number>
>;

/**
 * Adds a vulnerability, with its highest severity. Where reports disagree on when it was published, that is not known: then it counts against the new image, and
 * is no fix that only its publication would make certain.
 */
function put(known: Map<string, Advisory>, one: Advisory): void {
  const before = known.get(one.id) ?? one;
  const { publishedMs, ...worse } = ranks[one.severity] > ranks[before.severity] ? one : before;
  known.set(one.id, { ...worse, ...defined({ publishedMs: before.publishedMs === one.publishedMs ? publishedMs : undefined }) });
}

/** How many there are of each severity, in the order of the severities. */
function countSeverities(advisories: Iterable<Advisory>): readonly number[] {
  const counts = vulnerabilitySeverities.map(() => 0);
  for (const { severity } of advisories) counts[ranks[severity]] = (counts[ranks[severity]] ?? 0) + 1;
  return counts;
}

/** How many are at least as severe. */
function sumFrom(counts: readonly number[], severity: VulnerabilitySeverity): number {
  return counts.slice(ranks[severity]).reduce((sum, count) => sum + count, 0);
}

/** The vulnerabilities that are listed: the most severe ones. */
function listed(advisories: readonly Advisory[]): ComparedImage['fixes'] {
  const found: Advisory[] = [];
  for (const severity of vulnerabilitySeverities.toReversed())
    for (const one of advisories) if (one.severity === severity && found.length < maxAdvisories) found.push(one);
  return found.map(({ id, severity }) => ({ id: cut(id, 64), severity }));
}

function nameOf({ image, digest, byTag }: AssessInput['running'][number]): Pick<ComparedImage, 'image' | 'digest' | 'byTag'> {
  return { image, ...defined({ digest }), ...(byTag === true && { byTag }) };
}

function whyUnknown(
  { digest, evidence }: AssessInput['running'][number],
  known: readonly Findings[],
  reports: readonly Findings[],
): string {
  if (digest === undefined) return 'its digest is not known';
  const [problem] = evidence.problems;
  if (known.length === 0)
    return problem === undefined ? 'nothing reports its vulnerabilities' : `no report of its vulnerabilities counts: ${problem}`;
  return `it was scanned by ${listFew(known, ({ scanner }) => scanner)}, and the new image by ${listFew(reports, ({ scanner }) => scanner)}`;
}

function inFuture({ reports }: Evidence, nowMs: number): readonly ScanReport[] {
  return reports.filter(({ scannedMs }) => scannedMs > nowMs + aheadMs);
}

function describeReport({ scanner, by, scannedMs }: Omit<ScanReport, 'advisories'>): string {
  return `${scanner} on ${toSeconds(new Date(scannedMs))} (${by})`;
}

function describeAge(report: Findings, maxAgeMs: number): string {
  return `${describeReport(report)} is older than ${formatDuration(maxAgeMs)} (verify.vulnerabilities.maxAge)`;
}

function short(text: string): string {
  return cut(text, maxText);
}
