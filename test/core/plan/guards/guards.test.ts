/** Each guard by itself, in one table; what they make of a plan together is in guard-plan.test.ts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { approval } from '../../../../src/core/plan/guards/approval.ts';
import { dryRun } from '../../../../src/core/plan/guards/dry-run.ts';
import type { Guard } from '../../../../src/core/plan/guards/guard.ts';
import { held } from '../../../../src/core/plan/guards/held.ts';
import { paused } from '../../../../src/core/plan/guards/paused.ts';
import { rejected } from '../../../../src/core/plan/guards/rejected.ts';
import { repeats } from '../../../../src/core/plan/guards/repeats.ts';
import { reverted } from '../../../../src/core/plan/guards/reverted.ts';
import { rewritten } from '../../../../src/core/plan/guards/rewritten.ts';
import { window } from '../../../../src/core/plan/guards/window.ts';
import type { RejectedImage, Reversion } from '../../../../src/core/model/policy-status.ts';
import { strategies } from '../../../../src/core/select/strategies/index.ts';
import { digestOf, policyOf, webDeployment } from '../../model/samples.ts';
import { entryOf, image, evaluateGuards, type Case } from './context.ts';

const [a, b, c] = [digestOf('a'), digestOf('b'), digestOf('c')];
const by = (imageOwner: string, tag = '1.2.3', imageSetAt = '2026-03-02T10:00:00Z') => ({
  image: `${image}:${tag}`,
  imageOwner,
  imageSetAt,
});
const unowned = { image: `${image}:1.2.3` };
const applied = { status: { history: [entryOf('1.3.0')] } };
const latest = { strategy: strategies.digest({ tag: 'latest' }), pin: 'Digest' as const };
const failed: RejectedImage = { digest: b, tag: '1.3.0', reason: 'CrashLoop', at: '2026-03-01T13:00:00Z' };
const rolledBack: RejectedImage = { ...failed, reason: 'RollbackRequested' };
const reversion: Reversion = {
  ...webDeployment,
  container: 'web',
  tag: '1.3.0',
  digest: b,
  count: 1,
  at: '2026-03-01T11:30:00Z',
};
const revertedOnce = { status: { history: [entryOf('1.3.0')], reverted: [reversion] } };
const revertedTwice = {
  status: { history: [entryOf('1.3.0')], reverted: [{ ...reversion, count: 2 }] },
};
const others = (count: number) => Array.from({ length: count }, (_, index) => ({ ...reversion, name: `other-${index}` }));
const historyAt = (...at: string[]) => ({ status: { history: at.map((time) => entryOf('1.3.0', { at: time })) } });
const recent = ['2026-03-02T11:50:00Z', '2026-03-02T11:40:00Z', '2026-03-02T11:30:00Z', '2026-03-02T11:20:00Z', '2026-03-02T11:10:00Z'];
/** Runs what somebody put in the place of 1.3.0, which the container was changed to at these times. */
const remembering = (at: readonly string[], policy = policyOf().uid) => ({
  ...by('image-watcher'),
  lastUpdate: {
    policy,
    at: '2026-03-02T11:55:00Z',
    trigger: 'Webhook' as const,
    from: `${image}:1.3.0`,
    to: `${image}:1.2.3`,
    earlier: [{ tag: '1.3.0', digest: b, at }],
  },
});
/** What somebody put in the place of an image that a policy had applied. */
const setOver = (policy: string, tag = '1.4.0') => ({
  ...by('kubectl-set'),
  lastUpdate: { policy, at: '2026-03-02T09:00:00Z', trigger: 'Webhook' as const, from: `${image}:1.2.2`, to: `${image}:${tag}` },
});
const closed = { windows: [{ from: '20:00', to: '22:00', timeZone: 'UTC' }] };

