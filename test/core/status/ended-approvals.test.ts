/** How images end to wait without an approval, and what is said about it: once, with a reason. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApprovalRound } from '../../../src/core/model/approval-round.ts';
import type { PolicyStatus } from '../../../src/core/model/policy-status.ts';
import { endedApproval } from '../../../src/core/status/ended-approvals.ts';
import { policyNotices } from '../../../src/core/status/policy-notices.ts';
import { digestOf, policyOf } from '../model/samples.ts';

const at = '2026-03-01T12:00:00Z';
const old = { tag: '1.3.0', digest: digestOf('a') };
const newer = { tag: '1.4.0', digest: digestOf('b') };
const given = [{ user: 'ada', at, seenAt: at }];
const round = (more: Partial<ApprovalRound> = {}): ApprovalRound => ({ ...old, since: at, generation: 1, required: 2, ...more });
const waits: PolicyStatus = { pendingApproval: old, latest: { ...old, selectedAt: at } };
const waitsWithAda: PolicyStatus = { ...waits, approvals: round({ given }) };
const rejection = { ...old, reason: 'RejectedByUser', message: 'rejected by bob: breaks', at };
const uncounted = (why: 'Expired' | 'Earlier') => [{ user: 'ada', at, why }];

const rows: [about: string, before: PolicyStatus, after: PolicyStatus, reason: string | undefined, message?: RegExp, kind?: string][] = [
  ['nothing waited', {}, waits, undefined],
  ['it still waits', waits, waits, undefined],
  ['one more has approved', waits, waitsWithAda, undefined],
  ['it was approved, and waits for a window', waitsWithAda, { latest: { ...old, selectedAt: at }, approvals: round({ given }) }, undefined],
  [
    'it was rejected',
    waitsWithAda,
    { rejected: [rejection] },
    'RejectedByUser',
    /^1\.3\.0 was rejected by bob: breaks; the approvals of ada end$/,
    'ApprovalEnded',
  ],
  [
    'a newer image waits',
    waitsWithAda,
    { pendingApproval: newer },
    'ApprovalSuperseded',
    /^1\.4\.0 is selected instead of 1\.3\.0, .*ada end$/,
    'ApprovalEnded',
  ],
  [
    'the tag has moved',
    waits,
    { pendingApproval: { ...old, digest: digestOf('c') } },
    'ApprovalSuperseded',
    /^1\.3\.0 is selected instead of 1\.3\.0/,
    'ApprovalEnded',
  ],
  [
    'another image is selected, and waits for nobody',
    waits,
    { latest: { ...newer, selectedAt: at } },
    'ApprovalSuperseded',
    /^1\.4\.0/,
    'ApprovalEnded',
  ],
  [
    'an approval is too old',
    waitsWithAda,
    { ...waits, approvals: round({ uncounted: uncounted('Expired') }) },
    'ApprovalsEnded',
    /by ada was given too long ago$/,
    'ApprovalRequired',
  ],
  [
    'the policy was changed',
    waitsWithAda,
    { ...waits, approvals: round({ generation: 2, uncounted: uncounted('Earlier') }) },
    'ApprovalsEnded',
    /by ada ends, because the policy was changed$/,
    'ApprovalRequired',
  ],
  [
    'an approval was taken back',
    waitsWithAda,
    { ...waits, approvals: round() },
    'ApprovalsEnded',
    /by ada was taken back$/,
    'ApprovalRequired',
  ],
];

for (const [about, before, after, reason, message = /^$/, kind] of rows)
  test(`a request for approval ${reason === undefined ? 'does not end' : `ends with ${reason}`} in the case "${about}"`, () => {
    const ended = endedApproval(before, after);
    assert.equal(ended?.reason, reason);
    assert.match(ended?.message ?? '', message);
    const notices = policyNotices(policyOf(), { before, after }, at).filter(({ notice }) => notice.reason === reason);
    assert.deepEqual(reason === undefined ? [] : notices.map(({ notice }) => notice.kind), kind === undefined ? [] : [kind]);
  });
