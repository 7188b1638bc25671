/** Targets in other namespaces: whose owners are asked, when, and what becomes of the policy. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asSeenBy } from '../../../src/core/plan/consent.ts';
import { PermanentError } from '../../../src/core/model/errors.ts';
import type { ImagePolicy } from '../../../src/core/model/image-policy.ts';
import { reconcilePolicy } from '../../../src/service/reconcile/reconcile-policy.ts';
import type { ReconcileRequest } from '../../../src/service/reconcile/attempt.ts';
import { newTargetJob, neededReconciles } from '../../../src/service/reconcile/enqueue/needs-reconcile.ts';
import { rolloutJob } from '../../../src/service/reconcile/rollouts/rollout-job.ts';
import type { Workload } from '../../../src/core/model/workload.ts';
import { digestOf, latestSpec, policyOf, specOf, stalledStatus, webDeployment } from '../../core/model/samples.ts';
import { createWorld, image, setWorkload, type World, withPorts, type PortOverrides } from './world.ts';

const signal = new AbortController().signal;
const target = { ...webDeployment, namespace: 'ops' };
const { namespace, name, uid } = policyOf();

/** Policy shop/web for Deployment ops/web, which runs 1.2.3. */
function start({ onTarget, onNamespace, ...policy }: { onTarget?: string; onNamespace?: string } & Partial<ImagePolicy> = {}): World {
  const world = createWorld();
  world.workloads.clear();
  world.put(policyOf({ spec: specOf({ targets: [target] }), ...policy }));
  setWorkload(world, { web: `${image}:1.2.3` }, { namespace: 'ops', ...(onTarget !== undefined && { allowPoliciesFrom: onTarget }) });
  if (onNamespace !== undefined) world.namespaces.set('ops', onNamespace);
  return world;
}

const reconcile = (world: World, ports: PortOverrides = {}, request: Partial<ReconcileRequest> = { hint: { tag: '1.3.0' } }) =>
  reconcilePolicy({ policy: { namespace, name, uid }, announced: false, ...request }, withPorts(world.ports, ports), signal);
const runsThere = (world: World, runsImage: string) => setWorkload(world, { web: runsImage }, { namespace: 'ops' });
const stalled = { type: 'Stalled', status: 'True', reason: 'NoConsent', message: '' } as const;
const running = (world: World) => world.workloads.get('Deployment/ops/web')?.containers[0]?.image;

test('the consent of a target is read before the patch, and that of its Namespace is not needed then', async () => {
  const world = start({ onTarget: 'shop' });
  const outcome = await reconcile(world);
  assert.deepEqual([outcome.kind, outcome.legacy, running(world)], ['updated', [], `${image}:1.3.0`]);
  assert.deepEqual(world.requests, ['HEAD 1.3.0', 'GET web', 'PATCH web']);
});

test('a target is changed if its Namespace consents', async () => {
  const world = start({ onNamespace: '*' });
  assert.equal((await reconcile(world)).kind, 'updated');
  assert.deepEqual(world.requests, ['HEAD 1.3.0', 'GET web', 'GET namespace ops', 'PATCH web']);
});

const unseen =
  'Deployment ops/web is in another namespace, and either does not exist or its owners have not consented: ask them to annotate it, or its Namespace, with operator.technomad.dev/allow-policies-from: "shop"';

test('without consent the outcome and the requests are the same, whatever the target is and runs, and whether it exists', async () => {
  const worlds = [
    start(),
    start({ onTarget: 'web' }),
    start({ onTarget: '', onNamespace: '*' }),
    start({ onNamespace: 'web' }),
    ...['nginx:1', `${image}:1.3.0`, `${image}:9.9.9`, `${image}:some-branch`].map((running) => {
      const world = start();
      runsThere(world, running);
      return world;
    }),
  ];
  const empty = start();
  empty.workloads.clear();
  for (const request of [{ hint: { tag: '1.3.0' } }, { hint: { tag: '1.0.0' } }, {}]) {
    const expected = await reconcile(empty, {}, request);
    assert.deepEqual([expected.kind, expected.reason, expected.message], ['stalled', 'NoConsent', unseen]);
    const requests = empty.requests.splice(0);
    for (const world of worlds) {
      const before = running(world);
      assert.deepEqual(await reconcile(world, {}, request), expected);
      assert.deepEqual(world.requests.splice(0), requests);
      assert.equal(running(world), before);
    }
  }
});

