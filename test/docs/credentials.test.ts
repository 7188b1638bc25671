import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { configSchema } from '../../src/service/config/schema.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/credentials.md'), 'utf8');

test('docs/credentials.md has a row for every cloud, and names every setting', () => {
  const { credentials } = configSchema.parse({});
  for (const cloud of credentials.cloud) assert.match(page, new RegExp(`^\\| \`${cloud}\` \\|`, 'm'));
  for (const setting of Object.keys(configSchema.shape.credentials.unwrap().shape))
    assert.ok(page.includes(`\`credentials.${setting}\``), setting);
});
