import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseImageReference } from '../../../src/core/model/image-reference.ts';
import { checkRepositoryPattern, coversPattern, matchesRepository, normalisePattern } from '../../../src/core/model/repository-pattern.ts';

describe('matchesRepository', () => {
  for (const [pattern, yes, no] of [
    ['*', ['nginx', 'harbor.example.com/a/b/c'], []],
    [
      'harbor.example.com/shop/*',
      ['harbor.example.com/shop/web', 'harbor.example.com/shop/team/web'],
      ['harbor.example.com/shopping/web', 'web'],
    ],
    ['harbor.example.com/shop/web', ['harbor.example.com/shop/web', 'harbor.example.com:443/shop/web'], ['harbor.example.com/shop/web2']],
    ['harbor.example.com/*-web*', ['harbor.example.com/a-web', 'harbor.example.com/b/a-webs/x'], ['harbor.example.com/web']],
    ['*/shop/*', ['a.example/shop/web', 'b.example:5000/x/shop/y'], ['a.example/shop2/web', 'a.example/shop']],
    ['harbor.example.com:*/shop/web', ['harbor.example.com:5000/shop/web'], ['harbor.example.com/shop/web']],
    ['nginx', ['nginx', 'library/nginx', 'index.docker.io/library/nginx'], ['a.example/library/nginx']],
    ['library/*', ['nginx', 'docker.io/library/redis'], ['grafana/grafana', 'a.example/library/nginx']],
    ['docker.io/*', ['nginx', 'grafana/grafana'], ['ghcr.io/a/b']],
    ['a.example/a*a', ['a.example/aa', 'a.example/aba'], ['a.example/a', 'a.example/ab']],
    ['a.example/*ab*b', ['a.example/abb', 'a.example/xabab'], ['a.example/ab']],
  ] as const) {
    it(`finds what "${pattern}" means`, () => {
      for (const name of yes) assert.ok(matchesRepository(pattern, parseImageReference(name).repository), name);
      for (const name of no) assert.ok(!matchesRepository(pattern, parseImageReference(name).repository), name);
    });
  }

  it('knows other names of a registry', () => {
    const aliases = new Map([['registry.internal:5000', 'registry.example.com']]);
    const { repository } = parseImageReference('registry.internal:5000/shop/web', aliases);
    assert.ok(matchesRepository('registry.internal:5000/shop/*', repository, aliases));
    assert.ok(matchesRepository('registry.example.com/shop/*', repository, aliases));
  });

  it('completes short names of Docker Hub before it resolves aliases, as names of images do', () => {
    const aliases = new Map([['docker.io', 'mirror.example.com']]);
    const { repository } = parseImageReference('nginx', aliases);
    for (const pattern of ['nginx', 'library/*', 'docker.io/library/nginx', 'mirror.example.com/library/nginx']) {
      assert.ok(matchesRepository(pattern, repository, aliases), pattern);
    }
    assert.ok(!matchesRepository('mirror.example.com/nginx', repository, aliases));
  });

  it('answers at once, however many stars there are', () => {
    const pattern = `a.example/${'a*'.repeat(120)}b`;
    assert.ok(!matchesRepository(pattern, { registry: 'a.example', path: 'a'.repeat(240) }));
  });
});

it('a pattern covers another one if every repository of the other matches it, whatever the spelling', () => {
  const covers = (wide: string, narrow: string) => coversPattern(normalisePattern(wide), normalisePattern(narrow));
  for (const [wide, narrow] of [
    ['*', 'nginx'],
    ['**', '*'],
    ['nginx', 'docker.io/library/nginx'],
    ['docker.io/*', 'grafana/*'],
    ['a.example/shop/*', 'a.example/shop/web-*'],
    ['a.example/shop/*', 'a.example:443/shop/**'],
  ] as const) {
    assert.ok(covers(wide, narrow), `${wide} ${narrow}`);
  }
  for (const [wide, narrow] of [
    ['a.example/shop/web', 'a.example/shop/*'],
    ['a.example/shop/*', 'a.example/*'],
    ['a.example/*-web', 'a.example/web'],
    ['library/*', '*'],
  ] as const) {
    assert.ok(!covers(wide, narrow), `${wide} ${narrow}`);
  }
});

it('a pattern that no repository can match is refused, with what to write instead', () => {
  for (const pattern of ['*', '*-web', 'web.*', 'a.example:*/x', '*.example.com/web', '*:5000/web', 'shop/*', 'a.example/*/web'])
    assert.doesNotThrow(() => checkRepositoryPattern(pattern), pattern);
  for (const pattern of ['a.example//web', '/shop/*', 'a.example/shop/', 'a.example/-*', 'a.example/.web', '-/*'])
    assert.throws(() => checkRepositoryPattern(pattern), /is no repository.*write a registry and a path/, pattern);
});
