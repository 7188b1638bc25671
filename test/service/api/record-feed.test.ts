/** What open pages are sent of pushes, activity and deliveries. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Activity } from '../../../src/core/model/activity.ts';
import { createRecordFeed, type RecordChange, type RecordSource } from '../../../src/service/api/record-feed.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { ignoredOf, recordOf } from './fake-events.ts';

const approvalOf = (subject: Activity['subject']): Activity => ({ type: 'action', at: '2026-03-01T12:00:00Z', action: 'approve', subject });

/** A feed of a source in memory, and what a listener was sent. */
function feedOf(source: Partial<RecordSource>) {
  let looks = 0;
  const feed = createRecordFeed(
    {
      basePlural: 'baseimagepolicies',
      changedEvents: async () => [],
      newActivities: async () => [],
      deliveries: async () => {
        looks++;
        return new Map();
      },
      ...source,
    },
    1,
  );
  return { feed, looks: () => looks };
}

async function firstOf(source: Partial<RecordSource>, count: number): Promise<RecordChange[]> {
  const changes: RecordChange[] = [];
  const unsubscribe = feedOf(source).feed.subscribe((change) => changes.push(change));
  await waitFor('the changes', () => Promise.resolve(changes.length >= count));
  unsubscribe();
  return changes;
}

const all = { verb: 'list' };

test('a push is announced to those who may see one of its policies, and an unwatched push to those who see all', async () => {
  const read = { ...recordOf('a', 1, { 'shop/web': 'updated', 'ops/web': 'updated' }), readers: new Set(['shop/web']) };
  const events = [[read, ignoredOf('b', 2), recordOf('c', 3, {}, 'unwatched')], []];
  const changes = await firstOf(
    { changedEvents: async () => events.shift() ?? [], deliveries: () => Promise.reject(new Error('away')) },
    3,
  );
  assert.deepEqual(changes, [
    { kind: 'pushes', seenBy: [all, { verb: 'get', namespace: 'shop' }] },
    { kind: 'pushes', seenBy: [all] },
    { kind: 'pushes', seenBy: [all] },
  ]);
});

test('an activity is announced to callers who may get its object', async () => {
  const activities = [
    [
      approvalOf({ kind: 'ImagePolicy', namespace: 'shop', name: 'web' }),
      approvalOf({ kind: 'BaseImagePolicy', namespace: 'base', name: 'java' }),
      approvalOf({ kind: 'Push', name: 'a' }),
    ],
  ];
  const changes = await firstOf(
    { newActivities: async () => activities.shift() ?? [], deliveries: () => Promise.reject(new Error('away')) },
    3,
  );
  const resource = 'baseimagepolicies';
  assert.deepEqual(
    changes.map(({ seenBy }) => seenBy),
    [
      [all, { verb: 'get', namespace: 'shop' }],
      [
        { verb: 'list', resource },
        { verb: 'get', namespace: 'base', resource },
      ],
      [all],
    ],
  );
});

test('deliveries are announced when their times change, and refused deliveries in addition', async () => {
  const states: Record<string, [status: number, at: number][]>[] = [
    { prod: [[202, 1]] },
    { prod: [[202, 2]] },
    {
      prod: [
        [202, 2],
        [401, 3],
      ],
    },
  ];
  const changes: string[] = [];
  const { feed } = feedOf({
    async deliveries() {
      const state = (states.length > 1 ? states.shift() : states[0]) ?? {};
      return new Map(Object.entries(state).map(([name, times]) => [name, new Map(times)]));
    },
  });
  const unsubscribe = feed.subscribe(({ kind }) => changes.push(kind));
  await waitFor('the changes', () => Promise.resolve(changes.filter((kind) => kind === 'deliveries').length >= 3));
  unsubscribe();
  assert.deepEqual(changes, ['deliveries', 'refusals', 'deliveries', 'deliveries', 'refusals']);
});

test('nothing is read from Redis while nobody listens to the feed', async () => {
  const { feed, looks } = feedOf({});
  const first = feed.subscribe(() => undefined);
  const second = feed.subscribe(() => undefined);
  await waitFor('a look', () => Promise.resolve(looks() > 2));
  first();
  const before = looks();
  await waitFor('a further look', () => Promise.resolve(looks() > before));
  second();
  const after = looks();
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(looks() <= after + 1);
  let isSent = false;
  const third = feed.subscribe(() => (isSent = true));
  await waitFor('a look again', () => Promise.resolve(looks() > after + 1));
  third();
  assert.equal(isSent, false, 'nothing has changed');
});
