import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextStatus } from '../../../src/core/status/next-status.ts';
import { showTargets } from '../../../src/core/plan/target-states.ts';
import type { ContainerState } from '../../../src/core/model/policy-status.ts';
import { digestOf, latestSpec, policyOf, webDeployment, workloadOf } from '../model/samples.ts';
import { viewOf } from '../rollout/rollout-samples.ts';
import { image, cause, reconcileTime } from './outcomes.ts';

test('status.running counts all containers, even those that the status does not list', () => {
  const containers = Array.from({ length: 30 }, (_, at): ContainerState => ({
    ...webDeployment,
    name: `w${at}`,
    container: 'web',
    image: `${image}:${at < 20 ? '1.3.0' : '1.2.0'}`,
    state: at < 20 ? 'UpToDate' : 'Kept',
  }));
  assert.equal(showTargets(containers).running, '1.3.0,+1');
});

test('an older digest of the followed tag is not up to date while the registry cannot be asked', () => {
  const latest = { tag: 'latest', digest: digestOf('b'), selectedAt: '2026-03-01T11:00:00Z' };
  const before = {
    ...webDeployment,
    uid: 'uid-of-deployment',
    container: 'web',
    image: `${image}:latest@${digestOf('b')}`,
    state: 'UpToDate',
  } as const;
  const status = { latest, ...showTargets([before]), observedGeneration: 1 };
  const policy = policyOf({ spec: latestSpec(), status });
  const workload = workloadOf({ web: { image: `${image}:latest@${digestOf('a')}`, imageOwner: 'kubectl-set' } });
  const next = nextStatus(
    policy,
    { kind: 'postponed', reason: 'RegistryUnavailable', message: 'down' },
    { cause, now: reconcileTime },
    viewOf(workload),
  );
  assert.deepEqual(next?.targetCounts, { total: 1, upToDate: 0, problems: 0 });
});
