/** What `explain`, the API and the page say: for each reason, where the chain stops, and with which words. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planNow, type Considered, type Pushed } from '../../../src/service/explain/plan-now.ts';
import { explainPlanned, type Step } from '../../../src/service/explain/steps.ts';
import { checkId } from '../../../src/core/model/rollout-check.ts';
import type { ImagePolicy, PolicySpec } from '../../../src/core/model/image-policy.ts';
import { reasons, type Reason } from '../../../src/core/model/reasons.ts';
import type { PolicyStatus } from '../../../src/core/model/policy-status.ts';
import type { Workload } from '../../../src/core/model/workload.ts';
import type { ClusterView } from '../../../src/service/reconcile/ports.ts';
import { guards } from '../../../src/core/plan/guards/index.ts';
import { digestOf, noAliases, policyOf, specOf, workloadOf } from '../../core/model/samples.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import { changedWorkload, entryOf, rolloutOf, viewOf, withLastUpdate } from '../../core/rollout/rollout-samples.ts';

const image = 'registry.example.com/shop/web';
const now = Date.parse('2026-03-01T12:01:00Z');
const latest = { tag: '1.3.0', digest: digestOf('b'), selectedAt: '2026-03-01T12:00:00Z' };
const running = (tag: string, more: Partial<Workload> = {}) => workloadOf({ web: `${image}:${tag}` }, more);

interface Given {
  readonly spec?: Partial<PolicySpec> | ImagePolicy['spec'];
  readonly status?: PolicyStatus;
  readonly actions?: ImagePolicy['actions'];
  readonly workloads?: readonly Workload[];
  readonly why?: string;
  readonly push?: string;
  readonly cluster?: Partial<ClusterView>;
}

async function explain({ spec = {}, status = { latest }, actions, workloads = [running('1.2.3')], why, push, cluster }: Given) {
  const policy = policyOf({ spec: 'problem' in spec ? spec : specOf(spec), status, ...(actions && { actions }) });
  const considered: Considered = { policy, why };
  const view: ClusterView = {
    ...viewOf(...workloads),
    aliases: noAliases,
    targetState: () => ({ since: 0 }),
    repeatsPerHour: 5,
    now: () => now,
    ...cluster,
  };
  const pushed: Pushed | undefined =
    push === undefined ? undefined : { name: image, repository: { registry: 'registry.example.com', path: 'shop/web' }, tag: push };
  return explainPlanned(await planNow(considered, () => view, pushed), pushed);
}

const at = '2026-03-01T11:00:00Z';
const held = workloadOf({ web: { image: `${image}:1.2.9`, imageOwner: 'kubectl-set', imageSetAt: at } });
const elsewhere = { targets: [{ kind: 'Deployment', namespace: 'ops', name: 'web' }] };
const waves = {
  rollout: { timeoutMs: 600_000, onFailure: 'Rollback', waves: { maxParallel: 1, pauseMs: 600_000, maxFailures: 1 } },
} as const;
const two = { targets: ['web', 'api'].map((name) => ({ kind: 'Deployment', namespace: 'shop', name })) };
const rollingOut = withLastUpdate(changedWorkload(rolloutOf(), { name: 'api', uid: 'uid-api' }));
const often = Array.from({ length: 5 }, (_, index) =>
  entryOf({ at: `2026-03-01T11:5${index}:00Z`, to: `${image}:1.3.0`, from: `${image}:1.2.3` }),
);

/** Where the chain stops or waits: step, result and reason; and the beginning of the words. */
const rows: [reason: string, given: Given, step: string, text: RegExp][] = [
  [
    'NamespaceNotSelected',
    { why: 'namespace shop is not selected by the configuration' },
    'namespace stop',
    /^namespace shop is not selected/,
  ],
  [
    'InvalidPolicy',
    { spec: { problem: { reason: 'InvalidPolicy', message: 'spec.targets: is missing' } } },
    'spec stop',
    /^spec\.targets: is missing/,
  ],
  ['Suspended', { spec: { suspended: true } }, 'spec stop', /^suspended: /],
  ['NotSelected', { push: 'main' }, 'tag stop', /not a semantic version/],
  ['MinAge', { spec: { minAgeMs: 3_600_000 } }, 'minAge wait', /^1h: 1\.3\.0 is pending until 2026-03-01T13:00:00Z/],
  [
    'MinAge',
    {
      spec: { minAgeMs: 7_200_000 },
      status: {
        waiting: { tag: '1.3.0', digest: digestOf('b'), since: '2026-03-01T12:00:00Z', until: '2026-03-01T14:00:00Z', reason: 'MinAge' },
      },
    },
    'minAge wait',
    /^2h: 1\.3\.0 is pending until 2026-03-01T14:00:00Z/,
  ],
  ['TargetNotFound', { workloads: [] }, 'target stop', /^Deployment shop\/web does not exist/],
  ['ContainerNotFound', { workloads: [workloadOf({ web: 'nginx' })] }, 'target stop', /has no container that runs/],
  ['OlderThanRunning', { workloads: [running('1.4.0')] }, 'container stop', /^web stays at .*:1\.4\.0: /],
  [
    'NotComparable',
    { status: { latest, lastAppliedTag: '1.2.3' }, workloads: [running('main')] },
    'container stop',
    /^web stays at .*:main: /,
  ],
  [
    'CrossNamespaceDenied',
    { spec: elsewhere, cluster: { crossNamespace: 'deny' }, workloads: [running('1.2.3', { namespace: 'ops' })] },
    'target stop',
    /./,
  ],
  ['NoConsent', { spec: elsewhere, workloads: [running('1.2.3', { namespace: 'ops' })] }, 'target stop', /allow-policies-from/],
  [
    'RejectedDigest',
    { status: { latest, rejected: [{ digest: digestOf('b'), tag: '1.3.0', reason: 'CrashLoop', message: 'it crashes', at }] } },
    'rejected stop',
    /^1\.3\.0 .*failed its rollout.*it crashes/,
  ],
  ['Held', { status: { latest, history: [entryOf({ uid: held.uid })] }, workloads: [held] }, 'held stop', /kubectl-set changed web/],
  ['TargetPaused', { workloads: [running('1.2.3', { paused: true })] }, 'paused stop', /kubectl -n shop rollout resume/],
  ['DryRun', { spec: { mode: 'DryRun' } }, 'dry-run stop', /^dry run: Deployment shop\/web would be changed/],
  ['ApprovalRequired', { spec: { mode: 'Approval' } }, 'approval stop', /image-watcher approve shop\/web/],
  ['TooManyChanges', { status: { latest, history: often } }, 'repeats wait', /5 times within an hour/],
  [
    'Window',
    { spec: { windows: [{ from: '20:00', to: '22:00', timeZone: 'UTC' }] } },
    'window wait',
    /^1\.3\.0 is applied to Deployment shop\/web when the next window opens: 2026-03-01T20:00:00Z/,
  ],
  [
    'WavePending',
    { spec: { ...two, ...waves }, workloads: [running('1.2.3'), rollingOut] },
    'wave wait',
    /rolled out: Deployment shop\/api/,
  ],
];

