import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ApiError } from '../../src/service/command-line/api-error.ts';
import { callApi } from '../../src/service/command-line/api-client.ts';

test('a token file that does not contain exactly one token is refused without showing its content', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'token-'));
  const file = join(folder, 'token');
  try {
    for (const text of ['first-part\nsecond-part\n', 'first-part\u0000', 'first-part second-part', 'first-pärt', '']) {
      writeFileSync(file, text);
      const target = { server: 'https://127.0.0.1:1', 'token-file': file };
      await assert.rejects(callApi(target, 'GET', '/'), (error) => {
        assert.ok(error instanceof ApiError);
        assert.match(error.message, /^--token-file \S+ is not one token/);
        assert.doesNotMatch(error.message, /-part|-pärt/);
        return true;
      });
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
