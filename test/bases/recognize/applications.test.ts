/** Applications in a real registry, and who is built on what. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Redis as Connection } from 'ioredis';
import { createFactsReader, type FactsReader } from '../../../src/bases/recognize/facts-reader.ts';
import { knownBase } from '../../../src/bases/recognize/layers.ts';
import { judge } from '../../../src/bases/recognize/recognize-base.ts';
import { recognizeImages } from '../../../src/bases/recognize/recognize-images.ts';
import { createImageFactsStore } from '../../../src/service/queue/image-facts.ts';
import { createRegistryClient, type RegistryClient } from '../../../src/service/registry/client.ts';
import { type Redis, startRedis } from '../../harness/redis.ts';
import { type Registry, startRegistry } from '../../harness/registry.ts';
import { basePath, type Pushed, pushApplications } from './applications.ts';

let registry: Registry;
let server: Redis;
let redis: Connection;
let client: RegistryClient;
let requests: string[] = [];
let versions: Pushed['versions'];
let applications: Pushed['applications'];

before(async () => {
  [registry, server] = await Promise.all([startRegistry(), startRedis()]);
  redis = new Connection(server.url);
  client = createRegistryClient({
    registries: [{ host: registry.host, insecure: true, concurrency: 64 }],
    allowedRegistries: [],
    credentials: () => [],
    onRequest: ({ kind }) => requests.push(kind),
  });
  ({ versions, applications } = await pushApplications(registry.host));
});
after(async () => {
  await client.close();
  redis.disconnect();
  await Promise.all([registry.stop(), server.stop()]);
});

function openReader(): FactsReader {
  const store = createImageFactsStore({ redis, prefix: '{iw}', now: Date.now, canWrite: () => true });
  return createFactsReader({ registry: client, store, aliases: new Map(), now: Date.now });
}

const { signal } = new AbortController();

/** As a reconcile does it. */
async function examine(reader: FactsReader): Promise<Record<string, string>> {
  const source = { registry: registry.host, path: basePath };
  const known = await Promise.all(
    Object.entries({ 21: versions.new, '21.0.1': versions.old }).map(async ([tag, { digest }]) => {
      const facts = await reader.read(source, digest, signal);
      assert.ok(facts);
      return knownBase(facts, { repository: `${registry.host}/${basePath}`, tags: [tag] });
    }),
  );
  const images = applications.map(({ name, path, digest }) => ({ name, digest, source: { registry: registry.host, path } }));
  const results = await recognizeImages(images, { source, known }, { reader, signal });
  const line = { description: 'any', relationOf: () => 'older' as const };
  return Object.fromEntries(
    results.images.map(({ image: { name }, recognition }) => {
      const { state = 'unrelated' } = judge(recognition, { digest: versions.new.digest, line });
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

test('recognizing the same applications again sends no request, on the same replica or another one', async () => {
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
  const keys = await redis.hkeys('{iw}:images:v3');
  for (const [index, key] of keys.entries()) {
    const text = texts[index % texts.length] ?? '';
    const isOwn = (await redis.hget('{iw}:images:v3', key))?.includes(app.digest) === true;
    await redis.hset('{iw}:images:v3', key, isOwn ? '' : text);
  }
  requests = [];
  assert.deepEqual(await examine(openReader()), expected());
  assert.ok(requests.length > keys.length);
});
