/** Applications in a real registry, and who is built on what. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Redis as Connection } from 'ioredis';
import { inParallel } from '../../src/async/in-parallel.ts';
import { createFactsReader, type FactsReader } from '../../src/bases/facts-reader.ts';
import { baseState } from '../../src/bases/recognize-base.ts';
import { recognizeImages } from '../../src/bases/recognize-images.ts';
import { createImageFactsStore } from '../../src/queue/image-facts.ts';
import { createRegistryClient, type RegistryClient } from '../../src/registry/client.ts';
import { digestOf } from '../harness/push-image.ts';
import { type Redis, startRedis } from '../harness/redis.ts';
import { type Registry, startRegistry } from '../harness/registry.ts';
import { attest, type Build, buildImage, type Built, formats, provenanceOf } from './build-image.ts';

let registry: Registry;
let server: Redis;
let redis: Connection;
let client: RegistryClient;
let requests: string[] = [];
let versions: Record<'old' | 'new' | 'gone', Built>;
let applications: { readonly name: string; readonly path: string; readonly digest: string; readonly expected: string }[];

const basePath = 'library/base-java';
const topLayer = (names: string, platform: string) => digestOf(Buffer.from(`${names.split(' ').at(-1)} for ${platform}`));

before(async () => {
  [registry, server] = await Promise.all([startRegistry(), startRedis()]);
  redis = new Connection(server.url);
  client = createRegistryClient({
    registries: [{ host: registry.host, insecure: true, concurrency: 64 }],
    allowedRegistries: [],
    credentials: () => [],
    onRequest: ({ kind }) => requests.push(kind),
  });
  const push = (tag: string, layers: string) => buildImage({ host: registry.host, repository: basePath, tag }, { layers });
  versions = { gone: await push('21', 'os java0'), old: await push('21.0.1', 'os java1'), new: await push('21', 'os java2') };
  const pushed = await inParallel(plans(), 8, async ({ name, expected, build, attested }) => {
    const target = { host: registry.host, repository: `shop/${name}`, tag: '1' };
    const { digest } = await buildImage(target, build);
    if (attested !== undefined)
      await attest(target, digest, provenanceOf(digest, [{ uri: `oci://${registry.host}/${basePath}`, digest: attested }], 'v1'));
    return { name, path: target.repository, digest, expected };
  });
  applications = pushed.map((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
});
after(async () => {
  await client.close();
  redis.disconnect();
  await Promise.all([registry.stop(), server.stop()]);
});

interface Plan {
  readonly name: string;
  readonly expected: string;
  readonly build: Build;
  /** The base that a referrer names. */
  readonly attested?: string;
}

/** Fifty applications on the base, in each of the ways in which an image shows it, and ten others. */
function plans(): Plan[] {
  const name = `${registry.host}/${basePath}`;
  const ways: ((
    version: Built,
    layers: string,
  ) => { readonly by: string; readonly build: Omit<Build, 'layers'>; readonly attested?: string })[] = [
    () => ({ by: 'Layers', build: {} }),
    () => ({ by: 'Layers', build: { format: formats.docker, platforms: ['linux/amd64'] } }),
    ({ digest }) => ({ by: 'Annotation', build: { indexAnnotations: named(name, digest) } }),
    ({ manifests }) => ({ by: 'Annotation', build: { annotations: (platform) => named(name, manifests[platform] ?? '') } }),
    ({ digest }) => ({ by: 'Annotation', build: { format: formats.docker, labels: () => named(name, digest) } }),
    (_, layers) => ({ by: 'Buildpacks', build: { labels: (platform) => packed(topLayer(layers, platform)) } }),
    ({ digest }) => ({ by: 'Provenance', build: { statements: (own) => [provenanceOf(own, [{ uri: `pkg:docker/${name}@21`, digest }])] } }),
    ({ digest }) => ({ by: 'Provenance', build: {}, attested: digest }),
    // Labels that the base inherits from its own base.
    () => ({ by: 'Layers', build: { labels: () => named('docker.io/library/ubuntu:24.04', digestOf(Buffer.from('ubuntu'))) } }),
    // An annotation with a digest of this base that the registry does not have.
    () => ({ by: 'Layers', build: { indexAnnotations: named(name, digestOf(Buffer.from('never pushed'))) } }),
  ];
  const onBase = Array.from({ length: 50 }, (_, index): Plan => {
    const isNew = index % 2 === (index < 25 ? 0 : 1);
    const [version, layers] = isNew ? [versions.new, 'os java2'] : [versions.old, 'os java1'];
    const { by, build, attested } = ways[index % ways.length]?.(version, layers) ?? { by: '', build: {} };
    const expected = `${isNew ? 'Current' : 'Behind'} by ${by}`;
    return {
      name: `app-${index}`,
      expected,
      build: { layers: `${layers} app-${index}`, ...build },
      ...(attested !== undefined && { attested }),
    };
  });
  const others = Array.from({ length: 10 }, (_, index): Plan => {
    const isWrong = index % 5 === 4;
    const builds: Omit<Build, 'layers'>[] = [
      {},
      { platforms: ['linux/amd64'] },
      { labels: () => named('docker.io/library/ubuntu', digestOf(Buffer.from('ubuntu'))) },
      { statements: (own) => [provenanceOf(own, [{ uri: `pkg:docker/${name}@21`, digest: versions.new.digest }])] },
    ];
    const build = isWrong ? { indexAnnotations: named(name, versions.old.digest) } : builds[index % 5];
    return { name: `other-${index}`, expected: isWrong ? 'Unknown' : 'unrelated', build: { layers: `os other-${index}`, ...build } };
  });
  const gone = versions.gone.digest;
  const untagged: Plan = {
    name: 'untagged',
    expected: 'Behind by Annotation',
    build: { layers: 'os java0 app', indexAnnotations: named(name, gone) },
  };
  return [...onBase, ...others, untagged];
}

