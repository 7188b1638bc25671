import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ignoredOf, recordOf, startApi } from './fake-events.ts';
import { samplePorts } from './sample-policies.ts';

test('the overview counts pushes, and not what a receiver was told of pulls, scans and deletions', async (t) => {
  const pulled = ignoredOf('pulled', 5, { reason: 'OtherEvent', message: 'not a push: pull', count: 108 });
  const records = [recordOf('queued', 9, {}, 'queued'), ignoredOf('untagged', 7), pulled, recordOf('one', 4, { 'shop/web': 'ignored' })];
  const { app } = startApi(t, { kind: 'none' }, records, { policies: samplePorts([]) });
  const response = await app.inject({ url: '/api/v1/overview', headers: { host: 'localhost:9090' } });
  const { pushes } = response.json<{ pushes: { byOutcome: object } }>();
  assert.deepEqual(pushes.byOutcome, { queued: 1, ignored: 2 });
});
