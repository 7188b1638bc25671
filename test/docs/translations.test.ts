/** The Chinese pages keep in step with the English ones: the same headings, commands and links, and a translation of each description. */
import assert from 'node:assert/strict';
import { posix } from 'node:path';
import { test } from 'node:test';
import { chineseReasons } from '../../docs/explanations/zh-CN-reasons.ts';
import { chinese } from '../../docs/explanations/zh-CN.ts';
import { anchorsOf, fencesOf, linksOf, pages, type Fence, type Page } from './markdown.ts';

const suffix = '.zh-CN.md';
const translations = pages.filter(({ path }) => path.endsWith(suffix));
const englishOf = (path: string) => path.replace(suffix, '.md');
const pageAt = (path: string) => pages.find((page) => page.path === path);

const levelsOf = (text: string) => [...text.replaceAll(/^```[^]*?^```$/gm, '').matchAll(/^(#+) /gm)].map(([, level]) => level);
/** What a block does, without its comments, and without the labels of a diagram. */
const withoutWords = ({ language, body }: Fence) => {
  const text = language === 'mermaid' ? body.replaceAll(/: .*$/gm, '') : body.replaceAll(/(?:^|\s+)# .*$/gm, '');
  return { language, body: text.replaceAll(/^\s*\n/gm, '') };
};

/** Where a link leads: a page, and a heading by its number. Whether the page is in Chinese is asked separately. */
function targetOf({ path }: Page, link: string): string {
  const [file = '', anchor] = link.split('#');
  const target = file === '' ? path : posix.join(posix.dirname(path), file);
  const page = anchor === undefined ? undefined : pageAt(target);
  // Only a translation has other anchors than the English page.
  const isTranslated = pageAt(target.replace(/(?:\.zh-CN)?\.md$/, suffix)) !== undefined;
  const heading = page && isTranslated ? [...anchorsOf(page.text)].indexOf(anchor ?? '') : anchor;
  return heading === undefined ? englishOf(target) : `${englishOf(target)}#${heading}`;
}

const targetsOf = (page: Page) => linksOf(page.text).map((link) => (/^[a-z]+:/.test(link) ? link : targetOf(page, link)));

test('README, list of pages, quickstart, base images, reasons and the whole policy guide exist in Chinese', () => {
  const policies = pages.filter(({ path }) => /^docs\/policies[\w/-]*\.md$/.test(path)).map(({ path }) => path.replace(/\.md$/, suffix));
  assert.deepEqual(
    translations.map(({ path }) => path).toSorted(),
    [
      'README.zh-CN.md',
      ...['README', 'base-images', 'quickstart', 'reasons'].map((page) => `docs/${page}${suffix}`),
      ...policies,
    ].toSorted(),
  );
});

for (const page of translations) {
  const english = pageAt(englishOf(page.path));
  test(`${page.path} has the headings, the commands and the links of the English page`, () => {
    assert.ok(english, 'there is no English page');
    assert.deepEqual(levelsOf(page.text), levelsOf(english.text));
    assert.deepEqual(fencesOf(page.text).map(withoutWords), fencesOf(english.text).map(withoutWords));
    assert.deepEqual(targetsOf(page), targetsOf(english));
  });

  test(`${page.path} leads to Chinese pages where they exist, and the English page to it`, () => {
    const missed = linksOf(page.text).filter((link) => {
      const [file = ''] = link.split('#');
      const target = posix.join(posix.dirname(page.path), file);
      return target !== englishOf(page.path) && file.endsWith('.md') && pageAt(target.replace(/\.md$/, suffix)) !== undefined;
    });
    assert.deepEqual(missed, []);
    assert.ok(english && linksOf(english.text).includes(posix.basename(page.path)));
  });

  test(`${page.path} has full-width punctuation after Chinese text, and spaces between Chinese and Latin text`, () => {
    const prose = page.text
      .replaceAll(/^```[^]*?^```$/gm, '')
      .replaceAll(/<!--.*?-->/g, '')
      .replaceAll(/\]\([^)]*\)/g, ']');
    const wrong = [
      ...prose.matchAll(/.{0,12}(?:\p{Script=Han}[,;:!?(]|[,;:!?)]\p{Script=Han}|\p{Script=Han}[\w`]|[\w`]\p{Script=Han}).{0,12}/gu),
    ];
    assert.deepEqual(
      wrong.map(([text]) => text),
      [],
    );
  });
}

for (const { path, text } of translations)
  test(`${path} has one line for each paragraph: a line break would show as a space between Chinese words`, () => {
    const prose = text.replaceAll(/^```[^]*?^```$/gm, '');
    assert.deepEqual(prose.match(/^(?!\||<!--).*\p{Script=Han}.*\n(?![|\n]|[-*#] |\*\*\d|\d+\. ).+$/gmu) ?? [], []);
  });

test('each translated description is one of the English pages', () => {
  const text = pages
    .filter(({ path }) => /^docs\/policies\/[\w-]+\.md$|^docs\/policies\.md$/.test(path))
    .map((page) => page.text.replaceAll(/\n# /g, ' ').replaceAll('\\|', '|'))
    .join('\n');
  assert.deepEqual(
    Object.keys(chinese).filter((english) => !text.includes(english)),
    [],
  );
});

test('each translated explanation is one of docs/reasons.md', () => {
  const { text } = pageAt('docs/reasons.md') ?? assert.fail('there is no docs/reasons.md');
  assert.ok(Object.keys(chineseReasons).length > 300);
  assert.deepEqual(
    Object.keys(chineseReasons).filter((english) => !text.includes(english)),
    [],
  );
});
