/** What a BaseImagePolicy has seen, on a real API server. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createRecordStore } from '../../../src/bases/record/record-store.ts';
import { maxInRecord, type SeenVersion } from '../../../src/bases/record/seen-version.ts';
import { naturalOrder } from '../../../src/core/select/select-tag.ts';
import { openKubeClient, type KubeClient } from '../../../src/service/kube/client.ts';
import { borrowControlPlane, type ControlPlane } from '../../harness/control-plane.ts';
import { installPlainCrds } from '../../service/resources/install-crd.ts';
import { digestFor } from '../recognize/samples.ts';

const { signal } = new AbortController();
const label = { key: 'operator.technomad.dev/base-policy', valueOf: ({ name }: { readonly name: string }) => name };
const layers = { count: 9, chain: digestFor('chain'), first: digestFor('first'), last: digestFor('last') };
const version = (name: string): SeenVersion => ({
  digest: digestFor(name),
  tags: [name],
  seenAt: '2026-11-23T12:00:00Z',
  platforms: ['linux/amd64', 'linux/arm64'].map((platform) => ({ platform, digest: digestFor(`${name} ${platform}`), layers })),
});

interface Listed {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
  readonly spec: { readonly versions: readonly object[] };
}

describe('the record of a base', () => {
  let cluster: ControlPlane;
  let client: KubeClient;
  let namespace: string;
  before(async () => {
    cluster = await borrowControlPlane();
    await installPlainCrds(cluster);
    client = await openKubeClient({ kubeconfig: cluster.kubeconfigPath });
    namespace = await cluster.namespace();
  });
  after(async () => {
    await client.close();
    await cluster.stop();
  });

  const open = (max = 5_000) => createRecordStore({ client, label, max });
  let policies = 0;
  const policyOf = (name: string) => ({ namespace, name, uid: `5f0e1c2a-0000-4000-8000-${`${++policies}`.padStart(12, '0')}` });
  const namesOf = (versions: readonly SeenVersion[]) => versions.map(({ tags: [name = ''] }) => name).toSorted(naturalOrder);
  const nothing = { inUse: new Set<string>(), signal };

  it('is read by a new process as it was written', async () => {
    const policy = policyOf('kept');
    assert.deepEqual(await open().read(policy, signal), []);
    await open().add(policy, [version('a')], nothing);
    await open().add(policy, [{ ...version('a'), tags: ['b'], selected: true }], nothing);
    assert.deepEqual(await open().read(policy, signal), [{ ...version('a'), tags: ['b', 'a'], selected: true }]);
  });

  it('loses nothing when replicas write at the same time', async () => {
    const policy = policyOf('shared');
    const names = Array.from({ length: 6 }, (_, index) => `version-${index}`);
    await Promise.all(names.map((name) => open().add(policy, [version(name)], nothing)));
    assert.deepEqual(namesOf(await open().read(policy, signal)), names);
    await Promise.all(names.map((name) => open().add(policy, [{ ...version('version-0'), tags: [`of-${name}`] }], nothing)));
    const [first] = (await open().read(policy, signal)).filter(({ digest }) => digest === digestFor('version-0'));
    assert.deepEqual(first?.tags.toSorted(), [...names.map((name) => `of-${name}`), 'version-0'].toSorted());
  });

  it('is read again by a replica that knows fewer versions than the status counts', async () => {
    const policy = policyOf('stale');
    const [one, other] = [open(), open()];
    await one.add(policy, [version('a')], nothing);
    assert.equal((await other.read(policy, signal)).length, 1);
    await one.add(policy, [version('b')], nothing);
    assert.equal((await other.read(policy, signal)).length, 1);
    assert.deepEqual(namesOf(await other.read(policy, signal, { atLeast: 2 })), ['a', 'b']);
  });

  it('is not read if it is that of a former policy of the same name', async () => {
    await open().add(policyOf('renewed'), [version('former')], nothing);
    const policy = policyOf('renewed');
    assert.deepEqual(await open().read(policy, signal), []);
    await open().add(policy, [version('own')], nothing);
    assert.deepEqual(namesOf(await open().read(policy, signal)), ['own']);
  });

  it('holds 5,000 versions, and a change of one version writes one object', async () => {
    const policy = policyOf('large');
    const store = open();
    const many = Array.from({ length: 5_000 }, (_, index) => version(`1.0.${index}`));
    await store.add(policy, many, nothing);
    const listed = async () => {
      const path = `/apis/operator.technomad.dev/v1/namespaces/${namespace}/baseimagerecords?labelSelector=${label.key}=large`;
      const { items } = (await cluster.request('GET', path)) as { items: Listed[] };
      return items;
    };
    const before = await listed();
    assert.deepEqual(new Set(before.map(({ spec }) => spec.versions.length)), new Set([maxInRecord]));
    assert.ok(before.every((record) => JSON.stringify(record).length < 1_000_000));
    await store.add(policy, [{ ...version('1.0.7'), tags: ['1.0'] }], nothing);
    const versionOf = new Map(before.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
    const changed = (await listed()).filter(({ metadata }) => versionOf.get(metadata.name) !== metadata.resourceVersion);
    assert.equal(changed.length, 1);
  });

  it('holds versions with many platforms in several objects that the API server accepts', async () => {
    const policy = policyOf('wide');
    const platforms = Array.from({ length: 10 }, (_, index) => ({
      platform: `linux/arm/v${index}`,
      digest: digestFor(`${index}`),
      layers,
    }));
    const wide = Array.from({ length: 520 }, (_, index) => ({ ...version(`1.1.${index}`), platforms }));
    await open().add(policy, wide, nothing);
    assert.deepEqual(namesOf(await open().read(policy, signal)), namesOf(wide));
  });
});
