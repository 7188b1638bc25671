/**
 * Compares the vulnerabilities of an image with those of the images that it would replace. Only reports of the same scanner are compared, and each is taken to
 * know only what was published before its scan:
 *
 * | a vulnerability | counts if                                                                                                              |
 * | --------------- | ---------------------------------------------------------------------------------------------------------------------- |
 * | is fixed        | a scanner found it in the running image, the same scanner knew of it and did not find it in the new one, nobody else did |
 * | is added        | a scanner found it in the new image, and not in the running one, although it was published before that scan             |
 *
 * Statements of the makers (OpenVEX) take out what does not affect an image or is fixed in it. What cannot be compared is unknown, and never counts as better.
 */
import { maxAdvisories, maxCompared, type Assessment, type ComparedImage } from '../model/assessment.ts';
import { defined } from '../model/defined.ts';
import { cut, formatDuration, listFew, toSeconds } from '../model/text.ts';
import {
  isAtLeast,
  lastStatements,
  vulnerabilitySeverities,
  type Advisory,
  type Evidence,
  type ScanReport,
  type VexStatement,
} from '../model/vulnerabilities.ts';

/** An image and what is known of it. */
export interface KnownImage {
  readonly digest: string;
  readonly evidence: Evidence;
}

/** What is assessed: the image, and those that it would replace; a running image whose digest is not known has no evidence. */
export interface AssessInput {
  readonly candidate: KnownImage & { readonly tag: string };
  readonly running: readonly { readonly image: string; readonly digest?: string; readonly evidence: Evidence }[];
  /** How old the scan of the new image may be, in ms. */
  readonly maxAgeMs: number;
  readonly nowMs: number;
}

/** How long scanners need to know of what is published. */
const lagMs = 48 * 3_600_000;
/** How far the clock of a scanner may be ahead. Otherwise a report of the future would never be too old. */
const aheadMs = 3_600_000;
const maxText = 512;

/** Assesses the change to an image. */
export function assessVulnerabilities({ candidate, running, maxAgeMs, nowMs }: AssessInput): Assessment {
  const { tag, digest, evidence } = candidate;
  const found = newestReports(evidence.reports);
  const fresh = found.filter(({ scannedMs }) => scannedMs >= nowMs - maxAgeMs && scannedMs <= nowMs + aheadMs);
  const problems = [
    ...found.filter((report) => !fresh.includes(report)).map((one) => describeAge(one, maxAgeMs, nowMs)),
    ...evidence.problems,
  ];
  const base = { tag, digest, at: toSeconds(new Date(nowMs)), ...(problems.length > 0 && { problems: problems.slice(0, 5).map(short) }) };
  const compared = running.slice(0, maxCompared);
  const more = running.length > compared.length ? { unlisted: true } : {};
  if (fresh.length === 0) {
    const unknown = problems.length === 0 ? 'nothing reports its vulnerabilities' : 'no report of its vulnerabilities counts';
    return { ...base, unknown, replaces: compared.map((one) => ({ ...nameOf(one), unknown, fixes: [], adds: [] })), ...more };
  }
  const reports = fresh.map((report) => withoutStated(report, evidence.statements));
  const all = reports.flatMap(({ advisories }) => advisories);
  return {
    ...base,
    by: short(listFew(fresh, describeReport)),
    ...defined({ highest: bySeverity(all)[0]?.severity }),
    replaces: compared.map((one) => compare({ reports, statements: evidence.statements, all }, one)),
    ...more,
  };
}

interface Candidate {
  readonly reports: readonly ScanReport[];
  readonly statements: readonly VexStatement[];
  /** What any of the reports finds. */
  readonly all: readonly Advisory[];
}

function compare({ reports, statements, all }: Candidate, running: AssessInput['running'][number]): ComparedImage {
  const known = newestReports(running.evidence.reports).map((report) => withoutStated(report, running.evidence.statements));
  const pairs = reports.flatMap((report) =>
    known.filter(({ scanner }) => scanner === report.scanner).map((before) => ({ report, before })),
  );
  const name = nameOf(running);
  if (pairs.length === 0) return { ...name, unknown: short(whyUnknown(running, known, reports)), fixes: [], adds: [] };
  const ids = new Set(all.map(({ id }) => id));
  const last = lastStatements(statements);
  const isStated = (id: string, status: VexStatement['status']) => last.get(id)?.status === status;
  const isAffected = (id: string) => ids.has(id) || isStated(id, 'affected') || isStated(id, 'under_investigation');
  const fixes = pairs.flatMap(({ report, before }) =>
    before.advisories.filter((one) => !isAffected(one.id) && (isStated(one.id, 'fixed') || knewOf(one, report, before))),
  );
  const adds = pairs.flatMap(({ report, before }) => {
    const had = new Set(before.advisories.map(({ id }) => id));
    return report.advisories.filter((one) => !had.has(one.id) && couldFind(one, before));
  });
  return { ...name, fixes: listed(fixes), adds: listed(adds), ...defined({ more: findMore(pairs) }) };
}

