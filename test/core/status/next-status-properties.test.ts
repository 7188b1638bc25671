import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { PolicyStatus } from '../../../src/core/model/policy-status.ts';
import { readStatus } from '../../../src/core/model/stored-status.ts';
import {
  ignoredOutcome,
  statusAfter,
  olderThanRunningOutcome,
  ownImagesOutcome,
  retryingPostponement,
  reconcileTimestamp,
  stalledOutcome,
  suspendedOutcome,
  minAgeOutcome,
  updatedWithNextPendingOutcome,
  pendingCandidate,
  legacyTargetOutcome,
  unchangedOutcome,
  updatedOutcome,
  throttledPostponement,
  tagGoneOutcome,
} from './outcomes.ts';
import { appliedOnce, digestOf } from '../model/samples.ts';

const condition = fc.record({
  type: fc.constantFrom('Ready', 'Stalled', 'Reconciling', 'CrossNamespace', 'TagGone', 'Audited', 'Held'),
  status: fc.constantFrom('True' as const, 'False' as const, 'Unknown' as const),
  reason: fc.constantFrom('UpToDate', 'TargetNotFound'),
  message: fc.string(),
  lastTransitionTime: fc.constantFrom('2020-01-01T00:00:00Z', 'never'),
});
const before = fc.record(
  {
    observedGeneration: fc.nat({ max: 3 }),
    lastCheckTime: fc.constantFrom('2020-01-01T00:00:00Z', '2026-03-01T11:59:30Z', reconcileTimestamp, 'never'),
    lastAppliedTag: fc.constantFrom('1.2.0', '1.3.0'),
    history: fc.constantFrom([], appliedOnce('1.2.0'), appliedOnce('1.3.0'), Array.from({ length: 10 }, () => appliedOnce('1.1.0')).flat()),
    latest: fc.constantFrom(
      { tag: '1.3.0', selectedAt: reconcileTimestamp },
      { tag: '1.2.0', digest: digestOf('c'), selectedAt: reconcileTimestamp },
    ),
    waiting: fc.constantFrom(
      pendingCandidate,
      { ...pendingCandidate, tag: '1.3.0' },
      { until: reconcileTimestamp, reason: 'RegistryThrottled' },
    ),
    conditions: fc.uniqueArray(condition, { selector: ({ type }) => type }),
  },
  { requiredKeys: [] },
);
const result = fc.constantFrom(
  tagGoneOutcome,
  minAgeOutcome,
  updatedWithNextPendingOutcome,
  updatedOutcome,
  unchangedOutcome,
  ownImagesOutcome,
  olderThanRunningOutcome,
  legacyTargetOutcome,
  stalledOutcome,
  suspendedOutcome,
  ignoredOutcome,
  retryingPostponement,
  throttledPostponement,
);

test('the same result at the same time writes nothing once it is written', () => {
  fc.assert(
    fc.property(before, result, fc.nat({ max: 3 }), (before, result, generation) => {
      const once = statusAfter(before, result, generation);
      if (once === undefined) return;
      assert.equal(statusAfter(once, result, generation), undefined);
      // As the API server gives it back: without what is undefined, the fields in any order.
      const reversed = Object.fromEntries(Object.entries(JSON.parse(JSON.stringify(once)) as PolicyStatus).toReversed()) as PolicyStatus;
      const again = { ...reversed, conditions: once.conditions?.toReversed() ?? [] };
      assert.equal(statusAfter(again, result, generation), undefined);
      assert.equal(statusAfter(readStatus(again), result, generation), undefined);
    }),
    { numRuns: 500 },
  );
});

test('Ready is the first condition, so that kubectl describe begins with the summary', () => {
  fc.assert(
    fc.property(before, result, fc.nat({ max: 3 }), (before, result, generation) => {
      const written = statusAfter(before, result, generation);
      // An attempt that concerns something else leaves all conditions as they are.
      if (written === undefined || written.conditions === before.conditions) return;
      assert.equal(written.conditions?.[0]?.type, 'Ready');
    }),
    { numRuns: 500 },
  );
});
