import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  approvalAnnotation,
  approvalPrefix,
  formatApproval,
  type NamedApproval,
  readApprovals,
} from '../../../src/core/model/named-approvals.ts';
import { readActions, sameActions } from '../../../src/core/model/policy-actions.ts';
import { digestOf } from './samples.ts';

const approval: NamedApproval = { tag: '1.4.2', digest: digestOf('a'), at: '2026-03-01T12:00:00.000Z', user: 'ada lovelace' };
const valid = formatApproval(approval);

test('an approval is read as it was written, with the reason in a second line', () => {
  for (const one of [approval, { ...approval, reason: 'tested on staging' }])
    assert.deepEqual(readApprovals({ [approvalAnnotation(one.user)]: formatApproval(one) }), [one]);
});

test('each user has a key that fits into an annotation, whatever the name contains', () => {
  for (const user of ['ada', 'system:serviceaccount:shop:ada', 'ada/@ä\n'.repeat(60)])
    assert.match(approvalAnnotation(user), /^approvals\.operator\.technomad\.dev\/[0-9a-f]{20}$/);
});

for (const [about, value] of [
  ['no name', `1.4.2@${digestOf('a')} 2026-03-01T12:00:00Z `],
  ['no time', `1.4.2@${digestOf('a')} ada`],
  ['a time without a zone', `1.4.2@${digestOf('a')} 2026-03-01T12:00:00 ada`],
  ['a day that is none', `1.4.2@${digestOf('a')} 2026-13-01T12:00:00Z ada`],
  ['no digest', '1.4.2 2026-03-01T12:00:00Z ada'],
  ['two digests', `1.4.2@${digestOf('a')}@${digestOf('b')} 2026-03-01T12:00:00Z ada`],
  // The end of the name is a part of it, so that the whole is left out.
  ['a name that is too long', `1.4.2@${digestOf('a')} 2026-03-01T12:00:00Z ${'a'.repeat(254)}`],
  ['a text without end', `${valid}\n${'x'.repeat(3_000)}`],
  ['no text', 7],
] as const)
  test(`an annotation with ${about} is no approval`, () => {
    assert.deepEqual(readApprovals({ [`${approvalPrefix}a`]: value }), []);
  });

test('of several annotations of one person, the latest counts alone', () => {
  const later = { ...approval, at: '2026-03-01T13:00:00.000Z' };
  const read = readApprovals({
    [`${approvalPrefix}a`]: valid,
    [`${approvalPrefix}b`]: formatApproval(later),
    [`${approvalPrefix}c`]: valid,
    'operator.technomad.dev/approve': valid,
  });
  assert.deepEqual(read, [later]);
});

test('at most as many approvals are read as a status has room for', () => {
  const many = Array.from({ length: 100 }, (_, index) => ({ ...approval, user: `user-${index}` }));
  const annotations = Object.fromEntries(many.map((one) => [approvalAnnotation(one.user), formatApproval(one)]));
  assert.equal(readApprovals(annotations).length, 32);
});

test('approvals are a part of the actions of a policy', () => {
  const actions = readActions({ [approvalAnnotation(approval.user)]: valid });
  assert.deepEqual(actions, { approvals: [approval] });
  assert.deepEqual([sameActions(actions, { approvals: [{ ...approval }] }), sameActions(actions, {})], [true, false]);
});
