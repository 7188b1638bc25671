import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { reportOf } from '../../../src/service/queue/delivery-report.ts';
import { createReportReader } from '../../../src/service/queue/read-delivery-report.ts';
import { guardTexts } from '../../../docs/explanations/guards.ts';
import type { PolicyResult } from '../../../src/service/queue/event-log.ts';
import type { EventRecord, PushRecord, PushState } from '../../../src/service/queue/event-record.ts';

const event: PushRecord['event'] = {
  id: 'id',
  receiver: 'ci',
  provider: 'generic',
  repository: { registry: 'harbor.example.com', path: 'shop/web' },
  tag: '1.4.2',
  receivedAt: '2026-03-01T12:00:00.000Z',
};

function record(
  state: PushState,
  results: Readonly<Record<string, (Pick<PolicyResult, 'kind' | 'reason'> & Partial<PolicyResult>) | undefined>> = {},
  at = '2026-03-01T12:00:01.000Z',
): PushRecord {
  const full = Object.entries(results).map(([policy, result]) => {
    const complete = result && { ...result, message: 'why', at };
    return [policy, complete] as const;
  });
  return { event, state, results: new Map(full), readers: new Set() };
}

const states: readonly (readonly [kind: PolicyResult['kind'], reason: PolicyResult['reason'], state: string, isOver: boolean])[] = [
  ['updated', 'Updated', 'changed', false],
  ['updated', 'RolledOut', 'rolledOut', true],
  ['unchanged', 'UpToDate', 'rolledOut', true],
  ['unchanged', 'OlderThanRunning', 'unchanged', true],
  ['ignored', 'NotSelected', 'unchanged', true],
  ['suspended', 'Suspended', 'waiting', false],
  ['stalled', 'RolledBack', 'failed', true],
  ['stalled', 'RolloutFailed', 'failed', true],
  ['stalled', 'NoMatchingTag', 'waiting', false],
  ['waiting', 'MinAge', 'waiting', false],
  ['retrying', 'RegistryUnavailable', 'retrying', false],
  ['failed', 'Retrying', 'failed', true],
  ['unchanged', 'RejectedDigest', 'failed', true],
  ['unchanged', 'CheckFailed', 'failed', true],
  ['stalled', 'RetriesExhausted', 'failed', true],
  ['updated', 'Superseded', 'superseded', true],
  ['ignored', 'Superseded', 'superseded', true],
];

describe('the reported state of a policy', () => {
  for (const [kind, reason, state, isOver] of states)
    it(`is ${state} after ${kind} (${reason})`, () => {
      const report = reportOf(record('matched', { 'shop/web': { kind, reason } }));
      const [policy] = report?.policies ?? [];
      assert.deepEqual(
        [policy?.state, policy?.isOver, policy?.reason, report?.state, report?.isOver],
        [state, isOver, reason, state, isOver],
      );
    });
});

describe('a push without a known policy', () => {
  const rows: readonly (readonly [state: PushState, shown: string, isOver: boolean])[] = [
    ['queued', 'received', false],
    ['working', 'received', false],
    ['waiting', 'waiting', false],
    ['retrying', 'retrying', false],
    ['failed', 'failed', true],
    ['unwatched', 'unwatched', true],
  ];
  for (const [state, shown, isOver] of rows)
    it(`is reported as ${shown} while it is ${state}`, () => {
      const report = reportOf(record(state));
      assert.deepEqual([report?.state, report?.isOver], [shown, isOver]);
    });
});

describe('an image that a guard blocks', () => {
  // These outcomes are final: the targets run it, nothing is to be changed, or it is rejected. The others make the policy stalled.
  const isFinal: ReadonlySet<string> = new Set(['UpToDate', 'DryRun', 'CrossNamespaceDenied', 'NoConsent', 'RejectedDigest']);
  for (const [guard, { reason }] of Object.entries(guardTexts).filter(([, one]) => !isFinal.has(one.reason)))
    it(`is reported as waiting: ${guard}`, () => {
      const report = reportOf(record('matched', { 'shop/web': { kind: 'unchanged', reason } }));
      assert.deepEqual([report?.state, report?.isOver], ['waiting', false], reason);
    });
});

