import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decisiveCondition, resultCondition } from '../../../src/core/model/decisive-condition.ts';

const condition = (type: string, reason: string, status: 'True' | 'False' | 'Unknown' = 'True') => ({ type, status, reason });

for (const [decisive, result, ...conditions] of [
  [undefined, undefined],
  ['UpToDate', 'UpToDate', condition('Ready', 'UpToDate')],
  ['UpToDate', 'UpToDate', condition('TagGone', 'TagGone'), condition('CrossNamespace', 'NoConsent'), condition('Ready', 'UpToDate')],
  ['Held', 'UpToDate', condition('Ready', 'UpToDate'), condition('Held', 'Held')],
  ['Window', 'Window', condition('Held', 'Held'), condition('Ready', 'Window', 'False'), condition('Reconciling', 'Window')],
  [
    'Held',
    'Progressing',
    condition('Ready', 'Progressing', 'False'),
    condition('Held', 'Held'),
    condition('Reconciling', 'Progressing', 'False'),
  ],
  ['ApprovalRequired', 'Progressing', condition('Reconciling', 'Progressing'), condition('ApprovalRequired', 'ApprovalRequired')],
  ['NotSigned', 'NotSigned', condition('ApprovalRequired', 'ApprovalRequired'), condition('Stalled', 'NotSigned')],
  ['Suspended', 'Suspended', condition('Held', 'RolloutFailed'), condition('Ready', 'Suspended')],
] as const) {
  test(`of ${conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`).join(', ') || 'no condition'}, ${decisive} is decisive`, () => {
    assert.equal(decisiveCondition(conditions)?.reason, decisive);
    assert.equal(resultCondition(conditions)?.reason, result);
  });
}
