import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { type BuildFacts, formatFacts, parseFacts } from '../../../src/bases/recognize/facts.ts';
import { createFactsReader, type FactsStore } from '../../../src/bases/recognize/facts-reader.ts';
import type { ImageSource } from '../../../src/core/model/image-source.ts';
import { fakeDigest, type FakeRegistry } from '../../harness/fake-registry.ts';
import { asked, startWorld } from '../../service/registry/start-world.ts';
import { provenanceOf } from './build-image.ts';
import { digestFor } from './samples.ts';

const path = 'team/app';
const types = {
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  index: 'application/vnd.oci.image.index.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
};
const diffIds = [digestFor('os'), digestFor('app')];
const runnable = { os: 'linux', architecture: 'amd64', rootfs: { type: 'layers', diff_ids: diffIds } };
const { signal } = new AbortController();

/** A store in memory. */
function memoryStore(texts = new Map<string, string>()): FactsStore & { readonly texts: Map<string, string> } {
  return { texts, read: async (key) => texts.get(key), write: async (key, text) => void texts.set(key, text) };
}

async function openWorld(t: TestContext, now: () => number = () => 0) {
  const world = await startWorld(t);
  const store = memoryStore();
  const open = () => createFactsReader({ registry: world.client, store, aliases: new Map(), now });
  const reader = open();
  return { ...world, store, open, read: (digest: string, source: ImageSource = world.repository) => reader.read(source, digest, signal) };
}

function addManifest(fake: FakeRegistry, config: object | string = runnable, more: object = {}): string {
  const text = typeof config === 'string' ? config : JSON.stringify(config);
  const blob = { mediaType: types.config, digest: fake.setBlob(path, text), size: text.length };
  return fake.setBlob(path, JSON.stringify({ schemaVersion: 2, mediaType: types.manifest, config: blob, layers: [], ...more }));
}

function addIndex(fake: FakeRegistry, manifests: object[]): string {
  return fake.setBlob(path, JSON.stringify({ schemaVersion: 2, mediaType: types.index, manifests }));
}

const entry = (digest: string, os: string, architecture: string, more: object = {}) => ({
  mediaType: types.manifest,
  digest,
  size: 1,
  platform: { os, architecture },
  ...more,
});
const platformsOf = (facts: BuildFacts | undefined) => facts?.platforms.map(({ platform }) => platform);

test('the facts of an image are read once for a digest and its access, also by concurrent callers', async (t) => {
  const { fake, read, repository } = await openWorld(t);
  const digest = addManifest(fake, runnable, { annotations: { 'org.opencontainers.image.base.digest': fakeDigest('b') } });
  const facts = {
    digest,
    platforms: [{ platform: 'linux/amd64', digest, diffIds, settings: {}, named: [{ by: 'Annotation', digest: fakeDigest('b') }] }],
  };
  assert.deepEqual(await Promise.all([read(digest), read(digest)]), [facts, facts]);
  assert.deepEqual(await read(digest), facts);
  assert.equal(fake.requests.length, 2);
  const access = { secrets: [{ namespace: 'shop', name: 'creds', namedBy: 'policy' as const }] };
  assert.deepEqual(await read(digest, { ...repository, access }), facts);
  assert.equal(fake.requests.length, 4);
});

test('the source of the image is that of its annotations, or else of its labels, if it is a URL', async (t) => {
  const key = 'org.opencontainers.image.source';
  const { fake, read } = await openWorld(t);
  const sourceOf = async (label: string, annotation?: string) => {
    const config = { ...runnable, config: { Labels: { [key]: label } } };
    const digest = addManifest(fake, config, annotation === undefined ? {} : { annotations: { [key]: annotation } });
    return (await read(digest))?.builtFrom;
  };
  assert.equal(await sourceOf('https://github.com/shop/web'), 'https://github.com/shop/web');
  assert.equal(await sourceOf('https://github.com/shop/web', ' https://github.com/shop/api '), 'https://github.com/shop/api');
  assert.equal(await sourceOf('https://github.com/shop/web\nX: 1'), undefined);
  assert.equal(await sourceOf(`https://github.com/${'a'.repeat(512)}`), undefined);
});

test('another replica reads the facts of an image from the store, and after a week from the registry', async (t) => {
  let now = 0;
  const { fake, read, open, store, repository } = await openWorld(t, () => now);
  const digest = addManifest(fake);
  const facts = await read(digest);
  const count = fake.requests.length;
  assert.deepEqual(await open().read(repository, digest, signal), facts);
  now += 7 * 24 * 3_600_000 - 1;
  await read(digest);
  assert.equal(fake.requests.length, count);
  now += 1;
  store.texts.clear();
  await read(digest);
  assert.equal(fake.requests.length, 2 * count);
});

