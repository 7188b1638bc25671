/** Forms in which the cluster may store an image that the policy knows: whatever admission, people and other tools make of it, it is that image. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Candidate } from '../../../src/core/model/image-reference.ts';
import type { PolicySpec } from '../../../src/core/model/image-policy.ts';
import type { LastUpdate } from '../../../src/core/model/last-update.ts';
import type { HistoryEntry, PolicyStatus } from '../../../src/core/model/policy-status.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import type { WorkloadContainer } from '../../../src/core/model/workload.ts';
import { planUpdate } from '../../../src/core/plan/plan-update.ts';
import { runningTags } from '../../../src/core/plan/running-images.ts';
import { allKnown, appliedOnce, digestOf, latestSpec, specOf, workloadOf } from '../model/samples.ts';

const image = 'registry.example.com/shop/web';
const [a, b, c] = [digestOf('a'), digestOf('b'), digestOf('c')];
const aliases = new Map([['mirror.example.com', 'registry.example.com']]);
const applied = (change: Partial<HistoryEntry> = {}): HistoryEntry[] => appliedOnce('1.3.0').map((entry) => ({ ...entry, ...change }));
const record: LastUpdate = {
  policy: 'uid-of-shop-web',
  at: '2026-01-01T00:00:00Z',
  trigger: 'Webhook',
  from: `${image}:1.2.0@${c}`,
  to: `${image}:1.3.0`,
  digest: a,
};
const ours = { imageOwner: 'image-watcher', lastUpdate: record };
const pinned = specOf({ pin: 'Digest' });

interface Row {
  readonly runs: string;
  readonly container?: Partial<WorkloadContainer>;
  readonly status?: PolicyStatus;
  readonly candidate?: Candidate;
  readonly spec?: PolicySpec;
  readonly becomes: string;
}

const rows: Record<string, Row> = {
  'the digest of the history': { runs: `${image}@${a}`, status: { history: applied({ digest: a }) }, becomes: 'UpToDate' },
  'the digest of what was selected last': {
    runs: `${image}@${a}`,
    status: { latest: { tag: '1.3.0', digest: a, selectedAt: '2026-01-01T00:00:00Z' } },
    becomes: 'UpToDate',
  },
  'a digest that the history shows as what was stored': {
    runs: `${image}@${b}`,
    status: { history: applied({ digest: a, to: `${image}@${b}` }) },
    becomes: 'UpToDate',
  },
  'a digest that ran before, by the history': {
    runs: `${image}@${c}`,
    status: { history: applied({ digest: a, from: `${image}:1.2.0@${c}` }) },
    becomes: `${image}:1.3.0`,
  },
  'the digest of the record on the workload': { runs: `${image}@${a}`, container: { lastUpdate: record }, becomes: 'UpToDate' },
  'a digest that ran before, by the record on the workload': {
    runs: `${image}@${c}`,
    container: { lastUpdate: record },
    becomes: `${image}:1.3.0`,
  },
  'the digest of one platform, which admission made of our tag': { runs: `${image}@${b}`, container: ours, becomes: 'UpToDate' },
  'our tag with the digest of one platform': {
    runs: `${image}:1.3.0@${b}`,
    container: ours,
    candidate: { tag: '1.3.0', digest: a },
    becomes: 'UpToDate',
  },
  'the same, pinned': {
    runs: `${image}:1.3.0@${b}`,
    container: ours,
    candidate: { tag: '1.3.0', digest: a },
    spec: pinned,
    becomes: 'UpToDate',
  },
  'our digest without its tag, pinned': {
    runs: `${image}@${a}`,
    container: ours,
    candidate: { tag: '1.3.0', digest: a },
    spec: pinned,
    becomes: 'UpToDate',
  },
  'an older digest of ours, when a newer version comes': {
    runs: `${image}@${a}`,
    container: { lastUpdate: record },
    candidate: { tag: '1.4.0' },
    becomes: `${image}:1.4.0`,
  },
  'our digest at a host that is an alias': { runs: `mirror.example.com/shop/web@${a}`, container: ours, becomes: 'UpToDate' },
  'our tag at a host that is an alias': { runs: 'mirror.example.com/shop/web:1.3.0', container: ours, becomes: 'UpToDate' },
  'the digest that latest had': {
    runs: `${image}@${a}`,
    status: { history: applied({ tag: 'latest', digest: a }) },
    candidate: { tag: 'latest', digest: b },
    spec: latestSpec(),
    becomes: `${image}:latest@${b}`,
  },
  'a digest that a rebased image has, by the record on the workload': {
    runs: `${image}@${a}`,
    container: { lastUpdate: { ...record, from: `${image}:1.3.0`, to: `${image}:1.3.0-base.20261123` } },
    becomes: 'UpToDate',
  },
  'the replaced tag by its digest': {
    runs: `${image}@${a}`,
    container: { lastUpdate: record },
    candidate: { tag: '1.3.0-base.20261123' },
    spec: specOf({ strategy: strategies.replace({ from: '1.3.0', to: '1.3.0-base.20261123' }) }),
    becomes: `${image}:1.3.0-base.20261123`,
  },
  'a digest that nothing knows': { runs: `${image}@${b}`, container: { lastUpdate: record }, becomes: 'NotComparable' },
};

for (const [name, { runs, container, status = {}, candidate = { tag: '1.3.0' }, spec = specOf(), becomes }] of Object.entries(rows)) {
  test(`${name} is planned as ${becomes}`, () => {
    const workload = workloadOf({ web: { image: runs, ...container } });
    const input = { spec, candidate, hasApplied: true, aliases, status, ...allKnown, findWorkload: () => workload };
    const [target] = planUpdate(input).targets;
    assert.equal(target?.changes[0]?.to ?? target?.unchanged[0]?.reason, becomes, target?.unchanged[0]?.message);
  });
}

test('a running digest is listed with the tag by which it is known', () => {
  const workload = workloadOf({ web: { image: `${image}@${a}` }, sidecar: `${image}@${b}`, other: image });
  const view = { findWorkload: () => workload, listWorkloads: () => [] };
  assert.deepEqual(runningTags({ spec: specOf(), status: { history: applied({ digest: a }) } }, view, aliases), ['1.3.0', 'latest']);
});
