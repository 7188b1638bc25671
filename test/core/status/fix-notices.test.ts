/** When a fix that waits is reported, and when it is not again. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Assessment } from '../../../src/core/model/assessment.ts';
import type { PolicyStatus } from '../../../src/core/model/policy-status.ts';
import { policyNotices } from '../../../src/core/status/policy-notices.ts';
import { assessmentOf, containerOf, running, vulnerabilities } from '../model/assessments.ts';
import { digestOf, policyOf } from '../model/samples.ts';

const now = '2026-11-29T12:00:00.000Z';
const until = '2026-12-06T12:00:00Z';
const policy = policyOf();
/** A status in which an image waits. */
const waits = (assessed: Assessment, reason = 'MinAge'): PolicyStatus => ({
  vulnerabilities: [assessed],
  targets: [containerOf()],
  targetCounts: { total: 1, upToDate: 0, problems: 0 },
  waiting: { tag: assessed.tag, digest: assessed.digest, until, reason },
  conditions: [
    {
      type: 'Reconciling',
      status: 'True',
      reason,
      message: `${assessed.tag} waits until ${until}`,
      lastTransitionTime: '2026-11-29T12:00:00Z',
    },
  ],
});
const assessed = assessmentOf();
const high = assessmentOf({ fixes: vulnerabilities('CVE-2026-2 High') });
const noticesOf = (before: PolicyStatus, after: PolicyStatus) =>
  policyNotices(policy, { before, after }, now).filter(({ notice }) => notice.kind === 'FixAvailable');
const count = (before: PolicyStatus, after: PolicyStatus) => noticesOf(before, after).length;

describe('a fix that waits', () => {
  it('is reported with what runs, what it fixes, and what it waits for', () => {
    const [found] = noticesOf({}, waits(assessed));
    assert.deepEqual(found?.notice, {
      kind: 'FixAvailable',
      subject: { kind: 'ImagePolicy', namespace: 'shop', name: 'web', uid: policy.uid },
      at: now,
      tag: '1.4.2',
      digest: digestOf('b'),
      from: [running],
      fixes: [{ id: 'CVE-2026-1', severity: 'Critical' }],
      reason: 'MinAge',
      message: `${running} has CVE-2026-1 (Critical), which 1.4.2 fixes: 1.4.2 waits until ${until}`,
    });
  });

  it('is reported when the evidence comes later than the wait', () =>
    assert.equal(count({ ...waits(assessed), vulnerabilities: [assessmentOf({ fixes: [] })] }, waits(assessed)), 1));

  it('is not reported again while it waits, even if it waits for something else', () => {
    assert.equal(count(waits(assessed), waits(assessed)), 0);
    assert.equal(count(waits(assessed), waits(assessed, 'Window')), 0);
    assert.equal(count(waits(assessed), { ...waits(assessed), waiting: { ...waits(assessed).waiting!, until: now } }), 0);
  });

  it('is reported again for a more severe vulnerability, and not for a less severe one', () => {
    const both = assessmentOf({ fixes: vulnerabilities('CVE-2026-2 High', 'CVE-2026-1 Critical') });
    assert.equal(count(waits(high), waits(both)), 1);
    assert.equal(count(waits(both), waits(high)), 0);
    assert.equal(count(waits(high), waits(assessmentOf({ fixes: vulnerabilities('CVE-2026-2 High', 'CVE-2026-3 High') }))), 0);
  });

  it('is reported for each image', () => {
    const next = assessmentOf({}, { tag: '1.4.3', digest: digestOf('c') });
    assert.equal(count(waits(assessed), waits(next)), 1);
    const identities = [waits(assessed), waits(next), waits(high)].map((after) => JSON.stringify(noticesOf({}, after)[0]?.identity));
    assert.equal(new Set(identities).size, 3);
  });

  it('is not reported if it is applied at once, or while it is rolled out', () => {
    const applied: PolicyStatus = {
      vulnerabilities: [assessed],
      targets: [containerOf({ image: 'registry.example.com/shop/web:1.4.2', state: 'UpToDate' })],
      targetCounts: { total: 1, upToDate: 1, problems: 0 },
      conditions: [{ type: 'Ready', status: 'True', reason: 'UpToDate', message: '', lastTransitionTime: now }],
    };
    assert.equal(count({}, applied), 0);
    assert.equal(count(waits(assessed), applied), 0);
    assert.equal(count({}, waits(assessed, 'WavePending')), 0);
  });

  it('names a bounded number of vulnerabilities, whatever a status says', () => {
    const many = assessmentOf({ fixes: Array.from({ length: 50 }, (_, index) => ({ id: `CVE-${index}`, severity: 'High' as const })) });
    const [found] = noticesOf({}, waits(many));
    assert.equal(found?.notice.fixes?.length, 10);
    assert.match(found?.notice.message ?? '', /and 47 more, which/);
  });
});
