import assert from 'node:assert/strict';
import { test } from 'node:test';
import { proven } from '../../../../src/core/plan/guards/proven.ts';
import { digestOf } from '../../model/samples.ts';
import { evaluateGuards, type Case } from './context.ts';

const [a, b] = [digestOf('a'), digestOf('b')];
const after = { policies: [{ namespace: 'shop', name: 'staging' }], forMs: 60_000 };
/** The followed policy has run this digest since then; as it was at a time by the clock of the API server. */
const following = (digest: string, since: string, at = '2026-03-02T12:00:00Z'): Case => ({
  spec: { after },
  context: { followed: { policies: [{ namespace: 'shop', name: 'staging', tag: '1.3.0', digest, since }], at: new Date(at) } },
});

const rows: readonly (readonly [name: string, given: Case, expected: string])[] = [
  ['follows none', {}, 'pass'],
  ['nothing is known', { spec: { after } }, 'blocked NotProven'],
  ['not for long enough', following(a, '2026-03-02T11:59:30Z'), 'blocked NotProven'],
  ['runs it, not yet for long enough', following(b, '2026-03-02T11:59:30Z'), 'waits NotProven 2026-03-02T12:00:30.000Z'],
  ['runs it for long enough', following(b, '2026-03-02T11:59:00Z'), 'pass'],
  [
    'runs it for long enough by our clock alone',
    following(b, '2026-03-02T11:58:30Z', '2026-03-02T11:59:20Z'),
    'waits NotProven 2026-03-02T12:00:10.000Z',
  ],
];

for (const [name, given, expected] of rows) {
  test(`the guard proven answers "${expected}" where a followed policy is: ${name}`, () => {
    const { blocked, until, changed } = evaluateGuards(given, proven);
    const found = blocked === undefined ? ['pass'] : [blocked.kind, blocked.reason, until];
    assert.equal(found.filter((part) => part !== undefined).join(' '), expected);
    assert.deepEqual(changed, expected === 'pass' ? ['web'] : []);
  });
}