test('a selector reveals nothing about workloads without consent, not even their number', async () => {
  const selected = { kind: 'Deployment', namespace: 'ops', selector: { matchLabels: { uses: 'web' } } };
  const select = (count: number, more: Partial<Workload> = {}) => {
    const world = start({ spec: specOf({ targets: [selected] }) });
    world.workloads.clear();
    for (let index = 0; index < count; index++)
      setWorkload(world, { web: `${image}:1.2.3` }, { namespace: 'ops', name: `w${index}`, labels: { uses: 'web' }, ...more });
    return world;
  };
  const nothing = await reconcile(select(0));
  assert.deepEqual([nothing.reason, nothing.message], ['NoConsent', unseen.replace('ops/web', 'ops/uses=web')]);
  for (const count of [1, 100]) assert.deepEqual(await reconcile(select(count)), nothing);
  assert.deepEqual(
    await reconcile(select(3), { cluster: { crossNamespace: 'deny' } }),
    await reconcile(select(0), { cluster: { crossNamespace: 'deny' } }),
  );

  const some = select(3);
  setWorkload(some, { web: `${image}:1.2.3` }, { namespace: 'ops', name: 'open', labels: { uses: 'web' }, allowPoliciesFrom: 'shop' });
  const outcome = await reconcile(some);
  assert.equal(outcome.kind, 'updated');
  assert.deepEqual(
    outcome.changes?.map(({ workload }) => workload.name),
    ['open'],
  );
  assert.doesNotMatch(JSON.stringify(outcome), /w[0-9]/);
});

test('a withdrawn consent of a target counts although the cache still has it, and nothing about the target is revealed', async () => {
  const world = start({ onTarget: 'shop' });
  const cached = world.workloads.get('Deployment/ops/web');
  setWorkload(world, { web: `${image}:1.2.3` }, { namespace: 'ops' });
  const outcome = await reconcile(world, { cluster: { findWorkload: () => cached } });
  assert.deepEqual([outcome.message, running(world)], [unseen, `${image}:1.2.3`]);
  assert.doesNotMatch(JSON.stringify(outcome), /1\.2\.3/);
});

test('a withdrawn consent of a Namespace counts even if the watch has not delivered it yet', async () => {
  const world = start({ onNamespace: 'shop' });
  let known: string | null = 'shop';
  const readNamespaceConsent = async () => (known = null);
  const outcome = await reconcile(world, { cluster: { namespaceConsent: () => known }, workloads: { readConsent: readNamespaceConsent } });
  assert.deepEqual([outcome.message, running(world)], [unseen, `${image}:1.2.3`]);
  assert.doesNotMatch(JSON.stringify(outcome), /1\.2\.3/);
});

test('a consent that is withdrawn or a policy that is suspended while signatures are verified prevents the patch', async () => {
  const spec = specOf({ targets: [target], verification: { keys: [{ secret: 'cosign', key: 'cosign.pub' }], signers: [] }, minAgeMs: 1 });
  const latest = { tag: '1.3.0', digest: digestOf('b'), selectedAt: '2026-01-01T00:00:00Z' };
  const during = (world: World, happens: () => void) =>
    reconcile(world, {
      signatures: {
        async verify() {
          happens();
          return { kind: 'verified', by: 'us' };
        },
      },
    });
  const asked = (world: World) => world.requests.some((request) => request.startsWith('PATCH'));
  const open = start({ onTarget: 'shop', spec, status: { latest } });
  await during(open, () => undefined);
  assert.ok(asked(open));

  const withdrawn = start({ onTarget: 'shop', spec, status: { latest } });
  const outcome = await during(withdrawn, () =>
    setWorkload(withdrawn, { web: `${image}:1.2.3` }, { namespace: 'ops', allowPoliciesFrom: 'nobody' }),
  );
  assert.deepEqual([outcome.message, asked(withdrawn)], [unseen, false]);

  const closed = start({ onNamespace: 'shop', spec, status: { latest } });
  await during(closed, () => closed.namespaces.delete('ops'));
  assert.ok(!asked(closed));

  const suspended = start({ onTarget: 'shop', spec, status: { latest } });
  const policy = policyOf({ spec: { ...spec, suspended: true }, generation: 99 });
  assert.equal((await during(suspended, () => suspended.put(policy))).kind, 'suspended');
  assert.ok(!asked(suspended));
});

test('a Namespace that may not be read counts as without consent, and one that cannot be read is retried', async () => {
  const denied = new PermanentError('NoConsent', 'grant the verb "get" on "namespaces"');
  const world = start({ onNamespace: 'shop' });
  const outcome = await reconcile(world, { workloads: { readConsent: () => Promise.reject(denied) } });
  assert.deepEqual([outcome.reason, outcome.message, running(world)], ['NoConsent', unseen, `${image}:1.2.3`]);
  const away = new Error('ECONNRESET');
  await assert.rejects(reconcile(world, { workloads: { readConsent: () => Promise.reject(away) } }), away);
  await assert.rejects(reconcile(world, { workloads: { refreshConsents: () => Promise.reject(away) } }), away);
});

