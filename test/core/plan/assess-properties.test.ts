/** Comparing vulnerabilities, with any evidence: it agrees with sets where it is as simple as sets, and more evidence against an image never helps it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  isAtLeast,
  ruleSeverities,
  vulnerabilitySeverities,
  type Advisory,
  type Evidence,
  type RuleSeverity,
  type ScanReport,
  type VexStatement,
} from '../../../src/core/model/vulnerabilities.ts';
import { assessVulnerabilities } from '../../../src/core/plan/assess-vulnerabilities.ts';
import { decideException, findVeto } from '../../../src/core/plan/security-rules.ts';

const hour = 3_600_000;
const now = Date.parse('2026-06-30T00:00:00Z');

interface Case {
  readonly level: RuleSeverity;
  readonly candidate: Evidence;
  readonly running: readonly Evidence[];
}

const assess = ({ candidate, running }: Case) =>
  assessVulnerabilities({
    candidate: { tag: '2', digest: 'sha256:new', evidence: candidate },
    running: running.map((evidence, index) => ({ image: `web:${index}`, digest: `sha256:${index}`, evidence })),
    maxAgeMs: 168 * hour,
    nowMs: now,
  });
const holds = (one: Case) => decideException({ fixes: one.level }, assess(one)).holds;
const isVetoed = (one: Case) => one.running.map((_, index) => findVeto(one.level, assess(one), `web:${index}`) !== undefined);

const level = fc.constantFrom(...ruleSeverities);
const severity = fc.constantFrom(...vulnerabilitySeverities);
const id = fc.constantFrom('CVE-1', 'CVE-2', 'CVE-3', 'CVE-4');
/** Also before the oldest scan that counts, and in the future. */
const time = fc.constantFrom(-300, -100, -99, -50, -1, 0, 30).map((hours) => now + hours * hour);
const advisory: fc.Arbitrary<Advisory> = fc.oneof(fc.record({ id, severity }), fc.record({ id, severity, publishedMs: time }));
const advisories = fc.uniqueArray(advisory, { selector: (one) => one.id, maxLength: 4 });
const scanner = fc.constantFrom('trivy', 'grype');
const report: fc.Arbitrary<ScanReport> = fc.record({ scanner, by: fc.constant('a key'), scannedMs: time, advisories });
const statement: fc.Arbitrary<VexStatement> = fc.record({
  ids: fc.array(id, { minLength: 1, maxLength: 2 }),
  status: fc.constantFrom('not_affected', 'affected', 'fixed', 'under_investigation'),
  statedMs: time,
  by: fc.constant('a maker'),
});
const evidenceOf = (reports: fc.Arbitrary<ScanReport[]>): fc.Arbitrary<Evidence> =>
  fc.record({ reports, statements: fc.array(statement, { maxLength: 2 }), problems: fc.constant([]) });
const any = evidenceOf(fc.array(report, { maxLength: 4 }));
/** With one report of each scanner, so that a report that is taken away gives its place to no older one. */
const single = evidenceOf(fc.uniqueArray(report, { selector: (one) => one.scanner }));
const caseOf = (evidence: fc.Arbitrary<Evidence>) =>
  fc.record({ level, candidate: evidence, running: fc.array(evidence, { minLength: 1, maxLength: 3 }) });

const check = <T>(arbitrary: fc.Arbitrary<T>, property: (value: T) => void) =>
  fc.assert(fc.property(arbitrary, property), { numRuns: 2_000 });

