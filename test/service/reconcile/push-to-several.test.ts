/** The record of a push to several workloads is that of all of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reconcileAndReport } from '../../../src/service/reconcile/process-policy.ts';
import { policyOf } from '../../core/model/samples.ts';
import { changedWorkload, rolledOut, stuckRollout, watchedSpec } from '../../core/rollout/rollout-samples.ts';
import { changeTime, name, namespace, reconcile, uid } from './changed-world.ts';
import { contextOf, createWorld } from './world.ts';

for (const onFailure of ['Ignore', 'Rollback'] as const)
  test(`a push that failed on one workload is never recorded as rolled out, with onFailure: ${onFailure}`, async () => {
    const world = createWorld({
      workloads: {
        readPods: async () => [
          {
            name: 'p',
            startedAt: changeTime,
            ready: false,
            trouble: { reason: 'Unschedulable', message: '0/3 nodes are available: insufficient cpu' },
            containers: [],
          },
        ],
      },
    });
    const names = ['web', 'worker'];
    const runs = (of: string, ...[rollout, more, tag]: Parameters<typeof changedWorkload>) => {
      const key = `Deployment/shop/${of}`;
      const made = changedWorkload(rollout, more, tag);
      const now = world.workloads.get(key);
      world.workloads.set(
        key,
        now?.uid === `uid-of-${of}` ? { ...now, rollout: made.rollout!, generation: 2 } : { ...made, name: of, uid: `uid-of-${of}` },
      );
    };
    const targets = names.map((one) => ({ kind: 'Deployment', namespace: 'shop', name: one }));
    world.put(policyOf({ spec: watchedSpec(onFailure, { targets }) }));
    world.workloads.clear();
    for (const one of names) runs(one, { ...rolledOut, observedGeneration: 2 }, {}, '1.2.3');
    await reconcileAndReport(
      {
        ...contextOf(),
        request: { policy: { namespace, name, uid }, hint: { tag: '1.3.0' }, announced: true },
        cause: { source: 'Webhook', receivedAt: changeTime, eventId: 'push-1' },
      },
      world.ports,
    );
    // The worker cannot be scheduled, and is given up; web is still rolling out.
    runs('worker', { ...stuckRollout, deadlineExceeded: { message: 'timed out', at: '2026-03-01T12:00:20Z' } });
    await reconcile(world);
    assert.equal(world.results.get('push-1 shop/web')?.kind, 'stalled');
    runs('web', rolledOut);
    runs('worker', onFailure === 'Rollback' ? rolledOut : stuckRollout);
    await reconcile(world);
    const last = world.results.get('push-1 shop/web');
    assert.notEqual(last?.reason, 'RolledOut');
  });
