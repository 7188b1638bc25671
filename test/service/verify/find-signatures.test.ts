import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findSignatures, type FoundSignature } from '../../../src/service/verify/find-signatures.ts';
import { digestOf, web } from '../../core/model/samples.ts';
import { bundleType, ecSigner, signBundle, signSimple } from './cosign.ts';
import { createFakeSignatures, type FakeSignatures } from './fake-signatures.ts';

const digest = digestOf('a');
const tag = `sha256-${'a'.repeat(64)}.sig`;
const signer = ecSigner();
const simple = signSimple(digest, signer);
const bundle = signBundle(digest, signer);

const find = ({ registry }: FakeSignatures) =>
  findSignatures(web, digest, { registry, signal: new AbortController().signal, now: () => 0 });

async function findAll(fake: FakeSignatures): Promise<FoundSignature[]> {
  const found: FoundSignature[] = [];
  for await (const signature of find(fake)) found.push(signature);
  return found;
}

const layerOf = (layer: object) => Buffer.from(JSON.stringify({ schemaVersion: 2, layers: [layer] }));

test('an image without signatures costs two requests', async () => {
  const fake = createFakeSignatures();
  assert.deepEqual(await findAll(fake), []);
  assert.deepEqual(fake.requests, [`manifest ${tag}`, `referrers ${digest}`]);
});

test('signatures of cosign 2 and of cosign 3 are found', async () => {
  const fake = createFakeSignatures();
  fake.putTag(digest, [simple, simple]);
  fake.putReferrer(digest, bundle);
  assert.deepEqual(await findAll(fake), [simple, simple, bundle]);
});

test('no signature is requested after the first sufficient one', async () => {
  const fake = createFakeSignatures();
  fake.putTag(digest, [simple, simple]);
  fake.putReferrer(digest, bundle);
  for await (const found of find(fake)) {
    assert.deepEqual(found, simple);
    break;
  }
  assert.equal(fake.requests.length, 2);
});

test('referrers that are not signatures are not read', async () => {
  const fake = createFakeSignatures();
  fake.putReferrer(digest, bundle, 'application/spdx+json');
  fake.putDescriptor(digest, { digest: digestOf('b') });
  assert.deepEqual(await findAll(fake), []);
  assert.equal(fake.requests.length, 2);
});

test('signatures of cosign 2 that are pushed as referrers are found', async () => {
  const fake = createFakeSignatures();
  const type = 'application/vnd.dev.cosign.artifact.sig.v1+json';
  const layer = {
    mediaType: 'application/vnd.dev.cosign.simplesigning.v1+json',
    digest: fake.putBlob(simple.payload),
    size: 10,
    annotations: simple.annotations,
  };
  fake.putDescriptor(digest, { digest: fake.putManifest('', layerOf(layer)), artifactType: type });
  assert.deepEqual(await findAll(fake), [simple]);
});

const simpleLayer = {
  mediaType: 'application/vnd.dev.cosign.simplesigning.v1+json',
  digest: digestOf('c'),
  size: 10,
  annotations: simple.annotations,
};
const broken: readonly (readonly [name: string, manifest: Buffer, why: RegExp | undefined])[] = [
  ['no JSON', Buffer.from('x'), /is not a manifest of signatures/],
  ['an index', Buffer.from('{"manifests":[]}'), /is not a manifest of signatures/],
  ['layers of another shape', Buffer.from('{"layers":{"a":1}}'), /is not a manifest of signatures/],
  ['a layer whose content is gone', layerOf(simpleLayer), /the registry does not hold sha256:c/],
  ['a layer of megabytes', layerOf({ ...simpleLayer, size: 10_000_000 }), /10000000 bytes is too large/],
  ['a layer without a signature', layerOf({ ...simpleLayer, annotations: {} }), /no signature in its annotations/],
  ['layers of something else', layerOf({ ...simpleLayer, mediaType: 'text/plain' }), undefined],
];
for (const [name, manifest, why] of broken) {
  test(`a manifest with ${name} in the place of signatures is handled`, async () => {
    const fake = createFakeSignatures();
    fake.putManifest(tag, manifest);
    const [found, ...more] = await findAll(fake);
    assert.deepEqual(more, []);
    if (why === undefined) assert.equal(found, undefined);
    else assert.match(found?.kind === 'unreadable' ? found.why : '', why);
  });
}

test('of very many signatures of an image only the last are read', async () => {
  const fake = createFakeSignatures();
  fake.putTag(
    digest,
    Array.from({ length: 100 }, () => simple),
  );
  for (let index = 0; index < 100; index++) fake.putReferrer(digest, bundle, bundleType);
  assert.equal((await findAll(fake)).length, 64);
});

test('attestations declared as such are not read, and hide no signature', async () => {
  const fake = createFakeSignatures();
  const predicate = (type: string) => ({ 'dev.sigstore.bundle.predicateType': type });
  fake.putReferrer(digest, bundle, bundleType, predicate('https://sigstore.dev/cosign/sign/v1'));
  for (let index = 0; index < 32; index++) fake.putReferrer(digest, bundle, bundleType, predicate('https://slsa.dev/provenance/v1'));
  assert.deepEqual(await findAll(fake), [bundle]);
});
