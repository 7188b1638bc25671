/** Actions run with the secrets and rights of a workflow, and whoever owns a repository may move its tags: only a commit is always the same code. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const folder = join(import.meta.dirname, '../../.github');
const uses = globSync('**/*.{yml,yaml}', { cwd: folder }).flatMap((file) =>
  [...readFileSync(join(folder, file), 'utf8').matchAll(/^.*\buses:\s*(.*)$/gm)].map(([, text = '']) => ({ file, text: text.trim() })),
);
const pinned = /^(?<action>[\w.-]+\/[\w./-]+)@(?<commit>[0-9a-f]{40}) # v\d+\.\d+\.\d+$/;

test('every action of a workflow is pinned to a commit, with its version in a comment', () => {
  assert.ok(uses.length > 10);
  const loose = uses.filter(({ text }) => !text.startsWith('./') && !pinned.test(text));
  assert.deepEqual(loose, []);
});

test('an action has the same commit wherever it is used', () => {
  const commits = new Map<string, Set<string>>();
  for (const { text } of uses) {
    const { action, commit } = pinned.exec(text)?.groups ?? {};
    if (action !== undefined && commit !== undefined) commits.set(action, (commits.get(action) ?? new Set()).add(commit));
  }
  assert.deepEqual(
    [...commits].filter(([, different]) => different.size > 1),
    [],
  );
});