/** The report of a push whose policy has this result, after another push with another result. */
function stateAfter(own: Partial<PolicyResult>, first?: PushRecord): readonly unknown[] {
  const at = '2026-03-01T12:00:01.000Z';
  const result: PolicyResult = { kind: 'unchanged', reason: 'UpToDate', message: 'runs', at, ...own };
  const both = { ...record('matched'), results: new Map([['shop/web', result]]) };
  const [policy] = reportOf(both, first && new Map([['first', first]]))?.policies ?? [];
  return [policy?.state, policy?.isOver, policy?.message];
}

describe('an image that an earlier push has brought is reported by the state of that push, if it', () => {
  const own = { broughtBy: 'first' };
  const rows: readonly (readonly [about: string, first: PushRecord | undefined, expected: readonly unknown[]])[] = [
    ['rolls out', record('matched', { 'shop/web': { kind: 'updated', reason: 'Updated' } }), ['changed', false, 'why']],
    ['has failed', record('matched', { 'shop/web': { kind: 'stalled', reason: 'RolledBack' } }), ['failed', true, 'why']],
    ['is in work', record('matched', { 'shop/web': undefined }), ['received', false, undefined]],
    [
      'was replaced, and runs again',
      record('matched', { 'shop/web': { kind: 'updated', reason: 'Superseded' } }),
      ['rolledOut', true, 'runs'],
    ],
    [
      'waits for its next wave, and has lost its policy since',
      record('matched', { 'shop/web': { kind: 'updated', reason: 'PolicyGone' } }, '2026-03-01T12:00:02.000Z'),
      ['unchanged', true, 'why'],
    ],
    ['is forgotten', undefined, ['rolledOut', true, 'runs']],
    ['was for other policies', record('matched', { 'b/b': undefined }), ['rolledOut', true, 'runs']],
  ];
  for (const [about, first, expected] of rows) it(about, () => assert.deepEqual(stateAfter(own, first), expected));
});

test('a change without a watched rollout is reported as over, and a tag with another digest as unchanged', () => {
  assert.deepEqual(stateAfter({ kind: 'updated', reason: 'Updated', isUnwatched: true }), [
    'changed',
    true,
    'runs; its rollout is not watched',
  ]);
  assert.deepEqual(stateAfter({ otherDigest: 'sha256:other' }), [
    'unchanged',
    true,
    'the registry has sha256:other for the tag, which is not the announced digest; runs',
  ]);
});

test('a push of several policies has the worst of their states, and is over when all of them are', () => {
  const rolledOut = { kind: 'updated', reason: 'RolledOut' } as const;
  const waiting = { kind: 'waiting', reason: 'MinAge' } as const;
  const both = reportOf(record('matched', { 'a/a': rolledOut, 'b/b': waiting, 'c/c': undefined }), new Map(), 'https://watch.example.com');
  assert.deepEqual([both?.state, both?.isOver, both?.image], ['waiting', false, 'harbor.example.com/shop/web:1.4.2']);
  assert.equal(both?.policies[0]?.page, 'https://watch.example.com/policies/a/a');
  assert.equal(reportOf(record('matched', { 'a/a': rolledOut, 'b/b': rolledOut }))?.isOver, true);
});

test('a report contains results of earlier pushes that brought its images, and only for the receiver of the push', async () => {
  const rolledOut = { kind: 'updated', reason: 'RolledOut' } as const;
  const first = record('matched', { 'shop/web': rolledOut });
  const own = record('matched', { 'shop/web': { kind: 'unchanged', reason: 'UpToDate', broughtBy: 'first' } });
  const records = new Map<string, EventRecord>([
    ['first', first],
    ['own', own],
  ]);
  const read = createReportReader({ get: (id) => Promise.resolve(records.get(id)) }, 'https://watch.example.com');
  assert.deepEqual(await read('own', 'ci'), reportOf(own, new Map([['first', first]]), 'https://watch.example.com'));
  assert.equal((await read('own', 'ci'))?.policies[0]?.reason, 'RolledOut');
  assert.equal(await read('own', 'another receiver'), undefined);
  assert.equal(await read('unknown', 'ci'), undefined);
  records.delete('first');
  assert.equal((await read('own', 'ci'))?.policies[0]?.reason, 'UpToDate');
});
