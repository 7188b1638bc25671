/** The notice that a rollback of some workloads of a policy has rolled out. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HistoryEntry } from '../../../src/core/model/policy-status.ts';
import { policyNotices } from '../../../src/core/status/policy-notices.ts';
import { digestOf, policyOf } from '../model/samples.ts';

type Change = [name: string, from: string, tag: string, minute: number, more?: Partial<HistoryEntry>];
const digests: Readonly<Record<string, string>> = { '1.0.0': digestOf('a'), '1.0.1': digestOf('b'), '1.1.0': digestOf('c') };
const entry = ([name, from, tag, minute, more]: Change): HistoryEntry => ({
  kind: 'Deployment',
  namespace: 'shop',
  name,
  container: 'web',
  from: `r/shop/web:${from}`,
  to: `r/shop/web:${tag}`,
  tag,
  digest: digests[tag] ?? '',
  trigger: 'Webhook',
  at: `2026-11-23T10:${minute}:00Z`,
  result: 'RolledOut',
  ...more,
});
const counts = (progressing: number) => ({ progressing, done: 0, failed: 0, rolledBack: 0 });

test('names only the workloads that were rolled back, and not those that kept the image, or went back to it before', () => {
  const [back, left] = [{ trigger: 'Rollback' }, { result: 'RolledBack' }] as const;
  const history = (
    [
      ['a', '1.1.0', '1.0.0', 40, back],
      ['b', '1.1.0', '1.0.0', 39, back],
      ['b', '1.0.0', '1.1.0', 38, left],
      ['a', '1.0.0', '1.1.0', 37, left],
      ['d', '1.0.1', '1.0.0', 36, back],
      ['d', '1.0.0', '1.0.1', 35, left],
      ...['a', 'b', 'c', 'd'].map((name): Change => [name, '0.9.0', '1.0.0', 30]),
    ] satisfies Change[]
  ).map(entry);
  const statuses = { before: { history, rollouts: counts(1) }, after: { history, rollouts: counts(0) } };
  const [found] = policyNotices(policyOf(), statuses, '2026-11-23T10:41:00Z');
  const { kind, workloads, from } = found?.notice ?? {};
  assert.deepEqual([kind, workloads, from], ['RolledOut', ['Deployment shop/a', 'Deployment shop/b'], ['r/shop/web:1.1.0']]);
});
