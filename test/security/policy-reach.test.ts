/**
 * What an author of a policy may reach, whatever he writes: for random policies, workloads, histories and annotations, every patch that is planned and sent,
 * by an update, a rollback that somebody asked for, or one after a failed rollout
 * (a) touches a target of the policy whose owners consent now,
 * (b) replaces an image of the policy's repository by another one of it,
 * (c) writes a digest whose signature was verified, where the policy verifies signatures; what ran before without a digest is verified by what its tag points to now.
 * The rules are written down here a second time, on purpose without the functions of the product.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { policyKey, type PolicySpec, type PolicyTarget } from '../../src/core/model/image-policy.ts';
import type { LastUpdate } from '../../src/core/model/last-update.ts';
import type { HistoryEntry } from '../../src/core/model/policy-status.ts';
import { strategies } from '../../src/core/select/strategies/index.ts';
import { workloadKey, type ImageList, type Workload, type WorkloadContainer, type ContainerChange } from '../../src/core/model/workload.ts';
import { createMetrics } from '../../src/service/telemetry/metrics.ts';
import { reconcileAndReport } from '../../src/service/reconcile/process-policy.ts';
import { processTask } from '../../src/service/reconcile/process-task.ts';
import { stuckRollout, rolloutOf } from '../core/rollout/rollout-samples.ts';
import { digestOf, policyOf, specOf, workloadOf } from '../core/model/samples.ts';
import { change } from '../service/reconcile/patched.ts';
import { contextOf, createWorld, startTime } from '../service/reconcile/world.ts';

const runs = Number(process.env['PROPERTY_RUNS'] ?? 3_000);
const own = 'registry.example.com/shop/web';
const others = ['registry.example.com/shop/web-admin', 'registry.example.com/evil/miner', 'evil.example.com/shop/web', 'busybox'];
const repositories = [...Array.from({ length: 9 }, () => own), ...others];
const tags = ['1.1.0', '1.2.0', '1.2.3', '1.3.0', '2.0.0', 'main', 'latest'];
const digestByTag = new Map(tags.map((tag, index) => [tag, digestOf('abcdef0'.charAt(index))]));
const signed = new Set([digestOf('a'), digestOf('c'), digestOf('e'), digestOf('0')]);
const namespaces = ['shop', 'ops', 'bank'];
const names = ['web', 'job', 'vault'];
const at = (secondsAgo: number) => new Date(startTime - secondsAgo * 1_000).toISOString().replace('.000', '');

const reference = fc
  .tuple(
    fc.constantFrom(...repositories),
    fc.constantFrom(...tags),
    fc.constantFrom('', '', ...tags.map((tag) => `@${digestByTag.get(tag)}`)),
  )
  .map(([name, tag, digest]) => `${name}:${tag}${digest}`);
const ownReference = fc.constantFrom(...tags).map((tag) => `${own}:${tag}`);
const consent = fc.option(fc.constantFrom('*', 'shop', 'ops, shop', 'nobody', ''), { nil: undefined });
const ref = fc.record({
  kind: fc.constantFrom('Deployment', 'StatefulSet'),
  namespace: fc.constantFrom(...namespaces),
  name: fc.constantFrom(...names),
});
const labels = fc.constantFrom<Record<string, string> | undefined>(undefined, { uses: 'web' }, { uses: 'vault' });

const target = fc
  .tuple(
    ref,
    fc.boolean(),
    fc.constantFrom('web', 'vault'),
    fc.option(fc.constantFrom(['web'], ['side'], ['web', 'init']), { nil: undefined }),
    fc.boolean(),
    fc.boolean(),
  )
  .map(([{ kind, namespace, name }, isSelector, uses, containers, initContainers, volumes]): PolicyTarget => {
    const parts = { ...(containers && { containers }), ...(initContainers && { initContainers }), ...(volumes && { volumes }) };
    return isSelector ? { kind, namespace, selector: { matchLabels: { uses } }, ...parts } : { kind, namespace, name, ...parts };
  });

const spec = fc
  .record({
    strategy: fc.constantFrom(strategies.semver({}), strategies.digest({ tag: 'main' }), strategies.alphabetical(), strategies.numerical()),
    pin: fc.constantFrom<PolicySpec['pin']>('Tag', 'Digest'),
    allowDowngrade: fc.boolean(),
    mode: fc.constantFrom<PolicySpec['mode']>('Automatic', 'Automatic', 'Automatic', 'Approval', 'DryRun'),
    targets: fc.array(target, { minLength: 1, maxLength: 3 }),
    verifies: fc.boolean(),
    onFailure: fc.constantFrom('Rollback' as const, 'Rollback' as const, 'Hold' as const),
  })
  .map(({ verifies, onFailure, ...rest }) => {
    const verification = { keys: [{ secret: 'cosign', key: 'cosign.pub' }], signers: [] };
    return specOf({ ...rest, rollout: { timeoutMs: 600_000, onFailure }, ...(verifies && { verification, pin: 'Digest' }) });
  });

const lastUpdate = fc
  .record({
    policy: fc.constantFrom(policyOf().uid, 'another'),
    // One from before a change in the history shows a workload as it was before it.
    at: fc.constantFrom(at(60), at(60), at(60), at(3_600)),
    trigger: fc.constantFrom<LastUpdate['trigger']>('Webhook', 'Rollback'),
    from: reference,
    to: reference,
    digest: fc.constantFrom(...digestByTag.values()),
  })
  .map((update): LastUpdate => update);
const container = fc
  .record(
    { image: reference, imageOwner: fc.constantFrom('image-watcher', 'image-watcher', 'kubectl-edit', 'argocd-controller'), lastUpdate },
    { requiredKeys: ['image'] },
  )
  .map((one): Omit<WorkloadContainer, 'name'> => one);
const workload = fc
  .record({
    ref,
    images: fc.record({ web: container, side: container }, { requiredKeys: ['web'] }),
    init: fc.option(container, { nil: undefined }),
    volume: fc.option(container, { nil: undefined }),
    consent,
    labels,
    state: fc.constantFrom('failed', 'failed', 'underway'),
  })
  .map(({ ref: place, images, init, volume, consent: allowPoliciesFrom, labels: own, state }): Workload => {
    const rollout = state === 'failed' ? stuckRollout : rolloutOf();
    return workloadOf(images, {
      ...place,
      generation: 2,
      resourceVersion: '2',
      rollout,
      hasAnnotations: true,
      ...(init && { initContainers: [{ name: 'init', ...init }] }),
      // With the name of a container, to be taken for it.
      ...(volume && { volumes: [{ name: 'volumes/web', index: 2, ...volume }] }),
      ...(own && { labels: own }),
      ...(allowPoliciesFrom !== undefined && { allowPoliciesFrom }),
    });
  });
const entry = fc
  .record({
    ref,
    container: fc.constantFrom('web', 'side', 'init', 'volumes/web'),
    from: reference,
    to: reference,
    tag: fc.constantFrom(...tags),
    digest: fc.constantFrom(...digestByTag.values()),
    trigger: fc.constantFrom<HistoryEntry['trigger']>('Webhook', 'Poll', 'Rollback'),
    at: fc.constantFrom(at(30), at(60), at(600)),
    result: fc.constantFrom<HistoryEntry['result']>('Applied', 'Failed', 'RolledOut', 'RolledBack'),
  })
  .map(({ ref: place, ...rest }): HistoryEntry => ({ ...place, ...rest }));

const scene = fc.record({
  spec,
  workloads: fc.array(workload, { minLength: 1, maxLength: 5 }),
  history: fc.array(entry, { maxLength: 4 }),
  /** Histories that fit what runs are the dangerous ones: they say of a workload where it came from. */
  forged: fc.array(
    fc.record({ from: fc.oneof(reference, ownReference), result: fc.constantFrom<HistoryEntry['result']>('Applied', 'Failed', 'Failed') }),
    { maxLength: 5 },
  ),
  latest: fc.option(fc.constantFrom(...tags), { nil: undefined }),
  rollbackTo: fc.option(fc.constantFrom('previous', ...tags), { nil: undefined }),
  approve: fc.option(fc.constantFrom(...tags), { nil: undefined }),
  release: fc.boolean(),
  namespaceConsents: fc.record({ ops: consent, bank: consent }),
  crossNamespace: fc.constantFrom<'deny' | 'consent' | 'legacy'>('deny', 'consent', 'consent', 'legacy'),
  isLegacy: fc.boolean(),
  hint: fc.option(fc.constantFrom(...tags), { nil: undefined }),
});
type Scene = typeof scene extends fc.Arbitrary<infer T> ? T : never;
type NamedTarget = Extract<PolicyTarget, { name: string }>;

