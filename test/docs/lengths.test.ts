/** A reader's path is short: README, quickstart, policies and operations are the book, and all else is reference. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pages } from './markdown.ts';

const bookPage = 1_500;
const limits: Readonly<Record<string, number>> = {
  'README.md': 1_200,
  'docs/threat-model.md': 2_500,
  'docs/command-line.md': 1_500,
  'docs/commands.md': 6_000,
};

/** Pages in the folders of the book that list every field or request, which their readers search. */
const reference = [
  'docs/policies/reference.md',
  'docs/policies/status.md',
  'docs/policies/base-image-policy.md',
  'docs/policies/base-image-status.md',
  'docs/policies/notification-target.md',
  'docs/operations/api.md',
];

/** As `wc -w` counts. */
const wordsOf = (text: string) => text.split(/\s+/).filter((word) => word !== '').length;
const inEnglish = pages.filter(({ path }) => !path.endsWith('.zh-CN.md'));
const isOfTheBook = (path: string) => /^docs\/(?:quickstart|(?:policies|operations)(?:\/[\w-]+)?)\.md$/.test(path);

test('each page of the book has at most 1,500 words', () => {
  const book = inEnglish.filter(({ path }) => isOfTheBook(path) && !reference.includes(path));
  assert.ok(book.length > 10, String(book.length));
  assert.deepEqual(
    book.flatMap(({ path, text }) => (wordsOf(text) > bookPage ? [`${path}: ${wordsOf(text)}`] : [])),
    [],
  );
});

test('each reference page in the folders of the book exists', () => {
  assert.deepEqual(
    reference.filter((path) => !inEnglish.some((page) => page.path === path)),
    [],
  );
});

for (const [path, most] of Object.entries(limits)) {
  test(`${path} has at most ${most} words`, () => {
    const page = inEnglish.find((one) => one.path === path) ?? assert.fail(`there is no ${path}`);
    assert.ok(wordsOf(page.text) <= most, String(wordsOf(page.text)));
  });
}
