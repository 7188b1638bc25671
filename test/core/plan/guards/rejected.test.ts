/** The guard against images that a user rejected; failures and rollbacks are in guards.test.ts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rejected } from '../../../../src/core/plan/guards/rejected.ts';
import type { RejectedImage } from '../../../../src/core/model/policy-status.ts';
import { digestOf } from '../../model/samples.ts';
import { evaluateGuards, type Case } from './context.ts';

const [a, b] = [digestOf('a'), digestOf('b')];
const at = '2026-03-01T13:00:00Z';
const entry: RejectedImage = { digest: b, tag: '1.3.0', reason: 'RejectedByUser', message: 'rejected by ada: breaks the login', at };
const reject = `1.3.0@${b} ${at}`;
const ofStatus = /^1\.3\.0 was rejected by ada: breaks the login\. Push something newer, or release it/;
const ofAnnotation = /^1\.3\.0 was rejected by annotation\. Push something newer, or release it/;

const rows: [about: string, given: Case, message: RegExp | 'pass'][] = [
  ['rejected', { status: { rejected: [entry] } }, ofStatus],
  ['rejected, and released', { status: { rejected: [entry] }, actions: { release: at } }, 'pass'],
  ['a rejection that is not recorded yet', { actions: { reject } }, ofAnnotation],
  ['a rejection after an earlier release', { actions: { reject, release: at } }, ofAnnotation],
  ['a recorded rejection that was released', { status: { lastHandledRejection: reject }, actions: { reject } }, 'pass'],
  ['the rejection of another digest', { actions: { reject: `1.3.0@${a}` } }, 'pass'],
  ['the rejection of another tag', { actions: { reject: `1.2.9@${b}` } }, 'pass'],
  ['a rejection without a digest', { actions: { reject: '1.3.0' } }, 'pass'],
];

for (const [about, given, message] of rows)
  test(`the guard rejected ${message === 'pass' ? 'lets an image pass' : 'blocks an image'} in the case "${about}"`, () => {
    const { blocked, changed, problem } = evaluateGuards(given, rejected);
    assert.equal(problem, undefined, 'there is nothing to fix');
    if (message === 'pass') return assert.deepEqual([blocked, changed], [undefined, ['web']]);
    assert.deepEqual([blocked?.kind, blocked?.reason, changed], ['blocked', 'RejectedDigest', []]);
    return assert.match(blocked?.message ?? '', message);
  });
