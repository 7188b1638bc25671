import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selectTag } from '../../../../src/core/select/select-tag.ts';
import { replace } from '../../../../src/core/select/strategies/replace.ts';

const rebased = replace({ from: '1.4.2', to: '1.4.2-base.20261123' });

test('the strategy replace selects the tag that replaces the other one, and nothing else', () => {
  assert.equal(selectTag(rebased, ['1.4.2', '1.4.2-base.20261123', '1.5.0']), '1.4.2-base.20261123');
  assert.equal(selectTag(rebased, ['1.4.2', '1.5.0', '1.4.2-base.20261124']), undefined);
  assert.match(rebased.reject('1.4.2') ?? 'selected', /"1\.4\.2" is not the tag "1\.4\.2-base\.20261123"/);
});

test('the strategy replace describes what it selects', () =>
  assert.equal(rebased.description, 'the tag "1.4.2-base.20261123" in place of "1.4.2"'));
