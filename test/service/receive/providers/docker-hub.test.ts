import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acceptPush, isPushEvent } from '../../../../src/core/model/push-event.ts';
import { dockerHub } from '../../../../src/service/receive/providers/docker-hub.ts';
import { MalformedBody } from '../../../../src/service/receive/providers/provider.ts';
import { testProvider } from './conformance.ts';

testProvider({ provider: dockerHub, credentials: [] });

const push = {
  callback_url: 'https://registry.hub.docker.com/u/acme/web/hook/1/',
  push_data: { pushed_at: 1_700_000_000, pusher: 'ci', tag: '1.2.3' },
  repository: { name: 'web', namespace: 'acme', repo_name: 'acme/web' },
};

const parse = (body: unknown) => dockerHub.parse({ headers: {}, body: Buffer.from(JSON.stringify(body)) });
const eventOf = (body: unknown) => {
  const [claimed] = parse(body).pushes;
  assert.ok(claimed);
  return acceptPush(claimed, { receiver: 'hub', provider: 'docker-hub', aliases: new Map(), now: new Date(0) });
};

for (const [name, repository, path] of [
  ['the full name', { repo_name: 'Acme/Web' }, 'acme/web'],
  ['a name without a namespace', { repo_name: 'nginx' }, 'library/nginx'],
  ['the full name comes first', { repo_name: 'acme/web', namespace: 'x', name: 'y' }, 'acme/web'],
  ['the parts of the name', { namespace: 'acme', name: 'web' }, 'acme/web'],
] as const) {
  test(`docker-hub: the repository named by "${name}" belongs to docker.io`, () => {
    const event = eventOf({ ...push, repository });
    assert.ok(isPushEvent(event));
    assert.deepEqual(event.repository, { registry: 'docker.io', path });
  });
}

test('docker-hub: an incomplete name is ignored, and so are names of another registry', () => {
  const alibaba = { namespace: 'acme', name: 'web', repo_full_name: 'acme/web', region: 'cn-hangzhou' };
  for (const repository of [{}, { name: 'web' }, { namespace: 'acme' }, { repo_name: 7 }, alibaba]) {
    assert.deepEqual(parse({ ...push, repository }).pushes, []);
  }
});

test('docker-hub: the time of the push, whole or in fractions of a second, is not an idempotency key', () => {
  const at = (pushed_at: unknown) => parse({ ...push, push_data: { ...push.push_data, pushed_at } }).pushes[0];
  assert.equal(at(1_700_000_000)?.pushedAt, '2023-11-14T22:13:20.000Z');
  assert.equal(at(1_700_000_000.25)?.pushedAt, '2023-11-14T22:13:20.250Z');
  for (const pushed_at of [null, 'now', 1e300, undefined]) {
    const claimed = at(pushed_at);
    assert.ok(claimed && !('pushedAt' in claimed));
  }
  assert.equal(at(1_700_000_000)?.idempotencyKey, undefined);
});

test('docker-hub: images and charts are recognised by the media type of their config', () => {
  const as = (media_type: unknown) => eventOf({ ...push, push_data: { ...push.push_data, media_type } });
  for (const type of [
    undefined,
    null,
    '',
    'application/vnd.docker.container.image.v1+json',
    'application/vnd.oci.image.config.v1+json',
    'application/vnd.oci.image.index.v1+json',
    'application/vnd.cncf.helm.config.v1+json',
  ]) {
    assert.ok(isPushEvent(as(type)), String(type));
  }
  for (const type of ['application/vnd.cncf.notary.signature', 'application/vnd.in-toto+json']) assert.ok(!isPushEvent(as(type)));
});

test('docker-hub: a body of another format is malformed, and does not crash the provider', () => {
  for (const body of [{}, [], { push_data: 1, repository: {} }, { push_data: {}, repository: 'acme/web' }]) {
    assert.throws(() => parse(body), MalformedBody);
  }
});
