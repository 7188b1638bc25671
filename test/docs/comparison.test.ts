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

test('the only figures of speed on the comparison are the goals that the benchmarks did not reach', () => {
  const benchmarks = pages.find(({ path }) => path === 'docs/benchmarks.md')?.text ?? '';
  const missed = benchmarks.split('\n').filter((line) => line.endsWith('| **no** |'));
  const lines = text.split('\n');
  const goals = lines.filter((line) => /^- \[[\w-]+\]\(benchmarks\.md#/.test(line));
  assert.equal(goals.length, missed.length);
  const others = lines.filter((line) => !goals.includes(line)).join('\n');
  assert.doesNotMatch(others, /\d\s?ms\b|\bp(?:50|95|99)\b|\d\s?\/s\b/);
});
