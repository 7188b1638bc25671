/** No page of the dashboard is forgotten in the list and in the tests. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pages } from '../../src/dashboard/pages/index.ts';
import { membersIn } from '../structure/sources.ts';

test('every page of the dashboard is in the list of pages, and in the tests that open every page', () => {
  assert.equal(pages.length, membersIn('dashboard/pages', /^export const \w+: Page = /m).length);
  const tests = ['activity', 'dashboard', 'bases', 'causes', 'images', 'find', 'api-reference']
    .map((name) => readFileSync(join(import.meta.dirname, `${name}.test.ts`), 'utf8'))
    .join('');
  for (const { path } of pages) {
    const address = new RegExp(`\\n  '${path.replaceAll(/:\w+/g, "[^/']+")}(?:\\?.*)?',\\n`);
    assert.match(tests, address, `no test opens ${path}`);
  }
});
