import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';

const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');

test('the workflow runs all checks first, and has rights only where it needs them', () => {
  const { jobs, permissions } = parse(read('.github/workflows/release.yml')) as {
    jobs: Record<string, { uses?: string; needs?: string; permissions?: object; steps?: { uses?: string; run?: string }[] }>;
    permissions: object;
  };
  assert.deepEqual(permissions, { contents: 'read' });
  assert.equal(jobs['check']?.uses, './.github/workflows/ci.yml');
  assert.equal(jobs['publish']?.needs, 'check');
  assert.ok(jobs['publish']?.steps?.some(({ run = '' }) => run.includes('test/release/version-problems.ts')));
  // What people choose the name of (tags, branches) is never a part of a script.
  for (const { run = '' } of jobs['publish']?.steps ?? []) assert.doesNotMatch(run, /\$\{\{ *(?:github\.ref_name|github\.head_ref)/);
});
