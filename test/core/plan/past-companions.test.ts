/** Which companions belonged to an image that ran before, by the history. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Alongside } from '../../../src/core/model/companions.ts';
import { pastCompanions } from '../../../src/core/plan/past-companions.ts';
import type { PolicyStatus } from '../../../src/core/model/policy-status.ts';
import { noAliases, specOf } from '../model/samples.ts';

const host = 'registry.example.com';
const proxy = { registry: host, path: 'shop/proxy' };

type Pair = readonly [own: string, companion: string];

/** The companion that came with 1.0.0, by changes from one pair of tags to another, the latest first. */
function companionOf(match: Alongside['match'], ...changes: readonly (readonly [from: Pair, to: Pair])[]): string | undefined {
  const history: NonNullable<PolicyStatus['history']> = changes.map(([from, to], index) => ({
    at: `2026-01-01T00:00:0${changes.length - index}Z`,
    kind: 'Deployment',
    name: 'web',
    namespace: 'shop',
    container: 'web',
    from: `${host}/shop/web:${from[0]}`,
    to: `${host}/shop/web:${to[0]}`,
    tag: to[0],
    trigger: 'Webhook',
    result: 'Applied',
    alongside: [{ container: 'proxy', from: `${host}/shop/proxy:${from[1]}`, to: `${host}/shop/proxy:${to[1]}` }],
  }));
  const spec = specOf({ alongside: { images: [{ repository: proxy }], match, withinMs: 1_000 } });
  return pastCompanions({ tag: '1.0.0' }, { spec, history, aliases: noAliases })?.[0]?.tag;
}

const [first, second, third] = [
  ['1.0.0', '1.0.0'],
  ['1.1.0', '1.1.0'],
  ['1.2.0', '1.2.0'],
] as const;

test('the companions of an earlier image are those that were applied with it, or replaced with it', () => {
  assert.equal(companionOf('SameTag', [first, second]), '1.0.0');
  assert.equal(companionOf('SameRevision', [second, ['1.0.0', 'a']], [['1.0.0', 'b'], second]), 'a');
  assert.equal(companionOf('SameTag', [second, third]), undefined);
});

test('a pair that somebody has mixed does not become what belongs together', () => {
  const mixed = ['1.0.0', '1.1.0'] as const;
  assert.equal(companionOf('SameTag', [mixed, third], [first, second]), '1.0.0');
  assert.equal(companionOf('SameRevision', [mixed, third], [first, second]), '1.0.0');
  assert.equal(companionOf('SameTag', [mixed, third]), undefined);
});
