import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { acceptPush, isPushEvent } from '../../../../src/core/model/push-event.ts';
import { artifactory } from '../../../../src/service/receive/providers/artifactory.ts';
import { MalformedBody } from '../../../../src/service/receive/providers/provider.ts';
import { testProvider } from './conformance.ts';

testProvider({ provider: artifactory, credentials: ['x-jfrog-event-auth'] });

const hex = 'a'.repeat(64);
const data = { repo_key: 'docker-local', image_name: 'team/api', tag: 'v1.2.3', name: 'manifest.json', sha256: hex, platforms: [] };
const event = { domain: 'docker', event_type: 'pushed', data, jpd_origin: 'https://artifactory.example.com' };

const parse = (body: unknown) => artifactory.parse({ headers: {}, body: Buffer.from(JSON.stringify(body)) });
const pushOf = (more: object) => parse({ ...event, data: { ...data, ...more } }).pushes[0];
const reasonOf = (body: unknown) => parse(body).ignored[0]?.reason;

test('artifactory: with the path method the name is the host, the repository key and the image', () =>
  assert.deepEqual(parse(event).pushes, [
    {
      registry: 'artifactory.example.com',
      repository: 'docker-local/team/api',
      within: { key: 'docker-local', image: 'team/api' },
      tag: 'v1.2.3',
      digest: `sha256:${hex}`,
    },
  ]));

test('artifactory: without an origin the configuration must name the registry', () => {
  for (const jpd_origin of [undefined, null, '', 7, 'https://<your_origin>']) {
    assert.equal('registry' in (parse({ ...event, jpd_origin }).pushes[0] ?? { registry: '' }), false);
  }
});

test('artifactory: the digest is that of the manifest, never of another file', () => {
  assert.equal(pushOf({ name: 'list.manifest.json' })?.digest, `sha256:${hex}`);
  for (const name of [`sha256__${hex}`, 'not-a-manifest.json', undefined]) assert.equal(pushOf({ name })?.digest, undefined);
  assert.equal(pushOf({ sha256: null })?.digest, undefined);
});

test('artifactory: there is no idempotency key, because two pushes of the same tag have the same body', () =>
  assert.equal(pushOf({})?.idempotencyKey, undefined));

for (const tag of [`sha256:${hex}`, `sha256__${hex}`, `sha256-${hex}.sig`, undefined]) {
  test(`artifactory: the tag ${tag} is not a tag`, () => {
    const [push] = parse({ ...event, data: { ...data, tag } }).pushes;
    assert.ok(push);
    assert.ok(!isPushEvent(acceptPush(push, { receiver: 'r', provider: 'artifactory', aliases: new Map(), now: new Date(0) })));
  });
}

test('artifactory: what Artifactory calls "oci" is a push, whether it names the manifest or the archive of a chart', () => {
  const platforms = [{ architecture: 'amd64', os: 'linux' }];
  for (const list of [platforms, [], null, undefined, {}]) assert.equal(pushOf({ image_type: 'oci', platforms: list })?.tag, 'v1.2.3');
  for (const path of ['team/api/v1.2.3/list.manifest.json', 'team/api/v1.2.3/api-1.2.3.tgz', undefined])
    assert.equal(pushOf({ image_type: 'oci', name: undefined, path })?.tag, 'v1.2.3');
  assert.equal(pushOf({ image_type: 'oci', name: 'api-1.2.3.tgz' })?.digest, undefined);
});

test('artifactory: a path that is deeper than the name is the name, and any other path is ignored', () => {
  const nameOf = (image_name: string, path: unknown) => pushOf({ image_name, path })?.repository;
  assert.equal(nameOf('api', 'team/backend/api/v1.2.3/manifest.json'), 'docker-local/team/backend/api');
  assert.equal(nameOf('backend/api', 'team/backend/api/v1.2.3/list.manifest.json'), 'docker-local/team/backend/api');
  for (const path of [
    'api/v1.2.3/manifest.json',
    'team/other/v1.2.3/manifest.json',
    'team/not-api/v1.2.3/manifest.json',
    'api',
    '',
    null,
    7,
  ]) {
    assert.equal(nameOf('api', path), 'docker-local/api', String(path));
  }
  assert.equal(nameOf('api', 'team/api/v1.2.3/api-1.2.3.tgz'), 'docker-local/team/api');
});

test('artifactory: the repository and the name in it are separated', () =>
  assert.deepEqual(pushOf({ path: 'x/team/api/v1.2.3/manifest.json' })?.within, { key: 'docker-local', image: 'x/team/api' }));

test('artifactory: other events are ignored, each with its reason', () => {
  assert.equal(reasonOf({ ...event, event_type: 'promoted' }), 'not a push: docker/promoted');
  assert.equal(reasonOf({ ...event, domain: 'artifact', event_type: 'deployed' }), 'not a push: artifact/deployed');
  assert.equal(reasonOf({ ...event, data: null }), 'the event names no repository');
  assert.equal(reasonOf({ ...event, data: { ...data, repo_key: '' } }), 'the event names no repository');
});

test('artifactory: the header contains the secret or the HMAC of the body', () => {
  const body = Buffer.from('{"domain":"docker"}');
  const verify = (value: string) => artifactory.verify({ headers: { 'x-jfrog-event-auth': value }, body }, ['old', 's3cret']);
  const hmac = createHmac('sha256', 's3cret').update(body).digest('hex');
  for (const [value, isAuthentic] of [
    ['s3cret', true],
    [hmac, true],
    [hmac.toUpperCase(), true],
    [`sha256=${hmac}`, false],
    [hmac.slice(2), false],
    [createHmac('sha1', 's3cret').update(body).digest('hex'), false],
    ['', false],
  ] as const) {
    assert.equal(verify(value), isAuthentic, value);
  }
});

test('artifactory: a body of another format is malformed, and does not crash the provider', () => {
  for (const body of [{}, { domain: 'docker' }, { ...event, domain: 7 }, []]) assert.throws(() => parse(body), MalformedBody);
});
