import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acceptPush, isPushEvent, type ClaimedPush } from '../../../../src/core/model/push-event.ts';
import { MalformedBody } from '../../../../src/service/receive/providers/provider.ts';
import { zot } from '../../../../src/service/receive/providers/zot.ts';
import { testProvider } from './conformance.ts';

testProvider({ provider: zot, credentials: ['authorization'], registry: 'zot.example.com:5000' });

const digest = `sha256:${'a'.repeat(64)}`;
const image = 'application/vnd.oci.image.manifest.v1+json';
const index = 'application/vnd.oci.image.index.v1+json';
const data = { name: 'team/api', reference: 'v1.2.3', digest, mediaType: image };
const attributes = {
  'ce-specversion': '1.0',
  'ce-type': 'zotregistry.image.updated',
  'ce-source': 'zotregistry.dev',
  'ce-id': '1',
  'ce-time': '2026-03-01T12:00:00Z',
};

const parse = (body: unknown, headers: Record<string, string> = attributes) =>
  zot.parse({ headers: { 'content-type': 'application/json', ...headers }, body: Buffer.from(JSON.stringify(body)) });
const accept = (push: ClaimedPush | undefined) => {
  assert.ok(push);
  return acceptPush(push, { receiver: 'r', provider: 'zot', registryOverride: 'zot.example.com', aliases: new Map(), now: new Date(0) });
};

test('zot: without a configured registry a push is ignored, with what to do', () => {
  const [push] = parse(data).pushes;
  assert.ok(push);
  const result = acceptPush(push, { receiver: 'r', provider: 'zot', aliases: new Map(), now: new Date(0) });
  assert.ok('reason' in result && result.reason.includes('set "registry" of the receiver'));
});

const event = { specversion: '1.0', id: '1', source: 'zotregistry.dev', type: 'zotregistry.image.updated', data };

test('zot: a structured, a binary and a batched event yield the same push', () => {
  const [binary] = parse(data).pushes;
  assert.deepEqual(parse({ ...event, time: '2026-03-01T12:00:00Z' }, { 'content-type': 'application/cloudevents+json' }).pushes, [binary]);
  const { pushes, ignored } = parse([event, { ...event, id: '2', data: { ...data, reference: 'v1.2' } }, 7], {
    'content-type': 'application/cloudevents-batch+json',
  });
  assert.deepEqual(
    pushes.map(({ tag, idempotencyKey }) => [tag, idempotencyKey]),
    [
      ['v1.2.3', 'zotregistry.dev 1'],
      ['v1.2', 'zotregistry.dev 2'],
    ],
  );
  assert.deepEqual(ignored, [{ code: 'Incomplete', reason: 'the event has an unexpected structure' }]);
});

for (const [name, manifest, isAccepted] of [
  ['an OCI image', { config: { mediaType: 'application/vnd.oci.image.config.v1+json' } }, true],
  ['a Docker image', { config: { mediaType: 'application/vnd.docker.container.image.v1+json' } }, true],
  ['an index', { manifests: [] }, true],
  ['a chart', { config: { mediaType: 'application/vnd.cncf.helm.config.v1+json' } }, true],
  [
    'a signature of cosign 3',
    { config: { mediaType: 'application/vnd.oci.empty.v1+json' }, artifactType: 'application/vnd.dev.sigstore.bundle.v0.3+json' },
    false,
  ],
  ['an artifact without a config', { artifactType: 'application/spdx+json' }, false],
  ['a referrer', { config: { mediaType: 'application/vnd.oci.image.config.v1+json' }, subject: { digest } }, false],
] as const) {
  test(`zot: ${name} is ${isAccepted ? 'accepted' : 'ignored'}`, () => {
    const { pushes, ignored } = parse({ ...data, mediaType: 'manifests' in manifest ? index : image, manifest: JSON.stringify(manifest) });
    assert.equal(pushes.length === 1 && isPushEvent(accept(pushes[0])), isAccepted, JSON.stringify(ignored));
  });
}

test('zot: a manifest that cannot be parsed does not hide the push', () => {
  for (const manifest of ['', '{', '[]', '['.repeat(10_000), 'null', 7, {}]) {
    assert.ok(isPushEvent(accept(parse({ ...data, manifest }).pushes[0])), JSON.stringify(manifest).slice(0, 40));
  }
});

test('zot: a manifest that is longer than other texts is read', () => {
  const manifest = JSON.stringify({ layers: 'x'.repeat(100_000), config: { mediaType: 'application/vnd.cncf.notary.v2.signature' } });
  assert.ok(!isPushEvent(accept(parse({ ...data, manifest }).pushes[0])));
});

test('zot: accepts a custom prefix, and a source that names the registry', () => {
  const own = { ...attributes, 'ce-type': 'com.example.registry.image.updated', 'ce-source': 'https://zot.example.com:5000/any' };
  assert.equal(parse(data, own).pushes[0]?.registry, 'zot.example.com:5000');
  for (const source of ['zotregistry.dev', 'urn:zot', '/zot', 'https://']) {
    assert.equal(parse(data, { ...own, 'ce-source': source }).pushes[0]?.registry, undefined, source);
  }
  for (const type of ['image.updated', 'com.example.image.deleted', 'com.example.image.updated.twice']) {
    assert.deepEqual(parse(data, { ...own, 'ce-type': type }).pushes, [], type);
  }
});

test("zot: the sink's token, password and headers are sufficient", () => {
  const verify = (headers: Record<string, string>) => zot.verify({ headers, body: Buffer.alloc(0) }, ['s3cret']);
  const basic = (credentials: string) => ({ authorization: `Basic ${Buffer.from(credentials).toString('base64')}` });
  assert.deepEqual([basic('zot:s3cret'), basic('s3cret:'), basic('zot:other')].map(verify), [true, false, false]);
  assert.deepEqual([{ authorization: 'Bearer s3cret' }, { 'x-custom-header': 's3cret' }, {}].map(verify), [true, true, false]);
});

test('zot: events without a name are ignored', () => {
  assert.deepEqual(parse({}).ignored, [{ code: 'Incomplete', reason: 'the event names no repository' }]);
  assert.deepEqual(parse([]).ignored, [{ code: 'Incomplete', reason: 'the event names no repository' }]);
  assert.deepEqual(parse({}, { ...attributes, 'ce-type': 'zotregistry.repository.created' }).ignored, [
    { reason: 'not a push: zotregistry.repository.created' },
  ]);
});

test('zot: a body of another format is malformed, and does not crash the provider', () => {
  for (const body of [{}, data, { ...event, type: 7 }, []]) assert.throws(() => parse(body, {}), MalformedBody);
});
