import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Outcome } from '../../../src/core/plan/outcome.ts';
import { noteRetagged } from '../../../src/core/plan/running-images.ts';
import { digestOf, policyOf, specOf } from '../model/samples.ts';

const upToDate: Outcome = { kind: 'unchanged', reason: 'UpToDate', message: 'already runs 1.3.0', tag: '1.3.0', running: 'runs 1.3.0' };
const latest = { tag: '1.3.0', digest: digestOf('a'), selectedAt: '2026-03-01T12:00:00Z' };
const policy = policyOf({ status: { latest } });
const moved = { announced: true, hint: { tag: '1.3.0', digest: digestOf('b') } };

test('a tag that moved is reported with both digests', () => {
  const outcome = noteRetagged(upToDate, policy, moved);
  assert.deepEqual([outcome.kind, outcome.reason], ['unchanged', 'Retagged']);
  assert.ok(outcome.message.includes(digestOf('a')) && outcome.message.includes(digestOf('b')));
  assert.ok(outcome.running?.startsWith('runs 1.3.0; 1.3.0 was pushed again'));
});

test('a tag that was applied before another one was selected is compared with what was applied', () => {
  const applied = {
    kind: 'Deployment',
    namespace: 'shop',
    name: 'web',
    container: 'c0',
    to: 'r/shop/web:1.3.0',
    trigger: 'Webhook',
  } as const;
  const entry = { ...applied, tag: '1.3.0', digest: digestOf('a'), at: latest.selectedAt, result: 'RolledOut' } as const;
  for (const selected of [
    { ...latest, tag: '1.4.0' },
    { ...latest, digest: digestOf('b') },
  ]) {
    const since = policyOf({ status: { latest: selected, history: [entry] } });
    assert.equal(noteRetagged(upToDate, since, moved).reason, 'Retagged');
    assert.equal(noteRetagged(upToDate, since, { ...moved, hint: { tag: '1.3.0', digest: digestOf('a') } }), upToDate);
  }
});

const runs = (...images: string[]): Outcome => ({
  ...upToDate,
  seen: images.map((image) => ({ kind: 'Deployment', namespace: 'shop', name: 'web', container: 'web', image })),
});

test('a digest is not said to run where none is known for the tag, as of a workload that was started by hand', () => {
  const unknown = { tag: '1.3.0', selectedAt: latest.selectedAt };
  for (const [outcome, status] of [
    [upToDate, {}],
    [upToDate, { latest: unknown }],
    [runs('r/shop/web:1.3.0'), { latest: unknown }],
    [runs('r/shop/web:1.3.0', `r/shop/web:1.3.0@${digestOf('b')}`), { latest: unknown }],
  ] as const) {
    const { kind, reason, message, running } = noteRetagged(outcome, policyOf({ status }), moved);
    assert.deepEqual([kind, reason, running], ['unchanged', 'Retagged', upToDate.running]);
    assert.match(message, /^1\.3\.0 runs already, and it is not known whether as sha256:b/);
  }
});

const rows: readonly (readonly [string, ...Parameters<typeof noteRetagged>])[] = [
  ['the known digest', upToDate, policy, { ...moved, hint: { tag: '1.3.0', digest: digestOf('a') } }],
  ['no digest', upToDate, policy, { announced: true, hint: { tag: '1.3.0' } }],
  ['another tag', { ...upToDate, tag: '1.2.0' }, policy, moved],
  ['what the registry has for a tag whose digest was not known', { ...upToDate, digest: digestOf('b') }, policyOf(), moved],
  ['what a workload pins, of a tag whose digest is not known otherwise', runs(`r/shop/web:1.3.0@${digestOf('b')}`), policyOf(), moved],
  ['nothing: a poll found it', upToDate, policy, { ...moved, announced: false }],
  ['a digest that the policy pins', upToDate, policyOf({ spec: specOf({ pin: 'Digest' }), status: { latest } }), moved],
  ['what was changed', { ...upToDate, kind: 'updated', reason: 'Updated' }, policy, moved],
];
for (const [name, ...input] of rows) {
  test(`nothing is reported when ${name} is announced`, () => assert.equal(noteRetagged(...input), input[0]));
}
