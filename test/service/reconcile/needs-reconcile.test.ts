import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asSeenBy } from '../../../src/core/plan/consent.ts';
import type { ImagePolicy } from '../../../src/core/model/image-policy.ts';
import type { ContainerState } from '../../../src/core/model/policy-status.ts';
import type { Reason } from '../../../src/core/model/reasons.ts';
import type { Workload } from '../../../src/core/model/workload.ts';
import type { TargetState } from '../../../src/core/plan/plan-update.ts';
import { newTargetJob, type NeedsView } from '../../../src/service/reconcile/enqueue/needs-reconcile.ts';
import { createTargetIndex } from '../../../src/service/cluster/policy-indexes.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import { digestOf, policyOf, specOf, stalledStatus, webDeployment, workloadOf } from '../../core/model/samples.ts';
import { neededReconcile } from './world.ts';

const now = new Date('2026-03-01T12:00:00Z');
const workload = workloadOf({ web: 'registry.example.com/shop/web:1.2.3' }, { uid: 'w', generation: 7 });
/** The caches hold this workload, whichever is asked for. */
const viewWith = (found: Workload | undefined): NeedsView => ({
  findWorkload: ({ name }) => found && { ...found, name },
  listWorkloads: () => [],
  targetState: () => ({ since: 5 }),
  crossNamespace: 'consent',
  namespaceConsent: () => null,
});
const causeOf = (policy: ImagePolicy, found: Workload | undefined = workload) => neededReconcile(policy, viewWith(found), now)?.cause;

const settled = { observedGeneration: 1 };
const parent = { name: 'java', uid: 'p' };
const [condition] = stalledStatus('Suspended').conditions ?? [];
const suspended = { ...settled, conditions: condition === undefined ? [] : [{ ...condition, type: 'Ready' }] };
const unusable = (type: string) =>
  policyOf({
    spec: { problem: { reason: 'InvalidPolicy', message: 'no target' } },
    status: {
      ...settled,
      pendingApproval: { tag: '1.3.0', digest: digestOf('b') },
      conditions: condition === undefined ? [] : [{ ...condition, type }],
    },
    actions: { approve: `1.3.0@${digestOf('b')}` },
  });
const retriedSince = (lastTransitionTime: string) =>
  policyOf({
    status: {
      ...settled,
      conditions: [{ type: 'Ready', status: 'False', reason: 'Retrying', message: 'the API server is away', lastTransitionTime }],
    },
  });
const rows: [name: string, policy: ImagePolicy, cause: string | undefined][] = [
  ['never looked at', policyOf(), 'generation:1'],
  ['changed', policyOf({ generation: 4, status: settled }), 'generation:4'],
  ['looked at by a newer one that was deleted', policyOf({ generation: 1, status: { observedGeneration: 9 } }), 'generation:1'],
  ['content', policyOf({ status: settled }), undefined],
  ['its target was missing', policyOf({ status: stalledStatus('TargetNotFound') }), 'targets:1:w:7'],
  ['its container was missing', policyOf({ status: stalledStatus('ContainerNotFound') }), 'targets:1:w:7'],
  ['nothing could be compared', policyOf({ status: stalledStatus('NotComparable') }), 'targets:1:w:7'],
  ['its patch was rejected', policyOf({ status: stalledStatus('PatchRejected') }), 'targets:1:w:7'],
  ['its owners did not consent', policyOf({ status: stalledStatus('NoConsent') }), 'targets:1:2026-01-01T00:00:00Z:w:7:'],
  ['held by its parent', policyOf({ parent, status: settled, spec: specOf({ suspended: true }) }), 'held:1:1:2026-03-01T12:00'],
  ['held by its parent, and says so', policyOf({ parent, status: suspended, spec: specOf({ suspended: true }) }), undefined],
  ['held no more', policyOf({ parent, status: suspended }), 'resumed:1:1:2026-03-01T12:00'],
  ['approved while it cannot be used', unusable('ApprovalRequired'), `approve:1.3.0@${digestOf('b')}`],
  ['approved while it cannot be used, and does not say that anything waits', unusable('Held'), undefined],
  ['stalled by what no target can mend', policyOf({ status: stalledStatus('RegistryDenied') }), undefined],
  ['stalled by a reason of a newer version', policyOf({ status: stalledStatus('SomethingNew') }), undefined],
  ['retried for long', retriedSince('2026-03-01T11:58:00Z'), 'retrying:1:2026-03-01T11:58:00Z'],
  ['retried by a clock that was wrong', retriedSince('2026-03-01T12:05:00Z'), 'retrying:1:2026-03-01T12:05:00Z'],
  ['retried for a moment', retriedSince('2026-03-01T11:59:30Z'), undefined],
  [
    'stalled, and not understood',
    policyOf({ spec: { problem: { reason: 'InvalidPolicy', message: '' } }, status: stalledStatus('TargetNotFound') }),
    undefined,
  ],
];

