/** Which commit an image names, and which list of images, as a real registry holds them: in the annotations of its index, of its place there, of its manifest, or in its labels. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createRegistryClient, type RegistryClient } from '../../../src/service/registry/client.ts';
import { imageListAnnotation } from '../../../src/core/model/image-list.ts';
import { createImageListReader, createRevisionReader } from '../../../src/service/registry/origins.ts';
import { pushBlob, putManifest, type Pushed } from '../../harness/push-image.ts';
import { startRegistry } from '../../harness/registry.ts';

const ociManifest = 'application/vnd.oci.image.manifest.v1+json';
const ociIndex = 'application/vnd.oci.image.index.v1+json';
const [ofIndex, ofPlace, ofManifest, ofLabels] = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(40)) as [
  string,
  string,
  string,
  string,
];
const named = (text: string | undefined) =>
  text === undefined ? {} : { 'org.opencontainers.image.revision': text, [imageListAnnotation]: `${text}, other` };

interface Where {
  readonly index?: string;
  readonly place?: string;
  readonly manifest?: string;
  readonly labels?: string;
}

describe('the commit of an image', () => {
  let registry: Awaited<ReturnType<typeof startRegistry>>;
  let client: RegistryClient;
  before(async () => {
    registry = await startRegistry();
    client = createRegistryClient({
      registries: [{ host: registry.host, insecure: true }],
      allowedRegistries: [],
      credentials: () => [],
      random: () => 0,
    });
  });
  after(async () => {
    await client.close();
    await registry.stop();
  });

  /** Pushes an image for one architecture; returns the bytes of its manifest with its digest. */
  async function pushOne(
    repository: string,
    architecture: string,
    { manifest, labels }: Where,
  ): Promise<Pushed & { readonly size: number }> {
    const target = { host: registry.host, repository, tag: architecture };
    const config = { os: 'linux', architecture, config: { Labels: named(labels) }, rootfs: { type: 'layers', diff_ids: [] } };
    const document = {
      schemaVersion: 2,
      mediaType: ociManifest,
      config: await pushBlob(target, 'application/vnd.oci.image.config.v1+json', Buffer.from(JSON.stringify(config))),
      layers: [],
      annotations: named(manifest),
    };
    const pushed = await putManifest(target, architecture, ociManifest, document);
    return { ...pushed, size: JSON.stringify(document).length };
  }

  /** Pushes an index of two platforms and an attestation, as buildx does. */
  async function pushMany(repository: string, where: Where): Promise<Pushed> {
    const [amd64, arm64] = [await pushOne(repository, 'amd64', where), await pushOne(repository, 'arm64', where)];
    const attestation = await pushOne(repository, 'unknown', { manifest: 'e'.repeat(40), labels: 'e'.repeat(40) });
    const entry = ({ digest, mediaType, size }: Pushed & { readonly size: number }, architecture: string, annotations: object) => ({
      mediaType,
      digest,
      size,
      platform: { os: architecture === 'unknown' ? 'unknown' : 'linux', architecture },
      annotations,
    });
    const manifests = [
      entry(attestation, 'unknown', { 'vnd.docker.reference.type': 'attestation-manifest', ...named('e'.repeat(40)) }),
      entry(amd64, 'amd64', named(where.place)),
      entry(arm64, 'arm64', named(where.place)),
    ];
    const index = { schemaVersion: 2, mediaType: ociIndex, manifests, annotations: named(where.index) };
    return putManifest({ host: registry.host, repository, tag: 'many' }, 'many', ociIndex, index);
  }

  const rows: [what: string, where: Where, one: string | undefined, many: string | undefined][] = [
    ['is that of the labels where nothing else names one', { labels: ofLabels }, ofLabels, ofLabels],
    [
      'is that of the annotations before the labels, which a base image may have left',
      { manifest: ofManifest, labels: ofLabels },
      ofManifest,
      ofManifest,
    ],
    ['is that of the place in the index before the image', { place: ofPlace, manifest: ofManifest, labels: ofLabels }, ofManifest, ofPlace],
    [
      'is that of the index before all others',
      { index: ofIndex, place: ofPlace, manifest: ofManifest, labels: ofLabels },
      ofManifest,
      ofIndex,
    ],
    ['is the same in upper case', { manifest: ofManifest.toUpperCase() }, ofManifest, ofManifest],
    ['is not known where none is named', {}, undefined, undefined],
    ['is not known where what is named is no commit', { manifest: 'main', labels: 'v1.2.3' }, undefined, undefined],
  ];
  for (const [index, [what, where, one, many]] of rows.entries())
    it(what, async () => {
      const repository = `shop/revision-${index}`;
      const source = { registry: registry.host, path: repository };
      const [readRevision, readList] = [createRevisionReader(client), createImageListReader(client)];
      const images = { one: await pushOne(repository, 'amd64', where), many: await pushMany(repository, where) };
      const { signal } = new AbortController();
      assert.equal(await readRevision(source, images.one.digest, signal), one);
      assert.equal(await readRevision(source, images.many.digest, signal), many);
      // A list is read in the same order of places, whatever it says.
      const own = where.manifest ?? where.labels;
      const listOf = (text: string | undefined) => (text === undefined ? undefined : { entries: [text, 'other'] });
      assert.deepEqual(await readList(source, images.one.digest, signal), listOf(own));
      assert.deepEqual(await readList(source, images.many.digest, signal), listOf(where.index ?? where.place ?? own));
    });

  it('and its image list are read once for each digest', async () => {
    const repository = 'shop/remembered';
    const { digest } = await pushOne(repository, 'amd64', { labels: ofLabels });
    const asked: string[] = [];
    const read = createImageListReader({
      readManifest: (source, reference, signal) => (asked.push('manifest'), client.readManifest(source, reference, signal)),
      readBlob: (...request) => (asked.push('config'), client.readBlob(...request)),
    });
    for (let time = 0; time < 3; time++)
      assert.deepEqual(await read({ registry: registry.host, path: repository }, digest, new AbortController().signal), {
        entries: [ofLabels, 'other'],
      });
    assert.deepEqual(asked, ['manifest', 'config']);
  });
});