for (const [reason, given, step, text] of rows) {
  test(`the chain stops with ${reason} at "${step}"`, async () => {
    const { allowed, steps, targets } = await explain(given);
    const found = [...steps, ...targets.flatMap((target) => target.steps)].filter(({ result }) => result === 'stop' || result === 'wait');
    const first = found.find((one) => one.reason === reason);
    assert.ok(first, JSON.stringify(found));
    assert.deepEqual([allowed, `${first.id} ${first.result}`], [false, step]);
    assert.match(first.text, text);
    assert.match(first.page ?? '', new RegExp(`/reasons\\.md#${reason.toLowerCase()}$`));
  });
}

test('without an obstacle, each step of the explanation says what it saw, and where a setting comes from', async () => {
  const { allowed, summary, candidate, steps, targets } = await explain({});
  assert.deepEqual([allowed, candidate?.tag], [true, '1.3.0']);
  assert.match(summary, /^shop\/web selects .*: 1\.3\.0@sha256:b+$/);
  const line = ({ id, result, origin }: Step) => [id, result, origin].filter((part) => part !== undefined).join(' ');
  assert.deepEqual(steps.map(line), [
    'namespace pass',
    'spec pass',
    'tag pass',
    ...['poll', 'minAge', 'windows', 'rollout'].map((name) => `${name} note ${specOf().origins[name as 'poll']}`),
  ]);
  assert.deepEqual(
    targets.flatMap((target) => target.steps.map(line)),
    ['target pass', 'container pass', ...guards.map(({ id }) => `${id} pass`)],
  );
});