/** How many patches of each kind were checked: a property that patches nothing would hold of anything. */
const counted = { update: 0, requested: 0, automatic: 0, elsewhere: 0, legacy: 0, init: 0, volume: 0, verified: 0 };

/** One for all: each has timers and observers of its own. */
const metrics = createMetrics();

async function play(one: Scene): Promise<void> {
  const known = new Map(one.workloads.map((workload) => [workloadKey(workload), workload]));
  const fitting = [...known.values()].flatMap((workload, index): HistoryEntry[] => {
    const { from, result } = one.forged[index] ?? {};
    const [running] = workload.containers;
    if (from === undefined || result === undefined || running === undefined) return [];
    const { kind, namespace, name } = workload;
    return [
      {
        kind,
        namespace,
        name,
        container: running.name,
        from,
        to: running.image,
        tag: tagOf(running.image),
        digest: digestOf('d'),
        trigger: 'Webhook',
        at: at(60),
        result,
      },
    ];
  });
  const status = {
    observedGeneration: 1,
    history: [...fitting, ...one.history].slice(0, 10),
    ...(one.latest !== undefined && { latest: { tag: one.latest, digest: digestByTag.get(one.latest) ?? '', selectedAt: at(60) } }),
  };
  const actions = {
    ...(one.approve !== undefined && { approve: `${one.approve}@${digestByTag.get(one.approve)}` }),
    ...(one.release && { release: at(1) }),
  };
  const legacyTarget = legacyTargetOf(one);
  const policy = policyOf({ spec: one.spec, status, actions, ...(legacyTarget && { legacyTarget }) });
  let phase: 'update' | 'requested' | 'automatic' = 'update';
  const verified = new Set<string>();
  const world = createWorld({
    report: { metrics },
    cluster: { crossNamespace: one.crossNamespace },
    signatures: {
      verify: async ({ digest }) => {
        if (!signed.has(digest)) return { kind: 'unsigned', why: 'nobody signed it' };
        verified.add(digest);
        return { kind: 'verified', by: 'the key' };
      },
    },
    workloads: {
      patchImages: async (workload, changes) => {
        check(workload, changes);
        const patched = change(workload, changes);
        world.workloads.set(workloadKey(workload), patched);
        return { kind: 'patched', workload: patched };
      },
    },
  });
  const check = (workload: Workload, changes: readonly ContainerChange[]) => {
    const current = world.workloads.get(workloadKey(workload));
    assert.ok(current, 'a workload that is there');
    assert.ok(isConsented(current, one), `${phase}: ${workloadKey(current)} was changed without consent`);
    assert.ok(changes.length > 0);
    assert.notEqual(one.spec.mode, 'DryRun');
    for (const { container, from, to, list: name = 'containers' } of changes) {
      assert.ok(
        one.spec.targets.some((target) => isTarget(target, current, { container, name })),
        `${phase}: ${container} of ${workloadKey(current)} is no target of the policy`,
      );
      const list: readonly WorkloadContainer[] = current[name] ?? [];
      assert.equal(list.find(({ name }) => name === container)?.image, from, 'what is replaced is what runs');
      assert.equal(repositoryOf(from), own, `${phase}: ${from} is no image of the policy`);
      assert.equal(repositoryOf(to), own, `${phase}: ${from} was replaced by ${to}`);
      if (name === 'initContainers') counted.init++;
      if (name === 'volumes') counted.volume++;
      if (one.spec.verification !== undefined) {
        const digest = to.split('@')[1] ?? (phase === 'automatic' ? digestByTag.get(tagOf(to)) : undefined);
        assert.ok(verified.has(digest ?? ''), `${phase}: nobody verified ${to}`);
        counted.verified++;
      }
    }
    counted[phase]++;
    if (current.namespace !== 'shop') counted.elsewhere++;
    if (current.namespace !== 'shop' && one.crossNamespace === 'legacy') counted.legacy++;
  };
  world.policies.clear();
  world.put(policy);
  world.workloads.clear();
  for (const [key, workload] of known) world.workloads.set(key, workload);
  for (const [name, value] of Object.entries(one.namespaceConsents)) if (value !== undefined) world.namespaces.set(name, value);
  world.tags.clear();
  for (const [tag, digest] of digestByTag) world.tags.set(tag, digest);

  const { namespace, name, uid } = policy;
  const identity = { namespace, name, uid };
  const cause = { source: 'Webhook', receivedAt: at(2) } as const;
  // Refusals by the registry's side may be thrown; what counts is what was patched.
  const runToEnd = async (work: Promise<unknown>) => {
    const [result] = await Promise.allSettled([work]);
    if (result.status === 'rejected' && result.reason instanceof assert.AssertionError) throw result.reason;
  };
  phase = 'automatic';
  // A rollback that somebody asked for would come before what follows a rollout, so it is asked for afterwards.
  const rollout = { schema: 1, task: 'rollout', policy: identity, source: 'TargetChange', cause: 'rollout:x', receivedAt: at(2) } as const;
  await runToEnd(processTask(rollout, contextOf(), world.ports));
  if (one.rollbackTo !== undefined) {
    phase = 'requested';
    world.put({ ...(world.policies.get(policyKey(policy)) ?? policy), actions: { ...actions, rollbackTo: one.rollbackTo } });
    await runToEnd(
      reconcileAndReport(
        {
          ...contextOf(),
          request: { policy: identity, announced: false, rollbackTo: one.rollbackTo },
          cause: { ...cause, source: 'Rollback' },
        },
        world.ports,
      ),
    );
  }
  phase = 'update';
  // With its digest: without one the registry would be asked again for seconds, by a clock that stands still here.
  const digest = one.hint === undefined ? undefined : digestByTag.get(one.hint);
  const hint = one.hint === undefined ? undefined : { tag: one.hint, ...(digest !== undefined && { digest }) };
  await runToEnd(
    reconcileAndReport(
      { ...contextOf(), request: { policy: identity, announced: hint !== undefined, ...(hint && { hint }) }, cause },
      world.ports,
    ),
  );
}

