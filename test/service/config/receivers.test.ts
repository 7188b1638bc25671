import assert from 'node:assert/strict';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { ConfigError } from '../../../src/service/config/config-error.ts';
import { loadSettings } from '../../../src/service/config/settings.ts';
import { readRequiredClaims } from '../../../src/service/receive/issuers.ts';
import { tempFolder } from '../../harness/temp-folder.ts';

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

test('every authentication method is sufficient by itself, and several can be combined', () => {
  const google = 'oidc: {audience: "https://hooks.example.com/webhooks/gar", email: push@project.iam.gserviceaccount.com}';
  const [gar] = load(receiver(google)).receivers;
  assert.deepEqual(gar?.oidc, { audience: 'https://hooks.example.com/webhooks/gar', email: 'push@project.iam.gserviceaccount.com' });
  assert.deepEqual(load(receiver(`sns: {topics: ["${topic}"]}`)).receivers[0]?.sns, { topics: [topic] });
  assert.deepEqual(problems(receiver(`${google}, secrets: [{env: A}], sns: {topics: ["${topic}"]}, requestsPerMinute: 60`)), []);
});

test('pushes to Harbor wait for a scan if that is configured', () => {
  assert.equal(load(receiver('secrets: [{env: A}], waitForScan: true')).receivers[0]?.waitForScan, true);
  assert.equal(load(receiver('secrets: [{env: A}]')).receivers[0]?.waitForScan, false);
});

const github = (more: string) =>
  `oidc: {audience: a, issuer: "https://token.actions.githubusercontent.com", jwksUri: "https://token.actions.githubusercontent.com/.well-known/jwks"${more && `, ${more}`}}`;
const oidcOfCustomIssuer = (claims: string) =>
  `oidc: {audience: a, issuer: "https://i.example.com", jwksUri: "https://i.example.com/keys", claims: ${claims}}`;

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
  ['tokens of any customer of GitHub', receiver(github('')), ['receivers[0].oidc.claims']],
  ['tokens of any customer, by a claim that all have', receiver(github('claims: {ref: refs/heads/main}')), ['receivers[0].oidc.claims']],
  [
    'tokens of any customer, by a subject without its name',
    receiver(github('claims: {sub: "ref:refs/heads/main"}')),
    ['receivers[0].oidc.claims'],
  ],
  [
    'tokens of any customer, by one of two subjects',
    receiver(github('claims: {sub: ["repo:acme/api:ref:refs/heads/main", "environment:prod"]}')),
    ['receivers[0].oidc.claims'],
  ],
  [
    'tokens of any customer, for an e-mail that GitHub does not tell',
    receiver(github('email: a@example.com')),
    ['receivers[0].oidc.claims'],
  ],
  [
    "Google's tokens for anybody with a verified e-mail",
    receiver('oidc: {audience: a, claims: {hd: example.com}}'),
    ['receivers[0].oidc.email'],
  ],
  ['a claim inside another', receiver(oidcOfCustomIssuer('{google: {compute_engine: x}}')), ['receivers[0].oidc.claims.google']],
  ['a claim inside a list', receiver(oidcOfCustomIssuer('{groups: [{name: a}]}')), ['receivers[0].oidc.claims.groups']],
  ['a claim of nothing', receiver(oidcOfCustomIssuer('{groups: []}')), ['receivers[0].oidc.claims.groups']],
  ['a claim of an empty text', receiver(oidcOfCustomIssuer('{owner: ""}')), ['receivers[0].oidc.claims.owner']],
  [
    'a number that is not exact',
    receiver(oidcOfCustomIssuer('{id: 12345678901234567890, version: 1.10}')),
    ['receivers[0].oidc.claims.id', 'receivers[0].oidc.claims.version'],
  ],
  ['no claims where there should be some', receiver(oidcOfCustomIssuer('{}')), ['receivers[0].oidc.claims']],
  ['claims that are a list', receiver(oidcOfCustomIssuer('[owner]')), ['receivers[0].oidc.claims']],
  [
    'claims that have a setting of their own',
    receiver(oidcOfCustomIssuer('{iss: a, aud: b, exp: 1, email: c, email_verified: true}')),
    ['aud', 'email', 'email_verified', 'exp', 'iss'].map((name) => `receivers[0].oidc.claims.${name}`),
  ],
  ['oidc that is none', receiver('oidc: [a]'), ['receivers[0].oidc']],
  ['an unknown setting', receiver('oidc: {audience: a, email: e, kid: x}'), ['receivers[0].oidc.kid']],
  ...[
    ['a manager of repositories with no repository', '{}', ''],
    ['what is no host', '{docker-local: "https://acme.com"}', '.docker-local'],
    ['what is no path', '{docker-local: acme.com/A/}', '.docker-local'],
    ['a host with a user', '{docker-local: "a@acme.com"}', '.docker-local'],
    ['no name of a repository', '{docker-local: []}', '.docker-local'],
    ['another placeholder', '{"*": "{repo}.acme.com"}', '.*'],
    ['a key that is a pattern', '{"docker-*": acme.com}', '.docker-*'],
  ].map(([name = '', text = '', path = '']): [string, string, string[]] => [
    name,
    `receivers: [{name: a, provider: artifactory, secrets: [{env: A}], repositories: ${text}}]`,
    [`receivers[0].repositories${path}`],
  ]),
  [
    'repositories of a sender that has none',
    receiver('secrets: [{env: A}], repositories: {a: b.example.com}'),
    ['receivers[0].repositories'],
  ],
  [
    'one registry, and one for each repository',
    'receivers: [{name: a, provider: artifactory, secrets: [{env: A}], registry: acme.com, repositories: {a: b.example.com}}]',
    ['receivers[0].registry'],
  ],
  [
    'scans of a sender that announces none',
    'receivers: [{name: a, provider: quay, secrets: [{env: A}], waitForScan: true}]',
    ['receivers[0].waitForScan'],
  ],
  ['scans that are no yes or no', receiver('secrets: [{env: A}], waitForScan: 5m'), ['receivers[0].waitForScan']],
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
  test(`the configuration of a receiver refuses ${name}`, () => assert.deepEqual(problems(text), paths));
}

