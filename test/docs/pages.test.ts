/** A page is one task: long ones are split, and their folder's page leads to the parts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fencesOf, linksOf, pages } from './markdown.ts';

// One table or list each, which its readers search.
const tables = [
  'docs/benchmarks.md',
  'docs/commands.md',
  'docs/configuration.md',
  'docs/reasons.md',
  'docs/reasons.zh-CN.md',
  'docs/policies/base-image-policy.zh-CN.md',
  'docs/policies/reference.md',
  'docs/policies/reference.zh-CN.md',
];

test('every page opens with what it is for, and an example within its first 20 lines', () => {
  const late = pages.filter(({ path, text }) => {
    const lines = text.split('\n').slice(0, 20);
    return (
      path.startsWith('docs/') &&
      !(lines.some((line) => line.startsWith('```')) && /^# .+\n\n(?:\[?English\]?.*\n\n)?[\p{L}`[]/mu.test(text))
    );
  });
  assert.deepEqual(
    late.map(({ path }) => path),
    [],
  );
});

test('no page for users has 30 kB or more', () => {
  const long = pages.filter(({ path, text }) => path.startsWith('docs/') && !tables.includes(path) && Buffer.byteLength(text) >= 30_000);
  assert.deepEqual(
    long.map(({ path }) => path),
    [],
  );
});

for (const [folder, leads] of [
  ['receivers', 'receivers.md'],
  ['operations', 'operations.md'],
  ['policies', 'policies.md'],
  ['guides', 'README.md'],
] as const) {
  // Those in Chinese are in step with them: translations.test.ts.
  const parts = pages.filter(({ path }) => path.startsWith(`docs/${folder}/`) && !path.endsWith('.zh-CN.md'));
  test(`docs/${leads} leads to each page of docs/${folder}, which opens with what it is for and an example`, () => {
    const index = pages.find(({ path }) => path === `docs/${leads}`);
    assert.ok(index && parts.length >= 4, String(parts.length));
    const targets = linksOf(index.text).map((link) => link.split('#')[0]);
    for (const { path, text } of parts) {
      assert.ok(targets.includes(path.slice('docs/'.length)), path);
      const opening = text.split('\n## ')[0] ?? '';
      assert.match(opening, /^(?:<!--.*-->\n\n)?# .+\n\n[A-Z`[]/, path);
      assert.ok(fencesOf(opening).length > 0 || text.length < 2_500, `${path} does not open with an example`);
    }
  });
}
