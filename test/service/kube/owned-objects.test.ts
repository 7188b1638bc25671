import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openKubeClient, type KubeClient } from '../../../src/service/kube/client.ts';
import { createOwnedObjects, type OwnedObject } from '../../../src/service/kube/owned-objects.ts';
import { borrowControlPlane, type ControlPlane } from '../../harness/control-plane.ts';

/** An object as it is listed. */
interface Listed {
  readonly metadata: OwnedObject & { readonly annotations?: Record<string, string> };
}

describe('owned objects', () => {
  const { signal } = new AbortController();
  let cluster: ControlPlane;
  let client: KubeClient;
  let namespace: string;
  before(async () => {
    cluster = await borrowControlPlane();
    client = await openKubeClient({ kubeconfig: cluster.kubeconfigPath });
    namespace = await cluster.namespace();
  });
  after(async () => {
    await client.close();
    await cluster.stop();
  });

  const uid = '5f0e1c2a-0000-4000-8000-000000000001';
  const labelSelector = 'owner=java';
  const manifest = (name: string, owner = uid) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      namespace,
      name,
      labels: { owner: 'java' },
      ownerReferences: [{ apiVersion: 'example.com/v1', kind: 'Base', name: 'java', uid: owner, controller: true }],
    },
  });
  const open = () => createOwnedObjects(client, { apiVersion: 'v1', resource: 'configmaps' });
  const list = async () => (await open().list({ namespace, uid, labelSelector }, signal)) as Listed[];

  it('are listed by their label, and only those of this owner', async () => {
    await open().create(manifest('own'), signal);
    await open().create(manifest('forged', '5f0e1c2a-0000-4000-8000-000000000002'), signal);
    const { ownerReferences: _, ...unowned } = manifest('unowned').metadata;
    await cluster.request('POST', `/api/v1/namespaces/${namespace}/configmaps`, { ...manifest('unowned'), metadata: unowned });
    assert.deepEqual(
      (await list()).map(({ metadata }) => metadata.name),
      ['own'],
    );
  });

  it('are created once', async () => {
    await open().create(manifest('own'), signal);
    assert.equal((await list()).length, 1);
  });

  it('are annotated and removed, unless another object has their name by now', async () => {
    const [own] = await list();
    assert.ok(own);
    await open().annotate(own.metadata, { 'example.com/a': '1' }, signal);
    assert.equal((await list())[0]?.metadata.annotations?.['example.com/a'], '1');
    const former = { ...own.metadata, uid: '5f0e1c2a-0000-4000-8000-000000000003' };
    await open().annotate(former, { 'example.com/a': '2' }, signal);
    await open().remove(former, signal);
    assert.equal((await list())[0]?.metadata.annotations?.['example.com/a'], '1');
    await open().remove(own.metadata, signal);
    await open().remove(own.metadata, signal);
    await open().annotate(own.metadata, { 'example.com/a': '3' }, signal);
    assert.deepEqual(await list(), []);
  });
});
