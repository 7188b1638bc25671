import assert from 'node:assert/strict';
import { test } from 'node:test';
import { normaliseRepository } from '../../../src/core/model/image-reference.ts';
import { findCredentials, parseDockerConfig } from '../../../src/service/registry/credentials/docker-config.ts';

const auth = (text: string) => Buffer.from(text).toString('base64');
const usersOf = (auths: object, registry: string, path: string) =>
  findCredentials(parseDockerConfig(JSON.stringify({ auths })), normaliseRepository(registry, path)).map(({ username }) => username);

const keys: [name: string, key: string, registry: string, path: string, matches: boolean][] = [
  ['a host', 'r.example.com', 'r.example.com', 'a/b', true],
  ['a scheme', 'https://r.example.com', 'r.example.com', 'a/b', true],
  ['plain http', 'http://r.example.com:5000', 'r.example.com:5000', 'a/b', true],
  ['a trailing slash', 'r.example.com/', 'r.example.com', 'a/b', true],
  ['an API version', 'https://r.example.com/v2/', 'r.example.com', 'a/b', true],
  ['the default port', 'https://r.example.com:443', 'r.example.com', 'a/b', true],
  ['upper case', 'R.Example.com', 'r.example.com', 'a/b', true],
  ['another port', 'r.example.com:5000', 'r.example.com', 'a/b', false],
  ['a longer host', 'r.example.com.evil.example', 'r.example.com', 'a/b', false],
  ['a shorter host', 'example.com', 'r.example.com', 'a/b', false],
  ['a host that begins the same', 'r.example.co', 'r.example.com', 'a/b', false],
  ['a path', 'r.example.com/a', 'r.example.com', 'a/b', true],
  ['a whole path', 'https://r.example.com/a/b/', 'r.example.com', 'a/b', true],
  ['a path and an API version', 'https://r.example.com/v1/a', 'r.example.com', 'a/b', true],
  ['a path that only begins the same', 'r.example.com/a', 'r.example.com', 'ab/c', false],
  ['a longer path', 'r.example.com/a/b/c', 'r.example.com', 'a/b', false],
  ['Docker Hub, as docker login writes it', 'https://index.docker.io/v1/', 'docker.io', 'nginx', true],
  ['Docker Hub by name', 'docker.io', 'docker.io', 'team/app', true],
  ['Docker Hub by its API host', 'registry-1.docker.io', 'docker.io', 'team/app', true],
  ['Docker Hub does not match others', 'https://index.docker.io/v1/', 'r.example.com', 'nginx', false],
  ['no key at all is not Docker Hub', '', 'docker.io', 'nginx', false],
  ['a star', '*.example.com', 'r.example.com', 'a/b', true],
  ['a star for a part of a label', 'team-*.example.com:5000', 'team-a.example.com:5000', 'a/b', true],
  ['a star does not cross dots', '*.example.com', 'a.r.example.com', 'a/b', false],
  ['a star does not stand for nothing', '*.example.com', 'example.com', 'a/b', false],
  ['a star and another port', '*.example.com', 'r.example.com:5000', 'a/b', false],
  ['several stars in a label', '*-reg-*.example.com', 'a-reg-b.example.com', 'a/b', true],
  ['several stars that do not all fit', '*-reg-*-b.example.com', 'a-reg-b.example.com', 'a/b', false],
  ['a star that has to take more than once', 'a*b*c.example.com', 'axbxcxbc.example.com', 'a/b', true],
  ['a question mark', 'reg?.example.com', 'reg1.example.com', 'a/b', true],
  ['a question mark for nothing', 'reg?.example.com', 'reg.example.com', 'a/b', false],
  ['a set', 'reg[0-9].example.com', 'reg1.example.com', 'a/b', true],
  ['a set without the character', 'reg[0-9].example.com', 'rega.example.com', 'a/b', false],
  ['a set of all others', 'reg[^0-9].example.com', 'rega.example.com', 'a/b', true],
  ['a set of all others, with the character', 'reg[^0-9].example.com', 'reg1.example.com', 'a/b', false],
  ['a set of several', 'reg[a0-3-].example.com:5000', 'reg2.example.com:5000', 'a/b', true],
  ['an escaped character', 'reg\\[1.example.com', 'reg1.example.com', 'a/b', false],
  ['a set without an end', 'reg[0-9.example.com', 'reg1.example.com', 'a/b', false],
  ['an IPv6 address', '[2001:db8::1]:5000', '[2001:db8::1]:5000', 'a/b', true],
  ['another IPv6 address', '[2001:db8::1]:5000', '[2001:db8::2]:5000', 'a/b', false],
];

for (const [name, key, registry, path, matches] of keys) {
  test(`a docker config key with ${name} ${matches ? 'matches' : 'does not match'}`, () =>
    assert.deepEqual(usersOf({ [key]: { auth: auth('me:secret') } }, registry, path), matches ? ['me'] : []));
}

