/** The reason of Ready is that of the condition that every view shows first, whatever the last reconcile evaluated. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decisiveCondition } from '../../../src/core/model/decisive-condition.ts';
import { nextStatus } from '../../../src/core/status/next-status.ts';
import { digestOf, policyOf } from '../model/samples.ts';
import type { Outcome, Postponement } from '../../../src/core/plan/outcome.ts';
import type { PolicyStatus } from '../../../src/core/model/policy-status.ts';
import type { Reason } from '../../../src/core/model/reasons.ts';
import {
  cause,
  conditionLines,
  minAgeOutcome,
  olderThanRunningOutcome,
  oneHourLater,
  retryingPostponement,
  stalledOutcome,
  statusAfter,
  suspendedOutcome,
  unchangedOutcome,
  writtenStatusAfter,
} from './outcomes.ts';

const blockedBy = (...reasons: Reason[]): Outcome => ({
  ...unchangedOutcome,
  blocked: reasons.map((reason) => ({ kind: 'blocked', reason, message: `by ${reason}`, changes: [] })),
});
const readyAfter = (before: PolicyStatus, result: Outcome | Postponement) => conditionLines(statusAfter(before, result) ?? before)?.[0];

test('if targets are held back for several reasons, Ready names the missing approval', () => {
  assert.equal(readyAfter({}, blockedBy('Held', 'ApprovalRequired')), 'Ready=True ApprovalRequired');
});

test('the reason of a blocked image stays the reason of Ready while an older tag, or nothing, was evaluated', () => {
  for (const reason of ['Held', 'ApprovalRequired', 'DryRun'] as const) {
    const before = writtenStatusAfter({}, blockedBy(reason));
    assert.equal(readyAfter(before, olderThanRunningOutcome), `Ready=True ${reason}`);
  }
  const approval = writtenStatusAfter({}, blockedBy('ApprovalRequired'));
  assert.equal(readyAfter(approval, retryingPostponement), 'Ready=False ApprovalRequired');
});

test('an approved image no longer waits for approval while the registry cannot be asked', () => {
  const digest = digestOf('a');
  const required = { ...blockedBy('ApprovalRequired'), selection: { candidate: { tag: '1.3.0', digest }, containers: [] } };
  const status = writtenStatusAfter({}, required);
  assert.equal(status.pendingApproval?.digest, digest);
  const policy = policyOf({ generation: 2, status, actions: { approve: `1.3.0@${digest}` } });
  const lines = conditionLines(
    nextStatus(policy, { ...retryingPostponement, reason: 'RegistryUnavailable' }, { cause, now: oneHourLater }),
  );
  assert.deepEqual(lines, ['Ready=False RegistryUnavailable', 'Reconciling=True RegistryUnavailable']);
});

test('the reason of a block is not the reason of Ready once nothing is blocked', () => {
  const before = writtenStatusAfter({}, blockedBy('DryRun'));
  assert.equal(readyAfter(before, unchangedOutcome), 'Ready=True UpToDate');
});

test('after any two reconciles, the reason of Ready is that of the decisive condition', () => {
  const results = [
    unchangedOutcome,
    olderThanRunningOutcome,
    minAgeOutcome,
    stalledOutcome,
    suspendedOutcome,
    retryingPostponement,
    blockedBy('Held'),
    blockedBy('Held', 'ApprovalRequired'),
    blockedBy('DryRun', 'Held'),
  ];
  for (const first of results)
    for (const second of results) {
      const before = writtenStatusAfter({}, first);
      const { conditions = [] } = statusAfter(before, second) ?? before;
      const ready = conditions.find(({ type }) => type === 'Ready');
      assert.equal(ready?.reason, decisiveCondition(conditions)?.reason, `${first.reason}, then ${second.reason}`);
    }
});

test('a push of an older tag does not end the retry of a policy that has selected nothing yet', () => {
  const before = writtenStatusAfter({}, { ...retryingPostponement, reason: 'RegistryUnavailable' });
  const status = nextStatus(policyOf({ generation: 2, status: before }), olderThanRunningOutcome, {
    cause: { ...cause, isHinted: true },
    now: oneHourLater,
  });
  assert.deepEqual(conditionLines(status), ['Ready=False RegistryUnavailable', 'Reconciling=True RegistryUnavailable']);
});
