import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeDigest, type FakeRegistry } from '../../harness/fake-registry.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { asked, startWorld } from './start-world.ts';

const path = 'team/app';
const ociManifest = 'application/vnd.oci.image.manifest.v1+json';
const ociIndex = 'application/vnd.oci.image.index.v1+json';
const ociConfig = 'application/vnd.oci.image.config.v1+json';
const created = '2026-01-02T03:04:05Z';
const annotations = { 'org.opencontainers.image.created': '2026-02-03T04:05:06.789+01:00' };

/** An image under a tag, or under its digest only; returns its digest. */
function addImage(
  fake: FakeRegistry,
  { tag, config, ...more }: { tag?: string; config?: object; configType?: string; annotations?: object },
) {
  const mediaType = more.configType ?? ociConfig;
  const blob = { mediaType, digest: fake.setBlob(path, JSON.stringify(config ?? {})), size: 2 };
  const manifest = JSON.stringify({ mediaType: ociManifest, schemaVersion: 2, config: blob, layers: [], annotations: more.annotations });
  return tag === undefined ? fake.setBlob(path, manifest) : fake.setManifest(path, tag, manifest);
}

function addIndex(fake: FakeRegistry, tag: string, manifests: object[], more: object = {}) {
  return fake.setManifest(path, tag, JSON.stringify({ mediaType: ociIndex, schemaVersion: 2, manifests, ...more }));
}

const entry = (digest: string, os: string, architecture: string, variant?: string) => ({
  mediaType: ociManifest,
  digest,
  size: 1,
  platform: { os, architecture, variant },
});

test('the platform and the creation time of an image come from its configuration', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  const digest = addImage(fake, { tag: '1', config: { os: 'linux', architecture: 'arm', variant: 'v7', created } });
  assert.deepEqual(await client.readImage(repository, '1'), {
    digest,
    mediaType: ociManifest,
    platforms: ['linux/arm/v7'],
    created: new Date(created),
    unusable: { Chart: `its configuration is of the type ${ociConfig}` },
  });
});

test('the platforms of an index exclude attestations, and its creation time is that of its newest image', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  const amd64 = addImage(fake, { config: { os: 'linux', architecture: 'amd64', created } });
  const attestation = { ...entry(fakeDigest('c'), 'unknown', 'unknown') };
  const labelled = { ...entry(fakeDigest('d'), 'linux', 's390x'), annotations: { 'vnd.docker.reference.type': 'attestation-manifest' } };
  const digest = addIndex(fake, '1', [
    attestation,
    entry(amd64, 'linux', 'amd64'),
    labelled,
    entry(fakeDigest('b'), 'linux', 'arm64', 'v8'),
    entry(fakeDigest('e'), 'linux', 'amd64'),
  ]);
  const platforms = ['linux/amd64', 'linux/arm64/v8'];
  assert.deepEqual(await client.readPlatforms(repository, digest), { digest, mediaType: ociIndex, platforms });
  assert.deepEqual(asked(fake), [`GET /v2/team/app/manifests/${digest}`]);
  assert.deepEqual(await client.readImage(repository, '1'), {
    digest,
    mediaType: ociIndex,
    platforms,
    created: new Date(created),
    unusable: { Chart: 'it is an index, which no chart is' },
  });
});

test('the creation time in the annotation of an index or image takes precedence over its content', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  const expected = new Date('2026-02-03T03:05:06.789Z');
  addImage(fake, { tag: 'image', config: { os: 'linux', architecture: 'amd64', created }, annotations });
  addIndex(fake, 'index', [entry(fakeDigest('b'), 'linux', 'amd64')], { annotations });
  assert.deepEqual((await client.readImage(repository, 'image'))?.created, expected);
  assert.deepEqual((await client.readImage(repository, 'index'))?.created, expected);
});

const label = (name: string, time: string) => ({ config: { Labels: { [name]: time, other: 7 } } });
const [ociName, formerName] = ['org.opencontainers.image.created', 'org.label-schema.build-date'];
const [first, second, third] = ['2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z', '2026-03-03T00:00:00Z'];
const reproducible = '1970-01-01T00:00:00Z';

