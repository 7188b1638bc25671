/** What pages name as the proof of a promise is there: test files, the titles of tests, and invariants of the simulation. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { invariants } from '../simulation/invariants.ts';

const root = join(import.meta.dirname, '../..');
const files = globSync('{test,bench,.ci}/**/*', { cwd: root });
const read = (page: string) => readFileSync(join(root, page), 'utf8');

/** In pages for users, every file is one of a test; the others name files of the program as well. */
const anyFile = /`([\w./-]+\.ts|(?:test|bench|\.ci)\/[\w./-]+)`(?: "([^"]+)")?/g;
const testFile = /`((?:test\/)?[\w./-]+\.test\.ts)`(?: "([^"]+)")?/g;
const proofs = { 'docs/reliability.md': anyFile, 'docs/architecture.md': testFile };
const decisions = { 'src/README.md': testFile, 'src/service/cluster/README.md': testFile };

for (const [page, pattern] of Object.entries({ ...proofs, ...decisions })) {
  test(`the tests that ${page} names exist`, () => {
    const named = [...read(page).matchAll(pattern)];
    assert.ok(named.length > (page in proofs ? 20 : 5), String(named.length));
    const missing = named.flatMap(([, name = '', title]) => {
      const found = files.filter((file) => file === name || file.endsWith(`/${name}`));
      if (found.length === 0) return [name];
      const isThere = title === undefined || found.some((file) => read(file).includes(title));
      return isThere ? [] : [`${name} "${title}"`];
    });
    assert.deepEqual(missing, []);
  });
}

/** A file, or a file and the beginning of a test's title. */
type Proof = string | Readonly<Record<string, string>>;
interface Threats {
  readonly general: readonly Proof[];
  /** By the attack, as a line of docs/threat-model.md names it. */
  readonly attacks: Readonly<Record<string, readonly Proof[]>>;
  /** By the first column of the table in docs/operations/limits.md. */
  readonly computed: Readonly<Record<string, readonly Proof[]>>;
}
const threats = parse(read('test/docs/threat-model.yaml')) as Threats;

test('each attack of docs/threat-model.md, and nothing else, has tests that show what stops it', () => {
  const [attacks = ''] = read('docs/threat-model.md').split('\n## Remaining risks\n');
  const lines = [...attacks.matchAll(/^- \*\*(.+?)\*\*: /gm)].map(([, attack = '']) => attack);
  assert.ok(lines.length > 80, String(lines.length));
  assert.deepEqual(Object.keys(threats.attacks).toSorted(), lines.toSorted());
});

test('each bound of what tenants have computed, and nothing else, has tests that show it', () => {
  const [, table = ''] = read('docs/operations/limits.md').split('\n| computed | bound | longest |\n| --- | --- | --- |\n');
  const rows = [...table.matchAll(/^\| (.+?) \| /gm)].map(([, computed = '']) => computed);
  assert.ok(rows.length > 10, String(rows.length));
  assert.deepEqual(Object.keys(threats.computed).toSorted(), rows.toSorted());
});

test('the tests that test/docs/threat-model.yaml names exist', () => {
  const named = [threats.general, ...Object.values(threats.attacks), ...Object.values(threats.computed)];
  assert.deepEqual(
    named.filter((proofs) => proofs.length === 0),
    [],
  );
  const missing = named.flat().flatMap((proof) => {
    const [[file, title] = ['', '']] = typeof proof === 'string' ? [[proof, '']] : Object.entries(proof);
    if (!files.includes(file)) return [file];
    return read(file).includes(title) ? [] : [`${file} "${title}"`];
  });
  assert.deepEqual(missing, []);
});

/** The names after "invariant" or "invariants": "one", "two". */
function invariantsIn(text: string): string[] {
  const lists = text.matchAll(/\binvariants?((?:,?\s+(?:and\s+)?"[^"]+")+)/g);
  return [...lists].flatMap(([, list = '']) => [...list.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name.replaceAll(/\s+/g, ' ')));
}

/** Those that faults of the track record have broken. */
function brokenInvariants(): string[] {
  const [, table = ''] = read('test/simulation/found.md').split('| invariant that was broken |');
  const rows = table.split('\n\n')[0]?.split('\n') ?? [];
  return rows
    .filter((row) => /^\| [^-]/.test(row) && row.split('|').length > 4)
    .flatMap((row) => row.split('|')[2]?.trim().split('; ') ?? []);
}

test('the invariants that the pages name exist', () => {
  const names = new Set(invariants.map(({ name }) => name));
  const named = [...[...Object.keys(proofs), ...Object.keys(decisions)].flatMap((page) => invariantsIn(read(page))), ...brokenInvariants()];
  assert.ok(named.length > 20, String(named.length));
  assert.deepEqual(
    named.filter((name) => !names.has(name)),
    [],
  );
});

test('docs/architecture.md names every invariant of the simulation with the guarantee that it shows', () => {
  const named = invariantsIn(read('docs/architecture.md'));
  assert.deepEqual(
    invariants.map(({ name }) => name).filter((name) => !named.includes(name)),
    [],
  );
});
