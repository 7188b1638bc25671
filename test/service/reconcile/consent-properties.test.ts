/** Non-interference: whatever there is in another namespace that does not consent, everything that a policy does and is told is as if nothing were there. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { asSeenBy } from '../../../src/core/plan/consent.ts';
import type { ImagePolicy, PolicyTarget } from '../../../src/core/model/image-policy.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import { type Workload, workloadKey } from '../../../src/core/model/workload.ts';
import { reconcileAndReport } from '../../../src/service/reconcile/process-policy.ts';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { newTargetJob, neededReconciles } from '../../../src/service/reconcile/enqueue/needs-reconcile.ts';
import { rolloutJob } from '../../../src/service/reconcile/rollouts/rollout-job.ts';
import { digestOf, policyOf, specOf, stalledStatus, webDeployment, workloadOf } from '../../core/model/samples.ts';
import { stuckRollout, rolledOut } from '../../core/rollout/rollout-samples.ts';
import { contextOf, createWorld, image, startTime, type World, withPorts } from './world.ts';
import { runsOf } from '../../harness/full-tests.ts';

const at = new Date(startTime - 60_000).toISOString().replace('.000', '');
const name = fc.constantFrom('web', 'db', 'api');
const kind = fc.constantFrom('Deployment', 'StatefulSet', 'CronJob');
const labels = { uses: 'web' };

const refusal = fc.constantFrom<string | undefined>(undefined, '', 'nobody', 'ops', 'shop-admin');
const hidden: fc.Arbitrary<Workload> = fc
  .record({
    name,
    kind,
    runs: fc.constantFrom('1.0.0', '1.2.3', '1.3.0', '9.9.9', 'branch', 'latest').map((tag) => `${image}:${tag}`),
    imageOwner: fc.constantFrom('image-watcher', 'kubectl-set', 'argocd-controller'),
    generation: fc.integer({ min: 1, max: 9 }),
    rollout: fc.constantFrom(rolledOut, stuckRollout, undefined),
    paused: fc.boolean(),
    allowPoliciesFrom: refusal,
    remembers: fc.boolean(),
  })
  .map(({ runs, imageOwner, rollout, allowPoliciesFrom, remembers, ...rest }) => {
    const lastUpdate = { policy: policyOf().uid, trigger: 'Webhook', at, from: `${image}:1.2.3`, to: runs, digest: digestOf('b') } as const;
    return workloadOf(
      { web: { image: runs, imageOwner, ...(remembers && { lastUpdate }) } },
      {
        ...rest,
        namespace: 'ops',
        uid: `uid-${rest.kind}-${rest.name}`,
        labels,
        ...(rollout !== undefined && { rollout }),
        ...(allowPoliciesFrom !== undefined && { allowPoliciesFrom }),
      },
    );
  });

const target: fc.Arbitrary<PolicyTarget> = fc.oneof(
  fc.record({ kind, name, namespace: fc.constant('ops') }),
  fc.record({ kind, namespace: fc.constant('ops'), selector: fc.constant({ matchLabels: labels }) }),
  fc.constant(webDeployment),
);

const input = fc.record({
  workloads: fc.array(hidden, { minLength: 1, maxLength: 6 }),
  targets: fc.array(target, { minLength: 1, maxLength: 4 }),
  strategy: fc.constantFrom(strategies.semver({}), strategies.newest(), strategies.digest({ tag: 'latest' })),
  pin: fc.constantFrom('Tag' as const, 'Digest' as const),
  allowDowngrade: fc.boolean(),
  rollout: fc.constantFrom(undefined, { timeoutMs: 600_000, onFailure: 'Rollback' as const }),
  hint: fc.constantFrom(undefined, { tag: '1.3.0' }, { tag: '1.2.3' }, { tag: 'latest' }),
  /** Whether the registry is still given time to show what was announced. */
  agoMs: fc.constantFrom(2_000, 10_000),
  rules: fc.constantFrom('deny' as const, 'consent' as const, 'legacy' as const),
  onNamespace: fc.constantFrom<string | undefined>(undefined, '', 'nobody', 'ops'),
  remembered: fc.constantFrom('nothing', 'stalled', 'history'),
});
type Input = typeof input extends fc.Arbitrary<infer T> ? T : never;

