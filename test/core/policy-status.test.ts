import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Condition, PolicyStatus } from '../../src/core/image-policy.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import { nextStatus, type Postponement } from '../../src/core/policy-status.ts';

const now = new Date('2026-03-01T12:00:00.789Z');
const updated: Outcome = {
  kind: 'updated',
  reason: 'Updated',
  message: 'changed',
  tag: '1.3.0',
  appliedTag: '1.3.0',
  running: 'runs 1.3.0',
};
const unchanged: Outcome = { kind: 'unchanged', reason: 'OlderThanRunning', message: 'older', running: 'runs 1.4.0' };
const stalled: Outcome = { kind: 'stalled', reason: 'TargetNotFound', message: 'no such Deployment' };
const ignored: Outcome = { kind: 'ignored', reason: 'NotSelected', message: 'another branch' };
const postponed: Postponement = { kind: 'postponed', reason: 'RegistryThrottled', message: 'later' };

const next = (status: PolicyStatus, outcome: Outcome | Postponement, generation = 2, at = now) =>
  nextStatus({ generation, status }, outcome, at);
const kinds = (status: PolicyStatus | undefined) => status?.conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`);

test('the first look: Ready, and nothing that is not the case', () => {
  assert.deepEqual(next({}, updated), {
    observedGeneration: 2,
    lastAppliedTag: '1.3.0',
    lastCheckedTime: '2026-03-01T12:00:00Z',
    conditions: [
      {
        type: 'Ready',
        status: 'True',
        reason: 'UpToDate',
        message: 'runs 1.3.0',
        lastTransitionTime: '2026-03-01T12:00:00Z',
        observedGeneration: 2,
      },
    ],
  });
});

test('conditions by kstatus', () => {
  assert.deepEqual(kinds(next({}, unchanged)), ['Ready=True UpToDate']);
  assert.deepEqual(kinds(next({}, stalled)), ['Ready=False TargetNotFound', 'Stalled=True TargetNotFound']);
  assert.deepEqual(kinds(next({}, postponed)), ['Ready=False RegistryThrottled', 'Reconciling=True RegistryThrottled']);
  assert.equal(next({}, ignored), undefined);
});

test('what was the case and is no more, goes', () => {
  const before = next({}, stalled);
  assert.ok(before);
  assert.deepEqual(kinds(next(before, postponed)), ['Ready=False RegistryThrottled', 'Reconciling=True RegistryThrottled']);
  assert.deepEqual(kinds(next(before, updated)), ['Ready=True UpToDate']);
});

test('a condition keeps its time until its status changes', () => {
  const before = next({}, stalled);
  assert.ok(before);
  const later = new Date('2026-03-01T13:00:00Z');
  const other = next(before, { ...stalled, reason: 'ContainerNotFound' }, 2, later);
  assert.deepEqual(
    other?.conditions?.map(({ lastTransitionTime }) => lastTransitionTime),
    ['2026-03-01T12:00:00Z', '2026-03-01T12:00:00Z'],
  );
  const healed = next(before, updated, 2, later);
  assert.equal(healed?.conditions?.[0]?.lastTransitionTime, '2026-03-01T13:00:00Z');
});

test('conditions of others stay as they are', () => {
  const foreign: Condition = {
    type: 'Audited',
    status: 'Unknown',
    reason: 'Soon',
    message: '',
    lastTransitionTime: '2020-01-01T00:00:00Z',
  };
  for (const outcome of [updated, stalled, postponed]) {
    assert.deepEqual(next({ conditions: [foreign] }, outcome)?.conditions?.at(-1), foreign);
  }
});

test('the last applied tag stays when nothing is applied', () => {
  const before = { lastAppliedTag: '1.2.0' };
  for (const outcome of [unchanged, stalled, postponed]) assert.equal(next(before, outcome)?.lastAppliedTag, '1.2.0');
});

test('the registry was asked only when there is an answer', () => {
  assert.equal(next({}, stalled)?.lastCheckedTime, undefined);
  assert.equal(next({ lastCheckedTime: '2020-01-01T00:00:00Z' }, postponed)?.lastCheckedTime, '2020-01-01T00:00:00Z');
});

test('a newer look is not overwritten by an older one', () => {
  assert.equal(next({ observedGeneration: 3 }, updated, 2), undefined);
  assert.notEqual(next({ observedGeneration: 2 }, updated, 3), undefined);
});

test('the time alone is worth a write once a minute, or where it cannot be read', () => {
  const before = next({}, unchanged);
  assert.ok(before);
  const at = (time: string) => next(before, unchanged, 2, new Date(time))?.lastCheckedTime;
  assert.equal(at('2026-03-01T12:00:59.999Z'), undefined);
  assert.equal(at('2026-03-01T12:01:00.000Z'), '2026-03-01T12:01:00Z');
  assert.equal(next({ ...before, lastCheckedTime: 'yesterday' }, unchanged)?.lastCheckedTime, '2026-03-01T12:00:00Z');
});

test('long messages are cut', () => {
  const status = next({}, { ...stalled, message: 'x'.repeat(5_000) });
  assert.ok(status?.conditions?.every(({ message }) => message.length === 1024 && message.endsWith('…')));
});

const condition = fc.record({
  type: fc.constantFrom('Ready', 'Stalled', 'Reconciling', 'Audited', 'Held'),
  status: fc.constantFrom('True' as const, 'False' as const, 'Unknown' as const),
  reason: fc.constantFrom('UpToDate', 'TargetNotFound'),
  message: fc.string(),
  lastTransitionTime: fc.constantFrom('2020-01-01T00:00:00Z', 'never'),
});
const status = fc.record(
  {
    observedGeneration: fc.nat({ max: 3 }),
    lastCheckedTime: fc.constantFrom('2020-01-01T00:00:00Z', '2026-03-01T11:59:30Z', '2026-03-01T12:00:00Z', 'never'),
    lastAppliedTag: fc.constantFrom('1.2.0', '1.3.0'),
    conditions: fc.uniqueArray(condition, { selector: ({ type }) => type }),
  },
  { requiredKeys: [] },
);

test('once written, the same ending at the same time has nothing to write', () => {
  fc.assert(
    fc.property(
      status,
      fc.constantFrom(updated, unchanged, stalled, ignored, postponed),
      fc.nat({ max: 3 }),
      (before, outcome, generation) => {
        const once = next(before, outcome, generation);
        if (once === undefined) return;
        assert.equal(next(once, outcome, generation), undefined);
        // As the API server gives it back: without what is undefined, the fields in any order.
        const again = { ...(JSON.parse(JSON.stringify(once)) as PolicyStatus), conditions: once.conditions?.toReversed() ?? [] };
        assert.equal(next(again, outcome, generation), undefined);
      },
    ),
    { numRuns: 500 },
  );
});
