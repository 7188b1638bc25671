import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { checks } from '../../src/service/doctor/checks/index.ts';
import { root } from './markdown.ts';

test('docs/doctor.md explains every line, in the order of the report, and no other', () => {
  const declared = Object.values(checks).flatMap(({ id, lines }) => lines.map((line) => `${id}/${line}`));
  const sections = [...readFileSync(join(root, 'docs/doctor.md'), 'utf8').matchAll(/^### `([\w-]+\/[\w-]+)`$/gm)].map(([, line]) => line);
  assert.deepEqual(sections, declared);
});
