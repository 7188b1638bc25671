/** The chain of the record, and every way in which somebody may break it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { linesOf, makeSegment, noTail, readLine, tailOf, type Fact } from '../../../src/activity/record/chain.ts';
import { createVerifier, type Piece, type Verified } from '../../../src/activity/record/verify.ts';

const factOf = (index: number): Fact => ({
  id: `1000-${index}`,
  type: 'change',
  time: '2026-11-28T12:00:00.000Z',
  subject: 'ImagePolicy/shop/web',
  data: { type: 'change', tag: `1.0.${index}`, message: 'a line\nand \u2028 another' },
});

/** Segments of so many lines each. */
function recordOf(...sizes: readonly number[]): Piece[] {
  let tail = noTail;
  return sizes.map((size) => {
    const from = tail.sequence;
    const segment = makeSegment(
      tail,
      Array.from({ length: size }, (_, index) => factOf(from + index + 1)),
      '/image-watcher/test',
    );
    tail = segment.tail;
    return { name: `${tail.segment}.jsonl`, text: segment.text };
  });
}

function verify(pieces: readonly Piece[]): Verified {
  const verifier = createVerifier();
  for (const piece of pieces) verifier.add(piece);
  return verifier.result();
}

test('each line of the record is a CloudEvent with the hash of the line before', () => {
  const [{ text } = assert.fail()] = recordOf(2);
  const [first, second] = linesOf(text).lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual(first, {
    specversion: '1.0',
    id: '1000-1',
    source: '/image-watcher/test',
    type: 'dev.technomad.image-watcher.change',
    subject: 'ImagePolicy/shop/web',
    time: '2026-11-28T12:00:00.000Z',
    datacontenttype: 'application/json',
    sequence: '000000000001',
    previoushash: '0'.repeat(64),
    data: factOf(1).data,
  });
  assert.deepEqual([second?.['sequence'], second?.['previoushash']], ['000000000002', tailOf(1, `${linesOf(text).lines[0]}\n`).tail.hash]);
});

test('verification accepts a whole record, however it is split into segments', () => {
  const pieces = recordOf(3, 1, 2);
  const { hash } = tailOf(3, pieces[2]?.text ?? '').tail;
  assert.deepEqual(verify(pieces), { ok: true, lines: 6, first: 1, hash });
  assert.deepEqual(verify([{ name: 'all', text: pieces.map(({ text }) => text).join('') }]), { ok: true, lines: 6, first: 1, hash });
  // Old segments are removed after their time.
  assert.deepEqual(verify(pieces.slice(1)), { ok: true, lines: 3, first: 4, hash });
  assert.deepEqual(verify([]), { ok: true, lines: 0, hash: noTail.hash });
});

const broken: readonly [what: string, (text: string) => string, where: string, why: RegExp][] = [
  ['a changed line', (text) => text.replace('1.0.2', '9.9.9'), 'all, line 3', /line 2 was changed/],
  ['a removed line', (text) => text.split('\n').toSpliced(2, 1).join('\n'), 'all, line 3', /line 3 is missing/],
  ['removed lines', (text) => text.split('\n').toSpliced(1, 3).join('\n'), 'all, line 2', /lines 2 to 4 are missing/],
  [
    'a repeated line',
    (text) =>
      text
        .split('\n')
        .toSpliced(1, 0, text.split('\n')[1] ?? '')
        .join('\n'),
    'all, line 3',
    /line 2 after line 2/,
  ],
  ['a foreign line', (text) => text.split('\n').toSpliced(1, 0, '{"hello":1}').join('\n'), 'all, line 2', /no line of a record/],
  ['an empty line', (text) => text.split('\n').toSpliced(1, 0, '').join('\n'), 'all, line 2', /no line of a record/],
  ['half a line at the end', (text) => text.slice(0, -20), 'all, line 6', /middle of a line/],
  ['another beginning', (text) => text.replace('0'.repeat(64), 'f'.repeat(64)), 'all, line 1', /line 1, but follows/],
];
for (const [what, change, where, why] of broken) {
  test(`verification reports ${what} as the first break of the record`, () => {
    const [{ text } = assert.fail()] = recordOf(6);
    const { ok, break: found } = verify([{ name: 'all', text: change(text) }]);
    assert.equal(ok, false);
    assert.equal(found?.where, where);
    assert.match(found.why, why);
  });
}

test('verification notices a change of any character before the last line of the record', () => {
  const [{ text } = assert.fail()] = recordOf(4);
  const end = text.lastIndexOf('\n', text.length - 2);
  fc.assert(
    fc.property(fc.nat(end - 1), fc.integer({ min: 32, max: 126 }), (at, code) => {
      const changed = `${text.slice(0, at)}${String.fromCharCode(code)}${text.slice(at + 1)}`;
      assert.equal(verify([{ name: 'all', text: changed }]).ok, changed === text);
    }),
  );
});

test('a record continues after a last segment that is empty, garbage or cut off', () => {
  for (const text of ['', '\n', 'garbage', '{"a":1}\n{', recordOf(2)[0]?.text.slice(0, -9) ?? '']) {
    const { tail, ids } = tailOf(7, text);
    assert.equal(tail.segment, 7);
    assert.match(tail.hash, /^[0-9a-f]{64}$/);
    const next = makeSegment(tail, [factOf(1)], '/s').text;
    assert.ok(readLine(next.trimEnd()) !== undefined);
    assert.ok(ids.length < 2);
  }
});
