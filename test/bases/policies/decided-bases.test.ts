/** Which decisions of people need a reconcile of a BaseImagePolicy. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { neededReconcile } from '../../../src/bases/policies/enqueue-bases.ts';
import { approvalAnnotation, formatApproval } from '../../../src/core/model/named-approvals.ts';
import { base, now, policyWith } from './acting.ts';

const { tag, digest } = base;
const settled = { observedGeneration: 1, lastCheckTime: '2026-11-23T11:59:00Z' };
const annotation = (name: string, value: string) => ({ annotations: { [`operator.technomad.dev/${name}`]: value } });
const policyOf = (status: object, { spec = {}, annotations = {} }: { spec?: object; annotations?: object } = {}) =>
  policyWith(spec, { status, annotations });
const pending = { ...settled, pendingApproval: { tag, digest } };
const ada = { user: 'ada', at: '2026-11-23T11:30:00Z', seenAt: '2026-11-23T11:30:00Z' };
const round = (given: object[] = []) => ({ tag, digest, since: '2026-11-23T11:00:00Z', generation: 1, required: 2, given });
const twoPeople = { spec: { mode: 'Approval', approvals: { count: 2 } } };
const adas = { annotations: { [approvalAnnotation('ada')]: formatApproval({ tag, digest, at: ada.at, user: 'ada' }) } };

for (const [what, policy, cause] of [
  [
    'the selected base was rejected',
    policyOf({ ...settled, latest: { tag, digest, selectedAt: '2026-11-23T11:00:00Z' } }, annotation('reject', `${tag}@${digest} now`)),
    /^Request reject:21.0.6@/,
  ],
  [
    'another base was rejected',
    policyOf(
      { ...settled, latest: { tag: '22', digest, selectedAt: '2026-11-23T11:00:00Z' } },
      annotation('reject', `${tag}@${digest} now`),
    ),
    undefined,
  ],
  [
    'the rejection was handled',
    policyOf(
      { ...settled, latest: { tag, digest, selectedAt: '2026-11-23T11:00:00Z' }, lastHandledRejection: `${tag}@${digest} now` },
      annotation('reject', `${tag}@${digest} now`),
    ),
    undefined,
  ],
  [
    'one of two people has approved it',
    policyOf({ ...pending, approvals: round() }, { ...twoPeople, ...adas }),
    /^Approval approvals:sha256:b/,
  ],
  ['the status shows all approvals', policyOf({ ...pending, approvals: round([ada]) }, { ...twoPeople, ...adas }), undefined],
  ['an approval was taken back', policyOf({ ...settled, approvals: round([ada]) }, twoPeople), /^Approval approvals-gone:sha256:b/],
  [
    'the annotation that names nobody approves it',
    policyOf({ ...pending, approvals: round() }, { ...twoPeople, ...annotation('approve', `${tag}@${digest}`) }),
    undefined,
  ],
  [
    'an approval has ended',
    policyOf({ ...pending, approvals: { ...round([ada]), until: '2026-11-23T12:00:00Z' } }, { ...twoPeople, ...adas }),
    /^WaitOver approvals-end:sha256:b/,
  ],
] as const)
  test(`a policy of a base needs ${cause === undefined ? 'no reconcile' : 'a reconcile'} if ${what}`, () => {
    const job = neededReconcile(policy, now);
    assert.equal(job !== undefined, cause !== undefined);
    if (cause !== undefined) assert.match(`${job?.source} ${job?.cause}`, cause);
  });