/** The highest severity from which on a report finds more in the new image than in the running one. */
function findMore(pairs: readonly { readonly report: ScanReport; readonly before: ScanReport }[]): ComparedImage['more'] {
  for (const severity of vulnerabilitySeverities.toReversed()) {
    const count = (advisories: readonly Advisory[]) => advisories.filter((one) => isAtLeast(one.severity, severity)).length;
    for (const { report, before } of pairs) {
      const had = new Set(before.advisories.map(({ id }) => id));
      const now = count(report.advisories.filter((one) => had.has(one.id) || couldFind(one, before)));
      const running = count(before.advisories);
      if (now > running) return { severity, count: now, running };
    }
  }
  return undefined;
}

/** Whether the scan of the new image would have found a vulnerability of the running one: it is later than that scan, or than the publication. */
function knewOf({ publishedMs }: Advisory, report: ScanReport, before: ScanReport): boolean {
  return report.scannedMs >= before.scannedMs || (publishedMs !== undefined && publishedMs + lagMs <= report.scannedMs);
}

/** Whether the scan of the running image could have found a vulnerability: one that was published since is probably in both. */
function couldFind({ publishedMs }: Advisory, before: ScanReport): boolean {
  return publishedMs === undefined || publishedMs <= before.scannedMs;
}

/** The newest report of each scanner; reports of the same time count together. */
function newestReports(reports: readonly ScanReport[]): readonly ScanReport[] {
  const newest = new Map<string, ScanReport>();
  for (const report of reports) {
    const known = newest.get(report.scanner);
    if (known === undefined || report.scannedMs > known.scannedMs) newest.set(report.scanner, report);
    else if (report.scannedMs === known.scannedMs)
      newest.set(report.scanner, { ...known, advisories: [...known.advisories, ...report.advisories] });
  }
  return [...newest.values()];
}

/** A report without what its maker states not to affect the image, each id once. */
function withoutStated(report: ScanReport, statements: readonly VexStatement[]): ScanReport {
  const last = lastStatements(statements);
  const advisories = once(report.advisories).filter(({ id }) => {
    const status = last.get(id)?.status;
    return status !== 'not_affected' && status !== 'fixed';
  });
  return { ...report, advisories };
}

/** Each id once, with its highest severity. */
function once(advisories: readonly Advisory[]): readonly Advisory[] {
  const byId = new Map<string, Advisory>();
  for (const one of bySeverity(advisories)) if (!byId.has(one.id)) byId.set(one.id, one);
  return [...byId.values()];
}

function bySeverity(advisories: readonly Advisory[]): readonly Advisory[] {
  return advisories.toSorted((a, b) => rankOf(b) - rankOf(a));
}

function rankOf({ severity }: Advisory): number {
  return vulnerabilitySeverities.indexOf(severity);
}

function listed(advisories: readonly Advisory[]): ComparedImage['fixes'] {
  return once(advisories)
    .slice(0, maxAdvisories)
    .map(({ id, severity }) => ({ id: cut(id, 64), severity }));
}

function nameOf({ image, digest }: AssessInput['running'][number]): Pick<ComparedImage, 'image' | 'digest'> {
  return { image, ...defined({ digest }) };
}

function whyUnknown(
  { digest, evidence }: AssessInput['running'][number],
  known: readonly ScanReport[],
  reports: readonly ScanReport[],
): string {
  if (digest === undefined) return 'its digest is not known';
  const [problem] = evidence.problems;
  if (known.length === 0)
    return problem === undefined ? 'nothing reports its vulnerabilities' : `no report of its vulnerabilities counts: ${problem}`;
  return `it was scanned by ${listFew(known, ({ scanner }) => scanner)}, and the new image by ${listFew(reports, ({ scanner }) => scanner)}`;
}

function describeReport({ scanner, by, scannedMs }: ScanReport): string {
  return `${scanner} on ${toSeconds(new Date(scannedMs))} (${by})`;
}

function describeAge(report: ScanReport, maxAgeMs: number, nowMs: number): string {
  return report.scannedMs > nowMs
    ? `${describeReport(report)} is in the future`
    : `${describeReport(report)} is older than ${formatDuration(maxAgeMs)} (verify.vulnerabilities.maxAge)`;
}

function short(text: string): string {
  return cut(text, maxText);
}