const creationTimes: [name: string, config: object, annotations: object | undefined, expected: string | undefined][] = [
  ['a label, as reproducible builds have it', { created: reproducible, ...label(ociName, first) }, undefined, first],
  ['a label where the configuration has no time', label(ociName, first), undefined, first],
  ["label-schema's label", { created: reproducible, ...label(formerName, first) }, undefined, first],
  [
    "the label before label-schema's, which the base image may have left there",
    { created: reproducible, config: { Labels: { [ociName]: first, [formerName]: second } } },
    undefined,
    first,
  ],
  ['a label that is later: the layers came from a cache', { created: first, ...label(ociName, second) }, undefined, second],
  [
    'the configuration that is later: the label is that of the base image',
    { created: second, ...label(ociName, first) },
    undefined,
    second,
  ],
  ['an annotation before both', { created: third, ...label(ociName, second) }, { [ociName]: first }, first],
  ["label-schema's annotation", { created: second }, { [formerName]: first }, first],
  ["the annotation before label-schema's", {}, { [ociName]: first, [formerName]: second }, first],
  ['what is credible before what is not', { created: second }, { [ociName]: reproducible }, second],
  ['what is not credible where nothing is', { created: reproducible }, undefined, reproducible],
  ['no labels at all', { created: first, config: { Labels: null } }, undefined, first],
  ['labels that are none', { created: first, config: 7 }, undefined, first],
  ['a label that is no time', label(ociName, 'today'), undefined, undefined],
];
for (const [name, config, annotations, expected] of creationTimes) {
  test(`the creation time of an image is read in the case "${name}"`, async (t) => {
    const { fake, client, repository } = await startWorld(t);
    addImage(fake, { tag: '1', config: { os: 'linux', architecture: 'amd64', ...config }, ...(annotations && { annotations }) });
    assert.deepEqual((await client.readImage(repository, '1'))?.created?.toISOString(), expected && new Date(expected).toISOString());
  });
}

test('an index was created when the newest of its images was, of which eight are read', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  const digests = [first, third, second].map((created) => addImage(fake, { config: { os: 'linux', architecture: 'amd64', created } }));
  addIndex(
    fake,
    '1',
    digests.map((digest, index) => entry(digest, 'linux', `a${index}`)),
  );
  assert.deepEqual((await client.readImage(repository, '1'))?.created, new Date(third));
  const many = Array.from({ length: 20 }, (_, index) =>
    addImage(fake, { config: { os: 'linux', architecture: `a${index}`, created: `2026-04-${index + 10}T00:00:00Z` } }),
  );
  addIndex(
    fake,
    'many',
    many.map((digest, index) => entry(digest, 'linux', `a${index}`)),
  );
  fake.requests.length = 0;
  assert.deepEqual((await client.readImage(repository, 'many'))?.created, new Date('2026-04-17T00:00:00Z'));
  assert.equal(fake.requests.length, 2 + 8 * 2);
});

test('an image of an index whose entry has a creation time is not read', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  const digest = addImage(fake, { config: { os: 'linux', architecture: 'amd64', created: first } });
  const annotated = { ...entry(fakeDigest('b'), 'linux', 'arm64'), annotations: { [ociName]: second } };
  addIndex(fake, 'some', [entry(digest, 'linux', 'amd64'), annotated]);
  assert.deepEqual((await client.readImage(repository, 'some'))?.created, new Date(second));
  addIndex(fake, 'all', [annotated]);
  fake.requests.length = 0;
  assert.deepEqual((await client.readImage(repository, 'all'))?.created, new Date(second));
  assert.equal(fake.requests.length, 2);
});

test('the platform of an entry of an index without one is read from its image', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  const digest = addImage(fake, { config: { os: 'linux', architecture: 'riscv64' } });
  addIndex(fake, '1', [{ mediaType: ociManifest, digest, size: 1 }]);
  assert.deepEqual((await client.readImage(repository, '1'))?.platforms, ['linux/riscv64']);
});

