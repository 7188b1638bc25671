/** What the guards `vulnerabilities` and `window` make of what is known of an image. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Assessment } from '../../../../src/core/model/assessment.ts';
import type { PolicySpec } from '../../../../src/core/model/image-policy.ts';
import { vulnerabilities } from '../../../../src/core/plan/guards/vulnerabilities.ts';
import { window } from '../../../../src/core/plan/guards/window.ts';
import { digestOf } from '../../model/samples.ts';
import { evaluateGuards, evaluatedAt, image, type Case } from './context.ts';

const cve = { id: 'CVE-2026-1', severity: 'Critical' } as const;
const running = `${image}:1.2.3`;
const assessed = (compared: Partial<Assessment['replaces'][number]>, more: Partial<Assessment> = {}): Assessment => ({
  tag: '1.3.0',
  digest: digestOf('b'),
  at: '2026-03-02T11:00:00Z',
  highest: 'Critical',
  replaces: [{ image: running, fixes: [], adds: [], ...compared }],
  ...more,
});
const worse = assessed({ adds: [cve], more: { severity: 'Critical', count: 1, running: 0 } });
const unknown = assessed({ unknown: 'nothing reports its vulnerabilities' });
const fix = assessed({ fixes: [cve] });
const spec = {
  vulnerabilities: { harbor: true, trivyOperator: false, maxAgeMs: 1_000, notMoreThanRunning: 'High' },
} satisfies Partial<PolicySpec>;
const selectedAt = (selected: string): Case => ({ status: { latest: { tag: '1.3.0', digest: digestOf('b'), selectedAt: selected } } });
const veto = (assessments: readonly Assessment[] | undefined, more: Case = {}) =>
  evaluateGuards({ spec, ...more, context: assessments === undefined ? {} : { assessments } }, vulnerabilities);

describe('the guard vulnerabilities', () => {
  it('lets an image pass that is no worse than what runs, and every image if the policy does not ask for a comparison', () => {
    assert.deepEqual(veto([fix]).changed, ['web']);
    assert.deepEqual(veto([worse], { spec: {} }).changed, ['web']);
    assert.deepEqual(veto(undefined, { spec: {} }).changed, ['web']);
  });

  it('blocks a worse image, except for containers whose running image is known to be no better', () => {
    const { blocked, changed } = veto([worse], { other: { image: `${image}:1.2.2` } });
    assert.equal(blocked?.kind, 'blocked');
    assert.equal(blocked.reason, 'MoreVulnerable');
    assert.deepEqual(changed, [], 'the other one was not compared');
    const both = { ...worse, replaces: [...worse.replaces, { image: `${image}:1.2.2`, fixes: [], adds: [] }] };
    assert.deepEqual(veto([both], { other: { image: `${image}:1.2.2` } }).changed, ['other']);
  });

  it('does not use what is known of another digest', () => {
    assert.equal(veto([{ ...fix, digest: digestOf('c') }]).blocked?.reason, 'VulnerabilitiesUnknown');
    assert.equal(veto(undefined).blocked?.reason, 'VulnerabilitiesUnknown');
  });

  it('waits up to an hour for evidence about an image, less and less often, and then blocks the image', () => {
    const until = (seen: string) => veto([unknown], selectedAt(seen)).until;
    assert.equal(veto([unknown]).until, '2026-03-02T12:00:15.000Z', 'an image that was never seen');
    assert.equal(until('2026-03-02T12:00:00Z'), '2026-03-02T12:00:15.000Z');
    assert.equal(until('2026-03-02T11:50:00Z'), '2026-03-02T12:06:00.000Z');
    assert.equal(until('2026-03-02T13:50:00Z'), '2026-03-02T12:00:15.000Z', 'another clock was ahead');
    const { blocked } = veto([unknown], selectedAt('2026-03-02T11:00:00Z'));
    assert.deepEqual([blocked?.kind, blocked?.reason], ['blocked', 'VulnerabilitiesUnknown']);
  });

  it('lets an image pass that was released after its selection, now or at the time of the release, but not before it', () => {
    const released = (release: string, found = worse) => veto([found], { ...selectedAt('2026-03-02T11:30:00Z'), actions: { release } });
    for (const found of [worse, unknown]) {
      assert.deepEqual(released('2026-03-02T11:40:00Z', found).changed, ['web']);
      assert.deepEqual(released('2026-03-02T11:20:00Z', found).changed, []);
    }
    assert.equal(released('2026-03-02T13:00:00Z').until, '2026-03-02T13:00:00.000Z');
    assert.equal(veto([worse], { actions: { release: evaluatedAt.toISOString() } }).blocked?.reason, 'MoreVulnerable', 'selected just now');
  });
});

describe('a closed window', () => {
  const closed = { windows: [{ from: '20:00', to: '22:00', timeZone: 'UTC' }] };
  const at = (assessments: readonly Assessment[], windowsUnless?: PolicySpec['windowsUnless']) =>
    evaluateGuards({ spec: { ...closed, ...(windowsUnless && { windowsUnless }) }, context: { assessments } }, window);

  it('does not delay a fix, where the policy says so', () => {
    assert.deepEqual(at([fix], { fixes: 'Critical' }).changed, ['web']);
    assert.deepEqual(at([fix]).changed, []);
  });

  it('delays an image that is no fix, and the message says why it is none', () => {
    const { blocked, until } = at([unknown], { fixes: 'Critical' });
    assert.equal(until, '2026-03-02T20:00:00.000Z');
    assert.match(blocked?.message ?? '', /opens: 2026-03-02T20:00:00Z\. It does not skip that wait: .*nothing reports its vulnerabilities/);
    assert.doesNotMatch(at([fix]).blocked?.message ?? '', /skip/);
  });
});
