import assert from 'node:assert/strict';
import { test } from 'node:test';
import { followersFirst } from '../../../src/cli/once/followers-first.ts';
import { policyOf, specOf } from '../../core/model/samples.ts';

const follows = (name: string, ...names: string[]) => {
  const after = { policies: names.map((one) => ({ namespace: 'shop', name: one })), forMs: 0 };
  return policyOf({ name, spec: specOf(names.length === 0 ? {} : { after }) });
};

test('run processes each policy after all its followers, and policies in a circle last', () => {
  const rows: readonly (readonly [policies: readonly ReturnType<typeof follows>[], groups: readonly string[]])[] = [
    [[], []],
    [[follows('a'), follows('b')], ['a b']],
    [
      [follows('staging'), follows('production', 'staging'), follows('other', 'elsewhere')],
      ['production other', 'staging'],
    ],
    [
      [follows('dev'), follows('staging', 'dev'), follows('production', 'staging', 'dev')],
      ['production', 'staging', 'dev'],
    ],
    [
      [follows('a', 'b'), follows('b', 'a', 'dev'), follows('dev'), follows('late', 'a')],
      ['late', 'a b dev'],
    ],
  ];
  for (const [policies, groups] of rows)
    assert.deepEqual(
      followersFirst(policies).map((group) => group.map(({ name }) => name).join(' ')),
      groups,
    );
});
