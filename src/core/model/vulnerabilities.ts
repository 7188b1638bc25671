/** What is known of the vulnerabilities of an image: reports of scanners, statements of its makers (OpenVEX), and why other evidence does not count. Pure. */

/** How severe a vulnerability is, the least severe first. Scanners that write other words are read as `Unknown`. */
export const vulnerabilitySeverities = ['Unknown', 'Negligible', 'Low', 'Medium', 'High', 'Critical'] as const;
export type VulnerabilitySeverity = (typeof vulnerabilitySeverities)[number];

/** The severities that a rule can name. */
export const ruleSeverities = ['Low', 'Medium', 'High', 'Critical'] as const satisfies readonly VulnerabilitySeverity[];
export type RuleSeverity = (typeof ruleSeverities)[number];

/** Whether a severity is at least as severe as a level. */
export function isAtLeast(severity: VulnerabilitySeverity, level: VulnerabilitySeverity): boolean {
  return vulnerabilitySeverities.indexOf(severity) >= vulnerabilitySeverities.indexOf(level);
}

/** A vulnerability by its id (`CVE-2026-1234`, `GHSA-…`), as an image is affected by it. */
export interface Advisory {
  readonly id: string;
  readonly severity: VulnerabilitySeverity;
  /** The package with the vulnerability. */
  readonly package?: string;
  /** When the vulnerability was published, in ms since 1970; absent if the report does not say. */
  readonly publishedMs?: number;
}

/** What a scanner found in an image. Each id is in it once, with its highest severity. */
export interface ScanReport {
  /** The scanner in lower case and without its version, such as `trivy`: only reports of the same scanner are compared. */
  readonly scanner: string;
  /** Where the report comes from, for people: `the attestation by key cosign.pub of Secret shop/keys`. */
  readonly by: string;
  /** When the scan ended, in ms since 1970. */
  readonly scannedMs: number;
  readonly advisories: readonly Advisory[];
}

/** What the maker of an image states about a vulnerability: https://github.com/openvex/spec/blob/main/OPENVEX-SPEC.md */
export interface VexStatement {
  /** The id of the vulnerability, and the other ids of the same one. */
  readonly ids: readonly string[];
  readonly status: 'not_affected' | 'affected' | 'fixed' | 'under_investigation';
  /** When the statement was made, in ms since 1970. */
  readonly statedMs: number;
  readonly by: string;
}

/** The statuses of statements, in the order of the caution that they ask for. */
const caution: readonly VexStatement['status'][] = ['fixed', 'not_affected', 'under_investigation', 'affected'];

/** The last statement about each id; of several of the same time, the one that asks for the most caution. */
export function lastStatements(statements: readonly VexStatement[]): ReadonlyMap<string, VexStatement> {
  const last = new Map<string, VexStatement>();
  for (const one of statements) {
    for (const id of one.ids) {
      const known = last.get(id);
      const later = known === undefined ? 1 : one.statedMs - known.statedMs || caution.indexOf(one.status) - caution.indexOf(known.status);
      if (later > 0) last.set(id, one);
    }
  }
  return last;
}

/** All that counts about one digest. */
export interface Evidence {
  readonly reports: readonly ScanReport[];
  readonly statements: readonly VexStatement[];
  /** Why evidence that was found does not count, for people: it is not signed, forged, about another digest, unreadable. */
  readonly problems: readonly string[];
}

export const noEvidence: Evidence = { reports: [], statements: [], problems: [] };

/** Joins what several sources know of one digest. */
export function joinEvidence(all: readonly Evidence[]): Evidence {
  return {
    reports: all.flatMap(({ reports }) => reports),
    statements: all.flatMap(({ statements }) => statements),
    problems: [...new Set(all.flatMap(({ problems }) => problems))],
  };
}

/** What a policy demands of the vulnerabilities of an image (`spec.verify.vulnerabilities`), and where it finds the evidence. */
export interface VulnerabilityRules<Trust> {
  /** Who must have signed attestations; absent if none are read. */
  readonly attestations?: Trust;
  /** Whether the scanner of Harbor is asked, at the registry of the image. */
  readonly harbor: boolean;
  /** Whether the VulnerabilityReports of Trivy Operator in the namespaces of the targets are read. */
  readonly trivyOperator: boolean;
  /** How old the scan of an image may be before it is applied, in ms. */
  readonly maxAgeMs: number;
  /** The lowest severity of which an image must not have more vulnerabilities than the one that it replaces; absent if it may have more of any. */
  readonly notMoreThanRunning?: RuleSeverity;
}

/** An exception from a wait: an image that fixes a vulnerability of at least this severity, and adds none. */
export interface WaitException {
  readonly fixes: RuleSeverity;
}
