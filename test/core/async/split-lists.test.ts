import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyMember, element, readPieces, splitLists } from '../../../src/core/async/split-lists.ts';

async function readAll(list: Buffer): Promise<unknown[]> {
  const pieces: (readonly unknown[])[] = [];
  for await (const piece of readPieces(list)) pieces.push(piece);
  return pieces.flat();
}

test('JSON whose lists were split off and read again is unchanged, whatever its indentation', async () => {
  const list = fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 8 });
  const name = fc.constantFrom('report', 'a"b', '\\', 'list', '[]');
  const document = fc.record({
    items: fc.array(fc.record({ report: fc.record({ list, rest: fc.jsonValue({ maxDepth: 2 }) }), other: fc.dictionary(name, list) }), {
      maxLength: 4,
    }),
    list: fc.jsonValue({ maxDepth: 2 }),
  });
  await fc.assert(
    fc.asyncProperty(document, fc.nat(4), async (written, indent) => {
      const { rest, lists } = await splitLists(Buffer.from(JSON.stringify(written, null, indent)), ['items', element, 'report', 'list']);
      const items = (rest as { items: { report: { list: number } }[] }).items;
      const restored = await Promise.all(
        items.map(async (item) => ({
          ...item,
          report: { ...item.report, list: await readAll(lists[item.report.list] ?? Buffer.from('"lost"')) },
        })),
      );
      // What JSON cannot tell apart, such as -0, is compared as it is read.
      assert.deepEqual({ ...(rest as object), items: restored }, JSON.parse(JSON.stringify(written)));
      assert.equal(lists.length, written.items.length);
    }),
    { numRuns: 300 },
  );
});

test('a list at the given path is split off, under any member name, and lists elsewhere stay in place', async () => {
  const { rest, lists } = await splitLists(Buffer.from('{"a":{"list":[1,{"list":[2]}]},"list":[3],"b":{"c":{"list":[4]}}}'), [
    anyMember,
    'list',
  ]);
  assert.deepEqual([rest, lists.map(String)], [{ a: { list: 0 }, list: [3], b: { c: { list: [4] } } }, ['1,{"list":[2]}']]);
});

test('a long list that was split off is read in pieces', async () => {
  const long = Array.from({ length: 5_000 }, (_, index) => ({ id: index, text: 'x,"]'.repeat(20) }));
  const pieces: (readonly unknown[])[] = [];
  for await (const piece of readPieces(Buffer.from(JSON.stringify(long).slice(1, -1)))) pieces.push(piece);
  assert.ok(pieces.length > 2);
  assert.deepEqual(pieces.flat(), long);
});

for (const [what, text] of Object.entries({
  'a list that does not end': '{"a":{"list":[1',
  nothing: '',
  'brackets alone': '['.repeat(100_000),
  'names without an object': ':::"a":[',
}))
  test(`what is not JSON is refused: ${what}`, async () => {
    await assert.rejects(splitLists(Buffer.from(text), [anyMember, 'list']));
  });

test('reading a list whose elements are not JSON, or are too many for its length, is refused', async () => {
  await assert.rejects(readAll(Buffer.from('1,}')));
  await assert.rejects(readAll(Buffer.from('0,'.repeat(60_000) + '0')), /more than 16384 values/);
});
