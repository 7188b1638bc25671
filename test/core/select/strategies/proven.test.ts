import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOrderedByName } from '../../../../src/core/model/tag-strategy.ts';
import { proven } from '../../../../src/core/select/strategies/proven.ts';
import { withoutRebased } from '../../../../src/core/select/without-rebased.ts';

test('the strategy proven rejects no tag by its name, not even a rebased one, and ranks none newer', () => {
  const strategy = withoutRebased(proven());
  for (const tag of ['1.4.2', 'main', '1.4.2-base.20261123']) assert.equal(strategy.reject(tag), undefined);
  assert.equal(strategy.compare('1.4.2', '1.5.0'), 0);
  assert.equal(isOrderedByName(strategy), false);
});

test('the strategy proven describes what it selects', () =>
  assert.equal(proven().description, 'the image that the policies of select.proven run'));
