import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextLink } from '../../../src/service/registry/session.ts';

const table: [name: string, header: string | string[] | undefined, expected: string | undefined][] = [
  ['no header', undefined, undefined],
  ['relative', '</v2/a/tags/list?last=1.2&n=100>; rel="next"', '/v2/a/tags/list?last=1.2&n=100'],
  ['absolute', '<https://r.example/v2/a/tags/list?last=x>; rel="next"', 'https://r.example/v2/a/tags/list?last=x'],
  ['no quotes, no space', '</next>;rel=next', '/next'],
  ['among other relations', '</p>; rel="prev", </n>; rel="first next"; title="a, b"', '/n'],
  ['in the second header', ['</p>; rel=prev', '</n>; rel=next'], '/n'],
  ['commas and semicolons in the target', '</n?a=1,2;3>; rel="next"', '/n?a=1,2;3'],
  ['another parameter first', '</n>; title="rel=next; no"; rel="next"', '/n'],
  ['another relation', '</n>; rel="nextish"', undefined],
  ['no relation: what else would a list link to?', '</n>', '/n'],
  ['no relation, but another parameter', '</n>; title="rel=next; no"', '/n'],
  ['a next one after one without a relation', '</p>, </n>; rel="next"', '/n'],
  ['one without a relation among others', '</p>; rel="prev", </n>', '/n'],
  ['an empty relation', '</n>; rel=""', undefined],
  ['an empty target', '<>', undefined],
  ['an empty header', '', undefined],
];

for (const [name, header, expected] of table) {
  test(`a Link header is parsed in the case "${name}"`, () => assert.equal(nextLink(header), expected));
}

for (const header of ['/n; rel="next"', '<', '><', '</n; rel="next"']) {
  test(`refuses the Link header "${header}", so that the list counts as incomplete`, () =>
    assert.throws(() => nextLink(header), /Link header cannot be read/));
}