for (const [name, policy, cause] of rows) {
  test(`the cause of a reconcile is ${cause ?? 'none'} in the case "${name}"`, () => assert.equal(causeOf(policy), cause));
}

test('a status about a deleted or recreated target causes one reconcile for each state of the target', () => {
  const says = (state: Partial<ContainerState>) =>
    policyOf({ status: { ...settled, targets: [{ ...webDeployment, container: 'web', state: 'UpToDate', ...state }] } });
  const cause = (policy: ImagePolicy, found?: Workload, view: Partial<NeedsView> = {}) =>
    neededReconcile(policy, { ...viewWith(found), ...view }, now)?.cause;
  assert.equal(cause(says({ uid: 'w' }), workload), undefined);
  assert.equal(cause(says({}), workload), undefined, 'a target without a uid');
  assert.equal(
    cause(says({ uid: 'v' }), workload),
    'running:1:1:2026-03-01T12:00:Deployment/shop/web:w:7:web:registry.example.com/shop/web:1.2.3,Deployment/shop/web:v:web',
  );
  assert.equal(cause(says({ uid: 'w' })), 'running:1:1:2026-03-01T12:00:Deployment/shop/web:w:web');
  assert.equal(cause(says({})), 'running:1:1:2026-03-01T12:00:Deployment/shop/web::web');
  assert.equal(cause(policyOf({ status: { ...settled, targets: [{ ...webDeployment, state: 'Problem' }] } })), undefined);
  assert.equal(cause(says({ uid: 'w' }), undefined, { targetState: () => 'starting' }), undefined);
  const elsewhere = says({ uid: 'w', namespace: 'ops' });
  assert.equal(cause(elsewhere), 'running:1:1:2026-03-01T12:00:Deployment/ops/web:w:web', 'gone, or without consent: that is one');
  assert.equal(cause(elsewhere, undefined, { namespaceConsent: () => undefined }), undefined, 'not known yet');
  const suspended = policyOf({ ...says({ uid: 'v' }), spec: specOf({ suspended: true }) });
  assert.match(cause(suspended, workload) ?? '', /^running:/, 'a suspended policy shows what runs');
});

test('a target that is still missing causes no reconcile', () => {
  assert.equal(neededReconcile(policyOf({ status: stalledStatus('TargetNotFound') }), viewWith(undefined), now), undefined);
});

test('a policy that says something of a target is reconciled once it has none any more, and not before the targets are known', () => {
  for (const reason of ['ContainerNotFound', 'TooManyTargets', 'FieldPathMissing', 'FieldNotText', 'NotComparable']) {
    const policy = policyOf({ status: stalledStatus(reason) });
    assert.equal(neededReconcile(policy, viewWith(undefined), now)?.cause, 'targets:1:2026-01-01T00:00:00Z:none');
    assert.equal(neededReconcile(policy, { ...viewWith(undefined), targetState: () => 'starting' }, now), undefined);
  }
});

