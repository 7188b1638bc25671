import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unlikelyVersion } from '../../../../src/core/plan/guards/unlikely-version.ts';
import { strategies } from '../../../../src/core/select/strategies/index.ts';
import { entryOf, evaluateGuards, image, type Case } from './context.ts';

const free = { strategy: strategies.semver({}) };
const runs = { image: `${image}:10.11.4`, imageOwner: 'helm', imageSetAt: '2026-03-02T10:00:00Z' };
const far = { runs, spec: free, candidate: { tag: '2021.12.16' } };
const ages = (before: string, after: string) =>
  new Map([
    ['10.11.4', new Date(before)],
    ['11.0.0', new Date(after)],
  ]);
const older = (before: string, after: string): Case => ({
  runs,
  spec: free,
  candidate: { tag: '11.0.0' },
  context: { ages: ages(before, after) },
});

const rows: [name: string, given: Case, expected: string][] = [
  ['a near version', { ...far, candidate: { tag: '11.0.0' } }, 'pass'],
  ['a far version', far, 'blocked UnlikelyVersion'],
  ['ten times the major version, and no more', { ...far, candidate: { tag: '100.0.0' } }, 'pass'],
  ['from 0.x to 10.x', { ...far, runs: `${image}:0.9.0`, candidate: { tag: '10.0.0' } }, 'pass'],
  ['from 0.x further', { ...far, runs: `${image}:0.9.0`, candidate: { tag: '11.0.0' } }, 'blocked UnlikelyVersion'],
  ['from something that is no version', { ...far, runs: `${image}:main` }, 'pass'],
  ['with a range', { ...far, spec: { strategy: strategies.semver({ range: '>=1' }) } }, 'pass'],
  ['with an empty range, which is none', { ...far, spec: { strategy: strategies.semver({ range: ' ' }) } }, 'blocked UnlikelyVersion'],
  ['after a change by the policy', { ...far, status: { history: [entryOf('10.11.4')] } }, 'pass'],
  ['released after the running image was set', { ...far, actions: { release: '2026-03-02T10:00:00Z' } }, 'pass'],
  ['released before the running image was set', { ...far, actions: { release: '2026-03-02T09:59:59Z' } }, 'blocked UnlikelyVersion'],
  ['released in the future', { ...far, actions: { release: '2026-03-02T13:00:00Z' } }, 'waits UnlikelyVersion 2026-03-02T13:00:00.000Z'],
  ['an image of the day before', older('2026-02-02T12:00:00Z', '2026-02-01T12:00:00Z'), 'pass'],
  ['an older image', older('2026-02-02T12:00:00Z', '2026-02-01T11:59:59Z'), 'blocked UnlikelyVersion'],
];

for (const [name, given, expected] of rows)
  test(`the guard unlikely-version answers "${expected}" in the case "${name}"`, () => {
    const { changed, blocked, until } = evaluateGuards(given, unlikelyVersion);
    const result = blocked === undefined ? 'pass' : [blocked.kind, blocked.reason, until].filter(Boolean).join(' ');
    assert.deepEqual([result, changed], [expected, blocked === undefined ? ['web'] : []]);
  });
