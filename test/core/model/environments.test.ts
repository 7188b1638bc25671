import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HistoryEntry, PolicyStatus } from '../../../src/core/model/policy-status.ts';
import { imagesOnTheirWay, type Environment } from '../../../src/core/model/environments.ts';
import { appliedOnce, digestOf, policyOf, webDeployment } from './samples.ts';

const [a, b] = [digestOf('a'), digestOf('b')];
const since = '2026-03-01T12:00:00Z';
const runs = (digest: string): PolicyStatus => ({
  targets: [{ ...webDeployment, container: 'web', image: `registry.example.com/shop/web@${digest}`, state: 'UpToDate' }],
});
const changed = (result: HistoryEntry['result']): PolicyStatus => ({
  history: appliedOnce('1.1.0').map((entry) => ({ ...entry, digest: b, at: since, result })),
});
const condition = (type: string, reason: string): PolicyStatus => ({
  conditions: [{ type, status: 'True', reason, message: 'because', lastTransitionTime: since }],
});
const why = (reason: string) => ({ reason, message: 'because' });
function stagesOf(status: PolicyStatus, digest = b): object | undefined {
  const [stage] = imagesOnTheirWay([policyOf({ status })]).find((one) => one.digest === digest)?.stages ?? [];
  if (stage === undefined) return undefined;
  const { namespace, name, ...about } = stage;
  assert.equal(`${namespace}/${name}`, 'shop/web');
  return about;
}

const rows: readonly (readonly [name: string, status: PolicyStatus, stage: object | undefined])[] = [
  ['unknown', runs(a), undefined],
  ['healthy', { ...runs(b), healthy: { digest: b, since } }, { state: 'Healthy', since }],
  ['runs', { ...runs(b), ...changed('RolledOut') }, { state: 'Runs', since }],
  ['runs since unknown', runs(b), { state: 'Runs' }],
  [
    'rolling out',
    {
      ...runs(b),
      ...changed('Applied'),
      ...condition('Reconciling', 'Progressing'),
      rollouts: { progressing: 1, done: 0, failed: 0, rolledBack: 0 },
    },
    { state: 'RollingOut', since, ...why('Progressing') },
  ],
  [
    'on some targets',
    { targets: [...(runs(a).targets ?? []), ...(runs(b).targets ?? [])], latest: { tag: '1.1.0', digest: b, selectedAt: since } },
    { state: 'RollingOut' },
  ],
  [
    'failed and rolled back',
    { ...runs(a), rejected: [{ digest: b, reason: 'RolloutFailed', at: since }] },
    { state: 'Failed', since, reason: 'RolloutFailed' },
  ],
  ['failed and left', { ...runs(b), ...changed('Failed') }, { state: 'Failed', since }],
  [
    'approval',
    {
      ...runs(a),
      latest: { tag: '1.1.0', digest: b, selectedAt: since },
      pendingApproval: { tag: '1.1.0', digest: b },
      ...condition('ApprovalRequired', 'ApprovalRequired'),
    },
    { state: 'Approval', since, ...why('ApprovalRequired') },
  ],
  [
    'waits',
    { ...runs(a), waiting: { tag: '1.1.0', digest: b, since, until: '2026-03-01T13:00:00Z', reason: 'NotProven' } },
    { state: 'Waits', since, until: '2026-03-01T13:00:00Z', reason: 'NotProven' },
  ],
  [
    'waits for somebody',
    { ...runs(a), latest: { tag: '1.1.0', digest: b, selectedAt: since }, ...condition('Held', 'ManualChange') },
    { state: 'Waits', since, ...why('ManualChange') },
  ],
  [
    'not copied',
    { ...runs(a), follows: [{ namespace: 'staging', name: 'web', digest: b, since }], ...condition('Reconciling', 'NotCopied') },
    { state: 'NotCopied', ...why('NotCopied') },
  ],
];
for (const [name, status, stage] of rows)
  test(`the stage of an image is found in the case "${name}"`, () => assert.deepEqual(stagesOf(status), stage));

test('an image that ran before is shown as "Ran" for a policy where another policy still knows it', () => {
  const before = policyOf({ name: 'staging', status: { ...runs(a), ...changed('RolledOut') } });
  const images = imagesOnTheirWay([before, policyOf({ name: 'production', status: runs(b) })]);
  assert.deepEqual(
    images.map(({ digest, tag, repository, stages }) => [digest, tag, repository, stages.map(({ name, state }) => `${name} ${state}`)]),
    [
      [a, undefined, 'registry.example.com/shop/web', ['staging Runs']],
      [b, '1.1.0', 'registry.example.com/shop/web', ['staging Ran', 'production Runs']],
    ],
  );
});

test('a policy that the caller may not read is shown only with what its follower has seen of it', () => {
  const seen: Environment = { namespace: 'staging', name: 'web', digest: b, tag: '1.1.0', since };
  assert.deepEqual(imagesOnTheirWay([seen]), [
    { digest: b, tag: '1.1.0', stages: [{ namespace: 'staging', name: 'web', state: 'Healthy', since }] },
  ]);
  assert.deepEqual(imagesOnTheirWay([{ namespace: 'staging', name: 'web', message: 'it does not exist' }]), []);
});

test('images of companions are not shown, and at most ten images are listed', () => {
  const companion = (runs(a).targets ?? []).map((one) => ({ ...one, companion: true }));
  assert.deepEqual(imagesOnTheirWay([policyOf({ status: { targets: companion } })]), []);
  const many = '0123456789abcdef'.split('').map((letter) => policyOf({ name: `p${letter}`, status: runs(digestOf(letter)) }));
  assert.equal(imagesOnTheirWay(many).length, 10);
});
