import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selectTag } from '../../../../src/core/select/select-tag.ts';
import { digest } from '../../../../src/core/select/strategies/digest.ts';

const latest = digest({ tag: 'latest' });

test('the strategy digest follows one tag and no other', () => {
  assert.equal(latest.mutableTag, 'latest');
  assert.equal(selectTag(latest, ['1.0.0', 'latest', 'zzz']), 'latest');
  assert.equal(selectTag(latest, ['1.0.0', 'Latest', 'latest-arm64']), undefined);
  assert.match(latest.reject('1.0.0') ?? 'selected', /"1\.0\.0" is not the followed tag "latest"/);
});

test('the strategy digest accepts a tag of any form', () => {
  for (const tag of ['1.2', 'main', '0123456', '1.2.3-alpine', '_']) assert.equal(selectTag(digest({ tag }), ['1.2.3', tag]), tag);
});

test('the strategy digest ranks its tag neither older nor newer than itself', () => assert.equal(latest.compare('latest', 'latest'), 0));

test('the strategy digest describes what it selects', () => assert.equal(latest.description, 'the digest of the tag "latest"'));
