/** The activities that are shown while Redis is away. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recallActivities } from '../../src/activity/recall-activities.ts';
import type { RecordedActivity } from '../../src/service/queue/activity-stream.ts';

const recorded = (id: string): RecordedActivity => ({
  id,
  activity: { type: 'action', at: '2026-03-01T12:00:00Z', action: 'approve', subject: { kind: 'Push', name: id } },
});

test('while Redis is away, activities that were read before are served page by page, with their age', async () => {
  const all = ['100-10', '100-9', '99-1', '9-1'].map(recorded);
  let isAway = false;
  const read = recallActivities(
    ({ before, count }) => {
      if (isAway) return Promise.reject(new Error('away'));
      const rest = all.slice(before === undefined ? 0 : all.findIndex(({ id }) => id === before) + 1);
      return Promise.resolve({ found: rest.slice(0, count), ...(rest.length > count && { last: rest[count - 1]?.id ?? '' }) });
    },
    () => Date.parse('2026-03-01T12:00:00Z'),
  );
  isAway = true;
  await assert.rejects(read({ count: 2 }), /away/);
  isAway = false;
  // The older page is read first, as by somebody who follows a link.
  await read({ before: '100-9', count: 2 });
  await read({ count: 2 });
  isAway = true;
  const first = await read({ count: 3 });
  assert.deepEqual(
    [first.found.map(({ id }) => id), first.last, first.asOf],
    [['100-10', '100-9', '99-1'], '99-1', '2026-03-01T12:00:00Z'],
  );
  const rest = await read({ before: '99-1', count: 3 });
  assert.deepEqual([rest.found.map(({ id }) => id), rest.last], [['9-1'], undefined]);
  isAway = false;
  assert.equal((await read({ count: 1 })).asOf, undefined);
});

test('only the newest thousand activities are remembered for an outage of Redis', async () => {
  let isAway = false;
  const read = recallActivities(
    () =>
      isAway
        ? Promise.reject(new Error('away'))
        : Promise.resolve({ found: Array.from({ length: 1_200 }, (_, index) => recorded(`${2_000 - index}-0`)) }),
    Date.now,
  );
  await read({ count: 2_000 });
  isAway = true;
  const { found } = await read({ count: 2_000 });
  assert.deepEqual([found.length, found.at(-1)?.id], [1_000, '1001-0']);
});
