import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { PermanentError } from '../../../src/core/model/errors.ts';
import {
  formatRepository,
  isDigest,
  isTag,
  normaliseRegistry,
  normaliseRepository,
  parseImageReference,
  sameRepository,
  tryParseImageReference,
} from '../../../src/core/model/image-reference.ts';
import { digestOf } from './samples.ts';

const digest = digestOf('a');

const parsed: [text: string, repository: string, rest: { name: string; tag?: string; digest?: string }][] = [
  ['nginx', 'docker.io/library/nginx', { name: 'nginx' }],
  ['nginx:1.27', 'docker.io/library/nginx', { name: 'nginx', tag: '1.27' }],
  ['library/nginx:1.27', 'docker.io/library/nginx', { name: 'library/nginx', tag: '1.27' }],
  ['docker.io/nginx', 'docker.io/library/nginx', { name: 'docker.io/nginx' }],
  ['index.docker.io/library/nginx', 'docker.io/library/nginx', { name: 'index.docker.io/library/nginx' }],
  ['registry-1.docker.io/team/app', 'docker.io/team/app', { name: 'registry-1.docker.io/team/app' }],
  ['team/app', 'docker.io/team/app', { name: 'team/app' }],
  ['localhost/app', 'localhost/app', { name: 'localhost/app' }],
  ['localhost:5000/app:1', 'localhost:5000/app', { name: 'localhost:5000/app', tag: '1' }],
  ['registry:5000/app', 'registry:5000/app', { name: 'registry:5000/app' }],
  ['registry.example.com:443/a/b/c:v1', 'registry.example.com/a/b/c', { name: 'registry.example.com:443/a/b/c', tag: 'v1' }],
  ['Registry.Example.com/Team/App:V1', 'registry.example.com/team/app', { name: 'Registry.Example.com/Team/App', tag: 'V1' }],
  [`ghcr.io/a/b@${digest}`, 'ghcr.io/a/b', { name: 'ghcr.io/a/b', digest }],
  [`ghcr.io/a/b:1.2@${digest}`, 'ghcr.io/a/b', { name: 'ghcr.io/a/b', tag: '1.2', digest }],
  [`ghcr.io/a/b@sha512:${'b'.repeat(128)}`, 'ghcr.io/a/b', { name: 'ghcr.io/a/b', digest: `sha512:${'b'.repeat(128)}` }],
  ['[::1]:5000/app:1', '[::1]:5000/app', { name: '[::1]:5000/app', tag: '1' }],
  ['a.b/c_d/e__f/g-h/i---j/k.l', 'a.b/c_d/e__f/g-h/i---j/k.l', { name: 'a.b/c_d/e__f/g-h/i---j/k.l' }],
  [' nginx:1 \n', 'docker.io/library/nginx', { name: 'nginx', tag: '1' }],
];

for (const [text, repository, rest] of parsed) {
  test(`parses ${JSON.stringify(text)}`, () => {
    const { repository: actual, ...others } = parseImageReference(text);
    assert.equal(formatRepository(actual), repository);
    assert.deepEqual(others, rest);
  });
}

const notPath = (path: string) => `"${path}" is not a repository path: lower-case letters, digits and . _ - between slashes`;
const notTag = (text: string) => `"${text}" has a tag that is not valid: letters, digits and . _ -, at most 128, none of . - first`;
const notDigest = (text: string) => `"${text}" has a digest that is not sha256:<64 hex digits>`;
const notHost = (host: string) => `"${host}" is not a registry host`;
const tooLong = (path: string) => `the image name "${path}" is longer than 255 characters`;
const noPassword = 'an image name holds no user or password: leave out what is before the host, with @';
const noScheme = 'an image name has no scheme: leave out what is before the host, with ://';
const cut = (text: string) => `${text.slice(0, 100)}…`;

