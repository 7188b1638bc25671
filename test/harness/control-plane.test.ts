import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { type OwnControlPlane, startControlPlane } from './control-plane.ts';
import { waitFor } from './wait-for.ts';

let cluster: OwnControlPlane;
before(async () => {
  cluster = await startControlPlane({ controllerManager: true });
});
after(() => cluster.stop());

test('an error of a request to the test API server has its status and message', async () => {
  await assert.rejects(cluster.request('GET', '/api/v1/namespaces/nowhere'), { status: 404, message: /namespaces "nowhere" not found/ });
});

test('the controllers of the test control plane roll out a Deployment', async () => {
  const namespace = await cluster.namespace('rollout');
  const labels = { app: 'web' };
  await cluster.request('POST', `/apis/apps/v1/namespaces/${namespace}/deployments`, {
    metadata: { name: 'web' },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'example.test/web:1' }] } },
    },
  });
  const findPods = async () => {
    const { items } = await cluster.request('GET', `/api/v1/namespaces/${namespace}/pods`);
    return items.length > 0 && (items as { spec: { containers: { image: string }[] } }[]);
  };
  // A controller that finds the server busy looks again only after a while.
  const pods = await waitFor('a pod of the deployment', findPods);
  assert.equal(pods[0]?.spec.containers[0]?.image, 'example.test/web:1');
});

test('the kubeconfig of the test control plane names its API server', () => {
  assert.ok(readFileSync(cluster.kubeconfigPath, 'utf8').includes(cluster.server));
});

// The last: controllers that have lost their server wait for minutes at times before they look again.
test('objects in the test control plane survive kill -9 of etcd and of the API server', async () => {
  const namespace = await cluster.namespace('durable');
  await cluster.etcd.kill9();
  await cluster.apiServer.kill9();
  await cluster.etcd.restart();
  await cluster.apiServer.restart();
  assert.equal((await cluster.request('GET', `/api/v1/namespaces/${namespace}`)).metadata.name, namespace);
});
