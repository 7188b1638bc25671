import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Candidate } from '../../../src/core/model/image-reference.ts';
import { decidePending, type PendingCandidate, type PendingInput } from '../../../src/core/plan/pending-candidate.ts';
import { appliedOnce, digestOf } from '../model/samples.ts';

const now = Date.parse('2026-03-01T12:00:00Z');
const minute = 60_000;
const minutesFromNow = (minutes: number) => new Date(now + minutes * minute).toISOString().replace('.000Z', 'Z');

/** An image of the policy, whose age has to be 30 minutes. */
const a: Candidate = { tag: '1.4.0', digest: digestOf('a') };
const b: Candidate = { tag: '1.5.0', digest: digestOf('b') };
const pendingSince = (image: Candidate, minutesAgo: number): PendingCandidate => ({
  ...image,
  since: minutesFromNow(-minutesAgo),
  until: minutesFromNow(30 - minutesAgo),
  reason: 'MinAge',
});

/** How a look at `candidate` ends where `wanted` would change something. */
function takeTurn(candidate: Candidate, wanted: Candidate[], input: Partial<PendingInput> = {}) {
  const isWanted = ({ tag }: Candidate) => wanted.some((image) => image.tag === tag);
  const status = { ...(input.pending && { waiting: input.pending }), ...input.status };
  return decidePending({ minAgeMs: 30 * minute, candidate, isWanted, now, ...input, status });
}

test('a candidate that was never seen waits from now on', () => assert.deepEqual(takeTurn(a, [a]), { next: pendingSince(a, 0) }));

test('a candidate that would change nothing does not wait', () => assert.deepEqual(takeTurn(a, []), { apply: a }));

test('a young candidate continues to wait from when it was first seen', () => {
  assert.deepEqual(takeTurn(a, [a], { pending: pendingSince(a, 10) }), { next: pendingSince(a, 10) });
});

test('a candidate that is old enough is applied', () => assert.deepEqual(takeTurn(a, [a], { pending: pendingSince(a, 30) }), { apply: a }));

test('a pending candidate stays pending, whatever newer one arrives', () => {
  assert.deepEqual(takeTurn(b, [a, b], { pending: pendingSince(a, 29) }), { next: pendingSince(a, 29) });
});

test('a pending candidate of which only the digest is to be written makes way for a newer one, unless it is old enough', () => {
  const onlyPins = ({ tag }: Candidate) => tag === a.tag;
  assert.deepEqual(takeTurn(b, [a, b], { pending: pendingSince(a, 29), onlyPins }), { next: pendingSince(b, 0) });
  assert.deepEqual(takeTurn(b, [a, b], { pending: pendingSince(a, 30), onlyPins }), { apply: a, next: pendingSince(b, 0) });
  assert.deepEqual(takeTurn(a, [a], { pending: pendingSince(a, 29), onlyPins }), { next: pendingSince(a, 29) });
});

test('when the pending candidate was applied, the newer one starts to wait', () => {
  assert.deepEqual(takeTurn(b, [a, b], { pending: pendingSince(a, 30) }), { apply: a, next: pendingSince(b, 0) });
});

test('a push of an image older than the running one applies a due candidate, and keeps one that is not due', () => {
  assert.deepEqual(takeTurn(b, [a], { pending: pendingSince(a, 31) }), { apply: a });
  assert.deepEqual(takeTurn(b, [a], { pending: pendingSince(a, 5) }), { apply: b, next: pendingSince(a, 5) });
});

test('a candidate that was superseded or no longer changes anything does not delay another one', () => {
  assert.deepEqual(takeTurn(b, [a, b], { status: { waiting: pendingSince(a, 29) } }), { next: pendingSince(b, 0) });
  assert.deepEqual(takeTurn(b, [b], { pending: pendingSince(a, 29) }), { next: pendingSince(b, 0) });
});

test('the same tag with another digest is another image', () => {
  assert.deepEqual(takeTurn(b, [b], { status: { waiting: { ...pendingSince(b, 29), digest: digestOf('c') } } }), {
    next: pendingSince(b, 0),
  });
});

test('an image that was selected or ran before is not young again', () => {
  const latest = { ...a, selectedAt: minutesFromNow(-60) };
  assert.deepEqual(takeTurn(a, [a], { status: { latest } }), { apply: a });
  const history = appliedOnce('1.4.0').map((entry) => ({ ...entry, digest: digestOf('a'), at: minutesFromNow(-60) }));
  assert.deepEqual(takeTurn(a, [a], { status: { history } }), { apply: a });
  assert.deepEqual(takeTurn(a, [a, b], { pending: pendingSince(b, 5), status: { history, waiting: pendingSince(b, 5) } }), {
    apply: a,
    next: pendingSince(b, 5),
  });
});

test('a changed minAge counts from when the candidate was first seen', () => {
  assert.deepEqual(takeTurn(a, [a], { pending: pendingSince(a, 10), minAgeMs: 10 * minute }), { apply: a });
  assert.deepEqual(takeTurn(a, [a], { pending: pendingSince(a, 40), minAgeMs: 60 * minute }).next?.until, minutesFromNow(20));
});

test('a status without the time of the first sight starts the wait again', () => {
  const { since: _, ...waiting } = pendingSince(a, 10);
  assert.deepEqual(takeTurn(a, [a], { pending: waiting }), { next: pendingSince(a, 10) });
});

