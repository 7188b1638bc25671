/** Which images the API compares for an approval, and what it says of their origins. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPendingOrigins, runningReference } from '../../../src/service/api/pending-origins.ts';
import { changesOf } from '../../../src/service/api/policy-view.ts';
import type { PolicyStatus } from '../../../src/core/model/policy-status.ts';
import { digestOf, noAliases, policyOf, specOf } from '../../core/model/samples.ts';

const repository = { registry: 'harbor.example.com', path: 'shop/web' };
const pending = { tag: '1.1.0', digest: digestOf('b') };
const target = (image: string, state: 'UpToDate' | 'Kept' = 'Kept') => ({
  kind: 'Deployment',
  namespace: 'shop',
  name: 'web',
  image,
  state,
});
const image = 'harbor.example.com/shop/web';
const entry = {
  kind: 'Deployment',
  namespace: 'shop',
  name: 'web',
  container: 'web',
  tag: '1.0.0',
  trigger: 'Poll',
  at: '2026-03-01T11:00:00Z',
} as const;
const applied = (to: string, letter: string) => ({ ...entry, to, digest: digestOf(letter), result: 'RolledOut' as const });

const rows: [about: string, status: PolicyStatus, expected: string | undefined][] = [
  ['nothing runs', {}, undefined],
  ['a tag runs', { targets: [target(`${image}:1.0.0`)] }, '1.0.0'],
  ['a digest runs', { targets: [target(`${image}:1.0.0@${digestOf('a')}`)] }, digestOf('a')],
  ['the change of the tag is recorded', { targets: [target(`${image}:1.0.0`)], history: [applied(`${image}:1.0.0`, 'a')] }, digestOf('a')],
  ['the tag was moved to what waits', { targets: [target(`${image}:1.1.0`)] }, undefined],
  [
    'the tag was moved, and its former digest is recorded',
    { targets: [target(`${image}:1.1.0`)], history: [applied(`${image}:1.1.0`, 'a')] },
    digestOf('a'),
  ],
  ['another repository runs', { targets: [target('harbor.example.com/shop/other:1.0.0')] }, undefined],
  ['what waits runs already in one of two', { targets: [target(`${image}:1.1.0`, 'UpToDate'), target(`${image}:0.9.0`)] }, '0.9.0'],
  ['something unreadable runs', { targets: [target('::'), target(`${image}:0.9.0`)] }, '0.9.0'],
];
for (const [about, status, expected] of rows)
  test(`the running image to compare with a pending one is ${expected ?? 'unknown'} where ${about}`, () => {
    assert.equal(runningReference({ status: { ...status, pendingApproval: pending } }, { repository }, noAliases), expected);
  });

test('no origins are looked up for a policy without a pending image, with an invalid spec or with a forbidden registry', () => {
  const asked: string[] = [];
  const of = (mayUse: boolean) =>
    createPendingOrigins({
      find(source, reference) {
        asked.push(`${source.path} ${reference}`);
        return { repository: 'https://github.com/shop/web', revision: reference === pending.digest ? 'b'.repeat(40) : 'a'.repeat(40) };
      },
      sourceOf: (_, spec) => spec.repository,
      mayUseRegistry: () => mayUse,
      aliases: noAliases,
    });
  const status = { pendingApproval: pending, targets: [target(`${image}:1.0.0`)] };
  const policy = policyOf({ spec: specOf({ repository }), status });
  assert.deepEqual(of(true)({ ...policy, status: {} }), {});
  assert.deepEqual(of(true)({ ...policy, spec: { problem: { reason: 'InvalidPolicy', message: 'x' } } }), {});
  assert.deepEqual(of(false)(policy), {});
  assert.deepEqual(asked, []);
  const found = of(true)(policy);
  assert.deepEqual(asked, [`shop/web ${pending.digest}`, 'shop/web 1.0.0']);
  assert.deepEqual(changesOf(found), {
    repository: 'https://github.com/shop/web',
    from: 'a'.repeat(40),
    to: 'b'.repeat(40),
    links: [
      {
        kind: 'changes',
        url: `https://github.com/shop/web/compare/${'a'.repeat(40)}...${'b'.repeat(40)}`,
        host: 'github.com',
        from: 'aaaaaaa',
        to: 'bbbbbbb',
      },
    ],
  });
});

test('no changes are shown for an image of unknown origin, and no comparison with another repository', () => {
  const before = { repository: 'https://github.com/shop/fork', revision: 'a'.repeat(40) };
  assert.equal(changesOf({ before }), undefined);
  const { from, links } = changesOf({ before, now: { repository: 'https://github.com/shop/web', revision: 'b'.repeat(40) } }) ?? {};
  assert.deepEqual([from, links?.map(({ kind }) => kind)], [undefined, ['commit']]);
});