test('a digest that the registry does not have is not remembered', async (t) => {
  const { fake, read } = await openWorld(t);
  const text = JSON.stringify({ schemaVersion: 2, mediaType: types.index, manifests: [entry(fakeDigest('a'), 'linux', 'amd64')] });
  const digest = digestFor(text);
  assert.equal(await read(digest), undefined);
  fake.setBlob(path, text);
  assert.deepEqual(await read(digest), { digest, platforms: [] });
});

test('facts are read from the registry if the store contains garbage', async (t) => {
  const { fake, store, open, repository } = await openWorld(t);
  const digest = addManifest(fake);
  const facts = await open().read(repository, digest, signal);
  for (const [key, text] of store.texts) {
    assert.deepEqual(parseFacts(text, digest), facts);
    for (const forged of ['', 'null', '[]', text.replaceAll(digest, fakeDigest('a')), text.replace('linux/amd64', 'linux/<b>')]) {
      store.texts.set(key, forged);
      assert.deepEqual(await open().read(repository, digest, signal), facts);
    }
  }
});

test('facts from the store are used only if they are valid', () => {
  const digest = fakeDigest('a');
  const platform = {
    platform: 'linux/amd64',
    digest,
    diffIds: [digest],
    named: [{ by: 'Annotation' as const, repository: 'docker.io/library/a', tag: '1', digest }],
  };
  const facts: BuildFacts = { digest, platforms: [platform] };
  assert.deepEqual(parseFacts(formatFacts(facts), digest), facts);
  const wrong: object[] = [
    { ...facts, digest: fakeDigest('b') },
    { ...facts, more: 1 },
    { ...facts, platforms: Array.from({ length: 17 }, () => platform) },
    { ...facts, platforms: [{ ...platform, diffIds: Array.from({ length: 513 }, () => digest) }] },
    { ...facts, platforms: [{ ...platform, diffIds: ['sha256:a'] }] },
    { ...facts, platforms: [{ ...platform, named: Array.from({ length: 17 }, () => platform.named[0]) }] },
    { ...facts, platforms: [{ ...platform, named: [{ by: 'Layers' }] }] },
    { ...facts, platforms: [{ ...platform, named: [{ by: 'Annotation', tag: 'a b' }] }] },
    { ...facts, platforms: [{ ...platform, named: [{ by: 'Annotation', repository: 'a'.repeat(256) }] }] },
  ];
  for (const one of wrong) assert.equal(parseFacts(JSON.stringify(one), digest), undefined, JSON.stringify(one).slice(0, 200));
});

test('at most sixteen images of an index are read, and no other artifacts', async (t) => {
  const { fake, read } = await openWorld(t);
  const amd64 = addManifest(fake);
  const chart = addManifest(fake, {}, { artifactType: 'application/vnd.cncf.helm.config.v1+json' });
  const nested = addIndex(fake, [entry(amd64, 'linux', 'amd64')]);
  const entries = [
    entry(chart, 'linux', 'chart'),
    entry(nested, 'linux', 'nested'),
    entry(fakeDigest('0'), 'linux', 'missing'),
    entry(amd64, 'unknown', 'unknown'),
    entry(amd64, 'linux', 'typed', { artifactType: 'application/vnd.example' }),
    entry(amd64, 'linux', 'odd', { mediaType: 'application/vnd.example' }),
    { mediaType: types.manifest, digest: amd64, size: 1 },
    entry(amd64, 'windows', '<script>'),
  ];
  fake.answerNext({ status: 404 }, { path: `/v2/${path}/manifests/${fakeDigest('0')}` });
  assert.deepEqual(platformsOf(await read(addIndex(fake, entries))), ['linux/amd64', '']);
  const many = Array.from({ length: 1_000 }, (_, index) => entry(amd64, 'linux', `a${index}`));
  fake.requests.length = 0;
  assert.equal((await read(addIndex(fake, many)))?.platforms.length, 16);
  assert.equal(fake.requests.length, 1 + 16 * 2 + 2);
});

test('a digest that is not an image has no facts', async (t) => {
  const { fake, read } = await openWorld(t);
  const digest = addManifest(fake, {}, { artifactType: 'application/vnd.example' });
  assert.deepEqual(await read(digest), { digest, platforms: [] });
  assert.equal(fake.requests.length, 1);
});

const odd: [name: string, config: object | string][] = [
  ['no layers', { os: 'linux', architecture: 'amd64' }],
  ['too many layers', { ...runnable, rootfs: { diff_ids: Array.from({ length: 513 }, () => diffIds[0]) } }],
  ['layers that are no digests', { ...runnable, rootfs: { diff_ids: ['sha256:abc', ...diffIds] } }],
  ['layers of another type', { ...runnable, rootfs: { diff_ids: { 0: diffIds[0] } } }],
  ['no JSON', '{'],
  ['an array', '[]'],
];
for (const [name, config] of odd) {
  test(`a configuration with ${name} leaves the layers unknown`, async (t) => {
    const { fake, read } = await openWorld(t);
    assert.deepEqual(
      (await read(addManifest(fake, config)))?.platforms.map(({ diffIds }) => diffIds),
      [undefined],
    );
  });
}

