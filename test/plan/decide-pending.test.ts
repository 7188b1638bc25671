import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Candidate } from '../../src/model/image-reference.ts';
import { decidePending, type PendingCandidate, type PendingInput } from '../../src/plan/pending-candidate.ts';
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

test('what was never seen waits from now on', () => assert.deepEqual(takeTurn(a, [a]), { next: pendingSince(a, 0) }));

test('what would change nothing does not wait', () => assert.deepEqual(takeTurn(a, []), { apply: a }));

test('what is young goes on waiting, from its first sight', () => {
  assert.deepEqual(takeTurn(a, [a], { pending: pendingSince(a, 10) }), { next: pendingSince(a, 10) });
});

test('what is old enough is applied', () => assert.deepEqual(takeTurn(a, [a], { pending: pendingSince(a, 30) }), { apply: a }));

test('what waits keeps its place, whatever newer comes', () => {
  assert.deepEqual(takeTurn(b, [a, b], { pending: pendingSince(a, 29) }), { next: pendingSince(a, 29) });
});

test('when it is through, what is newer starts to wait', () => {
  assert.deepEqual(takeTurn(b, [a, b], { pending: pendingSince(a, 30) }), { apply: a, next: pendingSince(b, 0) });
});

test('a push of what is older than what runs applies what is due, and leaves what is not', () => {
  assert.deepEqual(takeTurn(b, [a], { pending: pendingSince(a, 31) }), { apply: a });
  assert.deepEqual(takeTurn(b, [a], { pending: pendingSince(a, 5) }), { apply: b, next: pendingSince(a, 5) });
});

test('what lost its place, or changes nothing any more, holds up nobody', () => {
  assert.deepEqual(takeTurn(b, [a, b], { status: { waiting: pendingSince(a, 29) } }), { next: pendingSince(b, 0) });
  assert.deepEqual(takeTurn(b, [b], { pending: pendingSince(a, 29) }), { next: pendingSince(b, 0) });
});

test('the same tag with another digest is another image', () => {
  assert.deepEqual(takeTurn(b, [b], { status: { waiting: { ...pendingSince(b, 29), digest: digestOf('c') } } }), {
    next: pendingSince(b, 0),
  });
});

test('what was selected or ran long ago is not young again', () => {
  const latest = { ...a, selectedAt: minutesFromNow(-60) };
  assert.deepEqual(takeTurn(a, [a], { status: { latest } }), { apply: a });
  const history = appliedOnce('1.4.0').map((entry) => ({ ...entry, digest: digestOf('a'), at: minutesFromNow(-60) }));
  assert.deepEqual(takeTurn(a, [a], { status: { history } }), { apply: a });
  assert.deepEqual(takeTurn(a, [a, b], { pending: pendingSince(b, 5), status: { history, waiting: pendingSince(b, 5) } }), {
    apply: a,
    next: pendingSince(b, 5),
  });
});

test('another minAge counts from the first sight, too', () => {
  assert.deepEqual(takeTurn(a, [a], { pending: pendingSince(a, 10), minAgeMs: 10 * minute }), { apply: a });
  assert.deepEqual(takeTurn(a, [a], { pending: pendingSince(a, 40), minAgeMs: 60 * minute }).next?.until, minutesFromNow(20));
});

test('the first sight in a status that does not tell it', () => {
  const { since: _, ...waiting } = pendingSince(a, 10);
  assert.deepEqual(takeTurn(a, [a], { pending: waiting }), { next: pendingSince(a, 10) });
});

test('a wait for something else is no first sight', () => {
  const { since: _, ...waiting } = pendingSince(a, 29);
  assert.deepEqual(takeTurn(a, [a], { status: { waiting: { ...waiting, reason: 'NotSigned' } } }), { next: pendingSince(a, 0) });
});

test('never early: times in a status have seconds', () => {
  const { next } = takeTurn(a, [a], { now: now + 1 });
  assert.deepEqual([next?.since, next?.until], ['2026-03-01T12:00:01Z', '2026-03-01T12:30:01Z']);
});

test('however often somebody pushes, something is applied every minAge', () => {
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
