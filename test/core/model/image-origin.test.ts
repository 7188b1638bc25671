/** What an image says about its source, and the links that follow. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { linksOf, readOrigin } from '../../../src/core/model/image-origin.ts';

const key = (name: string) => `org.opencontainers.image.${name}`;
const repositoryOf = (source: string) => readOrigin([{ [key('source')]: source }])?.repository;
const [old, now] = ['a'.repeat(40), 'b'.repeat(40)];

describe('the origin of an image', () => {
  for (const [source, expected] of Object.entries({
    'https://github.com/shop/web': 'https://github.com/shop/web',
    'https://github.com/shop/web.git': 'https://github.com/shop/web',
    'http://git.example.com:8443/shop/web/': 'https://git.example.com:8443/shop/web',
    'https://github.com/shop/web/tree/main/app': 'https://github.com/shop/web',
    'git@github.com:shop/web.git': 'https://github.com/shop/web',
    'git+https://github.com/shop/web.git': 'https://github.com/shop/web',
    'ssh://git@gitlab.example.com:2222/group/sub/web.git': 'https://gitlab.example.com/group/sub/web',
    'https://gitlab.com/group/sub/web/-/tree/main': 'https://gitlab.com/group/sub/web',
    'https://user:password@github.com/shop/web': 'https://github.com/shop/web',
    'https://github.com/shop/web?x=1#y': 'https://github.com/shop/web',
  }))
    it(`is ${expected} for ${source}`, () => assert.equal(repositoryOf(source), expected));

  for (const source of [
    '',
    'shop/web',
    'https://github.com',
    'https://github.com/shop',
    'javascript:alert(1)//a/b',
    'data:text/html,a/b',
    'https://evil.example/a/b|c',
    'https://evil.example/a/)[x](https://other.example/b',
    'https://evil.example/a/<!channel>',
    `https://evil.example/a/${'b'.repeat(2_000)}`,
    'https://evil.example/a/../..',
  ])
    it(`is not read from ${source.slice(0, 60)}`, () => assert.equal(repositoryOf(source), undefined));

  it('keeps the whole path of a source whose groups may be nested, where the host does not say that it is a GitLab', () => {
    const read = (source: string) => readOrigin([{ [key('source')]: source }]);
    assert.deepEqual(read('https://git.example.com/group/sub/web.git'), {
      repository: 'https://git.example.com/group/sub',
      fullPath: 'group/sub/web',
    });
    assert.deepEqual(read('https://gitlab.com/group/sub/web'), { repository: 'https://gitlab.com/group/sub/web' });
  });

  it('has a revision and a version only if they look like ones', () => {
    const read = (revision: string, version: string) =>
      readOrigin([{ [key('source')]: 'https://github.com/shop/web', [key('revision')]: revision, [key('version')]: version }]);
    assert.deepEqual(read(now.toUpperCase(), '1.4.2+build.1'), {
      repository: 'https://github.com/shop/web',
      revision: now,
      version: '1.4.2+build.1',
    });
    assert.deepEqual(read('main', '<1.4.2>'), { repository: 'https://github.com/shop/web' });
  });

  it('is that of the first labels or annotations that name a source, together with the revision beside it', () => {
    const sets = [
      { [key('revision')]: old },
      { [key('source')]: 'https://github.com/shop/web' },
      { [key('source')]: 'https://github.com/base/image', [key('revision')]: now },
    ];
    assert.deepEqual(readOrigin(sets), { repository: 'https://github.com/shop/web' });
  });
});

describe('links to the origin', () => {
  const linksFor = (repository: string, more = {}) =>
    linksOf({ now: { repository, revision: now, ...more }, before: { repository, revision: old } }).map(({ url }) => url);
  for (const [repository, expected] of Object.entries({
    'https://github.com/shop/web': `compare/${old}...${now}`,
    'https://gitlab.example.com/group/sub/web': `-/compare/${old}...${now}`,
    'https://codeberg.org/shop/web': `compare/${old}...${now}`,
    'https://bitbucket.org/shop/web': `branches/compare/${now}%0D${old}`,
  }))
    it(`lead to the changes on ${new URL(repository).host}`, () => assert.deepEqual(linksFor(repository), [`${repository}/${expected}`]));

  it('lead to the releases if the image names a version', () => {
    assert.deepEqual(linksFor('https://github.com/shop/web', { version: '1.4.2' }).slice(1), ['https://github.com/shop/web/releases']);
  });

  it('lead to the commit if the former image had another source, or none', () => {
    const origin = { repository: 'https://github.com/shop/web', revision: now };
    for (const before of [undefined, { repository: 'https://github.com/shop/other', revision: old }, origin])
      assert.deepEqual(linksOf({ now: origin, ...(before && { before }) }), [
        { text: 'Commit bbbbbbb on github.com', url: `https://github.com/shop/web/commit/${now}` },
      ]);
    assert.deepEqual(linksOf({}), []);
  });
});