test('crossNamespace: legacy allows a single Deployment where nobody has answered, with a warning, and nothing else', async () => {
  const former = { legacyTarget: target };
  const legacy = { cluster: { crossNamespace: 'legacy' } } as const;
  const world = start(former);
  const outcome = await reconcile(world, legacy);
  assert.deepEqual([outcome.kind, outcome.legacy, running(world)], ['updated', [target], `${image}:1.3.0`]);
  assert.deepEqual((await reconcile(start({ ...former, onNamespace: 'shop' }), legacy)).legacy, []);
  const refused = [
    [start(former), 'consent'],
    [start(), 'legacy'],
    [start({ ...former, onTarget: 'nobody' }), 'legacy'],
    [start({ ...former, onTarget: '' }), 'legacy'],
    [start({ ...former, onNamespace: 'web' }), 'legacy'],
    [start({ legacyTarget: { ...target, namespace: 'web' } }), 'legacy'],
  ] as const;
  for (const [closed, crossNamespace] of refused) {
    assert.equal((await reconcile(closed, { cluster: { crossNamespace } })).message, unseen);
    assert.equal(running(closed), `${image}:1.2.3`);
  }
});

test('crossNamespace: deny and allow decide before the owners of a target', async () => {
  const denied = start({ onTarget: '*', legacyTarget: target });
  const outcome = await reconcile(denied, { cluster: { crossNamespace: 'deny' } });
  assert.equal(outcome.reason, 'CrossNamespaceDenied');
  denied.workloads.clear();
  assert.deepEqual(await reconcile(denied, { cluster: { crossNamespace: 'deny' } }), outcome);
  const allowed = start();
  assert.equal((await reconcile(allowed, { cluster: { crossNamespace: 'allow' } })).kind, 'updated');
  for (const world of [denied, allowed]) assert.ok(!world.requests.includes('GET namespace ops'));
});

test('changes and rollouts of a workload without consent create no job, and each new consent does', async () => {
  const world = start({ status: { ...stalledStatus('NoConsent'), history: [] } });
  const jobs = () => {
    const policy = world.policies.get('shop/web');
    assert.ok(policy);
    const { ports } = world;
    const newTarget = newTargetJob(
      { ...policy, status: { ...policy.status, latest: { tag: '1.3.0', selectedAt: '' } } },
      new Set(['uid-of-deployment']),
      asSeenBy(policy, ports.cluster),
      new Date(),
    );
    return [
      ...neededReconciles(policy, asSeenBy(policy, ports.cluster), { now: new Date(), withNew: false }),
      rolloutJob(policy, asSeenBy(policy, ports.cluster), new Date()),
      newTarget,
    ].flatMap((job) => job?.cause ?? []);
  };
  for (const generation of [2, 3]) {
    setWorkload(world, { web: `${image}:1.2.${generation}` }, { namespace: 'ops', generation });
    assert.deepEqual(jobs(), []);
  }
  setWorkload(world, { web: `${image}:1.2.3` }, { namespace: 'ops', allowPoliciesFrom: 'shop' });
  const consented = jobs();
  assert.equal(consented.length, 2);
  world.put(
    policyOf({
      spec: specOf({ targets: [target] }),
      status: stalledStatus('NoConsent', { conditions: [{ ...stalled, lastTransitionTime: '2026-02-01T00:00:00Z' }] }),
    }),
  );
  assert.notEqual(jobs()[0], consented[0]);
});

test('a target without consent does not delay the other targets', async () => {
  const world = start({ spec: specOf({ targets: [target, webDeployment] }) });
  setWorkload(world, { web: `${image}:1.2.3` });
  const outcome = await reconcile(world);
  assert.deepEqual([outcome.reason, outcome.changes?.length], ['NoConsent', 1]);
  assert.deepEqual([running(world), world.images()], [`${image}:1.2.3`, [`${image}:1.3.0`]]);
});

test('the registry is asked again if the read of the consent shows that another replica has changed the target', async () => {
  const world = start({ onTarget: '*', spec: latestSpec({ targets: [target] }) });
  const cached = world.workloads.get('Deployment/ops/web');
  setWorkload(world, { web: `${image}:latest@${digestOf('e')}` }, { namespace: 'ops', allowPoliciesFrom: '*' });
  const answers = [digestOf('d'), digestOf('e')];
  const headManifest = async () => ({ digest: answers.shift() ?? digestOf('e') });
  const request = { policy: { namespace, name, uid }, announced: false, hint: { tag: 'latest' } };
  const outcome = await reconcilePolicy(
    request,
    withPorts(world.ports, { cluster: { findWorkload: () => cached }, registry: { headManifest } }),
    signal,
  );
  assert.deepEqual([outcome.kind, outcome.digest, running(world)], ['unchanged', digestOf('e'), `${image}:latest@${digestOf('e')}`]);
});
