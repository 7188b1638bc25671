import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inEnglish, say, sayAge, sayIn } from '../../../src/service/doctor/say.ts';

test('a sentence contains its parameters unchanged, and parameters that are sentences themselves', () => {
  assert.equal(inEnglish(say('redis.answers', '7.0.15')), 'Redis 7.0.15 answers');
  assert.equal(inEnglish(say('redis.answers', say('redis.unknownVersion'))), 'Redis of an unknown version answers');
  assert.equal(inEnglish(say('clock.unknown', '{1} $& {0}', 'because')), 'the time of {1} $& {0} is not known: because');
});

test('ages are written in the largest unit of which there are at least two', () => {
  const ages = [0, 59_000, 119_000, 120_000, 7_199_000, 7_200_000, 172_800_000, -300_000].map((ms) => inEnglish(sayAge(ms)));
  assert.deepEqual(ages, ['0 s', '59 s', '119 s', '2 min', '120 min', '2 h', '2 days', '5 min']);
});

test('a sentence of a process of another version is left out if it is not known', () => {
  assert.equal(sayIn({ a: 'x {0}{1}' }, { id: 'b', parameters: [] }), undefined);
  assert.equal(sayIn({ a: 'x {0}{1}' }, { id: 'toString', parameters: [] }), undefined);
  assert.equal(sayIn({ a: 'x {0}{1}' }, { id: 'a', parameters: [{ id: 'b', parameters: [] }, null, 3] }), 'x ');
});
