/** What an image lists of the images that belong to it: exactly one entry for a companion, or a reason, never a guess. */
import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { findListed, imageListAnnotation, readImageList } from '../../../src/core/model/image-list.ts';
import { digestOf } from './samples.ts';

const [a, b] = [digestOf('a'), digestOf('b')];
const proxy = { registry: 'registry.example.com', path: 'shop/proxy' };
const aliases = new Map([['registry.internal:5000', 'registry.example.com']]);
const find = (text: string | undefined, repository = proxy) =>
  findListed(readImageList(text === undefined ? {} : { [imageListAnnotation]: text }), repository, aliases);
const other = (index: number) => `shop/other-${index}:1@${b}`;
const listed = { tag: '1.3.0', digest: a };
const entry = `registry.example.com/shop/proxy:1.3.0@${a}`;

describe('a companion is found in the image list', () => {
  for (const [what, text] of [
    ['alone', entry],
    ['between others, after commas', `${other(1)},${entry},${other(2)}`],
    ['after white space of any kind, and empty entries', `\n ,,${other(1)}\t\n${entry} ,\n`],
    ['in capitals, with the port of https', `Registry.Example.com:443/Shop/Proxy:1.3.0@${a}`],
    ['by another name of its registry', `registry.internal:5000/shop/proxy:1.3.0@${a}`],
    ['written twice alike', `${entry} registry.internal:5000/shop/proxy:1.3.0@${a}`],
    ['beside names without a tag or a digest, which are of others', `shop/other shop/other:1 shop/other@${b} ${entry}`],
    ['beside its name in another registry', `ghcr.io/shop/proxy:1.3.0@${b} ${entry}`],
    ['last of the most that a list may have', [...Array.from({ length: 63 }, (_, index) => other(index)), entry].join(',')],
  ] as const)
    it(what, () => assert.deepEqual(find(text), listed));

  it('by its short name, on Docker Hub', () => {
    assert.deepEqual(find(`nginx:1.3.0@${a}`, { registry: 'docker.io', path: 'library/nginx' }), listed);
  });
});

describe('a companion is not found in the image list, with a reason:', () => {
  for (const [what, text, why] of [
    ['there is no list', undefined, /does not list what belongs to it/],
    ['the list is empty', ' ,\n', /does not name it/],
    ['the list names only others', other(1), /does not name it/],
    ['another repository begins like it', entry.replace('proxy:', 'proxy-b:'), /does not name it/],
    ['it is there twice, with two digests', `${entry} ${entry.replace(a, b)}`, /twice, with different tags or digests/],
    ['it is there twice, with two tags', `${entry} ${entry.replace('1.3.0', '1.4.0')}`, /twice, with different tags or digests/],
    ['it is there twice, once without a digest', `${entry} registry.example.com/shop/proxy:1.3.0`, /twice, with different tags or digests/],
    ['it has no digest', 'registry.example.com/shop/proxy:1.3.0', /without a tag or a digest/],
    ['it has no tag', `registry.example.com/shop/proxy@${a}`, /without a tag or a digest/],
    ['its digest is cut off', entry.slice(0, -1), /entry 1 of the list .* is no image name/],
    ['another entry cannot be read', `${entry} <script>`, /entry 2 of the list .* is no image name\)$/],
    ['an entry has a scheme', `https://${entry}`, /entry 1 of the list .* is no image name/],
    [
      'the list has too many entries',
      [...Array.from({ length: 64 }, (_, index) => other(index)), entry].join(','),
      /more than 64 entries, or 16384 characters/,
    ],
    ['the list is too long', `${entry}${' '.repeat(16 * 1_024)}`, /more than 64 entries, or 16384 characters/],
  ] as const)
    it(what, () => {
      const found = find(text);
      assert.ok('missing' in found, JSON.stringify(found));
      assert.match(found.missing, why);
      assert.ok(
        found.missing.startsWith('registry.example.com/shop/proxy (') && found.missing.includes(imageListAnnotation),
        found.missing,
      );
    });
});

test('the longest image lists of odd characters are refused with a reason as well', () => {
  for (const part of [',', ' ', ':', '@', '/', 'a/', 'a.', '-']) {
    const list = readImageList({ [imageListAnnotation]: part.repeat(16 * 1_024).slice(0, 16 * 1_024) });
    assert.ok('missing' in findListed(list, proxy, aliases), part);
  }
});