function isTarget(target: PolicyTarget, workload: Workload, { container, name }: { container: string; name: ImageList }): boolean {
  if (name !== 'containers' && target[name] !== true) return false;
  if (name !== 'volumes' && target.containers !== undefined && !target.containers.includes(container)) return false;
  if (target.kind !== workload.kind || target.namespace !== workload.namespace) return false;
  if (target.selector === undefined) return target.name === workload.name;
  return target.selector.matchLabels?.['uses'] === workload.labels?.['uses'];
}

/** The one Deployment that a policy of v1alpha1 could name, where this one is such a policy. */
function legacyTargetOf({ isLegacy, spec: { targets } }: Scene): NamedTarget | undefined {
  const [target] = targets;
  if (!isLegacy || targets.length !== 1 || target?.kind !== 'Deployment' || target.selector !== undefined) return undefined;
  return target;
}

function isConsented(workload: Workload, scene: Scene): boolean {
  const { namespace, name, kind, allowPoliciesFrom } = workload;
  if (namespace === 'shop') return true;
  if (scene.crossNamespace === 'deny') return false;
  const said = allowPoliciesFrom ?? scene.namespaceConsents[namespace as 'ops' | 'bank'];
  const legacy = legacyTargetOf(scene);
  if (said === undefined)
    return scene.crossNamespace === 'legacy' && kind === 'Deployment' && legacy?.name === name && legacy.namespace === namespace;
  return said.split(',').some((word) => ['*', 'shop'].includes(word.trim()));
}

function repositoryOf(image: string): string {
  return (image.split('@')[0] ?? '').replace(/:[^:/]*$/, '');
}

function tagOf(image: string): string {
  return (image.split('@')[0] ?? '').split(':').at(-1) ?? '';
}

test('no policy reaches a workload that is not its consented target, an image of another repository, or an unverified digest', async () => {
  await fc.assert(fc.asyncProperty(scene, play), { numRuns: runs });
  for (const [what, count] of Object.entries(counted))
    assert.ok(count > runs / 500, `only ${count} patches of the kind "${what}" were checked`);
});