test('replicas that see the same state create the same job, and another state of the target is another cause', () => {
  const policy = policyOf({
    spec: specOf({ targets: [webDeployment, { ...webDeployment, name: 'worker' }] }),
    status: stalledStatus('ContainerNotFound'),
  });
  assert.deepEqual(neededReconcile(policy, viewWith(workload), now), {
    schema: 1,
    policy: { namespace: 'shop', name: 'web', uid: policy.uid },
    generation: 1,
    receivedAt: '2026-03-01T12:00:00.000Z',
    source: 'TargetChange',
    cause: 'targets:1:w:7,w:7',
  });
  assert.notEqual(causeOf(policy), causeOf(policy, { ...workload, generation: 8 }));
});

test('a consent annotation causes a reconcile, even where it does not increment the generation', () => {
  const policy = policyOf({ status: stalledStatus('NoConsent') });
  assert.equal(causeOf(policy, { ...workload, allowPoliciesFrom: 'shop' }), 'targets:1:2026-01-01T00:00:00Z:w:7:shop');
});

test('a denied policy is reconciled for each state of its Secrets', () => {
  const versions = (text: string) => (policy: ImagePolicy) => neededReconcile(policy, viewWith(workload), now, () => text);
  const denied = policyOf({ status: stalledStatus('RegistryDenied') });
  const job = versions('shop/creds@1')(denied);
  assert.deepEqual([job?.source, job?.cause, job?.generation], ['SecretChange', 'secrets:1:shop/creds@1', 1]);
  assert.equal(versions('shop/creds@2')(denied)?.cause, 'secrets:1:shop/creds@2');
  assert.equal(versions('a')(policyOf({ status: stalledStatus('RepositoryNotFound') }))?.source, 'SecretChange');
  assert.equal(versions('a')(policyOf({ status: stalledStatus('TargetNotFound') }))?.source, 'TargetChange');
  assert.equal(versions('a')(policyOf({ generation: 2, status: stalledStatus('RegistryDenied') }))?.source, 'PolicyChange');
  assert.equal(versions('a')(policyOf({ status: settled })), undefined);
});

test('a changed workload causes a reconcile of its policies', () => {
  const index = createTargetIndex();
  const worker = { ...webDeployment, name: 'worker' };
  const names = (ref = webDeployment) => index.policiesOf(ref, () => true).map(({ name }) => name);
  index.put(policyOf({ name: 'a' }));
  index.put(policyOf({ name: 'b', spec: specOf({ targets: [webDeployment, worker] }) }));
  assert.deepEqual([names(), names(worker), names({ ...webDeployment, kind: 'StatefulSet' })], [['a', 'b'], ['b'], []]);
  index.put(policyOf({ name: 'a', spec: specOf({ targets: [worker] }) }));
  assert.deepEqual([names(), names(worker)], [['b'], ['b', 'a']]);
  index.remove({ namespace: 'shop', name: 'b' });
  index.remove({ namespace: 'shop', name: 'b' });
  index.put(policyOf({ name: 'a', spec: { problem: { reason: 'InvalidPolicy', message: '' } } }));
  assert.deepEqual([names(), names(worker)], [[], []]);
});

test('a changed workload causes a reconcile of the policies whose selectors match it, in its kind and namespace only', () => {
  const index = createTargetIndex();
  const selecting = (name: string, ...values: string[]) =>
    policyOf({
      name,
      spec: specOf({ targets: values.map((uses) => ({ kind: 'Deployment', namespace: 'shop', selector: { matchLabels: { uses } } })) }),
    });
  const names = (labels: Record<string, string>, other: object = {}) =>
    index.policiesOf({ ...webDeployment, labels, ...other }, () => true).map(({ name }) => name);
  index.put(selecting('a', 'redis', 'web'));
  index.put(selecting('b', 'web'));
  index.put(policyOf({ name: 'c' }));
  assert.deepEqual(names({ uses: 'web' }), ['c', 'a', 'b']);
  assert.deepEqual(names({ uses: 'web' }, { name: 'other' }), ['a', 'b']);
  assert.deepEqual([names({ uses: 'web' }, { namespace: 'ops' }), names({ uses: 'web' }, { kind: 'StatefulSet' })], [[], []]);
  index.put(selecting('a', 'redis'));
  index.remove({ namespace: 'shop', name: 'c' });
  assert.deepEqual([names({ uses: 'web' }), names({ uses: 'redis' })], [['b'], ['a']]);
});

