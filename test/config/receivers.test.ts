import assert from 'node:assert/strict';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { ConfigError, loadSettings } from '../../src/config.ts';
import { tempFolder } from '../harness/temp-folder.ts';

const folder = tempFolder('config');

function load(text: string) {
  const file = join(folder, 'config.yaml');
  writeFileSync(file, text);
  return loadSettings({ file, env: { A: 'a-secret-of-some-length' } }).config;
}

function problems(text: string): string[] {
  try {
    load(text);
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.problems.map(({ path }) => path).sort();
  }
  return [];
}

const receiver = (more: string) => `receivers: [{name: a, provider: harbor, ${more}}]`;
const topic = 'arn:aws:sns:eu-west-1:123456789012:ecr-push';

test('every way to authenticate is enough by itself, and several go together', () => {
  const google = 'oidc: {audience: "https://hooks.example.com/webhooks/gar", email: push@project.iam.gserviceaccount.com}';
  const [gar] = load(receiver(google)).receivers;
  assert.deepEqual(gar?.oidc, { audience: 'https://hooks.example.com/webhooks/gar', email: 'push@project.iam.gserviceaccount.com' });
  assert.deepEqual(load(receiver(`sns: {topics: ["${topic}"]}`)).receivers[0]?.sns, { topics: [topic] });
  assert.deepEqual(problems(receiver(`${google}, secrets: [{env: A}], sns: {topics: ["${topic}"]}, requestsPerMinute: 60`)), []);
});

const rows: [name: string, text: string, paths: string[]][] = [
  ['no way at all', receiver('registry: h.example.com'), ['receivers[0].secrets']],
  ['a way, and none needed', receiver(`unauthenticated: true, sns: {topics: ["${topic}"]}`), ['receivers[0].unauthenticated']],
  ["Google's tokens for anybody", receiver('oidc: {audience: a}'), ['receivers[0].oidc.email']],
  ["Google's tokens for anybody, by name", receiver('oidc: {audience: a, issuer: accounts.google.com}'), ['receivers[0].oidc.email']],
  ['tokens without an audience', receiver('oidc: {email: e@example.com}'), ['receivers[0].oidc.audience']],
  ['another issuer without its keys', receiver('oidc: {audience: a, issuer: "https://i.example.com"}'), ['receivers[0].oidc.jwksUri']],
  [
    'keys that anybody on the way could replace',
    receiver('oidc: {audience: a, issuer: "https://i.example.com", jwksUri: "http://i.example.com/keys"}'),
    ['receivers[0].oidc.jwksUri'],
  ],
  [
    'keys that are no address',
    receiver('oidc: {audience: a, issuer: "https://i.example.com", jwksUri: "/etc/keys"}'),
    ['receivers[0].oidc.jwksUri'],
  ],
  ['oidc that is none', receiver('oidc: [a]'), ['receivers[0].oidc']],
  ['an unknown setting', receiver('oidc: {audience: a, email: e, kid: x}'), ['receivers[0].oidc.kid']],
  ['no topics', receiver('sns: {topics: []}'), ['receivers[0].sns.topics']],
  [
    'topics that are none',
    receiver('sns: {topics: ["arn:aws:sns:*:*:*", "my-topic"]}'),
    ['receivers[0].sns.topics[0]', 'receivers[0].sns.topics[1]'],
  ],
  ['a limit of nothing', receiver('unauthenticated: true, requestsPerMinute: 0'), ['receivers[0].requestsPerMinute']],
  ['headers that may take longer than all of it', 'listen: {headersTimeout: 1m, requestTimeout: 30s}', ['listen.headersTimeout']],
  ['a wait that no sender waits for', 'listen: {confirmWithin: 11s}', ['listen.confirmWithin']],
  ['no connections', 'listen: {maxConnections: 0, maxHeaderBytes: 1}', ['listen.maxConnections', 'listen.maxHeaderBytes']],
];

for (const [name, text, paths] of rows) {
  test(`refuses ${name}`, () => assert.deepEqual(problems(text), paths));
}

test('takes keys over http on loopback, and an issuer that is not Google without an e-mail', () => {
  for (const host of ['127.0.0.1:8080', 'localhost', '[::1]:1']) {
    assert.deepEqual(problems(receiver(`oidc: {audience: a, issuer: "https://i.example.com", jwksUri: "http://${host}/keys"}`)), [], host);
  }
});

test('an open receiver says so', () => {
  assert.equal(load('receivers: [{name: a, provider: harbor, unauthenticated: true}]').receivers[0]?.unauthenticated, true);
});