test("all matching entries of a docker config are tried in the kubelet's order", () => {
  const keys = ['*.example.com/a/b', 'r.example.com', 'r.example.com/a', 'r.example.com/a/b', 'r*.example.com'];
  const auths = Object.fromEntries(keys.map((key) => [key, { username: key, password: 'x' }]));
  const inOrder = ['r.example.com/a/b', 'r.example.com/a', 'r.example.com', 'r*.example.com', '*.example.com/a/b'];
  assert.deepEqual(usersOf(auths, 'r.example.com', 'a/b/c'), inOrder);
  assert.deepEqual(usersOf(auths, 'r.example.com', 'a/c'), ['r.example.com/a', 'r.example.com', 'r*.example.com']);
  assert.deepEqual(usersOf(auths, 's.example.com', 'a/b'), ['*.example.com/a/b']);
});

test('matching a docker config pattern of many stars takes time proportional to its length times that of the host', () => {
  const pattern = `${'*a'.repeat(120)}b.example.com`;
  const startedAt = process.cpuUsage();
  assert.deepEqual(usersOf({ [pattern]: { auth: auth('me:secret') } }, `${'a'.repeat(220)}.example.com`, 'a'), []);
  const { user } = process.cpuUsage(startedAt);
  assert.ok(user < 2_000_000, `${user} µs`);
});

test('a bounded number of wildcard hosts of a bounded length is used of a docker config', () => {
  const user = { auth: auth('me:secret') };
  const endless = parseDockerConfig(JSON.stringify({ auths: { [`${'*'.repeat(300_000)}.example.com`]: user, 'r.example.com': user } }));
  assert.deepEqual([endless.entries.length, endless.problems.length], [1, 1]);
  const globs = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`r${index}*.example.com`, user]));
  const { entries, problems } = parseDockerConfig(JSON.stringify({ auths: { ...globs, 'r.example.com': user } }));
  assert.equal(entries.length, 101);
  assert.deepEqual(problems, ['of 300 entries with wildcards, the first 100 are used']);
});

const values: [name: string, value: unknown, expected: object | undefined][] = [
  ['auth', { auth: auth('me:se:cret') }, { username: 'me', password: 'se:cret' }],
  ['auth padded with NUL', { auth: auth('me:secret\0\0') }, { username: 'me', password: 'secret' }],
  ['user and password', { username: 'me', password: 'secret' }, { username: 'me', password: 'secret' }],
  ['auth before user and password', { auth: auth('me:secret'), username: 'x', password: 'y' }, { username: 'me', password: 'secret' }],
  ['an identity token', { auth: auth('me:'), identitytoken: 'abc' }, { username: 'me', password: '', identityToken: 'abc' }],
  ['an identity token as password', { auth: auth('<token>:abc') }, { username: '<token>', password: 'abc', identityToken: 'abc' }],
  ['a registry token', { auth: auth('me:secret'), registrytoken: 'reg' }, { username: 'me', password: 'secret', registryToken: 'reg' }],
  ['a registry token that cannot be sent', { registrytoken: 'a\r\nb' }, undefined],
  ['auth that is no user:password', { auth: auth('nonsense') }, undefined],
  ['nothing', {}, undefined],
  ['a number', 7, undefined],
  ['numbers inside', { username: 1, password: 2 }, undefined],
];

for (const [name, value, expected] of values) {
  test(`a docker config entry with ${name} ${expected === undefined ? 'has no credential' : 'has its credential'}`, () => {
    const config = parseDockerConfig(JSON.stringify({ auths: { 'r.example.com': value, 'other.example.com': { auth: auth('a:b') } } }));
    const found = findCredentials(config, normaliseRepository('r.example.com', 'a'));
    assert.deepEqual(found, expected === undefined ? [] : [{ host: 'r.example.com', path: '', ...expected }]);
    assert.equal(config.problems.length, expected ? 0 : 1);
    assert.equal(findCredentials(config, normaliseRepository('other.example.com', 'a')).length, 1, 'a bad entry does not spoil the others');
  });
}

test('a docker config in the legacy format without auths is read', () => {
  const config = parseDockerConfig(JSON.stringify({ 'https://index.docker.io/v1/': { auth: auth('me:secret'), email: 'x@example.com' } }));
  assert.equal(findCredentials(config, normaliseRepository('docker.io', 'nginx'))[0]?.username, 'me');
});

test('a docker config that has only helpers has no entries', () =>
  assert.deepEqual(parseDockerConfig('{"credsStore":"desktop"}').entries, []));

test('a docker config with more values than any real one is refused before it is parsed', () => {
  const nested = `{"auths":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  assert.throws(() => parseDockerConfig(nested), /more than 16384 values/);
});

for (const text of ['', 'not json {"password":"secret"}', '[]', 'null', '{"auths":[]}']) {
  test(`the docker config ${JSON.stringify(text)} is refused without being quoted`, () => {
    assert.throws(
      () => parseDockerConfig(text),
      (error: Error) => !error.message.includes('secret'),
    );
  });
}
