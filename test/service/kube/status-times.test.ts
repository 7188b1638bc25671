/** Since when a StatefulSet or DaemonSet is as its status says, with the times that a real API server writes. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openKubeClient, type KubeClient } from '../../../src/service/kube/client.ts';
import { readWorkload } from '../../../src/service/kube/read-workload.ts';
import { borrowControlPlane, type ControlPlane } from '../../harness/control-plane.ts';
import { waitFor } from '../../harness/wait-for.ts';

let controlPlane: ControlPlane;
let client: KubeClient;
let namespace: string;
before(async () => {
  controlPlane = await borrowControlPlane();
  client = await openKubeClient({ kubeconfig: controlPlane.kubeconfigPath, requestTimeoutMs: 60_000 });
  namespace = await controlPlane.namespace();
});
after(async () => {
  await client.close();
  await controlPlane.stop();
});

const kinds = [
  [
    'DaemonSet',
    (available: number) => ({
      desiredNumberScheduled: 1,
      currentNumberScheduled: 1,
      numberMisscheduled: 0,
      numberReady: 1,
      numberAvailable: available,
    }),
  ],
  ['StatefulSet', (available: number) => ({ replicas: 1, readyReplicas: 1, availableReplicas: available })],
] as const;
for (const [kind, statusOf] of kinds)
  test(`a ${kind} has been available since its status changed last, and not since it was written again`, async () => {
    const collection = `/apis/apps/v1/namespaces/${namespace}/${kind.toLowerCase()}s`;
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'shop/web:1' }] } };
    const spec = { selector: { matchLabels: { app: 'web' } }, template, ...(kind === 'StatefulSet' && { serviceName: 'web' }) };
    await controlPlane.request('POST', collection, { metadata: { name: 'web' }, spec });
    const write = (available: number) => controlPlane.request('PATCH', `${collection}/web/status`, { status: statusOf(available) });
    const readSince = async () => {
      const workload = await readWorkload(client, { kind, namespace, name: 'web' });
      return Date.parse(workload?.rollout?.availableSince ?? '');
    };
    assert.ok(Number.isNaN(await readSince()), 'no controller has written anything yet');
    await write(1);
    const first = await readSince();
    await waitFor('a second to have passed', async () => {
      await write(1);
      return Date.now() > first + 2_000;
    });
    assert.equal(await readSince(), first, 'nothing has changed');
    await write(0);
    await write(1);
    assert.ok((await readSince()) > first, 'it was interrupted');
  });