test('of very many platforms of an index the first are kept, and overlong ones are dropped', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  const [fits, long] = ['x'.repeat(64), 'x'.repeat(65)];
  const many = Array.from({ length: 101 }, (_, index) => entry(fakeDigest('b'), 'linux', `a${index}`));
  const longOnes = [
    entry(fakeDigest('c'), long, 'amd64'),
    entry(fakeDigest('c'), 'linux', long),
    entry(fakeDigest('c'), 'linux', 'arm', long),
  ];
  addIndex(fake, 'many', many);
  addIndex(fake, 'long', [entry(fakeDigest('b'), fits, fits, fits), ...longOnes]);
  const platforms = (await client.readPlatforms(repository, 'many'))?.platforms;
  assert.deepEqual([platforms?.length, platforms?.at(-1)], [100, 'linux/a99']);
  assert.deepEqual((await client.readPlatforms(repository, 'long'))?.platforms, [`${fits}/${fits}/${fits}`, 'linux/arm']);
});

test('a chart has no platform', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  addImage(fake, { tag: '1', configType: 'application/vnd.cncf.helm.config.v1+json', config: { os: 'linux', architecture: 'amd64' } });
  assert.deepEqual((await client.readImage(repository, '1'))?.platforms, []);
});

for (const [name, config] of Object.entries({
  'no time': { os: 'linux', architecture: 'amd64' },
  "Go's zero time": { os: 'linux', architecture: 'amd64', created: '0001-01-01T00:00:00Z' },
  'no time that can be read': { os: 'linux', architecture: 'amd64', created: 'yesterday' },
})) {
  test(`an image with ${name} has no creation time`, async (t) => {
    const { fake, client, repository } = await startWorld(t);
    addImage(fake, { tag: '1', config });
    const image = await client.readImage(repository, '1');
    assert.deepEqual(image && Object.keys(image), ['digest', 'mediaType', 'platforms', 'unusable']);
    assert.deepEqual(image?.platforms, ['linux/amd64']);
  });
}

test('the facts of a digest are cached for the same credentials, and a tag is requested again', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  const digest = addImage(fake, { tag: '1', config: { os: 'linux', architecture: 'amd64', created } });
  await client.readImage(repository, '1');
  assert.equal(fake.requests.length, 3);
  await client.readImage(repository, digest);
  assert.equal(fake.requests.length, 3);
  await client.readImage(repository, '1');
  assert.deepEqual(asked(fake).slice(3), ['HEAD /v2/team/app/manifests/1']);
  const repositoryWithOtherAccess = {
    ...repository,
    access: { secrets: [{ namespace: 'shop', name: 'mine', namedBy: 'policy' as const }] },
  };
  await client.readImage(repositoryWithOtherAccess, digest);
  assert.equal(fake.requests.length, 6);
});

test('simultaneous reads of one image digest are sent once', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  const digest = addImage(fake, { tag: '1', config: { os: 'linux', architecture: 'amd64', created } });
  const images = await Promise.all(Array.from({ length: 10 }, () => client.readImage(repository, digest)));
  assert.ok(images.every((image) => image?.digest === digest));
  assert.equal(fake.requests.length, 2);
});

test('a reader of an image with newer credentials does not share the refusal of older ones', async (t) => {
  let version = '1';
  const { fake, client, repository } = await startWorld(t, { credentialVersions: () => version });
  const digest = addImage(fake, { tag: '1', config: { os: 'linux', architecture: 'amd64', created } });
  const release = Promise.withResolvers<void>();
  fake.answerNext({ after: release.promise, status: 403 });
  const before = client.readImage(repository, digest);
  await waitFor('the first question', () => fake.requests.length === 1);
  version = '2';
  assert.equal((await client.readImage(repository, digest))?.digest, digest);
  release.resolve();
  await assert.rejects(before, { reason: 'RegistryDenied' });
});

test('a missing image is read as undefined', async (t) => {
  const { client, repository } = await startWorld(t);
  for (const reference of ['1', fakeDigest('a'), '../..', 'sha256:abc']) {
    assert.equal(await client.readImage(repository, reference), undefined);
    assert.equal(await client.readManifest(repository, reference), undefined);
    assert.equal(await client.readBlob(repository, reference, 10), undefined);
    assert.deepEqual(await client.listReferrers(repository, reference), []);
  }
});

