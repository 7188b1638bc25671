import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { acceptPush, isPushEvent } from '../../../../src/core/model/push-event.ts';
import { ghcr } from '../../../../src/service/receive/providers/ghcr.ts';
import { MalformedBody } from '../../../../src/service/receive/providers/provider.ts';
import { testProvider } from './conformance.ts';

testProvider({ provider: ghcr, credentials: ['x-hub-signature-256'] });

const digest = `sha256:${'a'.repeat(64)}`;
const manifest = { digest, media_type: 'application/vnd.oci.image.index.v1+json', config: { media_type: '' } };
const version = {
  version: digest,
  name: digest,
  created_at: '2026-03-01T11:00:00Z',
  updated_at: '2026-03-01T12:00:00Z',
  package_url: 'ghcr.io/acme/team/web:1.2.3',
  container_metadata: { tag: { name: '1.2.3', digest }, manifest },
};
const details = { name: 'Team/Web', namespace: 'Acme', package_type: 'CONTAINER', owner: { login: 'Acme' }, package_version: version };
const headers = { 'x-github-event': 'package', 'x-github-delivery': 'guid' };

const parse = (body: unknown, more: Record<string, string> = {}) =>
  ghcr.parse({ headers: { ...headers, ...more }, body: Buffer.from(JSON.stringify(body)) });
const published = (changes: object = {}) => parse({ action: 'published', package: { ...details, ...changes } });
const ofVersion = (changes: object) => published({ package_version: { ...version, ...changes } });
const isPushed = (claimed = ofVersion({}).pushes[0]) =>
  claimed !== undefined && isPushEvent(acceptPush(claimed, { receiver: 'r', provider: 'ghcr', aliases: new Map(), now: new Date(0) }));

test('ghcr: both events yield the same push', () => {
  const push = {
    registry: 'ghcr.io',
    repository: 'acme/team/web',
    tag: '1.2.3',
    digest,
    mediaType: manifest.media_type,
    idempotencyKey: 'guid',
    pushedAt: '2026-03-01T12:00:00Z',
  };
  assert.deepEqual(published().pushes, [push]);
  assert.deepEqual(parse({ action: 'updated', registry_package: details }, { 'x-github-event': 'registry_package' }).pushes, [push]);
  assert.ok(isPushed());
});

test('ghcr: a form is read as its payload, and verified as received', () => {
  const json = JSON.stringify({ action: 'published', package: details });
  const body = Buffer.from(new URLSearchParams({ payload: json }).toString());
  const sign = (bytes: Buffer | string) => `sha256=${createHmac('sha256', 's3cret').update(bytes).digest('hex')}`;
  const form = { ...headers, 'content-type': 'Application/x-www-form-urlencoded; charset=utf-8' };
  assert.equal(ghcr.parse({ headers: form, body }).pushes[0]?.tag, '1.2.3');
  assert.ok(ghcr.verify({ headers: { ...form, 'x-hub-signature-256': sign(body) }, body }, ['s3cret']));
  assert.ok(!ghcr.verify({ headers: { ...form, 'x-hub-signature-256': sign(json) }, body }, ['s3cret']));
  for (const text of ['', 'payload', 'payload=%7B', 'x=1', 'payload={}&payload={}', '%', 'payload=%ff%fe']) {
    assert.throws(() => ghcr.parse({ headers: form, body: Buffer.from(text) }), MalformedBody, text);
  }
});

test('ghcr: a sha1 signature is not sufficient', () => {
  const body = Buffer.from('{}');
  const signature = `sha1=${createHmac('sha1', 's3cret').update(body).digest('hex')}`;
  assert.ok(!ghcr.verify({ headers: { 'x-hub-signature': signature, 'x-hub-signature-256': signature }, body }, ['s3cret']));
});

test('ghcr: a push without a tag has none, and never uses the version, which is the digest', () => {
  for (const tag of [{ name: '' }, { name: null }, {}, null, undefined, { name: 7 }]) {
    const [push] = ofVersion({ container_metadata: { tag, manifest } }).pushes;
    assert.ok(push && !('tag' in push) && !isPushed(push));
  }
  for (const changes of [{ container_metadata: null }, { container_metadata: undefined, version: '1.2.3', name: '1.2.3' }]) {
    assert.equal(ofVersion(changes).pushes[0]?.tag, undefined);
  }
});

test('ghcr: charts are accepted and attestations are not, by their media types', () => {
  const of = (changes: object) =>
    isPushed(ofVersion({ container_metadata: { tag: { name: '1' }, manifest: { ...manifest, ...changes } } }).pushes[0]);
  assert.ok(of({}));
  assert.ok(of({ config: null }));
  assert.ok(of({ config: { media_type: 'application/vnd.docker.container.image.v1+json' } }));
  assert.ok(of({ config: { media_type: 'application/vnd.cncf.helm.config.v1+json' } }));
  assert.ok(!of({ config: { media_type: 'application/vnd.dev.cosign.simplesigning.v1+json' } }));
  assert.ok(!of({ media_type: 'application/vnd.in-toto+json' }));
});

test('ghcr: the package type is case-insensitive and has two names, and other types are ignored', () => {
  for (const kind of [{ package_type: 'docker' }, { package_type: 'Container' }, { package_type: null, ecosystem: 'CONTAINER' }]) {
    assert.equal(published(kind).pushes.length, 1);
  }
  for (const kind of [{ package_type: 'npm' }, { package_type: undefined }, { package_type: 'containers', ecosystem: 'x' }]) {
    const { pushes, ignored } = published(kind);
    assert.deepEqual([pushes, ignored[0]?.repository], [[], 'acme/team/web']);
    assert.match(ignored[0]?.reason ?? '', /^not a container image/);
  }
});

test('ghcr: other events and actions are ignored, and their names are reported', () => {
  const reasonOf = (body: unknown, event: string) => parse(body, { 'x-github-event': event }).ignored[0]?.reason;
  assert.equal(reasonOf({ zen: 'x', hook_id: 1 }, 'ping'), 'not a push: ping');
  assert.equal(reasonOf({ action: 'published', package: details }, 'push'), 'not a push: push');
  assert.equal(reasonOf({ action: 'deleted', package: details }, 'package'), 'not a push: package deleted');
});

test('ghcr: the owner is used, else the first part of the namespace, and a name is required', () => {
  assert.equal(published({ owner: null, namespace: 'Acme/some-repo' }).pushes[0]?.repository, 'acme/team/web');
  assert.deepEqual(published({ owner: null, namespace: null }).ignored, [{ code: 'Incomplete', reason: 'the event names no repository' }]);
  assert.deepEqual(published({ name: '' }).ignored, [{ code: 'Incomplete', reason: 'the event names no repository' }]);
});

test('ghcr: the registry is that of the URL if it is the URL of this package', () => {
  const registryOf = (package_url: unknown) => ofVersion({ package_url }).pushes[0]?.registry;
  assert.equal(registryOf('containers.ghe.example.com/Acme/Team/Web:1.2.3'), 'containers.ghe.example.com');
  assert.equal(registryOf('containers.ghe.example.com/acme/team/web:'), 'containers.ghe.example.com');
  for (const url of ['evil.example.com/other/name:1', 'acme/team/web:1', '', null, 7, '/']) assert.equal(registryOf(url), 'ghcr.io');
});

test('ghcr: a body of another format is malformed, and does not crash the provider', () => {
  for (const body of [[], 7, {}, { action: 'published' }, { action: 'published', package: 'web' }]) {
    assert.throws(() => parse(body), MalformedBody);
  }
});
