import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filterTags } from '../../../src/core/select/filter-tags.ts';
import { selectTag } from '../../../src/core/select/select-tag.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import { withoutRebased } from '../../../src/core/select/without-rebased.ts';

const tags = ['1.4.2', '1.4.3-base.20261123', '1.4.3-base.20261123.2'];
const times = new Map(tags.map((tag, day) => [tag, new Date(Date.UTC(2026, 10, 20 + day))]));

const byName = {
  'semver with prereleases': strategies.semver({ prereleases: true }),
  alphabetical: strategies.alphabetical(),
  'alphabetical behind a filter': filterTags(strategies.alphabetical(), { allow: '.*' }),
  'newest by creation time': strategies.newest(times),
};

for (const [name, strategy] of Object.entries(byName)) {
  test(`the strategy ${name} never selects a rebased image`, () => {
    assert.notEqual(selectTag(strategy, tags), '1.4.2', 'without it, a rebased image would be selected');
    const guarded = withoutRebased(strategy);
    assert.equal(selectTag(guarded, tags), '1.4.2');
    assert.equal(selectTag(guarded.remembering?.() ?? guarded, tags), '1.4.2');
    assert.equal(selectTag(guarded.withCreationTimes?.(times) ?? guarded, tags), '1.4.2');
    assert.match(guarded.reject('1.4.3-base.20261123') ?? 'selected', /is 1\.4\.3 on a newer base/);
  });
}

test('a policy that names the tag of a rebased image follows it', () => {
  const named = withoutRebased(strategies.digest({ tag: '1.4.3-base.20261123' }));
  assert.equal(selectTag(named, tags), '1.4.3-base.20261123');
});
