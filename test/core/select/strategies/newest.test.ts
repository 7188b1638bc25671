import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filterTags } from '../../../../src/core/select/filter-tags.ts';
import { selectTag } from '../../../../src/core/select/select-tag.ts';
import { newest } from '../../../../src/core/select/strategies/newest.ts';

const day = (date: string | undefined) => (date === undefined ? undefined : new Date(date));
const knowing = (times: Record<string, string | undefined>) =>
  newest(new Map(Object.entries(times).map(([tag, date]) => [tag, day(date)] as const)));

const table: [name: string, times: Record<string, string | undefined>, selected: string | undefined][] = [
  [
    'the image that was created last, whatever its name',
    { '9.0.0': '2026-01-01', 'main-abc': '2026-01-03', zzz: '2026-01-02' },
    'main-abc',
  ],
  ['to the millisecond', { a: '2026-01-01T10:00:00.001Z', b: '2026-01-01T10:00:00.002Z' }, 'b'],
  ['by the moment, not by the text', { a: '2026-01-01T10:00:00+02:00', b: '2026-01-01T09:00:00Z' }, 'b'],
  ['one image under several tags: a version', { 'sha-0a1': '2026-01-01', '1.2.3': '2026-01-01', stable: '2026-01-01' }, '1.2.3'],
  [
    'one image under several tags, of which none is a version: not one that moves',
    { latest: '2026-01-01', 'build-7': '2026-01-01' },
    'build-7',
  ],
  ['reproducible builds do not say it (Bazel, ko, Jib)', { a: '1970-01-01', b: '2025-01-01' }, 'b'],
  ['nor do buildpacks', { a: '1980-01-01T00:00:01Z', b: '2025-01-01' }, 'b'],
  ['images without a time', { a: undefined, b: '2025-01-01' }, 'b'],
  ['a time that is none', { a: 'yesterday', b: '2025-01-01' }, 'b'],
  ['a clock that goes wrong is believed', { a: '2099-01-01', b: '2026-01-01' }, 'a'],
  ['none that says it', { a: undefined, b: '1970-01-01' }, undefined],
];

for (const [name, times, selected] of table) {
  test(`the strategy newest selects the right tag in the case "${name}"`, () =>
    assert.equal(selectTag(knowing(times), Object.keys(times)), selected));
}

test('until creation times are known, the strategy newest accepts every tag and ranks none newer', () => {
  assert.deepEqual([newest().reject('any'), newest().compare('a', 'b')], [undefined, 0]);
  const strategyKnowingTimes = newest().withCreationTimes?.(new Map([['a', new Date('2026-01-01')]]));
  assert.deepEqual([strategyKnowingTimes?.reject('a'), strategyKnowingTimes?.id], [undefined, 'newest']);
});

test('the strategy newest rejects a tag whose image was not read', () => {
  assert.match(knowing({ a: '2026-01-01' }).reject('b') ?? 'selected', /of "b" it is not known when it was created/);
});

test('the strategy newest describes what it selects, and says why a tag is rejected', () => {
  const strategy = knowing({ silent: undefined, bazel: '1970-01-01' });
  assert.equal(strategy.description, 'the image that was created last');
  assert.match(strategy.reject('silent') ?? 'selected', /the image of "silent" does not say when it was created/);
  assert.match(strategy.reject('bazel') ?? 'selected', /created in 1970, as reproducible builds do: .*image\.created/);
});

test('with the strategy newest, the filter applies to names and the selection to images, even where something is extracted', () => {
  for (const filter of [{ allow: 'main-(.*)', extract: '$1' }, { allow: 'main-.*' }, { ignore: ['^pr-'] }]) {
    const filtered = filterTags(newest(), filter);
    assert.notEqual(filtered.reject('pr-7'), undefined);
    const strategyKnowingTimes = filtered.withCreationTimes?.(
      new Map([
        ['main-1', new Date('2026-01-02')],
        ['main-2', new Date('2026-01-01')],
        ['pr-7', new Date('2026-01-03')],
      ]),
    );
    assert.ok(strategyKnowingTimes !== undefined);
    assert.equal(selectTag(strategyKnowingTimes, ['main-2', 'pr-7', 'main-1']), 'main-1');
  }
});
