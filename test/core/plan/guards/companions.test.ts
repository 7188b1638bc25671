import assert from 'node:assert/strict';
import { test } from 'node:test';
import { companions } from '../../../../src/core/plan/guards/companions.ts';
import { digestOf } from '../../model/samples.ts';
import { evaluateGuards, type Case } from './context.ts';

const newest = { tag: '1.3.0', digest: digestOf('b') };
const spec = { alongside: { images: [], match: 'SameTag' as const, withinMs: 1 } };
const missing = { images: ['proxy:1.3.0'], since: '2026-03-02T12:00:00Z', until: '2026-03-02T12:30:00Z' };

for (const [name, given, expected] of [
  ['no companions belong to the image', {}, 'pass'],
  ['the companions are not known yet', { spec }, 'blocked CompanionMissing'],
  ['the companions are missing', { spec, candidate: { ...newest, missing } }, 'waits CompanionMissing 2026-03-02T12:30:00.000Z'],
  ['the companions are there', { spec, candidate: { ...newest, companions: [] } }, 'pass'],
] satisfies [string, Case, string][])
  test(`the guard companions answers "${expected}" in the case "${name}"`, () => {
    const { blocked } = evaluateGuards(given, companions);
    const until = blocked?.kind === 'waits' ? [blocked.until.toISOString()] : [];
    assert.equal(blocked === undefined ? 'pass' : [blocked.kind, blocked.reason, ...until].join(' '), expected);
  });
