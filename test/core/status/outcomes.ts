/** Endings of every kind, and the status after them. */
import assert from 'node:assert/strict';
import type { PolicySpec } from '../../../src/core/model/image-policy.ts';
import { nextStatus, type ReconcileCause } from '../../../src/core/status/next-status.ts';
import type { Outcome, Postponement } from '../../../src/core/plan/outcome.ts';
import type { ContainerState, PolicyStatus } from '../../../src/core/model/policy-status.ts';
import type { PendingCandidate } from '../../../src/core/plan/pending-candidate.ts';
import { digestOf, policyOf, specOf, webDeployment } from '../model/samples.ts';

export const reconcileTime = new Date('2026-03-01T12:00:00.789Z');
export const reconcileTimestamp = '2026-03-01T12:00:00Z';
/** With its milliseconds, as times that are compared have them. */
export const reconcileInstant = reconcileTime.toISOString();
export const oneHourLater = new Date('2026-03-01T13:00:00Z');
export const image = 'registry.example.com/shop/web';
export const cause: ReconcileCause = { source: 'Webhook', receivedAt: '2026-03-01T12:00:00.123Z', eventId: 'push-1', receiver: 'prod' };

export const container = { ...webDeployment, container: 'web' };
export const upToDate: ContainerState = { ...container, image: `${image}:1.3.0`, state: 'UpToDate' };
export const updatedOutcome: Outcome = {
  kind: 'updated',
  reason: 'Updated',
  message: 'changed',
  tag: '1.3.0',
  digest: digestOf('a'),
  running: 'runs 1.3.0',
  changes: [{ workload: webDeployment, container: 'web', index: 0, from: `${image}:1.2.0`, to: `${image}:1.3.0` }],
  selection: { candidate: { tag: '1.3.0', digest: digestOf('a') }, containers: [upToDate] },
};
export const unchangedOutcome: Outcome = {
  kind: 'unchanged',
  reason: 'UpToDate',
  message: 'already runs 1.3.0',
  tag: '1.3.0',
  running: 'runs 1.3.0',
  selection: { candidate: { tag: '1.3.0' }, containers: [upToDate] },
};
export const ownImagesOutcome: Outcome = {
  ...unchangedOutcome,
  ours: [{ workload: webDeployment, container: 'web', image: `${image}:1.3.0` }],
};
export const olderThanRunningOutcome: Outcome = {
  kind: 'unchanged',
  reason: 'OlderThanRunning',
  message: 'older',
  tag: '1.0.0',
  running: 'runs 1.3.0',
};
export const stalledOutcome: Outcome = { kind: 'stalled', reason: 'TargetNotFound', message: 'no such Deployment' };
export const suspendedOutcome: Outcome = { kind: 'suspended', reason: 'Suspended', message: 'suspended: nothing is done' };
export const ignoredOutcome: Outcome = { kind: 'ignored', reason: 'NotSelected', message: 'another branch' };
export const retryingPostponement: Postponement = { kind: 'postponed', reason: 'Retrying', message: 'later' };
export const throttledPostponement: Postponement = {
  ...retryingPostponement,
  reason: 'RegistryThrottled',
  until: new Date('2026-03-01T12:05:00.001Z'),
  tag: '1.3.0',
  digest: digestOf('a'),
};
export const pendingCandidate: PendingCandidate = {
  tag: '1.4.0',
  digest: digestOf('d'),
  since: '2026-03-01T11:50:00Z',
  until: '2026-03-01T12:20:00Z',
  reason: 'MinAge',
};
export const minAgeOutcome: Outcome = {
  kind: 'waiting',
  reason: 'MinAge',
  message: '1.4.0 waits',
  tag: '1.4.0',
  pending: { next: pendingCandidate },
};
/** 1.3.0 was applied when it was through, and 1.4.0 waits after it. */
export const updatedWithNextPendingOutcome: Outcome = {
  ...updatedOutcome,
  pending: { seen: { ...pendingCandidate, tag: '1.3.0' }, next: pendingCandidate },
};
export const legacyTargetOutcome: Outcome = { ...unchangedOutcome, legacy: [{ ...webDeployment, namespace: 'ops' }] };
export const tagGoneOutcome: Outcome = {
  ...unchangedOutcome,
  reason: 'TagGone',
  message: 'kept',
  gone: ['Deployment shop/web: web runs 1.3.0'],
};

export const statusAfter = (
  status: PolicyStatus,
  result: Outcome | Postponement,
  generation = 2,
  at = reconcileTime,
  spec: Partial<PolicySpec> = {},
) => nextStatus(policyOf({ generation, status, spec: specOf(spec) }), result, { cause, now: at });
export const conditionLines = (status: PolicyStatus | undefined) =>
  status?.conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`);
export const writtenStatusAfter = (status: PolicyStatus, result: Outcome | Postponement) => {
  const written = statusAfter(status, result);
  assert.ok(written);
  return written;
};
