/** The time that a registry has to show a push does not end, or begin anew, because a clock is wrong. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAnnouncements } from '../../../src/service/reconcile/announcements.ts';

const start = Date.parse('2026-03-01T12:00:00Z');
const at = (ms: number) => new Date(start + ms).toISOString();

for (const [name, receivedAt, expected] of [
  ['the clock of the receiver is a minute ahead', at(60_000), start],
  ['somebody has written a time of the next century', '2126-01-01T00:00:00Z', start],
  ['the push was received just now', at(-20), start - 20],
  ['the clock of the receiver is a minute behind, or the push has waited in the queue for that long', at(-60_000), start - 1_000],
] as const)
  test(`the registry has its time from the first try of a push, not anew at each try, in the case "${name}"`, () => {
    let passed = 0;
    const { since } = createAnnouncements({ now: () => start + passed, elapsed: () => passed });
    assert.equal(since('one', receivedAt), expected);
    passed = 5_000;
    assert.equal(since('one', receivedAt), expected);
  });

test('a clock that is set between two tries of a push does not change the time that the registry has', () => {
  let [now, passed] = [start, 0];
  const { since } = createAnnouncements({ now: () => now, elapsed: () => passed });
  assert.equal(since('one', at(0)), start);
  [now, passed] = [start + 60_000, 4_000];
  assert.equal(since('one', at(0)), now - 5_000);
});

test('the registry gets no more time for a push that was received minutes ago', () => {
  const { since } = createAnnouncements({ now: () => start, elapsed: () => 0 });
  assert.equal(since('one', at(-600_000)), start - 600_000);
});
