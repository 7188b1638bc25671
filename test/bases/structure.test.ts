/** Nothing is forgotten in the lists of this wing, and what is decided without input and output stays so. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { evidence } from '../../src/bases/recognize/evidence/index.ts';
import { rebaseRules } from '../../src/core/model/rebase-rules.ts';
import { rules } from '../../src/bases/rebase/rules/index.ts';
import { describeImport, imports, isIn, membersIn, pureRooms, resolve, root } from '../structure/sources.ts';

/** Which rooms the rooms of this wing may import; the files above them join them. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  'bases/recognize': ['core', 'service/registry'],
  'bases/rebase': ['core', 'service/registry', 'service/verify', 'bases/recognize'],
  'bases/triggers': ['core', 'service/queue', 'service/telemetry'],
  'bases/api': ['core', 'service/api', 'service/causes', 'service/resources', 'bases/policies', 'bases/record'],
  'bases/policies': [
    'core',
    'service/resources',
    'service/queue',
    'service/telemetry',
    'service/reconcile',
    'bases/recognize',
    'bases/record',
    'bases/resource',
    'bases/triggers',
  ],
};

for (const [room, below] of Object.entries(rooms)) {
  test(`${room} imports ${below.join(', ')} only`, () => {
    const own = imports.filter((one) => isIn(one.file, [room]) && one.from.startsWith('.'));
    assert.ok(own.length > 0);
    assert.deepEqual(own.filter((one) => !isIn(resolve(one), [room, ...below])).map(describeImport), []);
  });
}

test('every kind of evidence of a base is in the list, under its own id, with a row in the table of its test and in the documentation', () => {
  const names = evidence.map(({ id }) => id.toLowerCase());
  assert.deepEqual(names.toSorted(), membersIn('bases/recognize/evidence', /^export const \w+: Evidence = /m));
  const tests = readFileSync(join(root, 'test/bases/recognize/evidence.test.ts'), 'utf8');
  const docs = readFileSync(join(root, 'docs/base-images.md'), 'utf8');
  for (const { id } of evidence) {
    assert.ok(tests.includes(`by: '${id}'`), id);
    assert.ok(docs.includes(`\n| \`${id}\` | `), `docs/base-images.md has no row for ${id}`);
  }
});

test('the base of an image is recognized without any input or output', () => {
  const pure = imports
    .filter(({ file }) =>
      /^src\/bases\/recognize\/(?:evidence\/|facts\.ts|layers\.ts|settings\.ts|base-index\.ts|line\.ts|recognize-base\.ts)/.test(file),
    )
    .map(resolve);
  // Long comparisons are done in slices, between which the event loop goes on.
  const others = ['zod', 'node:crypto', 'src/core/async/in-parallel.ts'];
  assert.deepEqual(
    [...new Set(pure)].filter((one) => !isIn(one, [...pureRooms, 'bases/recognize']) && !others.includes(one)),
    [],
  );
  assert.ok(!pure.some((one) => /^src\/bases\/recognize\/(?:read-|facts-reader)/.test(one)));
});

test('every rule for rebasing is in the list, under a name of its own, with rows in the table of its test and in the documentation', () => {
  assert.equal(rules.length, membersIn('bases/rebase/rules', /^export const \w+: Rule = /m).length);
  assert.deepEqual(
    rules.map(({ id }) => id),
    rebaseRules,
  );
  const tests = readFileSync(join(root, 'test/bases/rebase/rules.test.ts'), 'utf8');
  const docs = readFileSync(join(root, 'docs/rebase.md'), 'utf8');
  for (const { id, about } of rules) {
    assert.ok(tests.includes(`\n  ${id}: [`), id);
    assert.ok(docs.includes(`| \`${id}\` | ${about} |`), id);
  }
});

test('a rebase is planned without any input or output', () => {
  const io = /^src\/bases\/rebase\/(?:rebase-(?:image|for-policy)|discard-rebased|read-(?:base-attestations|content|file-signs))\.ts$/;
  const pure = imports.filter(({ file, isType }) => isIn(file, ['bases/rebase']) && !io.test(file) && !isType).map(resolve);
  const isAllowed = (one: string) =>
    isIn(one, [...pureRooms, 'bases/rebase']) ||
    ['zod', 'node:crypto', 'src/service/verify/public-keys.ts', 'src/bases/recognize/settings.ts'].includes(one);
  assert.deepEqual(
    [...new Set(pure)].filter((one) => !isAllowed(one)),
    [],
  );
  assert.ok(!pure.some((one) => io.test(one)));
});
