/**
 * A source of evidence: what scanners report of each image, and when. Reports come late or never, are replaced, contradict those of another scanner, are about
 * another digest, or go away. All of it depends on the seed and the digest alone, so that it is known what the source knew at any time.
 */
import { noEvidence, type Advisory, type Evidence, type ScanReport } from '../../src/core/model/vulnerabilities.ts';
import type { EvidenceSource } from '../../src/service/vulnerabilities/read-evidence.ts';
import type { Clock } from './clock.ts';
import { buildOf } from './images.ts';
import type { Network } from './network.ts';
import type { Random } from './random.ts';

/** When the last report changes, and the source is slow for the last time, in ms after the start: later looks find what all later ones find. */
const lastChangeMs = 45_000;

/** A report, and from when until when the source has it, in ms since 1970. */
export interface TimedReport {
  readonly from: number;
  readonly until: number;
  readonly report: ScanReport;
}

export interface ScanSource {
  /** All reports about a digest, whenever they are there. */
  reportsOf(digest: string): readonly TimedReport[];
  /** The longest time that it has needed for an answer, in ms. */
  slowestMs(): number;
  /** What a process asks it with. */
  readonly source: EvidenceSource;
}

interface Means {
  readonly clock: Clock;
  readonly network: Network;
  readonly random: Random;
}

export function createScanSource({ clock, network, random }: Means): ScanSource {
  const start = clock.now();
  const isSlow = random.fork('slow').chance(0.25);
  const known = new Map<string, readonly TimedReport[]>();
  const reportsOf = (digest: string) => {
    const reports = known.get(digest) ?? drawReports(buildOf(digest), start, random.fork(digest));
    known.set(digest, reports);
    return reports;
  };
  let slowest = 0;
  const answer = (digest: string): Evidence => {
    const now = clock.now();
    const reports = reportsOf(digest).flatMap(({ from, until, report }) => (from <= now && now < until ? [report] : []));
    return reports.length > 0 ? { ...noEvidence, reports } : { ...noEvidence, problems: ['what there is is about another digest'] };
  };
  return {
    reportsOf,
    slowestMs: () => slowest,
    source: {
      name: 'the scanner',
      isWanted: () => true,
      async read({ digest }, signal) {
        const begun = clock.now();
        const pauseMs = isSlow && begun < start + lastChangeMs && random.chance(0.2) ? random.between(5_000, 60_000) : 0;
        if (pauseMs > 0) await new Promise<void>((resolve) => void setTimeout(resolve, pauseMs));
        const evidence = await network.send({
          server: 'scanner',
          what: 'READ evidence',
          serve: () => answer(digest),
          refuse: () => {
            throw new Error('simulated');
          },
          timeoutMs: 30_000,
          signal,
        });
        slowest = Math.max(slowest, clock.now() - begun);
        return evidence;
      },
    },
  };
}

const pool: readonly Advisory[] = [
  { id: 'CVE-2026-1', severity: 'Critical' },
  { id: 'CVE-2026-2', severity: 'Critical' },
  { id: 'CVE-2026-3', severity: 'High' },
  { id: 'CVE-2026-4', severity: 'Low' },
];

function drawReports(build: number, start: number, random: Random): readonly TimedReport[] {
  const isFirst = build === 0;
  if (random.chance(isFirst ? 0.1 : 0.15)) return [];
  const draw = (scanner: string, from: number, until: number): TimedReport => {
    const advisories = pool.filter(({ id }) => random.chance(isFirst && id === 'CVE-2026-1' ? 0.9 : 0.3));
    return { from, until, report: { scanner, by: 'the simulation', scannedMs: from, advisories } };
  };
  const at = (from: number) => random.between(from, start + lastChangeMs);
  const from = isFirst || random.chance(0.4) ? start : at(start);
  const until = random.chance(0.2) ? at(from) : Infinity;
  const reports = [draw('trivy', from, until)];
  // The newest report of a scanner counts alone.
  if (random.chance(0.3)) reports.push(draw('trivy', at(from), random.chance(0.3) ? at(from) : Infinity));
  if (random.chance(0.3)) reports.push(draw('grype', at(start), Infinity));
  return reports;
}
