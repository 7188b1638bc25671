import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Outcome } from '../../../src/core/plan/outcome.ts';
import { withAnswers } from '../../../src/core/status/next-actions.ts';

const refused: Outcome = { kind: 'unchanged', reason: 'NoEarlierImage', message: 'nothing was rolled back: all targets run 1.2.3 already' };

test('a rollback that changed nothing is answered with the reason, which the next rollback that is done removes', () => {
  const answered = withAnswers({}, { rollback: '1.2.3' }, refused);
  assert.deepEqual(answered, { lastHandledRollback: '1.2.3', lastRollbackProblem: refused.message });
  for (const done of [
    { kind: 'updated', reason: 'Updated', message: 'changed', changes: [] },
    // An earlier try of the same rollback has made the changes.
    { kind: 'unchanged', reason: 'UpToDate', message: 'already runs 1.2.2' },
  ] satisfies Outcome[])
    assert.deepEqual(withAnswers(answered, { rollback: '1.2.2' }, done), { lastHandledRollback: '1.2.2' });
});

test('a reconcile that answers no rollback keeps what became of the last one', () => {
  const status = { lastHandledRollback: '1.2.3', lastRollbackProblem: refused.message };
  assert.deepEqual(withAnswers(status, { request: 'now' }, refused), { ...status, lastHandledRequest: 'now' });
});
