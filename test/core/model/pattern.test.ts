import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { compilePattern, maxPatternSize } from '../../../src/core/model/pattern.ts';
import { estimatePatternSize } from '../../../src/core/model/pattern-size.ts';

const pieces = [
  'a',
  'b',
  '|',
  '(',
  ')',
  '(?:',
  '(?i)',
  '(?i:',
  '(?s-i)',
  '(?P<n>',
  '(?<m>',
  '[',
  '[^',
  ']',
  '[]',
  '-',
  '[:',
  ':]',
  '[:alpha:]',
];
const counts = ['{2}', '{3,}', '{0,7}', '{0}', '{02}', '{', '}', '{,3}', '*', '+', '?', '.', '^', '$', ',', '0', 'x', ' ', '\n'];
const escapes = [
  '\\d',
  '\\pL',
  '\\p{Greek}',
  '\\PL',
  '\\Q',
  '\\E',
  '\\x{10}',
  '\\x41',
  '\\07',
  '\\b',
  '\\]',
  '\\[',
  '\\\\',
  '\\A',
  'é',
  '\u{1F433}',
];

describe('the compiled size of a pattern never exceeds the estimate', () => {
  const isAtLeast = (pattern: string) => {
    let size: number;
    try {
      size = RE2JS.compile(pattern).programSize();
    } catch {
      return;
    }
    assert.ok(
      estimatePatternSize(pattern) >= size,
      `${JSON.stringify(pattern)}: ${size} instructions, not ${estimatePatternSize(pattern)}`,
    );
  };

  test('whatever the pattern contains', () => {
    const pattern = fc.array(fc.constantFrom(...pieces, ...counts, ...escapes), { maxLength: 14 }).map((parts) => parts.join(''));
    fc.assert(fc.property(pattern, isAtLeast), { numRuns: 20_000 });
  });

  test('however deeply its counts are nested', () => {
    const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
      pattern: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom('a', '[a-z]', '.', '\\w', '\\pL', '[[:alpha:]-]', '', '\\Qa+\\E'),
        fc.tuple(tie('pattern'), tie('pattern')).map(([left, right]) => left + right),
        fc.tuple(tie('pattern'), tie('pattern')).map(([left, right]) => `(?:${left}|${right})`),
        fc
          .tuple(tie('pattern'), fc.constantFrom('(?:', '(', '(?i:'), fc.constantFrom('*', '+?', '{0,9}', '{5}', '{7,}', '{3,4}'))
          .map(([inner, open, count]) => `${open}${inner})${count}`),
      ),
    }));
    fc.assert(fc.property(pattern, isAtLeast), { numRuns: 5_000 });
  });
});

describe('a pattern with a large program is refused before it is compiled', () => {
  const hostile = {
    'a count of counts': '(?:a{100}){10}',
    'many counts': '(?:.{0,30}){30}'.repeat(30),
    'optional after optional': '(?:(?:a?){100}){10}a{100}',
    'classes of Unicode': '(?i)[^\\pL\\pN]'.repeat(35),
    'wide ranges without case': `(?i)${'[b-\u{1E943}]'.repeat(80)}`,
    'a count of groups': '(?:(a)(b)(c)(d)){128}',
  };
  for (const [what, pattern] of Object.entries(hostile)) {
    test(`when it has ${what}`, (t) => {
      const { mock } = t.mock.method(RE2JS, 'compile');
      for (const reason of ['InvalidTagPolicy', 'InvalidPolicy'] as const) {
        assert.throws(() => compilePattern(pattern, reason), {
          reason,
          message: /is too large: it compiles to \d+ instructions, and 1000 are allowed/,
        });
      }
      assert.equal(mock.callCount(), 0);
    });
  }

  test('without scanning its text repeatedly', () => assert.ok(estimatePatternSize('\\p{[:(?P<'.repeat(50)) > 0));
});

test('typical patterns are small', () => {
  for (const pattern of [
    '^v(?P<version>.*)-prod$',
    '^main-[a-f0-9]{7,40}-(?P<ts>[0-9]{10})$',
    '(?i)^release[-_.](\\d+)\\.(\\d+)$',
    '[A-Za-z0-9_][A-Za-z0-9._-]{0,127}',
    'https://github\\.com/shop/[^/]+/\\.github/workflows/release\\.yml@refs/tags/.*',
  ]) {
    assert.ok(compilePattern(pattern).size <= maxPatternSize / 2, pattern);
  }
});

test('equal patterns are compiled once, and again after they were evicted', (t) => {
  const { mock } = t.mock.method(RE2JS, 'compile');
  const first = compilePattern('once-[0-9]+');
  const second = compilePattern('once-[0-9]+', 'InvalidPolicy');
  assert.ok(first.matchWhole('once-1') && second.isFoundIn('a once-1'));
  assert.equal(mock.callCount(), 1);

  // Each by itself is fine, and all of them would fill the memory.
  const others = Array.from({ length: 200 }, (_, index) => compilePattern(`${index}[a-z]{1,128}[0-9]{1,128}`));
  assert.equal(mock.callCount(), 201);
  assert.equal(first.matchWhole('once-1')?.(0), 'once-1');
  assert.equal(mock.callCount(), 202);
  assert.ok(others.at(-1)?.isFoundIn('199a0'));
  assert.equal(mock.callCount(), 202);
});
