import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRestartsOnPush } from '../../../src/bases/policies/restarts-on-push.ts';
import type { UsableBasePolicy } from '../../../src/bases/policies/act.ts';
import type { Workload } from '../../../src/core/model/workload.ts';
import { workloadOf } from '../../core/model/samples.ts';
import { viewOf } from '../../core/rollout/rollout-samples.ts';

const registry = 'r.example.com';
const policy = (images: readonly string[] | undefined, generation = 1) =>
  ({
    namespace: 'shop',
    name: 'java',
    uid: 'uid-java',
    generation,
    spec: { workloads: [{ kinds: ['Deployment'] }], onNewBase: [images === undefined ? { kind: 'report' } : { kind: 'restart', images }] },
  }) as unknown as UsableBasePolicy;

function start(...workloads: Workload[]) {
  let [now, listed] = [0, 0];
  const view = { ...viewOf(...workloads), namespacesWith: () => [] };
  const restarts = createRestartsOnPush(
    {
      ...view,
      listWorkloads: (...asked) => {
        listed++;
        return view.listWorkloads(...asked);
      },
    },
    () => now,
  );
  return { restarts, pass: (ms: number) => void (now += ms), listed: () => listed };
}

test('a push concerns the policies that restart workloads of its repository', () => {
  const { restarts } = start(workloadOf({ web: `${registry}/shop/web:main`, proxy: 'nginx' }));
  const web = { registry, path: 'shop/web' };
  assert.ok(restarts(policy(['*']), web));
  assert.ok(restarts(policy([`${registry}/shop/*`], 2), web));
  assert.ok(!restarts(policy([`${registry}/ops/*`], 3), web), 'another pattern');
  assert.ok(!restarts(policy(['*'], 4), { registry, path: 'shop/api' }), 'nobody runs it');
  assert.ok(!restarts(policy(undefined, 5), web), 'another action');
});

test('however many pushes there are, the workloads are listed once a minute', () => {
  const { restarts, pass, listed } = start(workloadOf({ web: `${registry}/shop/web:main` }));
  for (let push = 0; push < 1_000; push++) restarts(policy(['*']), { registry, path: `shop/p${push}` });
  assert.equal(listed(), 1);
  pass(60_000);
  restarts(policy(['*']), { registry, path: 'shop/web' });
  assert.equal(listed(), 2);
});
