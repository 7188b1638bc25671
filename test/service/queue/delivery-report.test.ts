import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { reportOf } from '../../../src/service/queue/delivery-report.ts';
import { guardTexts } from '../../../docs/explanations/guards.ts';
import type { PolicyResult } from '../../../src/service/queue/event-log.ts';
import type { PushRecord, PushState } from '../../../src/service/queue/event-record.ts';

const event: PushRecord['event'] = {
  id: 'id',
  receiver: 'ci',
  provider: 'generic',
  repository: { registry: 'harbor.example.com', path: 'shop/web' },
  tag: '1.4.2',
  receivedAt: '2026-03-01T12:00:00.000Z',
};

function record(state: PushState, results: Readonly<Record<string, Pick<PolicyResult, 'kind' | 'reason'> | undefined>> = {}): PushRecord {
  const full = Object.entries(results).map(([policy, result]) => {
    const complete = result && { ...result, message: 'why', at: '2026-03-01T12:00:01.000Z' };
    return [policy, complete] as const;
  });
  return { event, state, results: new Map(full), readers: new Set() };
}

const states: readonly (readonly [PolicyResult['kind'], PolicyResult['reason'], string, boolean])[] = [
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
];

describe('the state of a policy', () => {
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

describe('a push of which no policy is known', () => {
  const rows: readonly (readonly [PushState, string, boolean])[] = [
    ['queued', 'received', false],
    ['working', 'received', false],
    ['waiting', 'waiting', false],
    ['retrying', 'retrying', false],
    ['failed', 'failed', true],
    ['unwatched', 'unwatched', true],
  ];
  for (const [state, shown, isOver] of rows)
    it(`is ${shown} while it is ${state}`, () => {
      const report = reportOf(record(state));
      assert.deepEqual([report?.state, report?.isOver], [shown, isOver]);
    });
});

describe('an image that a guard keeps from its targets', () => {
  // These outcomes are final: the targets run it, or nothing is to be changed. The others make the policy stalled.
  const isFinal: ReadonlySet<string> = new Set(['UpToDate', 'DryRun', 'CrossNamespaceDenied', 'NoConsent']);
  for (const [guard, { reason }] of Object.entries(guardTexts).filter(([, one]) => !isFinal.has(one.reason)))
    it(`is waited for: ${guard}`, () => {
      const report = reportOf(record('matched', { 'shop/web': { kind: 'unchanged', reason } }));
      assert.deepEqual([report?.state, report?.isOver], ['waiting', false], reason);
    });
});

test('the worst state of several policies is that of the push, which is over when all are', () => {
  const rolledOut = { kind: 'updated', reason: 'RolledOut' } as const;
  const waiting = { kind: 'waiting', reason: 'MinAge' } as const;
  const both = reportOf(record('matched', { 'a/a': rolledOut, 'b/b': waiting, 'c/c': undefined }), 'https://watch.example.com');
  assert.deepEqual([both?.state, both?.isOver, both?.image], ['waiting', false, 'harbor.example.com/shop/web:1.4.2']);
  assert.equal(both?.policies[0]?.page, 'https://watch.example.com/policies/a/a');
  assert.equal(reportOf(record('matched', { 'a/a': rolledOut, 'b/b': rolledOut }))?.isOver, true);
});
