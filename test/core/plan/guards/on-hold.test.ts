import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onHold } from '../../../../src/core/plan/guards/on-hold.ts';
import { digestOf } from '../../model/samples.ts';
import { evaluateGuards, type Case } from './context.ts';

const hold = { at: '2026-03-02T11:00:00.000Z', user: 'ada', reason: 'sale until Monday' };
const rows: readonly (readonly [name: string, actions: Case['actions'], expected: string, message?: RegExp])[] = [
  ['is not on hold', {}, 'pass'],
  [
    'is on hold',
    { hold },
    'blocked OnHold',
    /on hold \(since 2026-03-02T11:00:00\.000Z by ada: sale until Monday\).* annotation operator\.technomad\.dev\/release/,
  ],
  ['was released', { hold, release: '2026-03-02T11:30:00Z' }, 'pass'],
  ['will be released', { hold, release: '2026-03-02T13:00:00Z' }, 'waits OnHold 2026-03-02T13:00:00.000Z'],
  ['has promoted the image since', { hold, promote: `1.3.0@${digestOf('b')} 2026-03-02T11:30:00Z` }, 'pass'],
  [
    'is on hold without a time',
    { hold: { reason: 'true' }, release: '2026-03-02T11:30:00Z' },
    'blocked OnHold',
    /remove it to end the hold$/,
  ],
];
for (const [name, actions, expected, message = /^/] of rows)
  test(`the guard on-hold answers "${expected}" for a policy that ${name}`, () => {
    const { blocked, until, changed } = evaluateGuards({ ...(actions && { actions }) }, onHold);
    const found = blocked === undefined ? 'pass' : [blocked.kind, blocked.reason, until].filter(Boolean).join(' ');
    assert.deepEqual([found, changed], [expected, expected === 'pass' ? ['web'] : []]);
    assert.match(blocked?.message ?? '', message);
  });
