import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wantSigner } from '../../../src/core/model/verification.ts';

const issuer = 'https://issuer.example';

const rows: readonly (readonly [rule: { identity: string } | { identityPattern: string }, identity: string, matches: boolean])[] = [
  [{ identity: 'ada@example.com' }, 'ada@example.com', true],
  [{ identity: 'ada@example.com' }, 'ada@example.com.mallory.example', false],
  [{ identity: 'ada@example.com' }, 'Ada@example.com', false],
  [{ identity: '.*' }, 'ada@example.com', false],
  [{ identityPattern: '.*@example\\.com' }, 'ada@example.com', true],
  [{ identityPattern: '.*@example\\.com' }, 'ada@example.com.mallory.example', false],
  [{ identityPattern: 'ada|bob' }, 'adabob', false],
  [{ identityPattern: '^ada$' }, 'ada', true],
  [{ identityPattern: 'ada' }, 'ada\n', false],
];
for (const [rule, identity, matches] of rows) {
  test(`the rule ${JSON.stringify(rule)} ${matches ? 'matches' : 'does not match'} ${JSON.stringify(identity)}`, () => {
    assert.equal(wantSigner({ issuer, ...rule }).matches({ issuer, identity }), matches);
    assert.ok(!wantSigner({ issuer, ...rule }).matches({ issuer: `${issuer}.mallory.example`, identity }), 'another issuer');
  });
}

test('a rule that cannot be compared is InvalidPolicy', () => {
  const invalid = (pattern: RegExp) => ({ reason: 'InvalidPolicy', message: pattern });
  assert.throws(() => wantSigner({ issuer }), invalid(/write either identity or identityPattern/));
  assert.throws(() => wantSigner({ issuer, identity: 'a', identityPattern: 'a' }), invalid(/write either/));
  assert.throws(() => wantSigner({ issuer, identityPattern: '(' }), invalid(/is not RE2 syntax/));
  assert.throws(() => wantSigner({ issuer, identityPattern: 'a'.repeat(513) }), invalid(/longer than 512/));
});