const refused: [name: string, text: string, message: string][] = [
  ['nothing', '', 'the image name is empty'],
  ['spaces', ' \n', 'the image name is empty'],
  ['only a tag', ':1.2', notPath('')],
  ['an empty tag', 'nginx:', notTag('nginx:')],
  ['a tag with a forbidden sign', 'nginx:1+2', notTag('nginx:1+2')],
  ['a tag of 129 characters', `nginx:${'a'.repeat(129)}`, notTag(cut(`nginx:${'a'.repeat(129)}`))],
  ['a tag that begins with a dot', 'nginx:.1', notTag('nginx:.1')],
  ['two tags', 'nginx:1:2', notPath('nginx:1')],
  ['a short digest', 'nginx@sha256:abc', notDigest('nginx@sha256:abc')],
  ['a digest in capitals', `nginx@sha256:${'A'.repeat(64)}`, notDigest(`nginx@sha256:${'A'.repeat(64)}`)],
  ['a digest that is none', 'nginx@latest', notDigest('nginx@latest')],
  ['an empty digest', 'nginx@', notDigest('nginx@')],
  ['two digests', `nginx@${digest}@${digest}`, notDigest(cut(`nginx@${digest}@${digest}`))],
  ['a scheme', 'https://registry.example.com/app', noScheme],
  ['the scheme of a tool', 'docker://nginx:1', noScheme],
  ['a path that begins with a dash', 'team/-app', notPath('team/-app')],
  ['three underscores', 'a___b', notPath('a___b')],
  ['two dots', 'a..b/c', notHost('a..b')],
  ['a path that climbs', 'registry.example.com/../app', notPath('../app')],
  ['a host without a path', 'registry.example.com/', notPath('')],
  ['an empty segment', 'registry.example.com/a//b', notPath('a//b')],
  ['a space', 'team/my app', notPath('team/my app')],
  ['a port that is none', 'registry.example.com:https/app', notHost('registry.example.com:https')],
  ['a port that is too high', 'registry.example.com:65536/app', notHost('registry.example.com:65536')],
  ['a host with an underscore', 'my_registry.example.com/app', notHost('my_registry.example.com')],
  ['a host that begins with a dash', '-registry.example.com/app', notHost('-registry.example.com')],
  ['credentials', 'user:password@registry.example.com/app', noPassword],
  ['a user', 'user@registry.example.com/app', noPassword],
  ['256 characters', `registry.example.com/${'a'.repeat(235)}`, tooLong(cut('a'.repeat(235)))],
  ['a megabyte, before it is split', 'a@'.repeat(500_000), tooLong(cut('a@'.repeat(100)))],
  ['a template', '{{ .Values.image }}', notPath('{{ .Values.image }}')],
];

for (const [name, text, message] of refused) {
  test(`refuses ${name}, and says what is wrong`, () => {
    assert.throws(
      () => parseImageReference(text),
      (error) => {
        assert.ok(error instanceof PermanentError);
        assert.deepEqual([error.reason, error.message], ['InvalidPolicy', message]);
        return true;
      },
    );
    assert.equal(tryParseImageReference(text), undefined);
  });
}

test('a name may have 255 characters', () => {
  assert.equal(formatRepository(parseImageReference(`registry.example.com/${'a'.repeat(234)}`).repository).length, 255);
});

test('a hostile name is refused quickly and with a short message', { timeout: 10_000 }, () => {
  for (const text of [
    `a${'/'.repeat(1_000_000)}b`,
    `a${'-'.repeat(1_000_000)}/`,
    `${'a.'.repeat(500_000)}/b`,
    `${'a'.repeat(1_000_000)}:1`,
  ]) {
    assert.throws(
      () => parseImageReference(text),
      (error) => error instanceof PermanentError && error.message.length < 300,
    );
  }
});

const hosts: [given: string, normal: string][] = [
  ['', 'docker.io'],
  ['docker.io', 'docker.io'],
  ['Index.Docker.io', 'docker.io'],
  ['registry.hub.docker.com', 'docker.io'],
  ['https://hub.docker.com/', 'docker.io'],
  ['https://Registry.Example.com/', 'registry.example.com'],
  ['http://registry:5000', 'registry:5000'],
  ['registry.example.com:443', 'registry.example.com'],
  ['registry.example.com:4430', 'registry.example.com:4430'],
];

for (const [given, normal] of hosts) {
  test(`the registry ${JSON.stringify(given)} is ${normal}`, () => assert.equal(normaliseRegistry(given), normal));
}