test('a change to a version that is far from the running one is marked as such, even where a range admits it', async () => {
  const spec = { strategy: strategies.semver({ range: '>=1' }) };
  const textOf = async (tag: string) => {
    const { targets } = await explain({ spec, status: { latest: { ...latest, tag } } });
    return targets[0]?.steps.find(({ id }) => id === 'container')?.text;
  };
  const change = (tag: string) => `web would be changed from ${image}:1.2.3 to ${image}:${tag}`;
  assert.equal(await textOf('2021.12.16'), `${change('2021.12.16')}, but 2021.12.16 is far from 1.2.3, which runs`);
  assert.equal(await textOf('2.0.0'), change('2.0.0'));
});

test('a first change that is held because its image is older is not explained as one that would be made', async () => {
  const message = 'Deployment shop/web: web: the image of 1.3.0 was created on 2026-02-01, before that of 1.2.3 (2026-02-20), which runs';
  const since = { lastTransitionTime: '2026-03-01T12:00:00Z' };
  const conditions = [
    { type: 'Ready' as const, status: 'True' as const, reason: 'UpToDate' as const, message: '', ...since },
    { type: 'Held' as const, status: 'True' as const, reason: 'UnlikelyVersion' as const, message, ...since },
  ];
  const given = { spec: { strategy: strategies.semver({}) }, status: { latest, conditions } };
  const { allowed, steps } = await explain(given);
  const held = steps.find(({ reason }) => reason === 'UnlikelyVersion');
  assert.deepEqual([allowed, held?.result, held?.text], [false, 'stop', `since 2026-03-01T12:00:00Z: ${message}`]);
  const pushed = await explain({ ...given, push: '1.3.0' });
  assert.deepEqual([pushed.allowed, pushed.summary], [false, `a push of 1.3.0 would change nothing: UnlikelyVersion: ${message}`]);
  assert.equal((await explain({ ...given, push: '1.4.0' })).allowed, true);
  assert.equal((await explain({ ...given, actions: { release: at } })).allowed, true);
});

test('the explanation of a push names what only the registry knows', async () => {
  const spec = { strategy: strategies.digest({ tag: 'main' }), pin: 'Digest' as const };
  const given = { spec, status: {}, workloads: [running(`main@${digestOf('a')}`)], push: 'main' };
  const { allowed, steps } = await explain(given);
  const tag = steps.find(({ id }) => id === 'tag');
  assert.deepEqual([allowed, tag?.result], [false, 'stop']);
  assert.match(tag?.text ?? '', /only if its digest is another one/);
});

const stalledBy = (reason: string): NonNullable<PolicyStatus['conditions']> =>
  (['Ready', 'Stalled'] as const).map((type) => ({
    type,
    status: type === 'Ready' ? 'False' : 'True',
    reason,
    message: `because of ${reason}`,
    lastTransitionTime: at,
  }));

for (const reason of Object.keys(reasons) as Reason[])
  test(`a policy that is stalled by ${reason} is explained with it, whether it has selected an image before or not`, async () => {
    for (const known of [{ latest }, {}]) {
      const { allowed, steps, targets } = await explain({ status: { ...known, conditions: stalledBy(reason) } });
      const found = [...steps, ...targets.flatMap((target) => target.steps)].find(
        (step) => step.reason === reason && step.result === 'stop',
      );
      assert.deepEqual([allowed, found?.id], [false, 'latest' in known ? 'status' : 'tag']);
      assert.match(found?.text ?? '', new RegExp(`because of ${reason}`));
    }
  });

test('the explanation waits for a policy that is being rolled out, or whose spec was just changed', async () => {
  const conditions = [{ type: 'Ready', status: 'False', reason: 'Progressing', message: 'rolling out', lastTransitionTime: at }] as const;
  const rolling = await explain({ status: { latest, conditions } });
  assert.deepEqual([rolling.allowed, rolling.steps.find(({ id }) => id === 'status')?.result], [true, 'wait']);
  const changed = await explain({ status: { latest, observedGeneration: 0, conditions: stalledBy('RegistryDenied') } });
  assert.match(changed.steps.find(({ id }) => id === 'status')?.text ?? '', /has not been reconciled since/);
});

