import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acceptPush, isPushEvent } from '../../../../src/core/model/push-event.ts';
import { distribution } from '../../../../src/service/receive/providers/distribution.ts';
import { MalformedBody } from '../../../../src/service/receive/providers/provider.ts';
import { testProvider } from './conformance.ts';

testProvider({ provider: distribution, credentials: ['authorization'] });

const target = {
  mediaType: 'application/vnd.oci.image.index.v1+json',
  digest: `sha256:${'a'.repeat(64)}`,
  repository: 'team/api',
  url: 'https://registry.example.com/v2/team/api/manifests/sha256:a',
  tag: 'v1.2.3',
};
const event = { id: '1', timestamp: '2026-03-01T12:00:00Z', action: 'push', target, request: { host: 'registry.example.com:5000' } };

const parse = (...events: unknown[]) => distribution.parse({ headers: {}, body: Buffer.from(JSON.stringify({ events })) });

test('distribution: reads each event of a batch by itself', () => {
  const { pushes, ignored } = parse(event, { ...event, action: 'pull' }, 7, { ...event, target: { ...target, tag: 'v1.2' } });
  assert.deepEqual(
    pushes.map(({ tag }) => tag),
    ['v1.2.3', 'v1.2'],
  );
  assert.deepEqual(
    ignored.map(({ reason }) => reason),
    ['not a push: pull', 'the event has an unexpected structure'],
  );
});

test('distribution: an empty batch has nothing to do', () => assert.deepEqual(parse(), { pushes: [], ignored: [] }));

test('distribution: the registry is the host of the request, else that of the URL', () => {
  const registryOf = (body: unknown) => parse(body).pushes[0]?.registry;
  assert.equal(registryOf(event), 'registry.example.com:5000');
  assert.equal(registryOf({ ...event, request: null }), 'registry.example.com');
  assert.equal(registryOf({ ...event, request: { host: '' }, target: { ...target, url: '/v2/team/api' } }), undefined);
});

for (const mediaType of [
  'application/vnd.cncf.notary.signature',
  'application/vnd.dev.cosign.simplesigning.v1+json',
  'application/vnd.in-toto+json',
  'application/spdx+json',
  'application/vnd.cyclonedx+json',
  'application/vnd.syft+json',
]) {
  test(`distribution: a manifest that refers to ${mediaType} is not an image`, () => {
    const [push] = parse({ ...event, target: { ...target, references: [{ mediaType }] } }).pushes;
    assert.ok(push);
    const result = acceptPush(push, { receiver: 'r', provider: 'distribution', aliases: new Map(), now: new Date(0) });
    assert.ok(!isPushEvent(result) && result.reason === `not an image or a chart: ${mediaType}`);
  });
}

test('distribution: a manifest that refers to the configuration of a chart is accepted', () => {
  const mediaType = 'application/vnd.cncf.helm.config.v1+json';
  const [push] = parse({ ...event, target: { ...target, references: [{ mediaType }] } }).pushes;
  assert.equal(push?.configMediaType, mediaType);
  assert.ok(isPushEvent(acceptPush(push, { receiver: 'r', provider: 'distribution', aliases: new Map(), now: new Date(0) })));
});

test('distribution: a manifest that refers to parts of images is an image', () => {
  const references = [
    { mediaType: 'application/vnd.oci.image.config.v1+json' },
    { mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip' },
    { mediaType: 'application/vnd.docker.container.image.v1+json' },
    {},
  ];
  assert.equal(parse({ ...event, target: { ...target, references } }).pushes[0]?.mediaType, target.mediaType);
});

test('distribution: a body of another format is malformed, and does not crash the provider', () => {
  for (const body of ['{}', '[]', '{"events":{}}']) {
    assert.throws(() => distribution.parse({ headers: {}, body: Buffer.from(body) }), MalformedBody);
  }
});