test('an image whose configuration is missing is a retryable error', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  const config = { mediaType: ociConfig, digest: fakeDigest('a'), size: 2 };
  fake.setManifest(path, '1', JSON.stringify({ mediaType: ociManifest, schemaVersion: 2, config, layers: [] }));
  await assert.rejects(client.readImage(repository, '1'), { name: 'Error', message: /does not hold its configuration sha256:a+$/ });
});

const helm = 'application/vnd.cncf.helm.config.v1+json';

test('the digest and the type of a tag take one request, for images and for others', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  const image = addImage(fake, { tag: 'image', config: {} });
  const index = addIndex(fake, 'index', [entry(fakeDigest('b'), 'linux', 'amd64')]);
  const chart = addImage(fake, { tag: 'chart', configType: helm });
  const found = [];
  for (const tag of ['image', 'index', 'chart']) {
    const head = await client.resolveTag(repository, tag);
    found.push([head?.digest, (await client.whyUnusable(repository, head?.digest ?? '')).Image]);
  }
  assert.deepEqual(found, [
    [image, undefined],
    [index, undefined],
    [chart, `its configuration is of the type ${helm}`],
  ]);
  assert.deepEqual(asked(fake), [
    'GET /v2/team/app/manifests/image',
    'GET /v2/team/app/manifests/index',
    'GET /v2/team/app/manifests/chart',
  ]);
  assert.equal(await client.resolveTag(repository, 'gone'), undefined);
});

test('the type of a digest takes one request when the tag was not requested, and is then cached', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  const digest = addImage(fake, { configType: helm });
  const asks = Array.from({ length: 5 }, () => client.whyUnusable(repository, digest));
  for (const { Image: why } of await Promise.all(asks)) assert.equal(why, `its configuration is of the type ${helm}`);
  await client.whyUnusable(repository, digest);
  assert.deepEqual(asked(fake), [`GET /v2/team/app/manifests/${digest}`]);
  await assert.rejects(client.whyUnusable(repository, fakeDigest('b')), {
    name: 'Error',
    message: /holds no image sha256:b+, which it named/,
  });
});

test('Docker Hub, which counts pulls, is requested by HEAD first', async (t) => {
  const asked: string[] = [];
  const { client } = await startWorld(t, {
    registries: [{ host: 'docker.io', insecure: true }],
    lookup: (_, __, done) => done(new Error('nobody is there'), []),
    onRequest: ({ host, method }) => void asked.push(`${method} ${host}`),
  });
  await assert.rejects(client.resolveTag({ registry: 'docker.io', path: 'team/app' }, '1'));
  await assert.rejects(client.readTag({ registry: 'docker.io', path: 'team/app' }, '1'));
  assert.deepEqual(new Set(asked), new Set(['HEAD docker.io']));
});

test('an index without types is an image if one of its entries is', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  const bare = (digest: string) => ({ mediaType: ociManifest, digest, size: 1 });
  const charts = ['a', 'b'].map((version) => bare(addImage(fake, { configType: helm, config: { version } })));
  const image = bare(addImage(fake, { config: { os: 'linux', architecture: 'amd64' } }));
  const digests = [addIndex(fake, 'charts', charts), addIndex(fake, 'mixed', [...charts, image])] as const;
  assert.equal(
    (await client.whyUnusable(repository, digests[0])).Image,
    `it is an index without an image: its configuration is of the type ${helm}`,
  );
  assert.equal((await client.whyUnusable(repository, digests[1])).Image, undefined);
});

test('nothing more is read of something that is not an image, and it has no platform', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  const digest = addImage(fake, { tag: '1', configType: helm, annotations });
  assert.deepEqual(await client.readImage(repository, '1'), {
    digest,
    mediaType: ociManifest,
    platforms: [],
    created: new Date('2026-02-03T03:05:06.789Z'),
    unusable: { Image: `its configuration is of the type ${helm}`, Chart: 'it is a chart without a content' },
  });
  assert.equal(fake.requests.length, 2);
});
