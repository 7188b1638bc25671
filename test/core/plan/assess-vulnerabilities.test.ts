import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assessVulnerabilities } from '../../../src/core/plan/assess-vulnerabilities.ts';
import { decideException, findVeto } from '../../../src/core/plan/security-rules.ts';
import { noEvidence, type Advisory, type Evidence, type ScanReport, type VexStatement } from '../../../src/core/model/vulnerabilities.ts';

const day = 86_400_000;
const now = Date.parse('2026-06-30T00:00:00Z');
const maxAgeMs = 7 * day;
const critical: Advisory = { id: 'CVE-2026-1', severity: 'Critical' };
const high: Advisory = { id: 'CVE-2026-2', severity: 'High' };

const report = (advisories: readonly Advisory[], more: Partial<ScanReport> = {}): ScanReport => ({
  scanner: 'trivy',
  by: 'the attestation by key one',
  scannedMs: now - day,
  advisories,
  ...more,
});
const known = (...reports: ScanReport[]): Evidence => ({ ...noEvidence, reports });
const state = (status: VexStatement['status'], statedMs = now - day): VexStatement => ({
  ids: [critical.id],
  status,
  statedMs,
  by: 'key one',
});

const running = 'shop/web:1.4.1';
function assess(candidate: Evidence, before: Evidence | readonly Evidence[]) {
  const all = 'reports' in before ? [before] : before;
  return assessVulnerabilities({
    candidate: { tag: '1.4.2', digest: 'sha256:new', evidence: candidate },
    running: all.map((evidence, index) => ({ image: index === 0 ? running : `${running}-${index}`, digest: `sha256:${index}`, evidence })),
    maxAgeMs,
    nowMs: now,
  });
}
const skips = (...args: Parameters<typeof assess>) => decideException({ fixes: 'Critical' }, assess(...args));
const vetoes = (...args: Parameters<typeof assess>) => findVeto('High', assess(...args), running);

test('an image that fixes a vulnerability of the demanded severity and adds none skips a wait, and the reason names the fix', () => {
  const found = skips(known(report([high])), known(report([critical, high])));
  assert.deepEqual(found, { holds: true, why: 'it fixes CVE-2026-1 (Critical)' });
  assert.equal(decideException({ fixes: 'High' }, assess(known(report([])), known(report([high])))).holds, true);
});

test('an image that is not shown to be a fix does not skip a wait', () => {
  const bad = known(report([critical]));
  const cases: Readonly<Record<string, readonly [Evidence, Evidence | readonly Evidence[], RegExp]>> = {
    'no evidence': [noEvidence, bad, /nothing reports its vulnerabilities/],
    'evidence that does not count': [{ ...noEvidence, problems: ['an attestation is not signed by an accepted key'] }, bad, /not signed/],
    'nothing known of the running image': [known(report([])), noEvidence, /cannot be compared with shop\/web:1\.4\.1: nothing reports/],
    'another scanner': [known(report([], { scanner: 'grype' })), bad, /it was scanned by trivy, and the new image by grype/],
    'a scan that is too old': [
      known(report([], { scannedMs: now - 8 * day })),
      known(report([critical], { scannedMs: now - 9 * day })),
      /older than 168h/,
    ],
    'a scan of the future': [known(report([], { scannedMs: now + day })), bad, /in the future/],
    'another scanner that contradicts': [known(report([]), report([critical], { scanner: 'grype' })), bad, /fixes no vulnerability/],
    'a scan before the running image was found to be affected': [
      known(report([], { scannedMs: now - 2 * day })),
      known(report([critical], { scannedMs: now - day })),
      /fixes no vulnerability/,
    ],
    'a less severe one': [known(report([])), known(report([high])), /fixes no vulnerability that is Critical/],
    'another one in its place': [known(report([{ ...critical, id: 'CVE-2026-3' }])), bad, /it adds CVE-2026-3 \(Critical\)/],
    'a running image that its maker states not to be affected': [
      known(report([])),
      { ...bad, statements: [state('not_affected')] },
      /fixes no/,
    ],
    'a new image whose maker states that it is affected': [{ ...known(report([])), statements: [state('affected')] }, bad, /fixes no/],
    'one that was published after the scan of the running image': [
      known(report([{ ...critical, id: 'CVE-2026-3', publishedMs: now - 2 * day }])),
      known(report([critical], { scannedMs: now - 3 * day })),
      /it may add CVE-2026-3 \(Critical\), for which shop\/web:1\.4\.1 was not scanned/,
    ],
    'one that a scanner found that has not scanned the running image': [
      known(report([]), report([{ ...critical, id: 'CVE-2026-3' }], { scanner: 'grype' })),
      bad,
      /it may add CVE-2026-3/,
    ],
    'another scanner that contradicted it too long ago': [
      known(report([]), report([critical], { scanner: 'grype', scannedMs: now - 8 * day })),
      bad,
      /fixes no vulnerability/,
    ],
    'a second running image to which it adds one': [
      known(report([{ ...critical, id: 'CVE-2026-3' }])),
      [known(report([critical, { ...critical, id: 'CVE-2026-3' }])), known(report([]))],
      /it adds CVE-2026-3/,
    ],
  };
  for (const [what, [candidate, before, why]] of Object.entries(cases)) {
    const found = skips(candidate, before);
    assert.equal(found.holds, false, what);
    assert.match(found.why, why, what);
  }
  assert.match(decideException({ fixes: 'Critical' }, undefined).why, /not assessed yet/);
});