const rows: [guard: Guard, name: string, given: Case, expected: string][] = [
  [dryRun, 'automatic', {}, 'pass'],
  [dryRun, 'dry run', { spec: { mode: 'DryRun' } }, 'blocked DryRun'],

  [approval, 'automatic', {}, 'pass'],
  [approval, 'nobody approved', { spec: { mode: 'Approval' } }, 'blocked ApprovalRequired'],
  [approval, 'approved', { spec: { mode: 'Approval' }, actions: { approve: `1.3.0@${b}` } }, 'pass'],
  [approval, 'another digest is approved', { spec: { mode: 'Approval' }, actions: { approve: `1.3.0@${a}` } }, 'blocked ApprovalRequired'],
  [approval, 'another tag is approved', { spec: { mode: 'Approval' }, actions: { approve: `1.2.9@${b}` } }, 'blocked ApprovalRequired'],
  [approval, 'only a tag', { spec: { mode: 'Approval' }, actions: { approve: '1.3.0' } }, 'blocked ApprovalRequired'],
  [
    approval,
    'the digest is not known yet',
    { spec: { mode: 'Approval' }, actions: { approve: `1.3.0@${b}` }, candidate: { tag: '1.3.0' } },
    'blocked ApprovalRequired',
  ],

  [window, 'always', {}, 'pass'],
  [window, 'open', { spec: { windows: [{ from: '09:00', to: '17:00', timeZone: 'UTC' }] } }, 'pass'],
  [window, 'closed', { spec: closed }, 'waits Window 2026-03-02T20:00:00.000Z'],

  [paused, 'not paused', {}, 'pass'],
  [paused, 'paused', { workload: { paused: true } }, 'blocked TargetPaused'],

  [held, 'never changed by us', { runs: by('kubectl-create') }, 'pass'],
  [held, 'ours, as a crash leaves it', { runs: by('image-watcher'), ...applied }, 'pass'],
  [held, 'kubectl', { runs: by('kubectl-set'), ...applied }, 'blocked Held'],
  [held, 'a manager that nobody knows', { runs: by('OpenAPI-Generator'), ...applied }, 'blocked Held'],
  [held, 'a GitOps tool', { runs: by('argocd-controller'), ...applied }, 'pass'],
  [held, 'nobody is recorded, but it is not what we made of it', { runs: unowned, ...applied }, 'blocked Held'],
  [held, 'nobody is recorded, and it is Helm’s', { runs: unowned, workload: { gitOps: 'Helm' }, ...applied }, 'pass'],
  [
    held,
    'another container was changed by us',
    { runs: by('kubectl'), status: { history: [entryOf('1.3.0', { container: 'x' })] } },
    'pass',
  ],
  [held, 'something newer', { runs: by('kubectl'), ...applied, candidate: { tag: '1.3.1', digest: c } }, 'pass'],
  [held, 'the same tag, moved', { runs: by('kubectl'), ...applied, candidate: { tag: '1.3.0', digest: c } }, 'pass'],
  [held, 'something older', { runs: by('kubectl'), ...applied, candidate: { tag: '1.2.9', digest: c } }, 'blocked Held'],
  [held, 'the digest is not known yet', { runs: by('kubectl'), ...applied, candidate: { tag: '1.3.0' } }, 'blocked Held'],
  [
    held,
    'a mutable tag, moved',
    {
      runs: { ...by('kubectl'), image: `${image}:latest@${a}` },
      spec: latest,
      status: { history: [entryOf('latest')] },
      candidate: { tag: 'latest', digest: c },
    },
    'pass',
  ],
  [
    held,
    'a mutable tag, at the same',
    {
      runs: { ...by('kubectl'), image: `${image}:latest@${a}` },
      spec: latest,
      status: { history: [entryOf('latest')] },
      candidate: { tag: 'latest', digest: b },
    },
    'blocked Held',
  ],
  [held, 'what was applied is none of the policy’s any more', { runs: by('kubectl'), status: { history: [entryOf('main')] } }, 'pass'],
  [held, 'what another policy applied', { runs: setOver('another') }, 'blocked Held'],
  [held, 'what another policy applied, and this one never selects', { runs: setOver('another', 'main') }, 'blocked Held'],
  [held, 'released afterwards', { runs: by('kubectl'), ...applied, actions: { release: '2026-03-02T10:00:00Z' } }, 'pass'],
  [held, 'released before', { runs: by('kubectl'), ...applied, actions: { release: '2026-03-02T09:59:59Z' } }, 'blocked Held'],
  [
    held,
    'released later',
    { runs: by('kubectl'), ...applied, actions: { release: '2026-03-03T10:00:00Z' } },
    'waits Held 2026-03-03T10:00:00.000Z',
  ],
  [held, 'released without a time', { runs: by('kubectl'), ...applied, actions: { release: 'yes' } }, 'blocked Held'],
  [held, 'nobody is recorded, released', { runs: unowned, ...applied, actions: { release: '2026-03-01T12:00:00Z' } }, 'pass'],

  [rejected, 'another digest', { status: { rejected: [{ ...failed, digest: a }] } }, 'pass'],
  [rejected, 'failed', { status: { rejected: [failed] } }, 'refused RejectedDigest'],
  [
    rejected,
    'failed, under another tag',
    { status: { rejected: [failed] }, candidate: { tag: '1.3.1', digest: b } },
    'refused RejectedDigest',
  ],
  [rejected, 'not newer than what failed', { status: { rejected: [failed] }, candidate: { tag: '1.2.9', digest: c } }, 'pass'],
  [rejected, 'left by a user', { status: { rejected: [rolledBack] } }, 'blocked RejectedDigest'],
  [
    rejected,
    'not newer than what a user left',
    { status: { rejected: [rolledBack] }, candidate: { tag: '1.2.9', digest: c } },
    'blocked RejectedDigest',
  ],
  [rejected, 'newer than what a user left', { status: { rejected: [rolledBack] }, candidate: { tag: '1.3.1', digest: c } }, 'pass'],
  [rejected, 'released', { status: { rejected: [rolledBack] }, actions: { release: '2026-03-01T13:00:00Z' } }, 'pass'],
  [rejected, 'failed, released', { status: { rejected: [failed] }, actions: { release: '2026-03-01T13:00:00Z' } }, 'pass'],
  [
    rejected,
    'released before it failed',
    { status: { rejected: [failed] }, actions: { release: '2026-03-01T12:59:59Z' } },
    'refused RejectedDigest',
  ],

  [reverted, 'a human', { runs: by('kubectl'), ...revertedTwice }, 'pass'],
  [reverted, 'for the first time', { runs: by('argocd-controller'), ...applied }, 'pass'],
  [reverted, 'for the second time', { runs: by('argocd-controller'), ...revertedOnce }, 'refused ChangeReverted'],
  [
    reverted,
    'one of more than the status has room for',
    { runs: by('argocd-controller'), status: { history: [entryOf('1.3.0')], reverted: others(10) } },
    'refused ChangeReverted',
  ],
  [
    reverted,
    'for the first time, when others were before',
    { runs: by('argocd-controller'), status: { history: [entryOf('1.3.0')], reverted: others(9) } },
    'pass',
  ],
  [reverted, 'told before', { runs: by('helm'), ...revertedTwice }, 'refused ChangeReverted'],
  [reverted, 'something newer', { runs: by('helm'), ...revertedTwice, candidate: { tag: '1.4.0', digest: c } }, 'pass'],
  [
    reverted,
    'nobody is recorded, and it is Flux’s',
    { runs: unowned, workload: { gitOps: 'Flux' }, ...revertedTwice },
    'refused ChangeReverted',
  ],
  [reverted, 'released', { runs: by('helm'), ...revertedTwice, actions: { release: '2026-03-02T00:00:00Z' } }, 'pass'],

  [rewritten, 'nothing was rewritten', { ...applied }, 'pass'],
  [
    rewritten,
    'as the API server answered',
    { runs: `${image}:1.2.3-hardened`, status: { history: [entryOf('1.3.0', { to: `${image}:1.2.3-hardened` })] } },
    'blocked UpToDate',
  ],
  [
    rewritten,
    'changed after that',
    { runs: `${image}:1.2.3`, status: { history: [entryOf('1.3.0', { to: `${image}:1.2.3-hardened` })] } },
    'pass',
  ],
  [
    rewritten,
    'something newer',
    { runs: `${image}:1.2.3-hardened`, status: { history: [entryOf('1.2.3', { to: `${image}:1.2.3-hardened`, digest: a })] } },
    'pass',
  ],
  [rewritten, 'the policy pins digests now', { runs: `${image}:1.3.0`, spec: { pin: 'Digest' }, ...applied }, 'pass'],
  [
    rewritten,
    'its digest was rewritten',
    { runs: `${image}:1.3.0@${c}`, spec: { pin: 'Digest' }, status: { history: [entryOf('1.3.0', { to: `${image}:1.3.0@${c}` })] } },
    'blocked UpToDate',
  ],

  [repeats, 'often, but not within the hour', historyAt(...recent.slice(0, 4), '2026-03-02T10:59:59Z'), 'pass'],
  [repeats, 'too often', historyAt(...recent), 'waits TooManyChanges 2026-03-02T12:10:00.000Z'],
  [repeats, 'too often, but something else', { ...historyAt(...recent), candidate: { tag: '1.3.1', digest: c } }, 'pass'],
  [
    repeats,
    'as often as is configured',
    { ...historyAt(...recent.slice(0, 2)), context: { repeatsPerHour: 2 } },
    'waits TooManyChanges 2026-03-02T12:40:00.000Z',
  ],
  [repeats, 'too often, as the container remembers', { runs: remembering(recent) }, 'waits TooManyChanges 2026-03-02T12:10:00.000Z'],
  [
    repeats,
    'too often, by other policies too',
    { runs: remembering(recent, 'of another') },
    'waits TooManyChanges 2026-03-02T12:10:00.000Z',
  ],
  [repeats, 'often, as the container remembers', { runs: remembering(recent.slice(1)) }, 'pass'],
  [repeats, 'too often, but another image under the tag', { runs: remembering(recent), candidate: { tag: '1.3.0', digest: c } }, 'pass'],
  [repeats, 'too often, but before the hour', { runs: remembering([...recent.slice(0, 4), '2026-03-02T11:00:00Z']) }, 'pass'],
  [repeats, 'too often, at a time that somebody forged', { runs: remembering(recent.map(() => '2099-01-01T00:00:00Z')) }, 'pass'],
  [
    repeats,
    'too often, as the container and the history know together',
    { runs: remembering(recent.slice(0, 2)), ...historyAt(...recent) },
    'waits TooManyChanges 2026-03-02T12:10:00.000Z',
  ],
  [repeats, 'of another workload', { status: { history: recent.map((at) => entryOf('1.3.0', { at, name: 'other' })) } }, 'pass'],
];

