/** Each case of another project's own tests is answered as there, or its difference is listed with a reason. */
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, test } from 'node:test';
import { family, findDifferences, readCases, readDifferences, compareLists, sources } from './family.ts';
import { families } from './families/index.ts';
import { z } from 'zod';

for (const one of families) {
  const cases = readCases(one.id);

  test(`${one.id} agrees in ${cases.length} cases`, async () => {
    const problems = compareLists(await findDifferences(one, cases), readDifferences(one.id));
    assert.deepEqual(
      problems,
      [],
      `test/peers/differences/${one.id}.json: run "node test/peers/refresh.ts", and give a reason for each new difference, or mend it`,
    );
  });

  test(`each case of ${one.id} has an id of its own and a known source`, () => {
    const ids = cases.map(({ id }) => id);
    assert.deepEqual(
      ids.filter((id, index) => ids.indexOf(id) < index),
      [],
    );
    assert.deepEqual(
      cases.filter(({ source }) => !Object.keys(sources).some((name) => source.startsWith(name))).map(({ source }) => source),
      [],
    );
  });
}

test('every table of cases or differences has a family, and every family has both tables', () => {
  const ids = families.map(({ id }) => id).toSorted();
  for (const folder of ['cases', 'differences']) {
    const files = globSync(`${folder}/*.json`, { cwd: import.meta.dirname }).map((file) => basename(file, '.json'));
    assert.deepEqual(files.toSorted(), ids, join('test/peers', folder));
  }
});

describe('the comparison with a list of known differences', () => {
  const double = family('doubles', z.number(), (value) => value * 2);
  const cases = [1, 2, 3].map((input) => ({ id: `${input}`, source: 'nobody', input, expected: input === 1 ? 2 : 5 }));
  const listed = (entries: Record<string, number>) => [{ title: 't', kind: 'by-design', why: 'w', cases: entries }] as const;
  for (const [name, entries, expected] of [
    ['a list that matches', { '2': 4, '3': 6 }, []],
    ['a new difference', { '2': 4 }, ['new: "3": 6']],
    ['a difference that is gone', { '1': 3, '2': 4, '3': 6 }, ['no longer different: "1"']],
    ['a difference of an unknown case', { '2': 4, '3': 6, '9': 1 }, ['no longer different: "9"']],
    ['another answer', { '2': 5, '3': 6 }, ['another answer: "2": 4, not 5']],
  ] as const) {
    test(`reports ${expected.length === 0 ? 'nothing' : 'the mismatch'} for ${name}`, async () =>
      assert.deepEqual(compareLists(await findDifferences(double, cases), listed(entries)), expected));
  }

  test('reports a case that is listed twice', async () => {
    const found = await findDifferences(double, cases);
    assert.deepEqual(compareLists(found, [...listed({ '2': 4, '3': 6 }), ...listed({ '2': 4 })]), ['listed twice: "2"']);
  });
});
