import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { acceptPush, hashId, isPushEvent, type ClaimedPush, type PushContext, type PushEvent } from '../../../src/core/model/push-event.ts';
import { digestOf, noAliases } from './samples.ts';

const digest = digestOf('a');
const now = new Date('2026-03-01T12:00:03.456Z');
const context: PushContext = { receiver: 'prod', provider: 'harbor', aliases: noAliases, now };
const claimed: ClaimedPush = { registry: 'registry.example.com', repository: 'shop/web', tag: '1.2.3', digest, idempotencyKey: 'key' };

function accepted(push: Partial<ClaimedPush> = {}, other: Partial<PushContext> = {}): PushEvent {
  const result = acceptPush({ ...claimed, ...push }, { ...context, ...other });
  assert.ok(isPushEvent(result), JSON.stringify(result));
  return result;
}

test('an event contains what is known, normalised', () => {
  const event = accepted({ registry: 'HTTPS://Registry.Example.com:443/', repository: 'Shop/Web', pushedAt: '2026-03-01T12:00:00Z' });
  assert.match(event.id, /^[0-9a-f]{64}$/);
  assert.deepEqual(event, {
    id: event.id,
    receiver: 'prod',
    provider: 'harbor',
    repository: { registry: 'registry.example.com', path: 'shop/web' },
    tag: '1.2.3',
    digest,
    receivedAt: '2026-03-01T12:00:03.456Z',
    pushedAt: '2026-03-01T12:00:00Z',
  });
});

test('the configured registry replaces the claimed one, and aliases apply to both', () => {
  const aliases = new Map([['registry.internal:5000', 'registry.example.com']]);
  const registries = [
    accepted({ registry: 'attacker.example.com' }, { registryOverride: 'registry.example.com' }),
    accepted({ registry: 'registry.internal:5000' }, { aliases }),
    accepted({ registry: 'attacker.example.com' }, { registryOverride: 'Registry.Internal:5000', aliases }),
  ].map((event) => event.repository.registry);
  assert.deepEqual(new Set(registries), new Set(['registry.example.com']));
});

test('64 hexadecimal digits are a tag, unless they are the digest of the push', () => {
  for (const tag of ['0'.repeat(64), 'c'.repeat(64), '0123456789abcdef'.repeat(8)]) {
    assert.equal(accepted({ tag }).tag, tag);
    const { digest: _, ...others } = claimed;
    const pushed = acceptPush({ ...others, tag }, context);
    assert.equal(isPushEvent(pushed) && pushed.tag, tag);
  }
});

test('an invalid digest is omitted', () => {
  assert.equal('digest' in accepted({ digest: 'sha256:abc' }), false);
});

const hex = 'ab'.repeat(32);
const image = 'application/vnd.oci.image.config.v1+json';
const ignored: [name: string, push: Partial<ClaimedPush> | { without: keyof ClaimedPush }, reason: RegExp][] = [
  ['no registry', { without: 'registry' }, /names no registry/],
  ['an empty registry', { registry: '' }, /names no registry/],
  ['a blank registry', { registry: ' ' }, /names no registry/],
  ['a registry of a scheme alone', { registry: 'https://' }, /names no registry/],
  ['a registry of a port alone', { registry: 'HTTP://:443/' }, /names no registry/],
  ['no tag', { without: 'tag' }, /without a tag/],
  ['an empty tag', { tag: '' }, /without a tag/],
  ['the digest as tag', { tag: digest }, /without a tag/],
  ['another digest as tag', { tag: `sha256:${hex}` }, /without a tag/],
  ['the hex digits of the digest as tag', { tag: hex, digest: `sha256:${hex}` }, /without a tag/],
  ['a digest as Artifactory writes it', { tag: `sha256__${hex}` }, /without a tag/],
  ['a cosign signature', { tag: `sha256-${hex}.sig` }, /signature/],
  ['an attestation', { tag: `sha256-${hex}.att` }, /signature/],
  ['a referrers list', { tag: `sha256-${hex}` }, /signature/],
  ['a sha512 signature', { tag: `sha512-${hex}${hex}.sig` }, /signature/],
  ['a list of referrers to a sha512 digest, cut', { tag: `sha512-${hex}` }, /signature/],
  ['a signature with a longer suffix', { tag: `sha256-${hex}.att.v2` }, /signature/],
  ['a tag with a forbidden sign', { tag: '1.2+3' }, /not a valid tag/],
  ['a tag that is too long', { tag: 'a'.repeat(129) }, /not a valid tag/],
  ['a blob', { mediaType: 'application/octet-stream' }, /not an image/],
  [
    'an SBOM',
    { mediaType: 'application/vnd.oci.image.manifest.v1+json', configMediaType: 'text/spdx+json' },
    /not an image or a chart: text/,
  ],
  [
    'an image config with a manifest of another kind',
    { mediaType: 'application/x', configMediaType: image },
    /not an image or a chart: application\/x/,
  ],
  ['a repository that is none', { repository: '../etc/passwd' }, /not a valid repository/],
  ['an empty repository', { repository: '' }, /not a valid repository/],
  ['a registry that is none', { registry: 'user@host' }, /not a valid repository/],
];

