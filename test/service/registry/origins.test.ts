/** Where the origin of an image is looked for, and what that costs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOriginReader } from '../../../src/service/registry/origins.ts';

const digest = (letter: string) => `sha256:${letter.repeat(64)}`;
const named = (name: string, revision?: string) => ({
  'org.opencontainers.image.source': `https://github.com/shop/${name}`,
  ...(revision !== undefined && { 'org.opencontainers.image.revision': revision }),
});
const revision = 'c'.repeat(40);
const source = { registry: 'r.example.com', path: 'shop/web' };
const entryOf = (letter: string, more = {}) => ({
  digest: digest(letter),
  mediaType: 'application/vnd.oci.image.manifest.v1+json',
  ...more,
});

function readerOf(manifests: Readonly<Record<string, object>>, labels: object = {}) {
  const requests: string[] = [];
  const read = createOriginReader({
    readManifest(_, reference) {
      requests.push(`manifest ${reference.slice(-1)}`);
      const found = manifests[reference.slice(-1)];
      const bytes = Buffer.from(JSON.stringify({ schemaVersion: 2, ...found }));
      return Promise.resolve(found && { bytes, digest: reference, mediaType: 'application/vnd.oci.image.index.v1+json' });
    },
    readBlob() {
      requests.push('config');
      return Promise.resolve(Buffer.from(JSON.stringify({ config: { Labels: labels } })));
    },
  });
  return { requests, read: async (reference: string) => read(source, reference, new AbortController().signal) };
}

test('an origin with a revision in the annotations of an index needs no further request, and a digest is read once', async () => {
  const { read, requests } = readerOf({ a: { annotations: named('index', revision), manifests: [entryOf('b')] } });
  assert.deepEqual(await read(digest('a')), { repository: 'https://github.com/shop/index', revision });
  await read(digest('a'));
  assert.deepEqual(requests, ['manifest a']);
});

test('the origin of a tag is read again, because the tag may move', async () => {
  const { read, requests } = readerOf({ '1': { annotations: named('web', revision) } });
  await read('1.0.1');
  await read('1.0.1');
  assert.equal(requests.length, 2);
});

test('without an annotation the origin is read from the labels of the first image of an index, which is no attestation', async () => {
  const attestation = entryOf('z', {
    annotations: { 'vnd.docker.reference.type': 'attestation-manifest' },
    platform: { os: 'unknown', architecture: 'unknown' },
  });
  const manifests = { a: { manifests: [attestation, entryOf('b')] }, b: { config: entryOf('d', { size: 100 }), layers: [] } };
  const { read, requests } = readerOf(manifests, named('labelled', revision));
  assert.deepEqual(await read(digest('a')), { repository: 'https://github.com/shop/labelled', revision });
  assert.deepEqual(requests, ['manifest a', 'manifest b', 'config']);
});

test('the annotation of an origin takes precedence over a label, which may be that of the base image', async () => {
  const { read } = readerOf({ a: { annotations: named('own'), config: entryOf('d', { size: 100 }), layers: [] } }, named('base', revision));
  assert.deepEqual(await read(digest('a')), { repository: 'https://github.com/shop/own' });
});

test('an image that names no source, and one that is gone, have no origin', async () => {
  const { read } = readerOf({ a: { config: entryOf('d', { size: 100 }), layers: [] } });
  assert.equal(await read(digest('a')), undefined);
  assert.equal(await read(digest('f')), undefined);
});