for (const [guard, name, given, expected] of rows) {
  test(`the guard ${guard.id} answers "${expected}" in the case "${name}"`, () => {
    const { problem, blocked, until, changed } = evaluateGuards(given, guard);
    if (expected === 'pass') {
      assert.deepEqual([problem, blocked, changed], [undefined, undefined, ['web']]);
      return;
    }
    const found = problem === undefined ? [blocked?.kind, blocked?.reason, until] : ['refused', problem.reason];
    assert.equal(found.filter((part) => part !== undefined).join(' '), expected);
    assert.deepEqual(changed, []);
  });
}

const messages: [guard: Guard, given: Case, message: RegExp][] = [
  [dryRun, { spec: { mode: 'DryRun' } }, /Deployment shop\/web would be changed: web from .*:1\.2\.3 to .*:1\.3\.0$/],
  [
    approval,
    { spec: { mode: 'Approval' } },
    /^1\.3\.0 waits for approval: approve it with image-watcher approve shop\/web, or with the annotation operator\.technomad\.dev\/approve: 1\.3\.0@sha256:b+$/,
  ],
  [approval, { spec: { mode: 'Approval' }, actions: { approve: `1.3.0@${a}` } }, /"1\.3\.0@sha256:a+" approves something else/],
  [approval, { spec: { mode: 'Approval' }, actions: { approve: 'yes' } }, /"yes" is not of the form TAG@sha256:…/],
  [window, { spec: closed }, /1\.3\.0 is applied to Deployment shop\/web when the next window opens: 2026-03-02T20:00:00Z/],
  [paused, { workload: { paused: true } }, /Deployment shop\/web is paused.*: kubectl -n shop rollout resume deployment\/web$/],
  [held, { runs: by('kubectl-set'), ...applied }, /kubectl-set changed web from .*:1\.3\.0 to .*:1\.2\.3\. .*newer than 1\.3\.0.*release/],
  [held, { runs: by('kubectl'), ...applied, actions: { release: 'yes' } }, /"yes" is no time such as/],
  [rejected, { status: { rejected: [rolledBack] } }, /1\.3\.0 was rolled back.*release/],
  [reverted, { runs: by('argocd-controller'), ...revertedOnce }, /argocd-controller has put Deployment shop\/web back 2 times/],
  [repeats, historyAt(...recent), /5 times within an hour.*another ImagePolicy/],
];

