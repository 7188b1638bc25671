import assert from 'node:assert/strict';
import { test } from 'node:test';
import { google } from '../../../../src/service/receive/providers/google.ts';
import { MalformedBody } from '../../../../src/service/receive/providers/provider.ts';
import { testProvider } from './conformance.ts';

testProvider({ provider: google, credentials: [] });

const image = 'europe-docker.pkg.dev/acme/shop/web';
const digest = `sha256:${'a'.repeat(64)}`;
const change = { action: 'INSERT', digest: `${image}@${digest}`, tag: `${image}:1.2.3` };
const subscription = 'projects/acme/subscriptions/image-watcher';

const parse = (body: unknown, headers: Record<string, string> = {}) => google.parse({ headers, body: Buffer.from(JSON.stringify(body)) });
const wrap = (data: unknown, message: object = { messageId: '7', publishTime: '2026-03-01T12:00:00Z' }) => ({
  message: { data: Buffer.from(JSON.stringify(data)).toString('base64'), ...message },
  subscription,
});

test('google: wrapped and unwrapped messages yield the same push', () => {
  const names = { registry: 'europe-docker.pkg.dev', repository: 'acme/shop/web', tag: '1.2.3', digest };
  const meta = { idempotencyKey: `${subscription} 7`, pushedAt: '2026-03-01T12:00:00Z' };
  assert.deepEqual(parse(wrap(change)).pushes, [{ ...names, ...meta }]);
  assert.deepEqual(parse(wrap(change, { message_id: '7', publish_time: '2026-03-01T12:00:00Z' })).pushes, [{ ...names, ...meta }]);
  const headers = {
    'x-goog-pubsub-subscription-name': subscription,
    'x-goog-pubsub-message-id': '7',
    'x-goog-pubsub-publish-time': '2026-03-01T12:00:00Z',
  };
  assert.deepEqual(parse(change, headers).pushes, [{ ...names, ...meta }]);
  assert.deepEqual(parse(change).pushes, [names]);
});

test('google: accepts base64 without padding and in the URL alphabet', () => {
  const odd = { ...change, more: '???>>>~~' };
  const { message, ...rest } = wrap(odd);
  for (const data of [message.data.replace(/=+$/, ''), message.data.replaceAll('+', '-').replaceAll('/', '_')]) {
    assert.equal(parse({ ...rest, message: { data } }).pushes[0]?.tag, '1.2.3');
  }
});

for (const [name, data, push] of [
  ['gcr.io', { tag: 'eu.gcr.io/acme/web:1' }, { registry: 'eu.gcr.io', repository: 'acme/web', tag: '1' }],
  ['a project of a domain', { tag: 'gcr.io/acme.com:shop/web:1' }, { registry: 'gcr.io', repository: 'acme.com/shop/web', tag: '1' }],
  ['a port', { tag: 'localhost:5000/acme/web:1' }, { registry: 'localhost:5000', repository: 'acme/web', tag: '1' }],
  ['no tag', { digest: `${image}@${digest}` }, { registry: 'europe-docker.pkg.dev', repository: 'acme/shop/web', digest }],
  ['a tag without a tag', { tag: image }, { registry: 'europe-docker.pkg.dev', repository: 'acme/shop/web' }],
  ['an empty tag', { tag: `${image}:` }, { registry: 'europe-docker.pkg.dev', repository: 'acme/shop/web' }],
  [
    'the digest of another image',
    { tag: 'gcr.io/a/b:1', digest: `gcr.io/a/c@${digest}` },
    { registry: 'gcr.io', repository: 'a/b', tag: '1' },
  ],
] as const) {
  test(`google: an event with "${name}" is read as written`, () => assert.deepEqual(parse({ action: 'INSERT', ...data }).pushes, [push]));
}

test('google: other events are not pushes', () => {
  const reasonOf = (body: unknown) => parse(body).ignored[0]?.reason;
  assert.equal(reasonOf({ ...change, action: 'DELETE' }), 'not a push: DELETE');
  assert.equal(reasonOf({ action: 'INSERT' }), 'the change names no image');
  assert.equal(reasonOf({ action: 'INSERT', tag: 'web:1' }), 'the change names no image');
  assert.equal(reasonOf({ message: { attributes: { a: 'b' }, messageId: '7' }, subscription }), 'a Pub/Sub message without data');
});

test('google: a body of another format is malformed, and does not crash the provider', () => {
  for (const body of [{}, [], { action: 7 }, { message: [] }, wrap(7), wrap({}), { message: { data: '%%%' } }]) {
    assert.throws(() => parse(body), MalformedBody);
  }
});