function named(name: string, digest: string) {
  return { 'org.opencontainers.image.base.name': name, 'org.opencontainers.image.base.digest': digest };
}

function packed(topLayer: string) {
  return { 'io.buildpacks.lifecycle.metadata': JSON.stringify({ runImage: { topLayer, image: 'example.com/run' } }) };
}

function openReader(): FactsReader {
  const store = createImageFactsStore({ redis, prefix: '{iw}', now: Date.now, canWrite: () => true });
  return createFactsReader({ registry: client, store, aliases: new Map(), now: Date.now });
}

const { signal } = new AbortController();

/** As a reconcile does it. */
async function examine(reader: FactsReader): Promise<Record<string, string>> {
  const source = { registry: registry.host, path: basePath };
  const known = [
    { tag: '21', digest: versions.new.digest },
    { tag: '21.0.1', digest: versions.old.digest },
  ];
  const images = applications.map(({ name, path, digest }) => ({ name, digest, source: { registry: registry.host, path } }));
  const results = await recognizeImages(images, { source, versions: known }, { reader, signal });
  return Object.fromEntries(
    results.map(({ image: { name }, recognition }) => {
      const state = baseState(recognition, versions.new) ?? 'unrelated';
      return [name, recognition.kind === 'recognized' ? `${state} by ${recognition.by}` : state];
    }),
  );
}

const expected = () => Object.fromEntries(applications.map(({ name, expected }) => [name, expected]));

test('fifty applications on a base are recognized rightly and no other is, with a bounded number of requests', async () => {
  requests = [];
  assert.deepEqual(await examine(openReader()), expected());
  // Per image: an index, two manifests and configurations, attestations and the list of referrers with its fallback.
  assert.ok(requests.length <= 64 * 7, `${requests.length} requests`);
});

test('a second run sends no request, and neither does another replica', async () => {
  const reader = openReader();
  await examine(reader);
  requests = [];
  assert.deepEqual(await examine(reader), expected());
  assert.deepEqual(await examine(openReader()), expected());
  // The version that was never pushed is requested each time: it may be pushed.
  const missing = new Set(applications.filter(({ name }) => /^app-\d*9$/.test(name)).map(({ digest }) => digest));
  assert.deepEqual(new Set(requests), new Set(['manifest']));
  assert.ok(requests.length <= 2 * missing.size);
});

test('facts in Redis that were replaced by others are read again from the registry', async () => {
  await examine(openReader());
  // Its facts are those of another image for all keys but its own.
  const app = applications.find(({ name }) => name === 'other-0');
  assert.ok(app);
  const forged = JSON.stringify({ digest: app.digest, platforms: [] });
  const texts = ['', '{', '[]', '{"digest":7}', forged, `"${'a'.repeat(100_000)}"`];
  const keys = await redis.hkeys('{iw}:images:v1');
  for (const [index, key] of keys.entries()) await redis.hset('{iw}:images:v1', key, texts[index % texts.length] ?? '');
  requests = [];
  assert.deepEqual(await examine(openReader()), expected());
  assert.ok(requests.length > keys.length);
});