for (const [guard, given, message] of messages) {
  test(`the guard ${guard.id} has the message "${message.source.slice(0, 60)}"`, () => {
    const { problem, blocked } = evaluateGuards(given, guard);
    assert.match((problem ?? blocked)?.message ?? '', message);
  });
}

test('reversions are counted back to the last one', () => {
  const runs = by('argocd-controller');
  const countOf = (given: Case) => evaluateGuards({ runs, ...given }, reverted).reverted?.map(({ count, at }) => [count, at]);
  assert.deepEqual(countOf(applied), [[1, '2026-03-02T12:00:00Z']]);
  assert.deepEqual(countOf(revertedOnce), [[2, '2026-03-02T12:00:00Z']]);
  assert.deepEqual(countOf(revertedTwice), [[2, reversion.at]]);
});

test('after a release reversions are counted from the beginning', () => {
  const { reverted: counted } = evaluateGuards(
    { runs: by('helm'), ...revertedTwice, actions: { release: '2026-03-02T00:00:00Z' } },
    reverted,
  );
  assert.equal(counted?.[0]?.count, 1);
});

test('what one guard blocks does not affect the other containers', () => {
  const { changed, blocked } = evaluateGuards({ runs: by('kubectl'), other: by('image-watcher'), ...applied }, held);
  assert.deepEqual([changed, blocked?.changes.map(({ container }) => container)], [['other'], ['web']]);
});

test('a container that was changed in this reconcile and rewritten is not changed again', () => {
  const change = {
    workload: webDeployment,
    container: 'web',
    index: 0,
    from: `${image}:1.2.3`,
    to: `${image}:1.3.0`,
    became: `${image}:1.3.0-x`,
  };
  assert.equal(
    evaluateGuards({ runs: by('image-watcher', '1.3.0-x'), context: { applied: [change] } }, rewritten).blocked?.reason,
    'UpToDate',
  );
});
