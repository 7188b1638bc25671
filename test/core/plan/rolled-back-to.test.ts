/** What a policy rolled back to is its own, whatever the strategy says of it: it is replaced by what is selected, as before the first change. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Candidate } from '../../../src/core/model/image-reference.ts';
import { pastOf } from '../../../src/core/plan/guards/last-change.ts';
import type { LastUpdate } from '../../../src/core/model/last-update.ts';
import { planUpdate } from '../../../src/core/plan/plan-update.ts';
import type { HistoryEntry } from '../../../src/core/model/policy-status.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import type { Workload } from '../../../src/core/model/workload.ts';
import { allKnown, digestOf, lastMatching, latestSpec, noAliases, policyOf, specOf, webDeployment, workloadOf } from '../model/samples.ts';

const image = 'registry.example.com/shop/web';
const [a, b] = [digestOf('a'), digestOf('b')];
const rollbackEntry: HistoryEntry = {
  ...webDeployment,
  container: 'web',
  from: `${image}:latest@${a}`,
  to: `${image}:stable`,
  tag: 'stable',
  trigger: 'Rollback',
  at: '2026-03-01T12:00:00Z',
  result: 'RolledOut',
};
const { uid } = policyOf();
const remembered: LastUpdate = {
  policy: uid,
  at: rollbackEntry.at,
  trigger: 'Rollback',
  from: `${image}:latest@${a}`,
  to: rollbackEntry.to,
};

/** What becomes of container "web", which runs `stable`. */
function planAfterRollback(
  { history = [rollbackEntry], runs = {} }: { history?: readonly HistoryEntry[]; runs?: Partial<Workload['containers'][number]> },
  spec = latestSpec(),
  candidate: Candidate = { tag: 'latest', digest: b },
): string | undefined {
  const workload = workloadOf({ web: { image: rollbackEntry.to, imageOwner: 'image-watcher', ...runs } });
  const past = pastOf(policyOf({ status: { history } }));
  const [target] = planUpdate({ spec, candidate, ...past, aliases: noAliases, ...allKnown, findWorkload: () => workload }).targets;
  return target?.changes[0]?.to.slice(image.length) ?? target?.unchanged[0]?.reason;
}

const created = (days: Record<string, number>) =>
  specOf({
    strategy: strategies.newest(new Map(Object.entries(days).map(([tag, day]) => [tag, new Date(Date.UTC(2026, 2, day))]))),
  });

test('an image that was rolled back to is replaced with every strategy', () => {
  assert.equal(planAfterRollback({}), `:latest@${b}`);
  assert.equal(planAfterRollback({}, specOf(), { tag: '1.3.0' }), ':1.3.0');
  assert.equal(planAfterRollback({}, specOf({ strategy: lastMatching('build-.*') }), { tag: 'build-2' }), ':build-2');
  assert.equal(planAfterRollback({}, specOf({ strategy: strategies.numerical() }), { tag: '7' }), ':7');
  assert.equal(planAfterRollback({}, created({ latest: 1, later: 2 }), { tag: 'later' }), ':later');
});

test('where creation times decide and that of the running image is lost, nothing older than the image before is applied', () => {
  assert.equal(planAfterRollback({}, created({ earlier: 1, latest: 2 }), { tag: 'earlier' }), 'NotComparable');
  assert.equal(planAfterRollback({}, created({ latest: 2 }), { tag: 'latest' }), ':latest');
});

test("the workload's annotation is used where the history is too short, or holds what admission made of the image", () => {
  const others = Array.from({ length: 10 }, (_, index): HistoryEntry => ({ ...rollbackEntry, name: `other-${index}` }));
  assert.equal(planAfterRollback({ history: others }), 'NotComparable');
  assert.equal(planAfterRollback({ history: others, runs: { lastUpdate: remembered } }), `:latest@${b}`);
  assert.equal(planAfterRollback({ runs: { image: `${rollbackEntry.to}@${a}` } }), `:latest@${b}`);
});

test('an image that somebody else or another change of the policy deployed is not replaced', () => {
  const rows: Parameters<typeof planAfterRollback>[0][] = [
    { runs: { image: `${image}:branch`, imageOwner: 'kubectl-edit' } },
    { history: [{ ...rollbackEntry, trigger: 'Webhook' }] },
    { history: [{ ...rollbackEntry, to: `${image}:1.0.0`, trigger: 'Webhook', at: '2026-03-01T12:01:00Z' }, rollbackEntry] },
    { history: [{ ...rollbackEntry, container: 'other' }] },
    { runs: { image: `${image}:branch`, lastUpdate: { ...remembered, policy: 'of another policy' } } },
    // The status is written after the image, and somebody was faster.
    { history: [], runs: { image: `${image}:branch`, imageOwner: 'kubectl-edit', lastUpdate: { ...remembered, trigger: 'Webhook' } } },
  ];
  for (const row of rows) assert.equal(planAfterRollback(row), 'NotComparable', JSON.stringify(row));
});
