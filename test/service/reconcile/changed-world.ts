/** A change whose rollout is watched, and what is then found in the world. */
import assert from 'node:assert/strict';
import { asSeenBy } from '../../../src/core/plan/consent.ts';
import type { PolicyStatus } from '../../../src/core/model/policy-status.ts';
import type { Workload } from '../../../src/core/model/workload.ts';
import type { PolicyJob } from '../../../src/service/queue/jobs.ts';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { rolloutJob } from '../../../src/service/reconcile/rollouts/rollout-job.ts';
import { digestOf, policyOf } from '../../core/model/samples.ts';
import { entryOf, watchedSpec } from '../../core/rollout/rollout-samples.ts';
import { contextOf, createWorld, startTime, type PortOverrides, type World } from './world.ts';

type OnFailure = 'Rollback' | 'Hold' | 'Ignore';
export const { namespace, name, uid } = policyOf();
export const changeTime = new Date(startTime - 60_000).toISOString().replace('.000', '');

/** A world in which shop/web was changed to 1.3.0 a minute ago by a push. */
export function changedWorld(
  workload: Workload,
  { onFailure = 'Rollback', status = {} }: { onFailure?: OnFailure; status?: PolicyStatus } = {},
  ports: PortOverrides = {},
) {
  const world = createWorld(ports);
  const conditions = [{ type: 'Ready', status: 'False', reason: 'Progressing', message: '', lastTransitionTime: changeTime }] as const;
  const trigger = { source: 'Webhook', receiver: 'prod', event: 'push-1', receivedAt: changeTime, handledAt: changeTime } as const;
  const latest = { tag: '1.3.0', digest: digestOf('b'), selectedAt: changeTime };
  const known = {
    observedGeneration: 1,
    conditions,
    latest,
    trigger,
    history: [entryOf({ at: changeTime })],
    lastAppliedTag: '1.3.0',
    ...status,
  };
  world.put(policyOf({ spec: watchedSpec(onFailure), status: known }));
  world.workloads.set('Deployment/shop/web', workload);
  return world;
}
/** The job that the policy wants now, or one for no reason. */
export function jobOf(world: World): PolicyJob {
  const policy = world.policies.get('shop/web');
  assert.ok(policy);
  const found = rolloutJob(policy, asSeenBy(policy, world.ports.cluster), new Date(world.ports.cluster.now()));
  return (
    found ?? {
      schema: 1,
      task: 'rollout',
      policy: { namespace, name, uid },
      source: 'TargetChange',
      cause: 'rollout:x',
      receivedAt: changeTime,
    }
  );
}
export const reconcile = (world: World) => processTask(jobOf(world), contextOf(), world.ports);
export const conditionLines = (world: World) =>
  world.statusOf('web').conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`);
export const historyLines = (world: World) => world.statusOf('web').history?.map(({ result, trigger }) => `${trigger} ${result}`);
export const eventLines = (world: World) => world.events.map(({ reason, regarding }) => `${reason} ${regarding.kind}`);
