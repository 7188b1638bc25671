/** Collects what a scanner found, from texts that are not trusted. */
import { vulnerabilitySeverities, type Advisory, type VulnerabilitySeverity } from '../../core/model/vulnerabilities.ts';

/** One vulnerability as a report writes it. */
export interface FoundVulnerability {
  readonly id: unknown;
  readonly severity: unknown;
  readonly package?: unknown;
  /** When it was published: a time in the form of ISO 8601, or ''. */
  readonly published?: unknown;
}

/** The ids of databases of vulnerabilities: `CVE-2026-1234`, `GHSA-…`, `RHSA-2026:1234`. */
export const idPattern = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/;
/** Names of packages as they are shown; what is written in another way is left out. */
const packagePattern = /^[\x21-\x7e]{1,128}$/;
const published = /^\d{4}-\d{2}-\d{2}(?:[T ][\d:.+Z-]{0,32})?$/;
/** How many vulnerabilities a report may have. */
const maxFound = 20_000;

/** Collects vulnerabilities, each id once, with its highest severity. */
export interface AdvisoryCollector {
  /** Adds one. Throws an Error if its id cannot be read, or there are too many: a report that is not known as a whole does not count. */
  add(found: FoundVulnerability): void;
  advisories(): readonly Advisory[];
}

/** Creates an empty collector. */
export function createAdvisoryCollector(): AdvisoryCollector {
  const byId = new Map<string, Advisory>();
  let count = 0;
  return {
    add({ id, severity: written, package: name, published: at }) {
      if (++count > maxFound) throw new Error(`it has more than ${maxFound} vulnerabilities`);
      if (typeof id !== 'string' || !idPattern.test(id)) throw new Error('the id of a vulnerability cannot be read');
      const severity = readSeverity(written);
      const known = byId.get(id);
      if (known !== undefined && rank(known.severity) >= rank(severity)) return;
      const publishedMs = typeof at === 'string' && published.test(at) ? Date.parse(at) : Number.NaN;
      byId.set(id, {
        id,
        severity,
        ...(typeof name === 'string' && packagePattern.test(name) && { package: name }),
        ...(Number.isFinite(publishedMs) && { publishedMs }),
      });
    },
    advisories: () => [...byId.values()],
  };
}

/** Reads a severity, however its letters are written; `None` is what scanners find negligible. Throws an Error for anything but a text. */
function readSeverity(written: unknown): VulnerabilitySeverity {
  if (typeof written !== 'string') throw new Error('the severity of a vulnerability cannot be read');
  const word = written.toLowerCase();
  return word === 'none' ? 'Negligible' : (vulnerabilitySeverities.find((severity) => severity.toLowerCase() === word) ?? 'Unknown');
}

function rank(severity: VulnerabilitySeverity): number {
  return vulnerabilitySeverities.indexOf(severity);
}

/** A scanner's name as reports of several sources agree on it: `Trivy` is `trivy`. Undefined if it is no name. */
export function readScanner(name: string): string | undefined {
  const word = name.trim().toLowerCase();
  return /^[a-z0-9][a-z0-9 ._-]{0,63}$/.test(word) ? word : undefined;
}

/** The time of a scan, in ms since 1970; undefined if it is none. */
export function readScanTime(text: string): number | undefined {
  const at = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isFinite(at) ? at : undefined;
}
