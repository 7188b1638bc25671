import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseDuration } from '../../../src/core/model/text.ts';

const table: [text: string, milliseconds: number | undefined][] = [
  ['90s', 90_000],
  ['10m', 600_000],
  ['1h30m', 5_400_000],
  ['2h0m5s', 7_205_000],
  ['0s', 0],
  ['', undefined],
  ['10', undefined],
  ['m', undefined],
  ['1.5h', undefined],
  ['-1m', undefined],
  ['1d', undefined],
  ['1ms', undefined],
  [' 1m', undefined],
  ['1m\n', undefined],
  ['1H', undefined],
];

for (const [text, milliseconds] of table) {
  test(`${JSON.stringify(text)} is ${milliseconds === undefined ? 'no duration' : `${milliseconds} ms`}`, () =>
    assert.equal(parseDuration(text), milliseconds));
}

test('the parts of a duration add up', () => {
  const part = fc.nat({ max: 10_000 });
  fc.assert(
    fc.property(part, part, part, (h, m, s) => {
      assert.equal(parseDuration(`${h}h${m}m${s}s`), ((h * 60 + m) * 60 + s) * 1_000);
    }),
  );
});
