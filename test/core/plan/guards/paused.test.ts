import assert from 'node:assert/strict';
import { test } from 'node:test';
import { paused } from '../../../../src/core/plan/guards/paused.ts';
import { workloadOf } from '../../model/samples.ts';
import { contextOf } from './context.ts';

for (const [apiVersion, kind, remedy] of [
  ['argoproj.io/v1alpha1', 'Rollout', 'kubectl argo rollouts -n shop promote web'],
  ['apps.kruise.io/v1alpha1', 'CloneSet', 'set its field spec.paused to false'],
] as const)
  test(`a paused ${kind} is resumed in its own way`, () => {
    const target = { apiVersion, kind, namespace: 'shop', name: 'web' };
    const workload = { ...workloadOf({}), ...target, paused: true };
    const decision = paused.check({ target, workload, changes: [], unchanged: [] }, contextOf());
    assert.ok(decision?.message.endsWith(`: ${remedy}`), decision?.message);
  });
