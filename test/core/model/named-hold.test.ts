import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { describeHold, formatHold, holdAnnotation, readHold, type NamedHold } from '../../../src/core/model/named-hold.ts';

const at = '2026-03-01T12:00:00.000Z';
const read = (text: unknown) => readHold({ [holdAnnotation]: text });

const rows: readonly (readonly [name: string, text: unknown, expected: NamedHold | undefined])[] = [
  ['none', undefined, undefined],
  ['no text', 7, undefined],
  ['nothing', ' \n', undefined],
  ['a time', '2026-03-01T12:00:00Z', { at }],
  ['a time with an offset', '2026-03-01T13:00:00+01:00', { at }],
  ['a time and a name', `${at} ada@example.com`, { at, user: 'ada@example.com' }],
  ['a name with spaces', `${at} Ada L`, { at, user: 'Ada L' }],
  ['a reason', `${at} ada\n sale\nuntil Monday `, { at, user: 'ada', reason: 'sale until Monday' }],
  ['a reason without a name', `${at}\nsale`, { at, reason: 'sale' }],
  ['a name that is too long, which would be that of another', `${at} ${'a'.repeat(254)}`, { at }],
  ['any other text', 'incident 4711\nof today', { reason: 'incident 4711 of today' }],
  ['a time that is none', '2026-99-01T12:00:00Z ada', { reason: '2026-99-01T12:00:00Z ada' }],
];
for (const [name, text, expected] of rows)
  test(`the annotation of a hold is read correctly in the case "${name}"`, () => assert.deepEqual(read(text), expected));

test('a hold is read back as it was written, and any text but an empty one is a hold', () => {
  const word = fc.string({ minLength: 1, maxLength: 40, unit: fc.constantFrom('a', 'b', ':', '.', '@', '-') });
  fc.assert(
    fc.property(fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('9999-01-01') }), word, word, (time, user, reason) => {
      const hold = { at: time.toISOString(), user, reason };
      assert.deepEqual(read(formatHold(hold)), hold);
    }),
  );
  fc.assert(fc.property(fc.string({ minLength: 1 }), (text) => assert.equal(read(text) === undefined, text.trim() === '')));
});

test('the description of a hold contains what is known of its time, user and reason', () => {
  assert.equal(describeHold({ at, user: 'ada', reason: 'sale' }), `since ${at} by ada: sale`);
  assert.equal(describeHold({ at }), `since ${at}`);
  assert.equal(describeHold({ reason: 'true' }), 'true');
});
