import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { acceptPush, isPushEvent } from '../../../../src/core/model/push-event.ts';
import { gitea } from '../../../../src/service/receive/providers/gitea.ts';
import { MalformedBody } from '../../../../src/service/receive/providers/provider.ts';
import { testProvider } from './conformance.ts';

testProvider({ provider: gitea, credentials: ['x-gitea-signature', 'x-forgejo-signature'] });

const pushed = {
  type: 'container',
  name: 'api',
  version: 'v1.2.3',
  owner: { login: 'Team', username: 'Team' },
  html_url: 'https://git.example.com/Team/-/packages/container/api/v1.2.3',
  created_at: '2026-03-01T12:00:00Z',
};
const event = { action: 'created', package: pushed };
const headers = { 'x-gitea-event': 'package', 'x-gitea-delivery': 'd-1' };

const parse = (body: unknown, sent: Record<string, string> = headers) =>
  gitea.parse({ headers: sent, body: Buffer.from(JSON.stringify(body)) });
const pushOf = (more: object) => parse({ ...event, package: { ...pushed, ...more } }).pushes[0];
const reasonOf = (body: unknown, sent?: Record<string, string>) => parse(body, sent).ignored[0]?.reason;

test('gitea: the registry is the host of the package page, without its path', () => {
  assert.equal(pushOf({ html_url: 'http://git.example.com:3000/git/Team/-/packages/container/api/1' })?.registry, 'git.example.com:3000');
  for (const html_url of [undefined, '/Team/-/packages', 7]) assert.equal(pushOf({ html_url })?.registry, undefined);
});

test('gitea: the owner is the login, else the username; names may have slashes', () => {
  assert.equal(pushOf({ owner: { username: 'Ops' }, name: 'web/front' })?.repository, 'Ops/web/front');
  assert.equal(reasonOf({ ...event, package: { ...pushed, owner: null } }), 'the event names no repository');
});

test('gitea: a push by digest has no tag', () => {
  const push = pushOf({ version: `sha256:${'a'.repeat(64)}` });
  assert.ok(push && !isPushEvent(acceptPush(push, { receiver: 'r', provider: 'gitea', aliases: new Map(), now: new Date(0) })));
});

test('gitea: other events are ignored, each with its reason', () => {
  assert.equal(reasonOf({ ref: 'refs/heads/main', action: 'x' }, { 'x-gitea-event': 'push' }), 'not a package event: push');
  assert.equal(reasonOf(event, { 'x-forgejo-event': 'release' }), 'not a package event: release');
  assert.equal(reasonOf({ ...event, action: 'deleted' }), 'not a push: deleted');
  assert.equal(reasonOf({ ...event, package: { ...pushed, type: 'helm' } }), 'not an image: a package of type helm');
  assert.equal(reasonOf({ action: 'created' }), 'the event names no package');
});

test('gitea: the delivery id is the idempotency key, under either name', () => {
  assert.equal(parse(event).pushes[0]?.idempotencyKey, 'd-1');
  assert.equal(parse(event, { 'x-forgejo-delivery': 'd-2' }).pushes[0]?.idempotencyKey, 'd-2');
});

test('gitea: the signature covers the JSON, even in a form', () => {
  const json = JSON.stringify(event);
  const signature = createHmac('sha256', 's3cret').update(json).digest('hex');
  const form = Buffer.from(new URLSearchParams({ payload: json }).toString());
  const asForm = { 'content-type': 'application/x-www-form-urlencoded' };
  const verify = (sent: Record<string, string>, body: Buffer) => gitea.verify({ headers: sent, body }, ['s3cret']);
  for (const name of ['x-gitea-signature', 'x-forgejo-signature']) {
    assert.equal(verify({ [name]: signature }, Buffer.from(json)), true);
    assert.equal(verify({ [name]: signature, ...asForm }, form), true);
    assert.equal(verify({ [name]: signature }, form), false);
    assert.equal(verify({ [name]: signature, ...asForm }, Buffer.concat([form, Buffer.from('%20')])), false);
    assert.equal(verify({ [name]: '' }, Buffer.from(json)), false);
  }
  assert.equal(verify({ 'x-hub-signature-256': `sha256=${signature}` }, Buffer.from(json)), false);
});

test('gitea: a form with two payloads is malformed, because only one of them is signed', () => {
  const json = JSON.stringify(event);
  const body = Buffer.from(`payload=${encodeURIComponent(json)}&payload=%7B%22action%22%3A%22evil%22%7D`);
  const signature = createHmac('sha256', 's3cret').update(json).digest('hex');
  const sent = { ...headers, 'content-type': 'application/x-www-form-urlencoded; charset=utf-8', 'x-gitea-signature': signature };
  assert.equal(gitea.verify({ headers: sent, body }, ['s3cret']), false);
  assert.throws(() => gitea.parse({ headers: sent, body }), MalformedBody);
});

test('gitea: a body of another format is malformed, and does not crash the provider', () => {
  for (const body of [{}, { action: 7 }, []]) assert.throws(() => parse(body), MalformedBody);
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  for (const body of ['', 'payload=', 'payload=%', 'other=1']) {
    assert.throws(() => gitea.parse({ headers: form, body: Buffer.from(body) }), MalformedBody);
  }
});