function policyFor({ targets, strategy, pin, allowDowngrade, rollout, remembered, workloads }: Input): ImagePolicy {
  const spec = specOf({ targets, strategy, pin, allowDowngrade, ...(rollout && { rollout }) });
  const latest = { tag: '1.3.0', digest: digestOf('b'), selectedAt: at };
  if (remembered === 'nothing') return policyOf({ spec });
  if (remembered === 'stalled') return policyOf({ spec, status: stalledStatus('NoConsent', { latest }) });
  // Of before the consent was withdrawn; what the caches hold by now is not the policy's business.
  const entry = {
    container: 'web',
    from: `${image}:1.2.3`,
    to: `${image}:1.3.0`,
    tag: '1.3.0',
    digest: digestOf('b'),
    trigger: 'Webhook',
    at,
    result: 'Applied',
  } as const;
  const [one] = workloads;
  const history = one === undefined ? [] : [{ kind: one.kind, namespace: one.namespace, name: one.name, ...entry }];
  return policyOf({ spec, status: { observedGeneration: 1, latest, history, lastAppliedTag: '1.3.0' } });
}

/** All that leaves the program because of the policy: its status, Events, requests to registry and API server, jobs, the audit record. */
async function observe(policy: ImagePolicy, { hint, agoMs, rules, onNamespace }: Input, workloads: readonly Workload[]): Promise<unknown> {
  const world: World = createWorld({ cluster: { crossNamespace: rules } });
  world.tags.set('latest', digestOf('c'));
  world.put(policy);
  if (onNamespace !== undefined) world.namespaces.set('ops', onNamespace);
  for (const workload of workloads) world.workloads.set(workloadKey(workload), workload);
  // The owners go on while the registry is asked.
  const headManifest: World['ports']['registry']['headManifest'] = (...asked) => {
    for (const workload of workloads)
      world.workloads.set(workloadKey(workload), { ...workload, generation: 10, containers: [{ name: 'web', image: `${image}:7.7.7` }] });
    return world.ports.registry.headManifest(...asked);
  };
  const ports = withPorts(world.ports, { registry: { headManifest } });
  const now = new Date(startTime);
  const jobs = [
    ...neededReconciles(policy, asSeenBy(policy, ports.cluster), { now, withNew: false }),
    rolloutJob(policy, asSeenBy(policy, ports.cluster), now),
    newTargetJob(policy, new Set(workloads.map(({ uid }) => uid)), asSeenBy(policy, ports.cluster), now),
  ];
  const cause = { source: 'Webhook', receivedAt: at, eventId: 'push-1' } as const;
  const request = { policy, announced: true, announcedAt: startTime - agoMs, ...(hint && { hint }) };
  const result = await reconcileAndReport({ ...contextOf(), request, cause }, ports).catch(String);
  const job = { schema: 1, policy, source: 'TargetChange', cause: 'rollout:x', receivedAt: at, task: 'rollout' } as const;
  const watched = await processTask(job, contextOf(), ports).catch(String);
  const { requests, events, results } = world;
  return {
    jobs,
    result,
    watched,
    requests,
    events,
    results: [...results],
    status: world.statusOf('web'),
    own: world.images(),
    later: world.jobs,
  };
}

test('a workload without consent changes nothing about what a policy does and reports', async () => {
  await fc.assert(
    fc.asyncProperty(input, async (given) => {
      const policy = policyFor(given);
      assert.deepEqual(await observe(policy, given, given.workloads), await observe(policy, given, []));
    }),
    { numRuns: runsOf(1_000) },
  );
});
