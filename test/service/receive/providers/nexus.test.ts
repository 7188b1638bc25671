import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { acceptPush } from '../../../../src/core/model/push-event.ts';
import { nexus } from '../../../../src/service/receive/providers/nexus.ts';
import { MalformedBody } from '../../../../src/service/receive/providers/provider.ts';
import { testProvider } from './conformance.ts';

testProvider({ provider: nexus, credentials: ['x-nexus-webhook-signature'], registry: 'nexus.example.com:8082' });

const component = { format: 'docker', name: 'team/api', version: 'v1.2.3' };
const event = { timestamp: '2026-03-01T12:00:00.515+0000', repositoryName: 'docker-hosted', action: 'CREATED', component };
const headers = { 'x-nexus-webhook-id': 'rm:repository:component', 'x-nexus-webhook-delivery': 'd-1' };

const parse = (body: unknown, sent: Record<string, string> = headers) =>
  nexus.parse({ headers: sent, body: Buffer.from(JSON.stringify(body)) });
const reasonOf = (body: unknown, sent?: Record<string, string>) => parse(body, sent).ignored[0]?.reason;

test('nexus: without a configured registry a push is ignored, with what to do', () => {
  const [push] = parse(event).pushes;
  assert.ok(push);
  const result = acceptPush(push, { receiver: 'r', provider: 'nexus', aliases: new Map(), now: new Date(0) });
  assert.ok('reason' in result && result.reason.includes('set "registry" of the receiver'));
});

test('nexus: the repository and the name in it are separated', () => {
  assert.deepEqual(parse(event).pushes[0]?.within, { key: 'docker-hosted', image: 'team/api' });
  assert.equal(parse({ ...event, repositoryName: 7 }).pushes[0]?.within, undefined);
});

test('nexus: a tag that is pushed again is a push', () => assert.equal(parse({ ...event, action: 'UPDATED' }).pushes.length, 1));

test('nexus: the delivery id is the idempotency key', () => {
  assert.equal(parse(event).pushes[0]?.idempotencyKey, 'd-1');
  assert.equal(parse(event, {}).pushes[0]?.idempotencyKey, undefined);
});

test('nexus: accepts time zones without a colon', () => {
  const pushedAt = (timestamp: unknown) => parse({ ...event, timestamp }).pushes[0]?.pushedAt;
  assert.equal(pushedAt('2026-03-01T12:00:00.515+0000'), '2026-03-01T12:00:00.515Z');
  assert.equal(pushedAt('2026-03-01T12:00:00.515-0530'), '2026-03-01T12:00:00.515-05:30');
  assert.equal(pushedAt(7), undefined);
});

test('nexus: other events are ignored, each with its reason', () => {
  assert.equal(reasonOf(event, { 'x-nexus-webhook-id': 'rm:repository:asset' }), 'not a component event: rm:repository:asset');
  assert.equal(reasonOf({ ...event, component: null }), 'the event names no component');
  assert.equal(reasonOf({ ...event, component: { ...component, format: 'helm' } }), 'not an image: format helm');
  assert.equal(reasonOf({ ...event, component: { name: 'a', version: '1' } }), 'not an image: format unknown');
  for (const action of ['DELETED', 'PURGED', 'created']) assert.equal(reasonOf({ ...event, action }), `not a push: ${action}`);
  assert.equal(reasonOf({ ...event, component: { ...component, name: '' } }), 'the event names no repository');
});

test('nexus: the signature is an HMAC-SHA1 of the body', () => {
  const body = Buffer.from(JSON.stringify(event));
  const verify = (algorithm: string) => {
    const signature = createHmac(algorithm, 's3cret').update(body).digest('hex');
    return nexus.verify({ headers: { 'x-nexus-webhook-signature': signature }, body }, ['s3cret']);
  };
  assert.deepEqual([verify('sha1'), verify('sha256')], [true, false]);
});

test('nexus: a body of another format is malformed, and does not crash the provider', () => {
  for (const body of [{}, { action: 7 }, []]) assert.throws(() => parse(body), MalformedBody);
});