test('policies that may not see a changed workload are not enqueued, and cost one consent check for each namespace', () => {
  const index = createTargetIndex();
  const targets = Array.from({ length: 64 }, (_, place) => ({
    kind: 'Deployment',
    namespace: 'shop',
    selector: { matchExpressions: [{ key: `k${place}`, operator: 'DoesNotExist' as const }] },
  }));
  for (let count = 0; count < 100; count++) index.put(policyOf({ namespace: 'evil', name: `p${count}`, spec: specOf({ targets }) }));
  index.put(policyOf({ namespace: 'ops', name: 'named' }));
  index.put(policyOf({ name: 'own' }));
  const asked: string[] = [];
  const maySee = (namespace: string) => (asker: { namespace: string }) => {
    asked.push(asker.namespace);
    return asker.namespace === namespace;
  };
  const names = (namespace: string) => index.policiesOf(webDeployment, maySee(namespace)).map(({ name }) => name);
  assert.deepEqual([names('shop'), names('ops'), names('nobody')], [['own'], ['named'], []]);
  assert.deepEqual(asked.slice(0, 3).sort(), ['evil', 'ops', 'shop']);
  assert.equal(asked.length, 9);
  assert.equal(names('evil').length, 100);
});

const kinds: [name: string, state: TargetState, cause: string | undefined][] = [
  ['known at last', { since: 5 }, 'kinds:1:5'],
  ['being listed', 'starting', undefined],
];

for (const [name, state, cause] of kinds) {
  test(`a policy stalled by the kind of a target, which is ${name}, ${cause === undefined ? 'is not reconciled' : `is reconciled because of ${cause}`}`, () => {
    const view: NeedsView = { ...viewWith(workload), targetState: () => state };
    for (const reason of ['TargetKindUnknown', 'TargetKindForbidden'])
      assert.equal(neededReconcile(policyOf({ status: stalledStatus(reason) }), view, now)?.cause, cause);
  });
}

test('a policy stalled by TooManyKinds is reconciled when that is over, even to report an unknown kind', () => {
  const causeWith = (state: TargetState) =>
    neededReconcile(policyOf({ status: stalledStatus('TooManyKinds') }), { ...viewWith(workload), targetState: () => state }, now)?.cause;
  const problem = (reason: Reason): TargetState => ({ problem: { reason, message: '' } });
  assert.equal(causeWith(problem('TooManyKinds')), undefined);
  assert.equal(causeWith('starting'), undefined);
  assert.equal(causeWith(problem('TargetKindUnknown')), 'kinds:1:TargetKindUnknown');
  assert.equal(causeWith({ since: 5 }), 'kinds:1:5');
});

test('a policy that exceeds the limit of kinds because of an older one is reconciled to show it', () => {
  const view: NeedsView = { ...viewWith(workload), targetState: () => ({ problem: { reason: 'TooManyKinds', message: '' } }) };
  const cause = (policy: Partial<ImagePolicy>) => neededReconcile(policyOf(policy), view, now)?.cause;
  const status = { observedGeneration: 1 };
  assert.equal(cause({ status }), 'kinds:1::2026-03-01T12:00');
  assert.equal(cause({ status, spec: specOf({ suspended: true }) }), undefined);
  assert.equal(cause({ status: stalledStatus('TooManyKinds') }), undefined);
});