test('an older scan of the new image counts for vulnerabilities that were published long before the scan', () => {
  const published = (publishedMs: number) => known(report([{ ...critical, publishedMs }], { scannedMs: now - day }));
  const candidate = known(report([], { scannedMs: now - 2 * day }));
  assert.equal(skips(candidate, published(now - 5 * day)).holds, true);
  assert.equal(skips(candidate, published(now - 3 * day)).holds, false, 'a scanner may not have known of it yet');
});

test('the newest report of a scanner counts, and the last statement of a maker', () => {
  const older = report([], { scannedMs: now - 3 * day });
  assert.equal(skips(known(report([critical]), older), known(report([critical]))).holds, false);
  assert.equal(
    skips(known(report([critical]), report([])), known(report([critical]))).holds,
    false,
    'two reports of the same time contradict',
  );
  const fixed = { ...known(report([critical])), statements: [state('affected', now - 3 * day), state('fixed')] };
  assert.equal(skips(fixed, known(report([critical]))).holds, true);
  const taken = { ...known(report([critical])), statements: [state('fixed', now - 3 * day), state('affected')] };
  assert.equal(skips(taken, known(report([critical]))).holds, false);
});

test('a vulnerability on which two reports disagree counts as the more severe, and as published at an unknown time', () => {
  const medium = report([{ ...high, id: 'CVE-2026-4', severity: 'Medium' }], { scannedMs: now - 2 * day });
  const later = report([{ ...high, id: 'CVE-2026-4', publishedMs: now }], { scannedMs: now - 2 * day });
  const running = known(report([], { scannedMs: now - 2 * day }));
  assert.match(vetoes(known(medium, later), running)?.message ?? '', /it adds CVE-2026-4 \(High\)/);
  assert.deepEqual(vetoes(known(later, medium), running), vetoes(known(medium, later), running));
});

test('an image with more vulnerabilities than the running one is vetoed, whatever their ids', () => {
  const three = known(report([high, { ...high, id: 'CVE-2026-4' }]));
  const found = vetoes(three, known(report([high])));
  assert.deepEqual(found, {
    isUnknown: false,
    message: 'it has 2 vulnerabilities that are High or above, and shop/web:1.4.1 has 1: it adds CVE-2026-4 (High)',
  });
  assert.equal(vetoes(known(report([{ ...high, id: 'CVE-2026-4' }])), known(report([high]))), undefined);
  assert.match(vetoes(known(report([critical])), known(report([high])))?.message ?? '', /it has 1 vulnerability that is Critical/);
  assert.equal(vetoes(known(report([{ ...high, severity: 'Medium' }])), known(report([]))), undefined);
});

test('an image without evidence is vetoed until there is some, and one without severe vulnerabilities needs no comparison', () => {
  assert.deepEqual(vetoes(noEvidence, noEvidence), { isUnknown: true, message: 'nothing reports its vulnerabilities' });
  assert.equal(vetoes(known(report([])), noEvidence), undefined);
  assert.equal(vetoes(known(report([high])), noEvidence)?.isUnknown, true);
  assert.equal(findVeto('High', assess(known(report([high])), known(report([high]))), 'shop/other:1')?.isUnknown, true);
});

test('a vulnerability that was published after the scan of the running image does not count against the new image', () => {
  const since = { ...high, publishedMs: now - 2 * day };
  const old = (advisories: readonly Advisory[]) => known(report(advisories, { scannedMs: now - 60 * day }));
  assert.equal(vetoes(known(report([since])), old([])), undefined);
  assert.equal(vetoes(known(report([{ ...high, publishedMs: now - 90 * day }])), old([]))?.isUnknown, false);
});

test('an assessment is cut to the limits of the status, with the most severe vulnerabilities first', () => {
  const many = Array.from({ length: 50 }, (_, index): Advisory => ({
    id: `CVE-2026-${index}`,
    severity: index === 49 ? 'Critical' : 'Low',
  }));
  const { replaces, unlisted } = assess(
    known(report([])),
    Array.from({ length: 9 }, () => known(report(many))),
  );
  assert.equal(replaces.length, 5);
  assert.equal(unlisted, true);
  assert.equal(replaces[0]?.fixes.length, 10);
  assert.equal(replaces[0]?.fixes[0]?.severity, 'Critical');
});
