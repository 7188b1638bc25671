import assert from 'node:assert/strict';
import { it } from 'node:test';
import { repeat } from '../../../src/core/async/repeat.ts';
import { waitFor } from '../../harness/wait-for.ts';

const hourMs = 3_600_000;
const unexpected = (error: unknown) => assert.fail(String(error));

it('repeated work is retried after failures, reports each reason once, and then returns to its interval', async () => {
  const pauses: number[] = [];
  const told: string[] = [];
  const answers = ['down', 'down', 'refused', 'refused', 'fine'];
  let calls = 0;
  const repetition = repeat(
    async () => {
      const answer = answers[calls++];
      if (answer !== 'fine') throw new Error(answer);
    },
    {
      everyMs: hourMs,
      backoffMs: (failures) => (pauses.push(failures), 1),
      onProblem: (error) => told.push((error as Error).message),
    },
  );
  await waitFor('five tries', () => calls === 5);
  assert.deepEqual(
    [pauses, told],
    [
      [0, 1, 2, 3],
      ['down', 'refused'],
    ],
  );
  await repetition.tried;
  await repetition.stop();
  assert.equal(calls, 5);
});

it('repeated work runs again soon when requested, even while it is running', async () => {
  let calls = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const repetition = repeat(() => (++calls === 1 ? promise : Promise.resolve()), {
    everyMs: hourMs,
    backoffMs: () => 1,
    onProblem: unexpected,
  });
  repetition.soon();
  resolve();
  await waitFor('the second time', () => calls === 2);
  repetition.soon();
  await waitFor('the third time', () => calls === 3);
  await repetition.stop();
});

it('stopping repeated work aborts the current run, and does not report that as a problem', async () => {
  const repetition = repeat(
    (signal) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
    { everyMs: hourMs, backoffMs: () => 1, onProblem: unexpected },
  );
  await repetition.stop();
});
