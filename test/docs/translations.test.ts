/** The Chinese pages keep in step with the English ones: the same headings, commands and links. */
import assert from 'node:assert/strict';
import { posix } from 'node:path';
import { test } from 'node:test';
import { fencesOf, linksOf, pages } from './markdown.ts';

const suffix = '.zh-CN.md';
const translations = pages.filter(({ path }) => path.endsWith(suffix));

const levelsOf = (text: string) => [...text.replaceAll(/^```[^]*?^```$/gm, '').matchAll(/^(#+) /gm)].map(([, level]) => level);
/** Pages that a page leads to, whatever their language; its own translation is not one of them. */
const targetsOf = (path: string, text: string) =>
  linksOf(text)
    .filter((target) => !target.startsWith('#'))
    .map((target) => target.replace(suffix, '.md'))
    .filter((target) => target !== posix.basename(path.replace(suffix, '.md')));

test('README, quickstart and policies are there in Chinese', () => {
  assert.deepEqual(
    translations.map(({ path }) => path),
    ['README.zh-CN.md', 'docs/policies.zh-CN.md', 'docs/quickstart.zh-CN.md'],
  );
});

for (const { path, text } of translations)
  test(`${path} has the headings, the commands and the links of the English page`, () => {
    const english = pages.find((page) => page.path === path.replace(suffix, '.md')) ?? assert.fail('there is no English page');
    assert.deepEqual(levelsOf(text), levelsOf(english.text));
    assert.deepEqual(fencesOf(text), fencesOf(english.text));
    assert.deepEqual(targetsOf(path, text), targetsOf(english.path, english.text));
  });
