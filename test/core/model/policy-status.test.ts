import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { maxListed, maxTargetsListed, type HistoryEntry } from '../../../src/core/model/policy-status.ts';
import { readStatus, storedStatusSchema, toStored } from '../../../src/core/model/stored-status.ts';
import { v1StatusArbitrary } from '../../service/resources/arbitraries.ts';

const at = '2026-03-01T12:00:00Z';
const containerRef = { kind: 'Deployment', namespace: 'shop', name: 'web', container: 'web' };
const status = {
  observedGeneration: 2,
  conditions: [{ type: 'Ready', status: 'True', reason: 'UpToDate', message: '', lastTransitionTime: at }],
  latest: { tag: '1.2.3', digest: 'sha256:a', selectedAt: at },
  trigger: { source: 'Webhook', receiver: 'prod', event: 'e', receivedAt: at, handledAt: at },
  lastCheckTime: at,
  lastHandledRequest: 'now',
  waiting: { tag: '1.2.3', until: at, reason: 'MinAge' },
  targets: [{ ...containerRef, image: 'web:1.2.3', state: 'UpToDate' }],
  targetCounts: { total: 1, upToDate: 1, problems: 0 },
  lastAppliedTag: '1.2.3',
  history: [{ ...containerRef, from: 'web:1', to: 'web:1.2.3', tag: '1.2.3', trigger: 'Poll', at, result: 'Applied' }],
  rejected: [{ digest: 'sha256:b', reason: 'RolledBack', at }],
  pendingApproval: { tag: '2.0.0', digest: 'sha256:c' },
};

test('a status is read unchanged, including fields of a later version', () => {
  assert.deepEqual(readStatus(status), status);
  assert.deepEqual(readStatus({ ...status, later: { a: [1] } }), { ...status, later: { a: [1] } });
});

test('every status that the definition allows is read unchanged', () => {
  fc.assert(fc.property(v1StatusArbitrary, (written) => assert.deepEqual(readStatus(written), written)));
});

test('every status is read as it was stored, and fits the definition', () => {
  fc.assert(
    fc.property(v1StatusArbitrary, (status) => {
      const stored = JSON.parse(JSON.stringify(toStored(status))) as Record<string, unknown>;
      assert.deepEqual(readStatus(stored), JSON.parse(JSON.stringify(status)));
      assert.ok(((stored['history'] ?? []) as unknown[]).length <= 3);
    }),
  );
  const [entry] = status.history;
  const longest = (length: number) => String.fromCharCode(1).repeat(length);
  const long = {
    ...entry,
    from: longest(1_024),
    to: longest(1_024),
    failure: { against: 'cluster', reason: 'RolloutTimedOut', message: longest(1_024) },
    rollbackRefused: { reason: 'RollbackFailed', message: longest(1_024), at },
  };
  const history = Array.from({ length: maxListed }, () => long) as HistoryEntry[];
  const stored = toStored({ history });
  assert.ok(storedStatusSchema.safeParse(stored).success);
  assert.deepEqual(readStatus(stored), { history });
});

test('changes of earlier versions are read, and texts that are none are dropped without the others', () => {
  const [entry] = status.history;
  const history = Array.from({ length: maxListed }, (_, index) => ({ ...entry, tag: `1.2.${index}` }));
  assert.deepEqual(readStatus({ history }), { history });
  for (const earlierChanges of [['{'], ['{}'], [7], ['null'], 'text'])
    assert.deepEqual(readStatus({ history: history.slice(0, 3), earlierChanges }), { history: history.slice(0, 3) });
  assert.deepEqual(readStatus({ history: history.slice(0, 1), earlierChanges: ['[]', JSON.stringify(entry), '{'] }), {
    history: [history[0], entry],
  });
  const texts = history.map((one) => JSON.stringify(one));
  assert.deepEqual(readStatus({ history: history.slice(0, 3), earlierChanges: texts.slice(3) }), { history });
  assert.deepEqual(readStatus({ earlierChanges: texts }), { history });
});

test('a list in the status is read up to its maximum length, and dropped above it', () => {
  const lists = { targets: maxTargetsListed, history: maxListed };
  for (const [field, most] of Object.entries(lists)) {
    const [entry] = status[field === 'targets' ? 'targets' : 'history'];
    const fitting = { [field]: Array.from({ length: most }, () => entry) };
    assert.deepEqual(readStatus(fitting), fitting);
    assert.deepEqual(readStatus({ [field]: [...(fitting[field] ?? []), entry] }), {});
  }
});

test('a field with an unexpected type counts as absent, and hides no other', () => {
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

test('an observed generation that the object has not reached counts as never observed', () => {
  const raw = { observedGeneration: 7, lastAppliedTag: '1.0.0' };
  assert.deepEqual(readStatus(raw, 7), raw);
  assert.deepEqual(readStatus(raw, 6), { lastAppliedTag: '1.0.0' });
});