test('a wait for another reason does not count as the first sight', () => {
  const { since: _, ...waiting } = pendingSince(a, 29);
  assert.deepEqual(takeTurn(a, [a], { status: { waiting: { ...waiting, reason: 'NotSigned' } } }), { next: pendingSince(a, 0) });
});

test('a candidate is never applied early, although times in a status have whole seconds', () => {
  const { next } = takeTurn(a, [a], { now: now + 1 });
  assert.deepEqual([next?.since, next?.until], ['2026-03-01T12:00:01Z', '2026-03-01T12:30:01Z']);
});

test('something is applied every minAge, however often somebody pushes', () => {
  let waiting: PendingCandidate | undefined;
  let running = 0;
  const applied: number[] = [];
  for (let pushed = 1; pushed <= 120; pushed++) {
    const isWanted = ({ tag }: Candidate) => Number(tag) > running;
    const { apply, next } = decidePending({
      minAgeMs: 30 * minute,
      candidate: { tag: String(pushed), digest: `sha256:${pushed}` },
      ...(waiting && { pending: waiting }),
      status: { ...(waiting && { waiting }) },
      isWanted,
      now: now + pushed * minute,
    });
    if (apply !== undefined && isWanted(apply)) applied.push((running = Number(apply.tag)));
    waiting = next;
  }
  assert.deepEqual(applied, [1, 31, 61]);
});

test('an image for which the policy makes an exception is applied at once, whether it is pushed or pending', () => {
  const isExempt = (which: Candidate) => (image: Candidate) => image.tag === which.tag;
  assert.deepEqual(takeTurn(a, [a], { isExempt: isExempt(a) }), { apply: a, isEarly: true });
  assert.deepEqual(takeTurn(a, [a], { isExempt: isExempt(a), pending: pendingSince(a, 10) }), { apply: a, isEarly: true });
  const pending = pendingSince(a, 10);
  assert.deepEqual(takeTurn(b, [a, b], { isExempt: isExempt(a), pending }), { apply: a, isEarly: true, next: pendingSince(b, 0) });
  assert.deepEqual(takeTurn(b, [a, b], { isExempt: isExempt(b), pending }), { apply: b, isEarly: true, next: pending });
  assert.deepEqual(takeTurn(b, [a], { isExempt: isExempt(a), pending }), { apply: a, isEarly: true });
});

test('an image that is old enough is not applied early, and one that would change nothing is not applied because of an exception', () => {
  assert.deepEqual(takeTurn(a, [a], { isExempt: () => true, pending: pendingSince(a, 30) }), { apply: a });
  assert.deepEqual(takeTurn(a, [], { isExempt: () => true }), { apply: a });
});

/** A minute: a push of an image that is newer than all others, or of an older one, and which images have an exception from then on. */
const turn = fc.record({ pushes: fc.option(fc.integer({ min: 1, max: 40 })), isExempt: fc.boolean() });

/** Plays the minutes; the registry selects its newest image. */
function play(turns: readonly { readonly pushes: number | null; readonly isExempt: boolean }[], withExceptions: boolean) {
  let waiting: PendingCandidate | undefined;
  let running = 0;
  let newest = 0;
  const exempt = new Set<number>();
  const seen = new Map<number, number>();
  return turns.map(({ pushes, isExempt }, minutes) => {
    newest = Math.max(newest, pushes ?? 0);
    const number = pushes ?? newest;
    if (isExempt) exempt.add(number);
    if (!seen.has(number)) seen.set(number, minutes);
    const before = running;
    const isWanted = ({ tag }: Candidate) => Number(tag) > running;
    const reconcile = (candidate: number) => {
      const { apply, next } = decidePending({
        minAgeMs: 5 * minute,
        candidate: { tag: String(candidate), digest: `sha256:${candidate}` },
        ...(waiting && { pending: waiting }),
        status: { ...(waiting && { waiting }) },
        isWanted,
        ...(withExceptions && { isExempt: ({ tag }: Candidate) => exempt.has(Number(tag)) }),
        now: now + minutes * minute,
      });
      if (apply !== undefined && isWanted(apply)) running = Number(apply.tag);
      waiting = next !== undefined && isWanted(next) ? next : undefined;
    };
    reconcile(number);
    // The job of a wait that is over.
    if (waiting !== undefined && Date.parse(waiting.until) <= now + minutes * minute) reconcile(newest);
    return { before, running, number, isExempt: exempt.has(number), waitsFor: waiting?.tag, since: waiting?.since };
  });
}

test('without evidence nothing changes, whatever exceptions a policy would make', () => {
  const none = fc.array(
    turn.map((one) => ({ ...one, isExempt: false })),
    { maxLength: 30 },
  );
  fc.assert(fc.property(none, (turns) => assert.deepEqual(play(turns, true), play(turns, false))));
});

test('with exceptions, no older image replaces a newer one, a fix runs at once or something newer does, and nothing waits longer', () => {
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 30 }), (turns) => {
      for (const [minutes, step] of play(turns, true).entries()) {
        assert.ok(step.running >= step.before);
        if (step.isExempt) assert.ok(step.running >= step.number || step.running > step.before, 'a pushed fix waits');
        if (step.since !== undefined)
          assert.ok(now + minutes * minute - Date.parse(step.since) <= 5 * minute, 'it waits longer than its age');
      }
    }),
  );
});
