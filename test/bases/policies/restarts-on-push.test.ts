import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UsableBasePolicy } from '../../../src/bases/policies/act.ts';
import { createRestartsOnPush } from '../../../src/bases/policies/restarts-on-push.ts';
import { noAliases } from '../../../src/core/model/image-reference.ts';
import { workloadKey, type Workload } from '../../../src/core/model/workload.ts';
import { workloadOf } from '../../core/model/samples.ts';

const registry = 'r.example.com';
const web = { registry, path: 'shop/web' };
const api = { registry, path: 'shop/api' };
const policy = (images: readonly string[] | undefined, workloads: object = { kinds: ['Deployment'] }) =>
  ({
    namespace: 'shop',
    name: 'java',
    spec: { workloads: [workloads], onNewBase: [images === undefined ? { kind: 'report' } : { kind: 'restart', images }] },
  }) as unknown as UsableBasePolicy;

/** A cluster whose workloads are changed one by one. */
function start(...first: Workload[]) {
  const known = new Map(first.map((one) => [workloadKey(one), one]));
  let listed = 0;
  const restarts = createRestartsOnPush({
    aliases: noAliases,
    namespaceMatches: (namespace, { matchLabels = {} }) => matchLabels['team'] === namespace,
    listEveryWorkload() {
      listed++;
      return known.values();
    },
  });
  const change = (type: 'added' | 'updated' | 'deleted', object: Workload) => {
    const previous = known.get(workloadKey(object));
    if (type === 'deleted') known.delete(workloadKey(object));
    else known.set(workloadKey(object), object);
    restarts.onWorkload({ type, object, ...(previous !== undefined && { previous }) });
  };
  return { restarts, change, listed: () => listed };
}

test('a push concerns the policies that restart workloads of its repository', () => {
  const { restarts } = start(workloadOf({ web: `${registry}/shop/web:main`, proxy: 'nginx' }));
  assert.ok(restarts.concerns(policy(['*']), web));
  assert.ok(restarts.concerns(policy([`${registry}/shop/*`]), web));
  assert.ok(!restarts.concerns(policy([`${registry}/ops/*`]), web), 'another pattern');
  assert.ok(!restarts.concerns(policy(['*']), api), 'nobody runs it');
  assert.ok(!restarts.concerns(policy(undefined), web), 'another action');
  assert.ok(!restarts.concerns(policy(['*'], { kinds: ['StatefulSet'] }), web), 'another kind');
  assert.ok(!restarts.concerns(policy(['*'], { kinds: ['Deployment'], namespaceSelector: { matchLabels: { team: 'ops' } } }), web));
});

test('a push concerns a policy as soon as the cache contains a workload that runs the pushed repository', () => {
  const { restarts, change } = start();
  assert.ok(!restarts.concerns(policy(['*']), web), 'nobody runs it yet');
  change('added', workloadOf({ web: `${registry}/shop/web:main` }));
  assert.ok(restarts.concerns(policy(['*']), web));
  change('updated', workloadOf({ web: `${registry}/shop/api:main` }));
  assert.ok(!restarts.concerns(policy(['*']), web), 'it runs another image');
  assert.ok(restarts.concerns(policy(['*']), api));
  change('deleted', workloadOf({ web: `${registry}/shop/api:main` }));
  assert.ok(!restarts.concerns(policy(['*']), api));
});

test('the workloads are listed once, when a push is first compared with a policy that restarts', () => {
  const { restarts, change, listed } = start(workloadOf({ web: `${registry}/shop/web:main` }));
  restarts.concerns(policy(undefined), web);
  change('added', workloadOf({ web: `${registry}/shop/web:2` }));
  assert.equal(listed(), 0);
  for (let push = 0; push < 1_000; push++) restarts.concerns(policy(['*']), { registry, path: `shop/p${push}` });
  assert.ok(restarts.concerns(policy(['*']), web));
  assert.equal(listed(), 1);
});
