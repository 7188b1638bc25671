/** One page of a tag list, whatever a registry puts into it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readTagPage, tagsPerTurn } from '../../../src/service/registry/tag-page.ts';

async function read(body: string): Promise<(readonly unknown[])[]> {
  const pieces = [];
  for await (const piece of readTagPage(Buffer.from(body))) pieces.push(piece);
  return pieces;
}

describe('a page of tags', () => {
  it('is read with the same entries as by JSON.parse', async () => {
    const entries = fc.array(fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)), { maxLength: 20 });
    const others = fc.dictionary(
      fc.string().filter((name) => name !== 'tags'),
      fc.jsonValue(),
    );
    await fc.assert(
      fc.asyncProperty(others, others, entries, fc.constantFrom(0, 2), async (before, after, tags, indent) => {
        const body = JSON.stringify({ ...before, tags, ...after }, null, indent);
        assert.deepEqual((await read(body)).flat(), (JSON.parse(body) as { tags: unknown }).tags);
      }),
    );
  });

  it('is read in pieces, however long it is', async () => {
    const tags = Array.from({ length: 3 * tagsPerTurn + 7 }, (_, index) => `v${index},]"`);
    const pieces = await read(JSON.stringify({ name: 'team/app', tags }));
    assert.deepEqual(
      pieces.map(({ length }) => length),
      [tagsPerTurn, tagsPerTurn, tagsPerTurn, 7],
    );
    assert.deepEqual(pieces.flat(), tags);
  });

  it('may describe each manifest, as GCR does, which is skipped without being parsed', async () => {
    const manifest = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`sha256:${index}`, { tag: ['a'], layerId: '' }]));
    assert.deepEqual((await read(JSON.stringify({ child: [], manifest, name: 'a', tags: ['1', '2'] }))).flat(), ['1', '2']);
  });

  for (const [name, body, expected] of [
    ['lists in lists, a million levels deep', `{"tags":${'['.repeat(1e6)}${']'.repeat(1e6)}}`, /not a tag list/],
    ['objects in the list', '{"tags":[{"a":1}]}', /not a tag list/],
    ['a list that ends early', '{"tags":["a"],"b"]}', /JSON|tag list/],
    ['an entry that is no value', '{"tags":["a",,"b"]}', /not valid JSON/],
    ['a text without an end', '{"tags":["a}', /not valid JSON/],
    ['too many ends', '{"tags":["a"]}}', /not valid JSON/],
    ['a page of HTML', '<html>"tags":[]</html>', /not valid JSON/],
    ['nothing', '', /not valid JSON/],
    ['another object', '{"errors":[]}', /not a tag list/],
    ['two lists', '{"tags":["a"],"tags":["b"]}', /not a tag list/],
    ['a text of a megabyte', `{"tags":["${'x'.repeat(1_048_576)}"]}`, /not a tag list/],
    ['a name within another object', '{"a":{"tags":["x"],"name":1}}', /not a tag list/],
  ] as const)
    it(`is refused if it contains ${name}`, () => assert.rejects(read(body), expected));
});
