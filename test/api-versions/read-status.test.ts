import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readStatus } from '../../src/api-versions/read-status.ts';

const at = '2026-03-01T12:00:00Z';
const place = { kind: 'Deployment', namespace: 'shop', name: 'web', container: 'web' };
const status = {
  observedGeneration: 2,
  conditions: [{ type: 'Ready', status: 'True', reason: 'UpToDate', message: '', lastTransitionTime: at }],
  latest: { tag: '1.2.3', digest: 'sha256:a', selectedAt: at },
  trigger: { source: 'Webhook', receiver: 'prod', event: 'e', receivedAt: at, handledAt: at },
  lastCheckTime: at,
  lastHandledRequest: 'now',
  waiting: { tag: '1.2.3', until: at, reason: 'MinAge' },
  targets: [{ ...place, image: 'web:1.2.3', state: 'UpToDate' }],
  targetCounts: { total: 1, upToDate: 1, problems: 0 },
  lastAppliedTag: '1.2.3',
  history: [{ ...place, from: 'web:1', to: 'web:1.2.3', tag: '1.2.3', trigger: 'Poll', at, result: 'Applied' }],
  rejected: [{ digest: 'sha256:b', reason: 'RolledBack', at }],
  pendingApproval: { tag: '2.0.0', digest: 'sha256:c' },
};

test('a status is read as it is, with what a later version may have written', () => {
  assert.deepEqual(readStatus(status), status);
  assert.deepEqual(readStatus({ ...status, later: { a: [1] } }), { ...status, later: { a: [1] } });
});

test('each field of another shape is as good as absent, and hides no other', () => {
  for (const field of Object.keys(status)) {
    const { [field as keyof typeof status]: _, ...others } = status;
    for (const odd of [true, 7.5, 'none', [7], { a: 1 }].filter(
      (odd) => field === 'observedGeneration' || typeof odd !== 'string' || !isText(field),
    )) {
      if (field === 'observedGeneration' && typeof odd === 'number') continue;
      assert.deepEqual(readStatus({ ...status, [field]: odd }), others, `${field}: ${JSON.stringify(odd)}`);
    }
  }
  for (const nothing of [undefined, null, {}, 'text', 7]) assert.deepEqual(readStatus(nothing), {});
});

const isText = (field: string) => ['lastCheckTime', 'lastHandledRequest', 'lastAppliedTag'].includes(field);

test('a generation that the object has not reached was never observed', () => {
  const raw = { observedGeneration: 7, lastAppliedTag: '1.0.0' };
  assert.deepEqual(readStatus(raw, 7), raw);
  assert.deepEqual(readStatus(raw, 6), { lastAppliedTag: '1.0.0' });
});
