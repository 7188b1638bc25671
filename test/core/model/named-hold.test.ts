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
for (const [name, text, expected] of rows) test(`a hold is read: ${name}`, () => assert.deepEqual(read(text), expected));

test('what is written is read again, and no text ends a hold by its form', () => {
  const word = fc.string({ minLength: 1, maxLength: 40, unit: fc.constantFrom('a', 'b', ':', '.', '@', '-') });
  fc.assert(
    fc.property(fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('9999-01-01') }), word, word, (time, user, reason) => {
      const hold = { at: time.toISOString(), user, reason };
      assert.deepEqual(read(formatHold(hold)), hold);
    }),
  );
  fc.assert(fc.property(fc.string({ minLength: 1 }), (text) => assert.equal(read(text) === undefined, text.trim() === '')));
});

test('a hold is described with what is known of it', () => {
  assert.equal(describeHold({ at, user: 'ada', reason: 'sale' }), `since ${at} by ada: sale`);
  assert.equal(describeHold({ at }), `since ${at}`);
  assert.equal(describeHold({ reason: 'true' }), 'true');
});