test('registry aliases are resolved last, and only once', () => {
  const aliases = new Map([
    ['registry.internal:5000', 'registry.example.com'],
    ['docker.io', 'mirror.example.com'],
  ]);
  assert.equal(normaliseRegistry('HTTPS://Registry.Internal:5000/', aliases), 'registry.example.com');
});

test('short names of Docker Hub are completed before aliases are resolved, and at an alias of Docker Hub', () => {
  const mirror = new Map([['docker.io', 'mirror.example.com']]);
  for (const name of ['nginx', 'docker.io/nginx', 'index.docker.io/library/nginx', 'mirror.example.com/library/nginx']) {
    assert.deepEqual(parseImageReference(name, mirror).repository, { registry: 'mirror.example.com', path: 'library/nginx' });
  }
  assert.deepEqual(parseImageReference('mirror.example.com/nginx', mirror).repository.path, 'nginx');
  assert.deepEqual(normaliseRepository('', 'nginx', mirror), { registry: 'mirror.example.com', path: 'library/nginx' });
  const hub = new Map([['mirror.example.com', 'docker.io']]);
  assert.deepEqual(parseImageReference('mirror.example.com/nginx', hub).repository, { registry: 'docker.io', path: 'library/nginx' });
});

test('leading and trailing slashes of a repository in a payload are removed', () => {
  assert.deepEqual(normaliseRepository('registry.example.com', '/Team/App/'), { registry: 'registry.example.com', path: 'team/app' });
});

test('repositories are compared by their full names, never by prefix', () => {
  const repository = (text: string) => parseImageReference(text).repository;
  assert.ok(sameRepository(repository('nginx:1'), repository('docker.io/library/nginx@' + digest)));
  assert.ok(!sameRepository(repository('team/app'), repository('team/app-foo')));
  assert.ok(!sameRepository(repository('a.example/team/app'), repository('b.example/team/app')));
});

test('tags and digests are validated', () => {
  assert.ok(isTag('_'.repeat(128)) && isTag('1.2.3-rc.1_x'));
  assert.ok(!isTag('') && !isTag('a/b') && !isTag('a:b') && !isTag('-a') && !isTag('a\n'));
  assert.ok(isDigest(digest) && !isDigest(`${digest}0`) && !isDigest('md5:abc') && !isDigest(`${digest}\n`));
});

const word = fc.stringMatching(/^[a-z0-9]{1,8}$/);
const path = fc.array(fc.tuple(word, fc.constantFrom('', '.', '_', '__', '-', '--')), { minLength: 1, maxLength: 3 }).map((parts) =>
  parts
    .map(([text, separator]) => `${text}${separator}`)
    .join('')
    .replace(/[._-]+$/, ''),
);
const host = fc
  .tuple(word, word, fc.option(fc.integer({ min: 1, max: 65_535 }).filter((port) => port !== 443)))
  .map(([a, b, port]) => `${a}.${b}${port === null ? '' : `:${port}`}`);
const tag = fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,20}$/);

test('a formatted reference is parsed to the same value', () => {
  const repository = fc.tuple(host, fc.array(path, { minLength: 1, maxLength: 4 })).map(([registry, parts]) => ({
    registry,
    path: parts.join('/'),
  }));
  fc.assert(
    fc.property(repository, fc.option(tag), fc.boolean(), (repository, tag, pinned) => {
      const text = `${formatRepository(repository)}${tag === null ? '' : `:${tag}`}${pinned ? `@${digest}` : ''}`;
      assert.deepEqual(parseImageReference(text), {
        repository,
        name: formatRepository(repository),
        ...(tag !== null && { tag }),
        ...(pinned && { digest }),
      });
    }),
  );
});

test('normalised references do not change, and any text is either parsed or refused', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom('a', 'Z', '0', '.', '-', '_', '/', ':', '@', ' ') })), (text) => {
      const reference = tryParseImageReference(text);
      if (reference === undefined) return;
      const { registry, path } = reference.repository;
      assert.deepEqual(normaliseRepository(registry, path), reference.repository);
      assert.deepEqual(parseImageReference(formatRepository(reference.repository)).repository, reference.repository);
    }),
    { numRuns: 500 },
  );
});
