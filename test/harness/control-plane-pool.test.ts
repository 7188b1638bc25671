import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { borrowControlPlane, type ControlPlane } from './control-plane.ts';
import { type ControlPlanePool, startPool } from './control-plane-pool.ts';
import { decode, etcdCall } from './etcd-objects.ts';
import { waitFor } from './wait-for.ts';

let pool: ControlPlanePool;
before(async () => {
  pool = await startPool();
});
after(() => pool.stop());

const borrow = (options = {}) => borrowControlPlane({ pool: pool.path, ...options });
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const clusterRole = '/apis/rbac.authorization.k8s.io/v1/clusterroles/view';

async function keysOf({ etcd }: ControlPlane): Promise<string[]> {
  const all = { key: Buffer.from('/registry/').toString('base64'), range_end: Buffer.from('/registry0').toString('base64') };
  const { kvs } = await etcdCall<{ kvs: { key: string }[] }>(etcd.url, 'range', { ...all, keys_only: true });
  return kvs.map(({ key }) => decode(key)).filter((key) => !key.includes('leases/'));
}

/** A definition that has `plural` objects, of which one is made. */
async function useCustomResource({ request }: ControlPlane, scope: 'Namespaced' | 'Cluster'): Promise<void> {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const spec = {
    group: 'example.com',
    scope,
    names: { plural: 'gears', kind: 'Gear' },
    versions: [{ name: 'v1', served: true, storage: true, schema }],
  };
  await request('POST', definitions, { metadata: { name: 'gears.example.com' }, spec });
  const path = `/apis/example.com/v1/${scope === 'Cluster' ? '' : 'namespaces/default/'}gears`;
  const create = () => request('POST', path, { apiVersion: 'example.com/v1', kind: 'Gear', metadata: { name: 'gear' } });
  await waitFor('the object to be created', create);
}

test('a returned control plane is lent again, empty and as it was at first', async () => {
  const first = await borrow();
  const keys = await keysOf(first);
  const view = await first.request('GET', clusterRole);
  const namespace = await first.namespace();
  await first.request('POST', `/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name: 'left' } });
  await first.request('PATCH', '/api/v1/namespaces/default', { metadata: { annotations: { left: 'here' } } });
  await first.request('DELETE', clusterRole);
  await useCustomResource(first, 'Namespaced');
  await first.stop();

  const second = await borrow();
  assert.equal(second.server, first.server);
  assert.deepEqual(await keysOf(second), keys);
  assert.equal((await second.request('GET', '/api/v1/namespaces/default')).metadata.annotations, undefined);
  assert.deepEqual((await second.request('GET', clusterRole)).rules, view.rules);
  const { groups } = await second.request<{ groups: { name: string }[] }>('GET', '/apis');
  assert.ok(!groups.some(({ name }) => name === 'example.com'));
  // The same names in another shape.
  await useCustomResource(second, 'Cluster');
  await second.stop();
});

test('two borrowers get a control plane each', async () => {
  const [first, second] = await Promise.all([borrow(), borrow()]);
  assert.notEqual(first.server, second.server);
  await Promise.all([first.stop(), second.stop()]);
});

test('the controllers run for borrowers who request them, and their objects are removed afterwards', async () => {
  const cluster = await borrow({ controllerManager: true });
  const namespace = await cluster.namespace();
  const labels = { app: 'web' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'example.test/web:1' }] } };
  const spec = { replicas: 3, selector: { matchLabels: labels }, template };
  await cluster.request('POST', `/apis/apps/v1/namespaces/${namespace}/deployments`, { metadata: { name: 'web' }, spec });
  await waitFor(
    'the pods',
    async () => (await cluster.request<{ items: unknown[] }>('GET', `/api/v1/namespaces/${namespace}/pods`)).items.length === 3,
  );
  await cluster.stop();
  const borrowedAgain = await borrow();
  assert.deepEqual(
    (await keysOf(borrowedAgain)).filter((key) => key.includes(namespace)),
    [],
  );
  await borrowedAgain.stop();
});

test('the control plane of a killed borrower is returned', async () => {
  const program = `
    import { borrowControlPlane } from ${JSON.stringify(join(import.meta.dirname, 'control-plane.ts'))};
    const { server, namespace } = await borrowControlPlane({ pool: ${JSON.stringify(pool.path)} });
    console.log(server, await namespace('killed'));
    setInterval(() => undefined, 1_000);`;
  const borrower = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(createInterface(borrower.stdout), 'line')) as [string];
  borrower.kill('SIGKILL');
  await once(borrower, 'exit');
  const [server, namespace = ''] = line.split(' ');
  // It was one of the two that there are.
  const [first, second] = await Promise.all([borrow(), borrow()]);
  assert.ok([first.server, second.server].includes(String(server)));
  for (const cluster of [first, second]) assert.ok(!(await keysOf(cluster)).some((key) => key.includes(namespace)));
  await Promise.all([first.stop(), second.stop()]);
});
