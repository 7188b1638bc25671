import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DigestMemory } from '../../../src/bases/policies/digest-memory.ts';
import { type Examination, examineImages } from '../../../src/bases/policies/examine-images.ts';
import { createFactsReader, noStore } from '../../../src/bases/recognize/facts-reader.ts';
import { fakeDigest } from '../../harness/fake-registry.ts';
import { asked, startWorld } from '../../service/registry/start-world.ts';

const { signal } = new AbortController();
const path = 'team/app';

test('an image that is seen for the first time takes a request for its manifest and one for its configuration, and a HEAD later', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  const state = { now: 0 };
  const push = (version: string) => {
    const config = JSON.stringify({ os: 'linux', architecture: 'amd64', rootfs: { diff_ids: [fakeDigest('a')] }, version });
    const annotations = { 'org.opencontainers.image.base.digest': fakeDigest('b') };
    const descriptor = { mediaType: 'application/vnd.oci.image.config.v1+json', digest: fake.setBlob(path, config), size: config.length };
    return fake.setManifest(path, 'main', JSON.stringify({ schemaVersion: 2, config: descriptor, layers: [], annotations }));
  };
  const ports = {
    digests: new DigestMemory(10, () => state.now),
    registry: client,
    facts: createFactsReader({ registry: client, store: noStore, aliases: new Map(), now: () => state.now }),
  };
  const examination: Examination = {
    base: { ...repository, path: 'library/java' },
    selected: { tag: '21', digest: fakeDigest('b') },
    known: [],
    line: { description: 'a test', relationOf: () => undefined },
    access: undefined,
    isFresh: () => false,
    digestLifeMs: 60_000,
    shown: () => undefined,
    signal,
  };
  const examine = async () => {
    fake.requests.length = 0;
    const named = { repository, tag: 'main', digest: undefined, workloads: [] };
    const { images } = await examineImages([named], examination, ports);
    return { digests: images.map(({ digest }) => digest), requests: asked(fake) };
  };
  const first = push('1');
  const { digests, requests } = await examine();
  assert.deepEqual(digests, [first]);
  assert.deepEqual(
    requests.map((request) => request.replace(/sha256:.*/, '…')),
    ['GET /v2/team/app/manifests/main', 'GET /v2/team/app/blobs/…'],
  );
  assert.deepEqual(await examine(), { digests: [first], requests: [] });
  state.now = 60_000;
  assert.deepEqual(await examine(), { digests: [first], requests: ['HEAD /v2/team/app/manifests/main'] });
  const moved = push('2');
  state.now = 120_000;
  const after = await examine();
  assert.deepEqual(after.digests, [moved]);
  assert.deepEqual(after.requests.slice(0, 2), ['HEAD /v2/team/app/manifests/main', `GET /v2/team/app/manifests/${moved}`]);
});
