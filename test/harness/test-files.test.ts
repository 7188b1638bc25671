import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { secondTier } from './second-tier.ts';
import { arrangeTestFiles, findTestFiles, tierOf } from './test-files.ts';

const every = globSync('test/**/*.test.ts', { cwd: join(import.meta.dirname, '../..') }).toSorted();

test('the tier "all" has every test file, and the usual tier all except those of the second tier', () => {
  assert.deepEqual(findTestFiles('all'), every);
  const left = new Set(findTestFiles('usual'));
  assert.deepEqual(
    every.filter((file) => !left.has(file)),
    Object.keys(secondTier).toSorted(),
  );
});

test('each file is run once, together with others or by itself', () => {
  const { rooms, own } = arrangeTestFiles(every);
  assert.deepEqual([...[...rooms.values()].flat(), ...own].toSorted(), every);
});

test('the tier "core" starts no server', () => {
  const { rooms, own } = arrangeTestFiles(findTestFiles('core'));
  assert.deepEqual([own, [...rooms.keys()].every((room) => room.startsWith('core/'))], [[], true]);
});

test('test files are chosen by path or folder, also those of the second tier', () => {
  const [storm = ''] = Object.keys(secondTier);
  assert.deepEqual(findTestFiles('usual', [storm, storm]), [storm]);
  const rollout = findTestFiles('usual', ['test/core/rollout']);
  assert.ok(rollout.length > 3 && rollout.every((file) => file.startsWith('test/core/rollout/')));
});

test('an unknown tier of tests is refused', () => {
  assert.equal(tierOf(), 'usual');
  assert.throws(() => tierOf('most'), /there is no tier most: core, usual, all/);
});