test('a reason that stalls a policy does not stop the explanation of another push', async () => {
  const { allowed, steps } = await explain({ status: { latest, conditions: stalledBy('NotSigned') }, push: '1.4.0' });
  assert.deepEqual([allowed, steps.find(({ id }) => id === 'status')?.result], [true, 'note']);
});

test('an explanation stops at a registry that fails, or at an image that waits beside the selected one', async () => {
  for (const reason of ['RegistryUnavailable', 'MinAge']) {
    const conditions = (['Ready', 'Reconciling'] as const).map((type) => ({
      type,
      status: type === 'Ready' ? ('False' as const) : ('True' as const),
      reason,
      message: `because of ${reason}`,
      lastTransitionTime: at,
    }));
    const { allowed, steps } = await explain({ status: { latest, conditions } });
    assert.deepEqual([allowed, steps.find(({ id }) => id === 'status')?.reason], [false, reason]);
  }
});

test('an explanation names companions with the selected image and with each container that would be changed', async () => {
  const proxy = 'registry.example.com/shop/proxy';
  const beside = {
    images: [{ repository: { registry: 'registry.example.com', path: 'shop/proxy' } }],
    match: 'SameTag',
    withinMs: 1,
  } as const;
  const set = { ...latest, companions: [{ image: proxy, tag: '1.3.0', digest: digestOf('c') }], setDigest: digestOf('d') };
  const workloads = [workloadOf({ web: `${image}:1.2.3`, proxy: `${proxy}:1.2.3` })];
  const { summary, candidate, targets } = await explain({ spec: { alongside: beside }, status: { latest: set }, workloads });
  assert.match(summary, new RegExp(`1\\.3\\.0@${latest.digest} with ${proxy}:1\\.3\\.0@${digestOf('c')}$`));
  assert.deepEqual(candidate?.companions, set.companions);
  const texts = targets.flatMap(({ steps }) => steps.map(({ text }) => text));
  assert.deepEqual(
    texts.filter((text) => text.includes('would be changed')),
    [`web would be changed from ${image}:1.2.3 to ${image}:1.3.0`, `proxy would be changed from ${proxy}:1.2.3 to ${proxy}:1.3.0`],
  );
});

test('each check of an image is a step with its last answer, and the guard explains that the image is held', async () => {
  const question = { kind: 'http', url: 'https://checks.example.com', secret: { name: 'checks', key: 'key' } } as const;
  const check = { name: 'smoke', phase: 'after', everyMs: 1_000, timeoutMs: 60_000, retries: 0, question } as const;
  const spec = { rollout: { timeoutMs: 600_000, onFailure: 'Rollback', checks: [check] } } as const;
  const startedAt = '2026-03-01T12:00:30.000Z';
  const record = { name: 'smoke', phase: 'after', id: checkId(policyOf(), check, latest, startedAt), ...latest, startedAt } as const;
  const stepOf = async (checks: PolicyStatus['checks'], push?: string) => {
    const { allowed, steps } = await explain({ spec, status: { latest, ...(checks && { checks }) }, ...(push !== undefined && { push }) });
    const { id: _, ...step } = steps.find(({ id }) => id === 'check') ?? assert.fail();
    return { allowed, ...step };
  };
  const until = '2026-03-01T12:01:30.000Z';
  const notAsked = { allowed: true, result: 'note', text: 'the check smoke is asked when what was changed has rolled out' };
  assert.deepEqual(await stepOf(undefined), notAsked);
  const running = { ...record, state: 'Running', message: 'busy' } as const;
  assert.deepEqual(await stepOf([running]), { allowed: true, result: 'note', text: 'the check smoke has no verdict yet: busy', until });
  assert.deepEqual(await stepOf([{ ...record, state: 'Passed' }]), { allowed: true, result: 'pass', text: 'the check smoke passed' });
  const failed = await stepOf([{ ...record, state: 'Failed', message: 'checkout answers 500' }]);
  assert.deepEqual(
    [failed.result, failed.text, failed.reason, failed.allowed],
    ['note', 'the check smoke failed: checkout answers 500', 'CheckFailed', false],
    'the guard `checks` holds the image',
  );
  assert.deepEqual(await stepOf([{ ...record, state: 'Failed' }], '1.4.0'), notAsked, 'of another image');
});