test('a spec that the configuration newly allows or forbids is evaluated again', () => {
  const denied = { problem: { reason: 'FieldNotAllowed', message: 'no' } } as const;
  const cause = (policy: Partial<ImagePolicy>) => neededReconcile(policyOf(policy), viewWith(workload), now)?.cause;
  const ready = { observedGeneration: 1 };
  assert.equal(cause({ spec: denied, status: ready }), 'denied:1::2026-03-01T12:00');
  assert.equal(cause({ spec: denied, status: stalledStatus('FieldNotAllowed') }), undefined);
  assert.equal(cause({ spec: { ...denied, suspended: true }, status: ready }), undefined);
  assert.equal(cause({ status: stalledStatus('FieldNotAllowed') }), 'allowed:1::2026-03-01T12:00');
  assert.equal(cause({ spec: { problem: { reason: 'InvalidPolicy', message: 'no' } }, status: ready }), undefined);
});

test('the cause of a reconcile for hundreds of targets has a fixed length', () => {
  const targets = Array.from({ length: 200 }, (_, index) => ({ ...webDeployment, name: `w${index}` }));
  const cause = causeOf(policyOf({ spec: specOf({ targets }), status: stalledStatus('ContainerNotFound') }), {
    ...workload,
    uid: 'a-long-uid',
  });
  assert.match(cause ?? '', /^targets:1:[0-9a-f]{64}$/);
});

const newest = strategies.newest();
const latest = { tag: '1.3.0', selectedAt: '2026-01-01T00:00:00Z' };
const upToDatePolicy = policyOf({ status: { observedGeneration: 1, latest } });
const newTargets: [name: string, policy: ImagePolicy, runs: string, cause: string | undefined][] = [
  ['runs an older image', upToDatePolicy, 'registry.example.com/shop/web:1.2.3', 'new-targets:1:1.3.0@:w:7'],
  ['runs what is selected', upToDatePolicy, 'registry.example.com/shop/web:1.3.0', undefined],
  [
    'runs another image, and times decide',
    { ...upToDatePolicy, spec: specOf({ strategy: newest }) },
    'registry.example.com/shop/web:main-a',
    'new-targets:1:1.3.0@:w:7',
  ],
  [
    'runs what is selected, and times decide',
    { ...upToDatePolicy, spec: specOf({ strategy: newest }) },
    'registry.example.com/shop/web:1.3.0',
    undefined,
  ],
  ['runs another repository', upToDatePolicy, 'nginx:1.2.3', undefined],
  ['is of a suspended policy', { ...upToDatePolicy, spec: specOf({ suspended: true }) }, 'registry.example.com/shop/web:1.2.3', undefined],
  ['is of a policy that has selected nothing yet', policyOf(), 'registry.example.com/shop/web:1.2.3', undefined],
];

for (const [name, policy, runs, cause] of newTargets) {
  test(`a new target that ${name} ${cause === undefined ? 'is not reconciled' : `is reconciled because of ${cause}`}`, () => {
    const seen = asSeenBy(policy, {
      ...viewWith(workloadOf({ web: runs }, { uid: 'w', generation: 7 })),
      aliases: new Map(),
      repeatsPerHour: 5,
      now: () => now.getTime(),
    });
    const job = newTargetJob(policy, new Set(['w']), seen, now);
    assert.deepEqual([job?.cause, job?.hint], [cause, cause && { tag: '1.3.0' }]);
    assert.equal(newTargetJob(policy, new Set(['another']), seen, now), undefined);
  });
}

test('a policy stalled by an unknown kind is reconciled when the kind is installed but may not be watched', () => {
  const causeWith = (stalled: string, found: Reason) => {
    const targetState = () => ({ problem: { reason: found, message: '' } });
    return neededReconcile(policyOf({ status: stalledStatus(stalled) }), { ...viewWith(workload), targetState }, now)?.cause;
  };
  assert.equal(causeWith('TargetKindUnknown', 'TargetKindForbidden'), 'kinds:1:TargetKindForbidden');
  assert.equal(causeWith('TargetKindForbidden', 'TargetKindUnknown'), 'kinds:1:TargetKindUnknown');
  for (const reason of ['TargetKindUnknown', 'TargetKindForbidden'] as const) assert.equal(causeWith(reason, reason), undefined);
  assert.equal(causeWith('TargetKindUnknown', 'TooManyKinds'), 'kinds:1:TooManyKinds');
});
