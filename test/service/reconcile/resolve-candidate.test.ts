import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WaitError } from '../../../src/core/model/errors.ts';
import { resolveCandidate, type Hint } from '../../../src/service/reconcile/resolve-tag.ts';
import { digestOf, web } from '../../core/model/samples.ts';

const [before, announced] = [digestOf('a'), digestOf('b')];

interface Case {
  readonly hint?: Hint;
  readonly announced?: boolean;
  /** What the registry answers, one after the other; the last one for ever. */
  readonly answers: (string | undefined)[];
  /** What the clock shows, one look after the other; the last one for ever. */
  readonly clock?: number[];
  readonly signal?: AbortSignal;
}

async function resolve({ hint = { tag: '1.3.0', digest: announced }, announced: isAnnounced = true, answers, clock = [0], signal }: Case) {
  let requests = 0;
  let looks = 0;
  const head = async () => {
    const digest = answers[Math.min(requests++, answers.length - 1)];
    return digest === undefined ? undefined : { digest };
  };
  const elapsed = () => clock[Math.min(looks++, clock.length - 1)] ?? 0;
  const candidate = await resolveCandidate(web, hint, head, {
    announced: isAnnounced,
    signal: signal ?? new AbortController().signal,
    now: () => 0,
    elapsed,
  });
  return { digest: candidate?.digest, requests };
}

const rows: [name: string, given: Case, digest: string | undefined, requests: number][] = [
  ['what was announced is there', { answers: [announced] }, announced, 1],
  ['still the old digest, twice', { answers: [before, before, announced] }, announced, 3],
  ['not there yet', { answers: [undefined, announced] }, announced, 2],
  ['announced without a digest: any digest will do', { hint: { tag: '1.3.0' }, answers: [before] }, before, 1],
  ['announced without a digest, and not there yet', { hint: { tag: '1.3.0' }, answers: [undefined, before] }, before, 2],
  ['nobody announced it: the first answer counts', { announced: false, answers: [before] }, before, 1],
  ['nobody announced it, and it is not there', { announced: false, answers: [undefined] }, undefined, 1],
  ['ten seconds are over: the registry is believed', { answers: [before], clock: [0, 1, 10_000] }, before, 2],
  ['ten seconds are over, and it is not there', { answers: [undefined], clock: [0, 10_001] }, undefined, 1],
];

for (const [name, given, digest, requests] of rows) {
  test(`a candidate is resolved in the case "${name}"`, async () => assert.deepEqual(await resolve(given), { digest, requests }));
}

test('waiting for the registry to show a push ends when the process stops', async () => {
  const stopping = new AbortController();
  const resolving = resolve({ answers: [before], signal: stopping.signal });
  stopping.abort(new Error('the process is stopping'));
  await assert.rejects(resolving, { name: 'AbortError' });
});

for (const [name, elapsedMs, waitMs] of [
  ['the first longer pause is spent in the queue', 600, 600],
  ['the pauses in the queue double', 3_000, 3_000],
  ['the last pause ends with the patience', 9_000, 1_000],
] as const) {
  test(`waiting for the registry to show a push is postponed correctly: ${name}`, async () => {
    const at = 1_000_000;
    const patience = {
      announced: true,
      announcedAt: at - elapsedMs,
      signal: new AbortController().signal,
      now: () => at,
      elapsed: () => 0,
    };
    await assert.rejects(
      resolveCandidate(web, { tag: '1.3.0', digest: announced }, async () => ({ digest: before }), patience),
      (error) => error instanceof WaitError && error.reason === 'NotShownYet' && error.until.getTime() === at + waitMs,
    );
  });
}

test('a clock that is set while the registry is asked does not change the candidate', async () => {
  const hours = [0, 3_600_000, -3_600_000];
  const patience = { announced: true, signal: new AbortController().signal, now: () => hours.shift() ?? 0 };
  const answers = [before, before, announced];
  const head = async () => ({ digest: answers.shift() ?? '' });
  assert.deepEqual(await resolveCandidate(web, { tag: '1.3.0', digest: announced }, head, patience), { tag: '1.3.0', digest: announced });
});

test('a retry after the maximum wait uses the answer of the registry', async () => {
  const patience = { announced: true, announcedAt: 0, signal: new AbortController().signal, now: () => 10_000 };
  const candidate = await resolveCandidate(web, { tag: '1.3.0', digest: announced }, async () => ({ digest: before }), patience);
  assert.deepEqual(candidate, { tag: '1.3.0', digest: before });
});
