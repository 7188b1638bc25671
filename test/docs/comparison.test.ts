import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linksOf, pages } from './markdown.ts';

const { text } = pages.find(({ path }) => path === 'docs/comparison.md') ?? { text: '' };
const [heading = '', , ...rows] = text.slice(text.indexOf('|  | image-watcher |')).split('\n\n')[0]?.split('\n') ?? [];
const cellsOf = (row: string) =>
  row
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

test('every cell of the comparison names its source', () => {
  assert.ok(rows.length > 10);
  for (const row of rows) {
    const [topic, own = '', ...others] = cellsOf(row);
    assert.equal(others.length + 2, cellsOf(heading).length, topic);
    assert.ok(linksOf(own).length > 0, `${topic}: ${own}`);
    for (const cell of others) assert.ok(linksOf(cell).length > 0, `${topic}: ${cell}`);
  }
});

test('files of other projects are linked at the version that was read, not where they change', () => {
  const files = rows.flatMap((row) => linksOf(row)).filter((link) => /github\.com\/[^/]+\/[^/]+\/(blob|tree)\//.test(link));
  assert.ok(files.length > 10);
  for (const link of files) assert.match(link, /\/(?:blob|tree)\/v?\d+\.\d+\.\d+\//);
});

test('the comparison has no figures of speed, which would be another set than those of the benchmarks', () => {
  assert.doesNotMatch(text, /\d\s?ms\b|\bp(?:50|95|99)\b|\d\s?\/s\b/);
});
