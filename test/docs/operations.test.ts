import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { routes as allRoutes } from '../../docs/generate/routes.ts';
import { ignoredReasons } from '../../src/core/model/reasons.ts';
import { eventOutcomes } from '../../src/service/api/event-view.ts';
import { codeSpansOf, pages } from './markdown.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/operations/api.md'), 'utf8');

test('docs/operations/api.md names every outcome of an event, and every reason to ignore one', () => {
  for (const name of [...eventOutcomes, ...ignoredReasons]) assert.ok(page.includes(`\`${name}\``), name);
});

test('docs/operations/api.md names every route of the API, and no page names another', () => {
  const own = allRoutes.map(({ method, path }) => `${method} /api/v1${path}`);
  const routes = [...own, 'GET /api/v1/openapi.json'];
  assert.ok(routes.length > 2);
  for (const route of own) assert.ok(page.includes(`\`${route}\``), route);
  const named = pages.flatMap(({ text }) => codeSpansOf(text)).flatMap((code) => /^(?:GET|POST) \/api\/[\w{}/-]+/.exec(code) ?? []);
  assert.deepEqual(
    named.filter((route) => !routes.includes(route)),
    [],
  );
});
