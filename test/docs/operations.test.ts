import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ignoredReasons } from '../../src/model/reasons.ts';
import { eventOutcomes } from '../../src/operations/event-view.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/operations/api.md'), 'utf8');

test('docs/operations/api.md names every outcome of an event, and every reason to ignore one', () => {
  for (const name of [...eventOutcomes, ...ignoredReasons]) assert.ok(page.includes(`\`${name}\``), name);
});
