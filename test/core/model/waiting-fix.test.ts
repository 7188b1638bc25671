/** Which fixes wait, and for what. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PolicySpec } from '../../../src/core/model/image-policy.ts';
import type { Condition, PolicyStatus } from '../../../src/core/model/policy-status.ts';
import { describeFix, waitingFixOf } from '../../../src/core/model/waiting-fix.ts';
import { assessmentOf, containerOf, running, vulnerabilities } from './assessments.ts';
import { digestOf, specOf } from './samples.ts';

const until = '2026-12-06T12:00:00Z';
const condition = (type: string, reason: string, message = `${reason}!`): Condition => ({
  type,
  status: 'True',
  reason,
  message,
  lastTransitionTime: '2026-11-29T12:00:00Z',
});
const image = { tag: '1.4.2', digest: digestOf('b') };
const waits = (reason: string): PolicyStatus => ({
  waiting: { ...image, until, reason },
  conditions: [condition('Reconciling', reason)],
});
const kept: PolicyStatus = { targets: [containerOf()], targetCounts: { total: 1, upToDate: 0, problems: 0 } };
const found = (status: PolicyStatus, spec?: Partial<PolicySpec>, assessed = assessmentOf()) => {
  const fix = waitingFixOf({ spec: specOf(spec), status: { vulnerabilities: [assessed], ...kept, ...status } });
  return fix && `${fix.fixes.map(({ id }) => id).join()} ${fix.wait.reason} ${fix.wait.until ?? ''}`.trim();
};

const states: Readonly<Record<string, readonly [PolicyStatus, string | undefined, Partial<PolicySpec>?]>> = {
  'its age': [waits('MinAge'), `CVE-2026-1 MinAge ${until}`],
  'a window': [waits('Window'), `CVE-2026-1 Window ${until}`],
  'other policies': [waits('NotProven'), `CVE-2026-1 NotProven ${until}`],
  'a release, which no time ends': [waits('RetriesExhausted'), 'CVE-2026-1 RetriesExhausted'],
  approval: [{ pendingApproval: image, conditions: [condition('ApprovalRequired', 'ApprovalRequired')] }, 'CVE-2026-1 ApprovalRequired'],
  'approval of its set': [
    {
      pendingApproval: {
        tag: '1.4.2',
        digest: digestOf('e'),
        images: [`registry.example.com/shop/web@${image.digest}`, `r/b@${digestOf('c')}`],
      },
      conditions: [condition('ApprovalRequired', 'ApprovalRequired')],
    },
    'CVE-2026-1 ApprovalRequired',
  ],
  'the end of a hold': [{ conditions: [condition('Ready', 'Held'), condition('Held', 'Held')] }, 'CVE-2026-1 Held'],
  'somebody who rejected it': [{ conditions: [condition('Held', 'RejectedDigest')] }, 'CVE-2026-1 RejectedDigest'],
  'a signature': [{ ...waits('Window'), conditions: [condition('Stalled', 'NotSigned')] }, 'CVE-2026-1 NotSigned'],
  'nothing, as the policy only reports': [{ conditions: [condition('Ready', 'DryRun')] }, 'CVE-2026-1 DryRun', { mode: 'DryRun' }],
  'the policy, which is suspended': [waits('Window'), 'CVE-2026-1 Suspended', { suspended: true }],
  'the policy, whose status says that it is suspended': [{ conditions: [condition('Ready', 'Suspended')] }, 'CVE-2026-1 Suspended'],
  'a registry that is away, and an approval': [
    { pendingApproval: image, conditions: [condition('Reconciling', 'RegistryUnavailable')] },
    'CVE-2026-1 ApprovalRequired',
  ],
};

describe('a fix waits for', () => {
  for (const [what, [status, expected, spec]] of Object.entries(states)) it(what, () => assert.equal(found(status, spec), expected));

  it('another image that waits for its age, of which the condition speaks', () => {
    const message = `1.4.1 waits until ${until}; it does not skip that wait: it fixes no vulnerability`;
    const status = {
      waiting: { tag: '1.4.1', digest: digestOf('f'), until, reason: 'MinAge' },
      conditions: [condition('Reconciling', 'MinAge', message)],
    };
    const fix = waitingFixOf({ spec: specOf(), status: { vulnerabilities: [assessmentOf()], ...kept, ...status } });
    assert.deepEqual(fix?.wait, { reason: 'MinAge', message: `1.4.2 waits behind 1.4.1, which waits until ${until}` });
  });
});

const none: Readonly<Record<string, PolicyStatus>> = {
  'it is applied': { targets: [containerOf({ image: 'r/web:1.4.2', state: 'UpToDate' })], conditions: [condition('Ready', 'UpToDate')] },
  'it is rolled out': { conditions: [condition('Reconciling', 'Progressing')] },
  'a wave comes': waits('WavePending'),
  'an attempt is repeated': { conditions: [condition('Reconciling', 'Retrying')] },
  'the registry fails before it was decided': { conditions: [condition('Reconciling', 'RegistryUnavailable')] },
  'nothing is known of the policy': {},
  'what ran is gone': { ...waits('MinAge'), targets: [containerOf({ image: 'r/web:9' })] },
  'only a companion runs it': { ...waits('MinAge'), targets: [containerOf({ companion: true })] },
};

describe('no fix waits if', () => {
  for (const [what, status] of Object.entries(none)) it(what, () => assert.equal(found(status), undefined));

  it('its vulnerabilities are not known', () =>
    assert.equal(found(waits('MinAge'), {}, assessmentOf({ fixes: [] }, { unknown: 'nothing reports its vulnerabilities' })), undefined));
});

it('a status that does not list all containers does not hide a fix', () =>
  assert.ok(
    found({ ...waits('MinAge'), targets: [containerOf({ image: 'r/web:9' })], targetCounts: { total: 40, upToDate: 0, problems: 0 } }),
  ));

describe('the severity of a fix', () => {
  const medium = assessmentOf({ fixes: vulnerabilities('CVE-2 Medium') });
  const high = assessmentOf({ fixes: vulnerabilities('CVE-3 High') });
  const rules = { harbor: true, trivyOperator: false, maxAgeMs: 1 };
  it('is High at least', () => {
    assert.equal(found(waits('MinAge'), {}, medium), undefined);
    assert.ok(found(waits('MinAge'), {}, high));
    assert.ok(found(waits('MinAge'), { minAgeUnless: { fixes: 'Critical' } }, high));
  });
  for (const [what, spec] of Object.entries({
    minAgeUnless: { minAgeUnless: { fixes: 'Medium' } },
    windowsUnless: { windowsUnless: { fixes: 'Medium' } },
    notMoreThanRunning: { vulnerabilities: { ...rules, notMoreThanRunning: 'Low' } },
  } as const))
    it(`is lower than High if ${what} names a lower one`, () => assert.ok(found(waits('MinAge'), spec, medium)));

  it('decides which of two images is shown as the fix', () => {
    const other = assessmentOf({ fixes: vulnerabilities('CVE-9 High') }, { tag: '1.5.0', digest: digestOf('c') });
    for (const vulnerabilities of [
      [assessmentOf(), other],
      [other, assessmentOf()],
    ]) {
      const status = { ...kept, vulnerabilities, waiting: { ...image, until, reason: 'MinAge' }, conditions: [condition('Held', 'Held')] };
      assert.equal(waitingFixOf({ spec: specOf(), status })?.tag, '1.4.2');
    }
  });
});

it('the message of a waiting fix says what runs, what is fixed and added, and what the fix waits for', () => {
  const assessed = assessmentOf(
    { adds: vulnerabilities('CVE-8 High', 'CVE-9 Low') },
    {
      replaces: [
        { image: running, fixes: vulnerabilities('CVE-3 High', 'CVE-1 Critical', 'CVE-4 High', 'CVE-5 High'), adds: [] },
        { image: running, fixes: vulnerabilities('CVE-1 High'), adds: vulnerabilities('CVE-8 High', 'CVE-9 Low') },
      ],
    },
  );
  const fix = waitingFixOf({ spec: specOf(), status: { ...kept, ...waits('MinAge'), vulnerabilities: [assessed] } });
  assert.equal(
    fix && describeFix(fix),
    `${running} has CVE-1 (Critical), CVE-3 (High), CVE-4 (High) and 1 more, which 1.4.2 fixes, while it adds CVE-8 (High): MinAge!`,
  );
});

it('hidden characters in the vulnerability ids of a report are replaced by visible ones', () => {
  const assessed = assessmentOf({ fixes: [{ id: 'CVE-1\u202E\n\u200B', severity: 'Critical' }] });
  const fix = waitingFixOf({ spec: specOf(), status: { ...kept, ...waits('MinAge'), vulnerabilities: [assessed] } });
  assert.deepEqual(fix?.fixes, [{ id: 'CVE-1\uFFFD\uFFFD\uFFFD', severity: 'Critical' }]);
});
