import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ignoredReasons } from '../../src/model/reasons.ts';
import { eventOutcomes } from '../../src/operations/event-view.ts';
import { codeSpansOf, pages } from './markdown.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/operations/api.md'), 'utf8');

test('docs/operations/api.md names every outcome of an event, and every reason to ignore one', () => {
  for (const name of [...eventOutcomes, ...ignoredReasons]) assert.ok(page.includes(`\`${name}\``), name);
});

test('docs/operations/api.md names every route of the API, and no page names another', () => {
  const source = readFileSync(join(root, 'src/operations/events-api.ts'), 'utf8');
  const routes = [...source.matchAll(/api\.(get|post)\('([^']+)'/g)].map(
    ([, method = '', path = '']) => `${method.toUpperCase()} /api${path.replaceAll(/:(\w+)/g, '{$1}')}`,
  );
  assert.ok(routes.length > 2);
  for (const route of routes) assert.ok(page.includes(`\`${route}\``), route);
  const named = pages.flatMap(({ text }) => codeSpansOf(text)).flatMap((code) => /^(?:GET|POST) \/api\/[\w{}/]+/.exec(code) ?? []);
  assert.deepEqual(
    named.filter((route) => !routes.includes(route)),
    [],
  );
});
