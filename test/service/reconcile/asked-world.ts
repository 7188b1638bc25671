/** A world with one policy, whose user acts by annotations. */
import assert from 'node:assert/strict';
import type { ImagePolicy, PolicySpec } from '../../../src/core/model/image-policy.ts';
import type { PolicyActions } from '../../../src/core/model/policy-actions.ts';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { processPush } from '../../../src/service/reconcile/process-push.ts';
import { policyOf, specOf } from '../../core/model/samples.ts';
import { contextOf, createWorld, pushOf, type World, neededReconcile } from './world.ts';

export function start(spec: Partial<PolicySpec> = {}, overrides: Parameters<typeof createWorld>[0] = {}): World {
  const world = createWorld(overrides);
  world.put(policyOf({ spec: specOf(spec), status: { observedGeneration: 1 } }));
  return world;
}

export function policyIn(world: World): ImagePolicy {
  const policy = world.policies.get('shop/web');
  assert.ok(policy);
  return policy;
}

/** A user annotates the policy; what that wakes is done. Returns whether it woke anything. */
export async function requestAction(world: World, actions: PolicyActions): Promise<boolean> {
  world.put({ ...policyIn(world), actions });
  const job = neededReconcile(policyIn(world), world.ports.cluster, new Date(world.ports.cluster.now()));
  if (job !== undefined) await processTask(job, contextOf(), world.ports);
  return job !== undefined;
}

export const push = (world: World, tag: string, digest: string) => {
  world.tags.set(tag, digest);
  return processPush(pushOf({ tag, digest }), contextOf(), world.ports);
};
export const conditionsOf = (world: World) =>
  world.statusOf('web').conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`);
