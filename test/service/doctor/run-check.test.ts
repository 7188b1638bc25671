import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Check, ok } from '../../../src/service/doctor/finding.ts';
import { say } from '../../../src/service/doctor/say.ts';
import { runCheck } from '../../../src/service/doctor/run-check.ts';

const check: Check<string | undefined> = { id: 'a', lines: ['b'], evaluate: (facts) => [ok('a/b', `found ${facts}`)] };

test('a check of the doctor gives its findings, or the reason why it was skipped', async () => {
  assert.deepEqual(await runCheck(check, 60_000, () => Promise.resolve('x')), [ok('a/b', 'found x')]);
  assert.deepEqual(await runCheck(check, 60_000, () => Promise.resolve(undefined)), [ok('a/b', 'found undefined')]);
  const skipped = { line: 'a/b', level: 'skipped' } as const;
  assert.deepEqual(await runCheck(check, 60_000, () => Promise.reject(new Error('refused'))), [{ ...skipped, message: 'refused' }]);
  assert.deepEqual(await runCheck(check, 20, () => new Promise(() => undefined)), [
    { ...skipped, message: 'no answer within 0.02 s', said: say('noAnswer', 0.02) },
  ]);
});
