import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acceptPush, isPushEvent } from '../../../../src/core/model/push-event.ts';
import { MalformedBody } from '../../../../src/service/receive/providers/provider.ts';
import { quay } from '../../../../src/service/receive/providers/quay.ts';
import { testProvider } from './conformance.ts';

testProvider({ provider: quay, credentials: [] });

const event = {
  name: 'api',
  repository: 'team/api',
  namespace: 'team',
  docker_url: 'quay.example.com:8443/team/api',
  homepage: 'https://quay.example.com:8443/repository/team/api',
  updated_tags: ['1.2.3', 'latest'] as unknown,
};

const parse = (changes: object = {}) => quay.parse({ headers: {}, body: Buffer.from(JSON.stringify({ ...event, ...changes })) });

test('quay: every tag is a push, on the host of the URL', () => {
  const names = { registry: 'quay.example.com:8443', repository: 'team/api' };
  const pushes = [
    { ...names, tag: '1.2.3' },
    { ...names, tag: 'latest' },
  ];
  assert.deepEqual(parse().pushes, pushes);
  assert.deepEqual(parse({ updated_tags: { '1.2.3': 'b750fe79', latest: 'c3a0' } }).pushes, pushes);
  assert.deepEqual(parse({ docker_url: 'https://quay.example.com:8443/team/api' }).pushes, pushes);
});

test('quay: a tag that is not a string does not hide the others', () => {
  for (const updated_tags of [[7, null, '1.2.3'], { latest: null, foo: {}, '1.2.3': 'b750fe79' }]) {
    const { pushes, ignored } = parse({ updated_tags });
    assert.deepEqual([pushes.map(({ tag }) => tag), ignored.length], [['1.2.3'], 2]);
  }
});

test('quay: names such as __proto__ are read as names', () => {
  const body = Buffer.from(
    '{"docker_url":"quay.io/a/b","updated_tags":{"__proto__":"x","constructor":"y"},"__proto__":{"updated_tags":["evil"]}}',
  );
  assert.ok(quay.parse({ headers: {}, body }).pushes.every(({ tag }) => tag === 'constructor' || tag === '__proto__'));
  assert.equal(Object.hasOwn(Object.prototype, 'updated_tags'), false);
});

test('quay: without a URL the configuration must name the registry', () => {
  for (const docker_url of [undefined, null, 'quay.io', '', 7]) {
    assert.deepEqual(parse({ docker_url, updated_tags: ['1'] }).pushes, [{ repository: 'team/api', tag: '1' }]);
  }
});

test('quay: other notifications are ignored', () => {
  const { updated_tags: _, ...rest } = event;
  for (const body of [
    { ...rest, build_id: '1', docker_tags: ['latest'] },
    { ...rest, vulnerability: { id: 'CVE-1' }, tags: ['latest'] },
    { ...rest, updated_tags: 'latest' },
  ]) {
    const { pushes, ignored } = quay.parse({ headers: {}, body: Buffer.from(JSON.stringify(body)) });
    assert.deepEqual([pushes, ignored], [[], [{ reason: 'not a push: no updated tags', repository: 'team/api' }]]);
  }
  assert.deepEqual(parse({ updated_tags: [] }).ignored, [{ code: 'Incomplete', reason: 'the event names no tag', repository: 'team/api' }]);
});

test('quay: no tag is hidden by an invalid name', () => {
  const results = parse({ updated_tags: ['sha256:abc', `sha256-${'a'.repeat(64)}.sig`, 'a b', 'ok'] }).pushes.map((push) =>
    acceptPush(push, { receiver: 'r', provider: 'quay', aliases: new Map(), now: new Date(0) }),
  );
  assert.deepEqual(
    results.filter(isPushEvent).map(({ tag }) => tag),
    ['ok'],
  );
});

test('quay: a body of another format is malformed, and does not crash the provider', () => {
  for (const body of ['[]', '7', '{}', '{"docker_url":7}']) {
    assert.throws(() => quay.parse({ headers: {}, body: Buffer.from(body) }), MalformedBody);
  }
});
