/** Two lists that are read page by page, as one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fromStart, mergePages, type SourcePage } from '../../src/activity/merge-pages.ts';

/** A list, newest first, of which one read returns at most `size` entries, or fewer of those that `isWanted` wants. */
const pageOf = (times: readonly number[], from: string, size: number, isWanted: (at: number) => boolean): SourcePage<number> => {
  const rest = from === fromStart ? times : times.slice(Number(from) + 1);
  const offset = times.length - rest.length;
  const read = rest.slice(0, size);
  const last = read.at(-1);
  return {
    placed: read.flatMap((at, index) => (isWanted(at) ? [{ at, position: String(offset + index), entry: at }] : [])),
    ...(last !== undefined && rest.length > size && { next: { at: last, position: String(offset + size - 1) } }),
  };
};

test('merged pages contain every entry once, newest first, wherever the pages of the lists end', () => {
  const list = fc.array(fc.nat(60), { maxLength: 40 }).map((times) => times.toSorted((a, b) => b - a));
  fc.assert(
    fc.property(list, list, fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 }), fc.nat(4), (a, b, size, limit, step) => {
      const isWanted = (at: number) => step === 0 || at % (step + 1) === 0;
      const found: number[] = [];
      let from: readonly (string | undefined)[] = [fromStart, fromStart];
      for (let pages = 0; from.some((one) => one !== undefined); pages++) {
        assert.ok(pages < 300, 'each page goes on');
        const [first, second] = from.map((one, index) =>
          one === undefined ? { placed: [] } : pageOf(index === 0 ? a : b, one, size, isWanted),
        );
        const { entries, next } = mergePages([first ?? { placed: [] }, second ?? { placed: [] }], from, limit);
        found.push(...entries);
        from = next;
      }
      assert.deepEqual(
        found,
        [...a, ...b].filter(isWanted).toSorted((x, y) => y - x),
      );
    }),
  );
});

test('a merged page contains no entry that is older than the unread rest of a list', () => {
  const pushes: SourcePage<string> = { placed: [{ at: 90, position: 'p90', entry: 'push' }], next: { at: 80, position: 'p80' } };
  const recorded: SourcePage<string> = {
    placed: [
      { at: 95, position: 'r95', entry: 'change' },
      { at: 70, position: 'r70', entry: 'older' },
    ],
  };
  assert.deepEqual(mergePages([pushes, recorded], [fromStart, fromStart], 10), { entries: ['change', 'push'], next: ['p80', 'r95'] });
});
