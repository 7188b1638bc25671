import assert from 'node:assert/strict';
import { test } from 'node:test';
import { migrateStorage } from '../../../src/conversion/crd/migrate-storage.ts';
import { startFakeApiServer } from '../../service/kube/fake-api-server.ts';

const version = (name: string, storage: boolean) => ({ name, storage, served: true });
const crd = {
  metadata: { name: 'widgets.example.com', generation: 2, resourceVersion: '9' },
  spec: {
    group: 'example.com',
    names: { plural: 'widgets' },
    versions: [version('v1', true), version('v1alpha1', false)],
    conversion: { strategy: 'Webhook' },
  },
};

test('migration waits for an API server that still stores the former version', async (t) => {
  const server = await startFakeApiServer();
  t.after(() => server.stop());
  let hasLearned = false;
  let resourceVersion = '3';
  let storedVersions = ['v1alpha1', 'v1'];
  server.handle(({ method, path, json }) => {
    const metadata = { namespace: 'shop', name: 'one', uid: 'uid-1' };
    if (path.includes('/customresourcedefinitions/')) {
      if (method === 'PATCH') storedVersions = ['v1'];
      return json(200, { ...crd, status: { storedVersions } });
    }
    if (method === 'PATCH') {
      if (hasLearned) resourceVersion = '4';
      return json(200, { metadata: { ...metadata, resourceVersion } });
    }
    return json(200, { kind: 'WidgetList', metadata: { resourceVersion: '1' }, items: [{ metadata: { ...metadata, resourceVersion } }] });
  });
  const propagate = () => {
    hasLearned = true;
    return Promise.resolve();
  };
  const migration = await migrateStorage(server.client(), {
    name: crd.metadata.name,
    concurrency: 1,
    onProgress: () => undefined,
    propagate,
  });
  assert.deepEqual([migration.rewritten, migration.storedVersions, resourceVersion], [1, ['v1'], '4']);
});
