import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeConsent } from '../../src/core/consent.ts';

const rows: [name: string, onTarget: string | undefined, onNamespace: string | undefined, granted: boolean][] = [
  ['nobody said anything', undefined, undefined, false],
  ['the target lets it', 'shop', undefined, true],
  ['the target lets it and others', 'ops, shop ,web', undefined, true],
  ['the target lets all', '*', undefined, true],
  ['the target lets others', 'ops', undefined, false],
  ['a longer name is another one', 'shop-admin', undefined, false],
  ['no patterns but the one', 'sh*', undefined, false],
  ['the target lets nobody', '', undefined, false],
  ['the Namespace lets it', undefined, 'shop', true],
  ['the Namespace lets all', undefined, '*', true],
  ['the Namespace lets others', undefined, 'ops', false],
  ['the target decides when it has one: yes', 'shop', '', true],
  ['the target decides when it has one: no', 'ops', '*', false],
  ['the target decides when it has an empty one', '', '*', false],
];

for (const [name, onTarget, onNamespace, granted] of rows) {
  test(`${name}: ${granted ? 'granted' : 'refused'}`, () => {
    const consent = judgeConsent('shop', { onTarget, onNamespace });
    assert.equal(consent.granted, granted);
    if (!consent.granted) assert.match(consent.why, /operator\.technomad\.dev\/allow-policies-from/);
  });
}