test('with one scanner, equal times and no statements, an assessment is the difference of the found vulnerabilities', () => {
  let [held, vetoed] = [0, 0];
  check(fc.record({ level, before: fc.array(advisories, { minLength: 1, maxLength: 3 }), after: advisories }), (one) => {
    const known = (found: readonly Advisory[]): Evidence => ({
      reports: [{ scanner: 'trivy', by: 'a key', scannedMs: now - hour, advisories: found.map(({ id, severity }) => ({ id, severity })) }],
      statements: [],
      problems: [],
    });
    const severe = (all: readonly Advisory[]) => all.filter((found) => isAtLeast(found.severity, one.level));
    const without = (all: readonly Advisory[], others: readonly Advisory[]) => all.filter((a) => !others.some((b) => a.id === b.id));
    const isFix = one.before.some((before) => severe(without(before, one.after)).length > 0);
    const isWorse = one.before.some((before) => severe(without(one.after, before)).length > 0);
    const made = { level: one.level, candidate: known(one.after), running: one.before.map(known) };
    assert.equal(holds(made), isFix && !isWorse);
    const hasMore = one.before.map((before) =>
      ruleSeverities.some((from) => {
        const count = (all: readonly Advisory[]) => all.filter((found) => isAtLeast(found.severity, from)).length;
        return isAtLeast(from, one.level) && count(one.after) > count(before);
      }),
    );
    assert.deepEqual(isVetoed(made), hasMore);
    held += Number(isFix && !isWorse);
    vetoed += hasMore.filter(Boolean).length;
  });
  assert.ok(held > 50 && vetoed > 50, 'the cases are of both kinds');
});

const reported = (evidence: Evidence, index: number, add: Advisory): Evidence => ({
  ...evidence,
  reports: evidence.reports.map((one, at) =>
    at === index % evidence.reports.length ? { ...one, advisories: [...one.advisories, add] } : one,
  ),
});

test('vulnerabilities that a scanner finds in addition in the new image never make it skip a wait or pass a veto', () => {
  check(fc.tuple(caseOf(any), advisory, fc.nat()), ([one, add, index]) => {
    const worse = { ...one, candidate: reported(one.candidate, index, add) };
    if (holds(worse)) assert.ok(holds(one));
    for (const [at, veto] of isVetoed(one).entries()) if (veto) assert.ok(isVetoed(worse)[at]);
  });
});

test('a statement that the new image is affected never makes it skip a wait or pass a veto', () => {
  const status = fc.constantFrom('affected' as const, 'under_investigation' as const);
  check(fc.tuple(caseOf(any), statement, status), ([one, added, status]) => {
    const worse = { ...one, candidate: { ...one.candidate, statements: [...one.candidate.statements, { ...added, status }] } };
    if (holds(worse)) assert.ok(holds(one));
    for (const [at, veto] of isVetoed(one).entries()) if (veto) assert.ok(isVetoed(worse)[at]);
  });
});

test('a report about the new image that is too old or from the future never makes it skip a wait', () => {
  const uncounted = report.filter(({ scannedMs }) => scannedMs < now - 168 * hour || scannedMs > now + hour);
  check(fc.tuple(caseOf(any), uncounted), ([one, added]) => {
    if (holds({ ...one, candidate: { ...one.candidate, reports: [...one.candidate.reports, added] } })) assert.ok(holds(one));
  });
});

test('removing the reports of a scanner about a running image makes no new image skip a wait', () => {
  check(fc.tuple(caseOf(single), scanner, fc.nat()), ([one, scanner, index]) => {
    const running = one.running.map((evidence, at) =>
      at === index % one.running.length
        ? { ...evidence, reports: evidence.reports.filter((report) => report.scanner !== scanner) }
        : evidence,
    );
    if (holds({ ...one, running })) assert.ok(holds(one));
  });
});

test('removing the reports of a scanner about the new image makes it skip a wait only if they had found something', () => {
  check(fc.tuple(caseOf(single), scanner), ([one, scanner]) => {
    const taken = one.candidate.reports.filter((report) => report.scanner === scanner);
    if (taken.some(({ advisories }) => advisories.length > 0)) return;
    const candidate = { ...one.candidate, reports: one.candidate.reports.filter((report) => !taken.includes(report)) };
    if (holds({ ...one, candidate })) assert.ok(holds(one));
  });
});