test('a receiver accepts keys over http on loopback, and an issuer other than Google without an e-mail', () => {
  for (const host of ['127.0.0.1:8080', 'localhost', '[::1]:1']) {
    assert.deepEqual(problems(receiver(`oidc: {audience: a, issuer: "https://i.example.com", jwksUri: "http://${host}/keys"}`)), [], host);
  }
});

test('a receiver accepts an issuer with many customers if a claim names one of them', () => {
  for (const claims of [
    '{repository_owner: acme}',
    '{repository_owner_id: 65, ref: refs/heads/main}',
    '{repository: [acme/shop, acme/api]}',
    '{sub: "repo:acme/shop:ref:refs/heads/main"}',
  ]) {
    assert.deepEqual(problems(receiver(github(`claims: ${claims}`))), [], claims);
  }
  assert.deepEqual(problems(receiver('oidc: {audience: a, claims: {sub: "113774264463038321964"}}')), []);
});

test('required claims are read as lists of strings', () => {
  const claims = '{owner: acme, id: 65, protected: true, groups: [a, 7, false], "https://example.com/role": x}';
  assert.deepEqual(readRequiredClaims(load(receiver(oidcOfCustomIssuer(claims))).receivers[0]?.oidc?.claims ?? {}), {
    owner: ['acme'],
    id: ['65'],
    protected: ['true'],
    groups: ['a', '7', 'false'],
    'https://example.com/role': ['x'],
  });
});

test('a repository key of a receiver has one name or several', () => {
  const repositories = '{docker-local: acme.jfrog.io/docker, Dev_2: ["dev.acme.com:5001", "acme.com/a/b"], "*": "{key}.acme.com"}';
  assert.deepEqual(
    load(`receivers: [{name: a, provider: artifactory, secrets: [{env: A}], repositories: ${repositories}}]`).receivers[0]?.repositories,
    {
      'docker-local': 'acme.jfrog.io/docker',
      Dev_2: ['dev.acme.com:5001', 'acme.com/a/b'],
      '*': '{key}.acme.com',
    },
  );
});

test('an unauthenticated receiver must be declared as such', () => {
  assert.equal(load('receivers: [{name: a, provider: harbor, unauthenticated: true}]').receivers[0]?.unauthenticated, true);
});
