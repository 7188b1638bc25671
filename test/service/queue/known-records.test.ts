/** Records that were read before are not parsed again, and never shown as they were before. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readHash } from '../../../src/service/queue/event-record.ts';
import { createKnownRecords } from '../../../src/service/queue/known-records.ts';

const push = {
  id: 'a',
  receiver: 'prod',
  provider: 'harbor',
  registry: 'r.example.com',
  repository: 'shop/web',
  tag: '1.0.0',
  receivedAt: '2026-03-01T12:00:00Z',
  outcome: 'matched',
  policies: '["shop/web"]',
};
const result = (kind: string) => JSON.stringify({ kind, at: '2026-03-01T12:00:01Z', reason: 'Updated', message: '' });

test('an unchanged hash of an event gives the same record, and a changed one gives another record', () => {
  const read = createKnownRecords();
  const first = read('a', push);
  assert.deepEqual(first, readHash(push));
  assert.equal(read('a', { ...push }), first);
  for (const changed of [
    { ...push, 'policy:shop/web': result('retrying') },
    { ...push, 'policy:shop/web': result('updated') },
    { ...push, 'read:shop/web': 'r.example.com/shop/web' },
    // As many fields as before, with another name.
    { ...push, 'verified:shop/web': '12' },
    { ...push, tag: '1.0.1' },
    push,
  ]) {
    assert.deepEqual(read('a', changed), readHash(changed));
    assert.equal(read('a', { ...changed }), read('a', changed));
  }
});

test('the record of one event is never used for another, and is forgotten when its hash is gone', () => {
  const read = createKnownRecords();
  read('a', push);
  assert.deepEqual(read('b', { ...push, id: 'b' }), readHash({ ...push, id: 'b' }));
  assert.equal(read('a', {}), undefined);
  assert.deepEqual(read('a', push), readHash(push));
});
