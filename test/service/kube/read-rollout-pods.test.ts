import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openKubeClient, type KubeClient } from '../../../src/service/kube/client.ts';
import { readRolloutPods } from '../../../src/service/kube/read-rollout-pods.ts';
import { borrowControlPlane, type ControlPlane } from '../../harness/control-plane.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { playKubelet } from '../../end-to-end/pods.ts';

let cluster: ControlPlane;
let client: KubeClient;
let namespace: string;
before(async () => {
  cluster = await borrowControlPlane({ controllerManager: true });
  client = await openKubeClient({ kubeconfig: cluster.kubeconfigPath, requestTimeoutMs: 60_000 });
  namespace = await cluster.namespace();
});
after(async () => {
  await client.close();
  await cluster.stop();
});

test("only the pods of the newest revision of a Deployment are read, with the kubelet's report", async () => {
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  const ref = { kind: 'Deployment', namespace, name: 'web' };
  const labels = { app: 'web', tier: 'front' };
  const selector = { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'tier', operator: 'In', values: ['front'] }] };
  const containers = [{ name: 'c0', image: 'shop/web:1', volumeMounts: [{ name: 'models', mountPath: '/models' }] }];
  const volumes = [{ name: 'models', image: { reference: 'shop/models:1' } }];
  await cluster.request('POST', path, {
    metadata: { name: 'web' },
    spec: { selector, template: { metadata: { labels }, spec: { containers, volumes } } },
  });
  const kubelet = playKubelet(cluster, namespace);
  await kubelet.becomesReady('web', 'shop/web:1');
  await cluster.request(
    'PATCH',
    `${path}/web`,
    [{ op: 'replace', path: '/spec/template/spec/containers/0/image', value: 'shop/web:2' }],
    'application/json-patch+json',
  );
  const { metadata } = await kubelet.findPod('web', 'shop/web:2');
  await kubelet.crashes('web', 'shop/web:2');
  const answers: Date[] = [];
  const pods = await waitFor('the status of the pod', async () => {
    const found = await readRolloutPods(client, ref, undefined, (at) => answers.push(at));
    return found[0]?.containers.length === 1 && found;
  });
  assert.ok(answers.length > 0, 'when the API server answered is told');
  assert.deepEqual(pods, [
    {
      name: metadata.name,
      startedAt: '2026-01-01T00:00:00Z',
      ready: false,
      containers: [
        {
          name: 'c0',
          mounts: ['volumes/models'],
          ready: false,
          restarts: 4,
          waiting: { reason: 'CrashLoopBackOff', message: 'back-off 1m20s restarting failed container' },
          lastEnd: { reason: 'Error', exitCode: 3 },
        },
      ],
    },
  ]);
});

test('a deleted workload has no pods', async () => {
  assert.deepEqual(await readRolloutPods(client, { kind: 'Deployment', namespace, name: 'missing' }), []);
});
