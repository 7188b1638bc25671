/** How Secrets are watched and read, against a real API server. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openKubeClient, type KubeClient } from '../../../src/service/kube/client.ts';
import { createObjectStore, type StoredObject } from '../../../src/service/kube/object-store.ts';
import { projectMetadata, projectServiceAccount, readSecretContent } from '../../../src/service/kube/secrets.ts';
import { startReflector } from '../../../src/service/kube/reflector.ts';
import { borrowControlPlane, type ControlPlane } from '../../harness/control-plane.ts';
import { kubeconfigWithRules } from '../../harness/service-account.ts';
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

const path = () => `/api/v1/namespaces/${namespace}/secrets`;
const create = (name: string, type = 'Opaque') =>
  controlPlane.request('POST', path(), { metadata: { name }, type, stringData: { password: 'pa55word' } });

test('a watch of the metadata of Secrets never receives contents or the excluded types', async (t) => {
  const seen: unknown[] = [];
  const store = createObjectStore<StoredObject>();
  await create('listed');
  await create('release', 'helm.sh/release.v1');
  const reflector = startReflector({
    client,
    path: path(),
    fieldSelector: 'type!=helm.sh/release.v1',
    metadataOnly: true,
    project: (raw) => {
      seen.push(raw);
      return projectMetadata(raw);
    },
    store,
  });
  t.after(() => reflector.stop());
  await reflector.synced;
  await waitFor('the watch', () => reflector.state().connected);
  await create('later-release', 'helm.sh/release.v1');
  await create('watched');
  await waitFor('the Secret', () => store.get(namespace, 'watched'));
  assert.deepEqual([...store.values()].map(({ name }) => name).sort(), ['listed', 'watched']);
  assert.doesNotMatch(JSON.stringify(seen), /"data"|pa55word|cGE1NXdvcmQ/);
});

test('only service accounts with imagePullSecrets are kept', () => {
  const metadata = { namespace: 'shop', name: 'runner', uid: 'u', resourceVersion: '7' };
  assert.deepEqual(projectServiceAccount({ metadata, imagePullSecrets: [{ name: 'a' }, {}] }), { ...metadata, pullSecrets: ['a'] });
  for (const imagePullSecrets of [undefined, null, [], [{}]])
    assert.equal(projectServiceAccount({ metadata, imagePullSecrets }), undefined);
});

test('the content of exactly one Secret is read, or the reason why it is missing is given', async (t) => {
  await create('creds');
  const content = await readSecretContent(client, { namespace, name: 'creds' });
  assert.deepEqual('data' in content && content.data, { password: Buffer.from('pa55word').toString('base64') });
  assert.deepEqual(await readSecretContent(client, { namespace, name: 'missing' }), { why: 'does not exist' });
  const odd = await readSecretContent(client, { namespace, name: '../secrets' });
  assert.match('why' in odd ? odd.why : '', /cannot be the name of a Kubernetes object/);
  const limited = await openKubeClient({
    kubeconfig: await kubeconfigWithRules(controlPlane, namespace, 'nobody', []),
    requestTimeoutMs: 60_000,
  });
  t.after(() => limited.close());
  assert.deepEqual(await readSecretContent(limited, { namespace, name: 'creds' }), {
    why: `may not be read: grant image-watcher the verb "get" on "secrets" in namespace ${namespace}`,
  });
});