for (const [name, push, reason] of ignored) {
  test(`a push is ignored because of ${name}`, () => {
    const given: ClaimedPush = 'without' in push ? { ...claimed, [push.without]: undefined } : { ...claimed, ...push };
    const result = acceptPush(given, context);
    assert.ok(!isPushEvent(result));
    assert.match(result.reason, reason);
    assert.equal(result.repository, given.repository);
    assert.equal(result.tag, given.tag);
  });
}

test('an invalid repository name is not corrected by guessing', () => {
  for (const repository of [' /debian', 'debian ', 'shop//web', 'shop/ /web']) {
    assert.match(JSON.stringify(acceptPush({ ...claimed, repository }, context)), /not a valid repository name/, repository);
  }
});

for (const mediaType of [
  'application/vnd.docker.distribution.manifest.v2+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.oci.image.index.v1+json',
]) {
  test(`a push of the media type ${mediaType} is accepted`, () => assert.equal(accepted({ mediaType }).tag, '1.2.3'));
}

test('charts and other artifacts are accepted, because policies may select them', () => {
  const mediaType = 'application/vnd.oci.image.manifest.v1+json';
  const chart = 'application/vnd.cncf.helm.config.v1+json';
  for (const configMediaType of [chart, 'application/vnd.cncf.flux.config.v1+json', 'application/vnd.oci.empty.v1+json'])
    assert.equal(accepted({ mediaType, configMediaType }).tag, '1.2.3');
  assert.equal(accepted({ mediaType: chart }).tag, '1.2.3');
});

test("media types are case-insensitive and may have parameters, and the manifest's type may identify the config", () => {
  const mediaType = 'application/vnd.OCI.image.manifest.v1+JSON; charset=utf-8';
  for (const configMediaType of [image, 'application/vnd.docker.container.image.v1+json', mediaType]) {
    assert.equal(accepted({ mediaType, configMediaType }).tag, '1.2.3');
  }
});

test('an invalid time is omitted', () => {
  for (const pushedAt of ['', 'yesterday', '1700000000', '2026-03-01', `2026-03-01T12:00:00.${'0'.repeat(100)}Z`]) {
    assert.equal('pushedAt' in accepted({ pushedAt }), false, pushedAt);
  }
  for (const pushedAt of ['2026-03-01T12:00:00.123456789Z', '2026-03-01T12:00:00+02:00'])
    assert.equal(accepted({ pushedAt }).pushedAt, pushedAt);
});

test('a tag that only resembles a signature is a tag', () => {
  for (const tag of ['sha256-abc.sig', `sha256-${hex}.SIG`, 'latest.sig', 'abcdef0123']) assert.equal(accepted({ tag }).tag, tag);
});

test('a repeated delivery has the id of the first, whenever it arrives and however the names are written', () => {
  const timeWithinAWeek = fc.integer({ min: 0, max: 7 * 24 * 3_600_000 }).map((ms) => new Date(now.getTime() + ms));
  fc.assert(
    fc.property(
      fc.string({ minLength: 1 }),
      timeWithinAWeek,
      fc.constantFrom('registry.example.com', 'REGISTRY.example.com:443'),
      (key, at, registry) => {
        assert.equal(accepted({ idempotencyKey: key, registry }, { now: at }).id, accepted({ idempotencyKey: key }).id);
      },
    ),
  );
});

test('without an id from the sender, a repeated push is marked as having no id of its own', () => {
  const { idempotencyKey: _, ...push } = claimed;
  const at = (time: string) => {
    const event = acceptPush(push, { ...context, now: new Date(time) });
    assert.ok(isPushEvent(event));
    return [event.id, event.isUnkeyed];
  };
  assert.deepEqual(at('2026-03-01T12:00:00.000Z'), at('2026-03-02T12:00:00.000Z'));
  assert.deepEqual([at('2026-03-01T12:00:00.000Z')[1], accepted().isUnkeyed], [true, undefined]);
});

test('pushes that differ in anything have different ids', () => {
  const events = [
    accepted(),
    accepted({ idempotencyKey: 'other' }),
    accepted({ tag: '1.2.4' }),
    accepted({ digest: digestOf('b') }),
    accepted({ digest: 'none' }),
    accepted({ repository: 'shop/web2' }),
    accepted({ registry: 'other.example.com' }),
    accepted({}, { receiver: 'test' }),
  ];
  assert.equal(new Set(events.map((event) => event.id)).size, events.length);
});

test('the parts of an id cannot run together', () => {
  const parts = fc.array(fc.string(), { maxLength: 4 });
  fc.assert(
    fc.property(parts, parts, (a, b) => {
      assert.equal(hashId(a) === hashId(b), JSON.stringify(a) === JSON.stringify(b));
    }),
  );
  assert.notEqual(hashId(['a', 'bc']), hashId(['ab', 'c']));
});