test('a configuration that is too large is not read', async (t) => {
  const { fake, read } = await openWorld(t);
  const config = { mediaType: types.config, digest: fakeDigest('c'), size: 2 * 1024 * 1024 + 1 };
  const digest = addManifest(fake, {}, { config });
  assert.deepEqual(await read(digest), { digest, platforms: [{ platform: '', digest, named: [] }] });
  assert.ok(!asked(fake).some((request) => request.includes('/blobs/')));
});

test('an image whose configuration is missing is an error, which is retried', async (t) => {
  const { fake, read } = await openWorld(t);
  const digest = addManifest(fake, {}, { config: { mediaType: types.config, digest: fakeDigest('c'), size: 2 } });
  await assert.rejects(read(digest), /the registry does not have its configuration sha256:c/);
});

const slsa = { 'in-toto.io/predicate-type': 'https://slsa.dev/provenance/v0.2' };
const inputs = [{ uri: 'pkg:docker/base@1', digest: fakeDigest('b') }];

/** An index with an image and an attestation of it, whose layers are given. */
function addAttested(fake: FakeRegistry, layersOf: (image: string) => object[]) {
  const image = addManifest(fake);
  const attestation = fake.setBlob(path, JSON.stringify({ schemaVersion: 2, mediaType: types.manifest, layers: layersOf(image) }));
  const annotations = { 'vnd.docker.reference.type': 'attestation-manifest', 'vnd.docker.reference.digest': image };
  return addIndex(fake, [entry(image, 'linux', 'amd64'), entry(attestation, 'unknown', 'unknown', { annotations })]);
}

function addStatement(fake: FakeRegistry, statement: unknown, annotations: object = slsa, more: object = {}) {
  const text = JSON.stringify(statement);
  return { mediaType: 'application/vnd.in-toto+json', digest: fake.setBlob(path, text), size: text.length, annotations, ...more };
}

test("BuildKit's attestations name the inputs of the build", async (t) => {
  const { fake, read } = await openWorld(t);
  const facts = await read(addAttested(fake, (image) => [addStatement(fake, provenanceOf(image, inputs))]));
  assert.deepEqual(facts?.platforms[0]?.named, [
    { by: 'Provenance', repository: 'docker.io/library/base', tag: '1', digest: fakeDigest('b') },
  ]);
  // The index, the image, its configuration, the attestation and its statement; no list of referrers.
  assert.equal(fake.requests.length, 5);
});

const useless: [name: string, layers: (fake: FakeRegistry, image: string) => object[], blobs: number][] = [
  ['about another image', (fake) => [addStatement(fake, provenanceOf(fakeDigest('d'), inputs))], 1],
  ['that is too large', (fake, image) => [addStatement(fake, provenanceOf(image, inputs), slsa, { size: 1024 * 1024 + 1 })], 0],
  [
    'of another predicate',
    (fake, image) => [
      addStatement(fake, provenanceOf(image, inputs), { 'in-toto.io/predicate-type': 'https://in-toto.io/attestation/vulns' }),
    ],
    0,
  ],
  ['of another media type', (fake, image) => [addStatement(fake, provenanceOf(image, inputs), slsa, { mediaType: 'text/plain' })], 0],
  [
    'that is no statement',
    (fake) => [
      addStatement(fake, 7),
      addStatement(fake, [{}]),
      addStatement(fake, { payload: '!' }),
      addStatement(fake, { dsseEnvelope: { payload: 'e30=' } }),
    ],
    4,
  ],
  [
    'among a thousand',
    (fake) =>
      Array.from({ length: 1_000 }, (_, index) => addStatement(fake, provenanceOf(fakeDigest('d'), [], index % 2 === 0 ? 'v1' : 'v0.2'))),
    8,
  ],
];
for (const [name, layers, blobs] of useless) {
  test(`an attestation ${name} names nothing`, async (t) => {
    const { fake, read } = await openWorld(t);
    const facts = await read(addAttested(fake, (image) => layers(fake, image)));
    assert.deepEqual(facts?.platforms[0]?.named, []);
    assert.equal(asked(fake).filter((request) => request.includes('/blobs/')).length, 1 + blobs);
  });
}

test('provenance is read before SBOMs, up to the first that names a base', async (t) => {
  const { fake, read } = await openWorld(t);
  const sbom = { 'in-toto.io/predicate-type': 'https://spdx.dev/Document' };
  const digest = addAttested(fake, (image) => [
    addStatement(
      fake,
      { _type: 'https://in-toto.io/Statement/v0.1', subject: [], predicateType: 'https://spdx.dev/Document', predicate: {} },
      sbom,
    ),
    addStatement(fake, provenanceOf(image, inputs)),
  ]);
  assert.equal((await read(digest))?.platforms[0]?.named.length, 1);
  assert.equal(asked(fake).filter((request) => request.includes('/blobs/')).length, 2);
});
