/**
 * Statuses that somebody with permission for `imagepolicies/status` and its siblings may write. Whatever they say, nothing fails, only the policy's targets are
 * changed, to images of its repository, and what is read, asked and stored stays small.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { asSeenBy } from '../../src/core/plan/consent.ts';
import { readBasePolicy } from '../../src/bases/resource/read-base-policy.ts';
import { readNotificationTarget } from '../../src/notify/resource/read-target.ts';
import { baseStatusSchema } from '../../src/core/model/base-status.ts';
import { WaitError } from '../../src/core/model/errors.ts';
import { targetStatusSchema } from '../../src/core/model/notification-target.ts';
import { maxListed, statusSchema } from '../../src/core/model/policy-status.ts';
import { readStatus, storedStatusSchema, toStored } from '../../src/core/model/stored-status.ts';
import type { PolicyJob } from '../../src/service/queue/jobs.ts';
import { processTask } from '../../src/service/reconcile/process-task.ts';
import { processPush } from '../../src/service/reconcile/process-push.ts';
import { neededReconciles } from '../../src/service/reconcile/enqueue/needs-reconcile.ts';
import { waitJob } from '../../src/service/reconcile/enqueue/wait-job.ts';
import { waveJob } from '../../src/service/reconcile/enqueue/wave-job.ts';
import { watchRollouts } from '../../src/service/reconcile/rollouts/watch-rollouts.ts';
import { planNow } from '../../src/service/explain/plan-now.ts';
import { digestOf, policyOf, workloadOf } from '../core/model/samples.ts';
import { changedWorkload, entryOf, stuckRollout, watchedSpec } from '../core/rollout/rollout-samples.ts';
import { contextOf, createWorld, image, pushOf, startTime, type World } from '../service/reconcile/world.ts';

const evil = 'attacker.example/miner:1';
const now = new Date(startTime).toISOString();
const long = 'x'.repeat(1_000_000);
const digits = `2026-03-01T12:00:00.${'1'.repeat(1_000_000)}Z`;
const elsewhere = { kind: 'Deployment', namespace: 'elsewhere', name: 'web', container: 'web' };
const own = { ...elsewhere, namespace: 'shop' };
const failed = (entry: object) => ({ ...entryOf({ at: now }), result: 'Failed', from: evil, ...entry });
const many = <T>(count: number, entry: T) => Array.from({ length: count }, () => entry);
const ready = (lastTransitionTime: unknown, more: object = {}) => ({
  conditions: [{ type: 'Ready', status: 'False', reason: 'Progressing', message: '', lastTransitionTime, ...more }],
});
const waiting = (more: object) => ({ waiting: { tag: '1.3.0', digest: digestOf('b'), since: now, until: now, reason: 'MinAge', ...more } });
const latest = (more: object) => ({ latest: { tag: '1.3.0', digest: digestOf('b'), selectedAt: now, ...more } });

/** What was written, by what is wrong with it. */
const hostile: Readonly<Record<string, unknown>> = {
  'no object': 'status',
  'a list': [1, 2],
  'prototype keys': JSON.parse(
    '{"__proto__": {"latest": {"tag": "x"}}, "constructor": {"prototype": {}}, "toString": 1, "history": {"__proto__": []}}',
  ),
  'a prototype in an entry': {
    history: [JSON.parse('{"__proto__": {"namespace": "elsewhere"}, "kind": "__proto__", "name": "constructor"}')],
  },
  'a history of other workloads': { history: [failed({ ...elsewhere })] },
  'a history of another workload of the namespace': { history: [failed({ ...own, name: 'neighbour' })] },
  'a history with an image of another repository': { history: [failed({ ...own })] },
  'an open change from an image of another repository': { ...latest({}), history: [{ ...entryOf({ at: now }), from: evil }] },
  'an open change of a workload elsewhere': { ...latest({}), history: [{ ...entryOf({ at: now }), ...elsewhere }] },
  'a history that claims a rollback': { history: [{ ...failed(own), result: 'RolledBack', trigger: 'Rollback' }] },
  'a history with an image that is no name': { history: [failed({ ...own, from: '../../etc:1', to: `${image}:` })] },
  'a history of many': { history: many(700_000, 0) },
  'a history of many valid entries': { history: many(5_000, failed(own)) },
  'many earlier changes': { earlierChanges: many(300_000, '{}') },
  'an earlier change of a megabyte': { earlierChanges: [JSON.stringify({ ...failed(own), to: long })] },
  'an earlier change that is deep': { earlierChanges: ['['.repeat(500_000)] },
  'earlier changes of others, hidden in texts': { earlierChanges: many(maxListed, JSON.stringify(failed(elsewhere))) },
  'earlier changes that are no texts': { earlierChanges: [{ toString: 'x' }, [[[[1]]]], null, 7] },
  'many conditions': { conditions: many(700_000, 0) },
  'a condition of a megabyte': ready(now, { message: long }),
  'a condition whose date is none': ready('yesterday'),
  'a condition whose date is a megabyte': ready(digits),
  'a condition in year 0': ready('0000-01-01T00:00:00Z'),
  'every condition at once': {
    conditions: ['Ready', 'Reconciling', 'Stalled', 'Held', 'TagGone', 'Retagged'].map((type) => ({
      type,
      status: 'True',
      reason: 'NoConsent',
      message: 'constructor',
      lastTransitionTime: now,
    })),
  },
  'a latest of another image': latest({ tag: '9.9.9', digest: digestOf('f') }),
  'a latest whose tag names an image': latest({ tag: evil }),
  'a latest with a digest of nothing': latest({ digest: 'sha256:..' }),
  'a latest that was selected in year 9999': latest({ selectedAt: '9999-12-31T23:59:59Z', createdAt: '9999-12-31T23:59:59Z' }),
  'a latest of a megabyte': latest({ tag: long }),
  'a wait until year 9999': waiting({ until: '9999-12-31T23:59:59Z' }),
  'a wait until year 0': waiting({ until: '0000-01-01T00:00:00Z' }),
  'a wait with a time of a megabyte': waiting({ until: digits }),
  'a wait that is over, for another image': waiting({ tag: '9.9.9', digest: digestOf('f'), since: '1970-01-01T00:00:00Z' }),
  'a wait of another kind': waiting({ reason: 'WavePending' }),
  'refusals of everything': { rejected: ['a', 'b'].map((letter) => ({ digest: digestOf(letter), reason: 'RolledBack', at: now })) },
  'refusals of many': { rejected: many(100_000, { digest: digestOf('a'), reason: 'RolledBack', at: now }) },
  'reversions without end': { reverted: [{ ...own, tag: '1.3.0', digest: digestOf('b'), count: Number.MAX_SAFE_INTEGER, at: now }] },
  'reversions of others': { reverted: many(maxListed, { ...elsewhere, tag: '1.3.0', count: 2, at: now }) },
  'rollouts that are settled in the future': {
    rollouts: { progressing: Number.MAX_SAFE_INTEGER, done: 0, failed: 0, rolledBack: 0, settledAt: '9999-12-31T23:59:59Z' },
  },
  'rollouts that are negative': { rollouts: { progressing: -1, done: 0.5, failed: Number.POSITIVE_INFINITY, rolledBack: '1' } },
  'targets elsewhere': {
    targets: [{ ...elsewhere, image: `${image}:1.2.3`, state: 'Problem' }],
    targetCounts: { total: 0, upToDate: 9, problems: -1 },
  },
  'a rollback to another image': { rollback: { request: 'previous', tag: '9.9.9', digest: digestOf('f') } },
  'a rollback to the image of somebody else': { rollback: { request: 'previous', tag: evil, digest: 'sha256:f' } },
  'a generation that is not reached': { observedGeneration: Number.MAX_SAFE_INTEGER, ...latest({}) },
  'an approval of another image': { pendingApproval: { tag: evil, digest: digestOf('f') } },
  'a trigger that was never': { trigger: { source: 'Approval', event: long, receivedAt: digits, handledAt: now } },
  'fields of a later version': { later: many(10, { a: [1] }), lastHandledRequest: long, lastHandledRollback: {} },
};

const statuses = Object.entries(hostile);
const { uid } = policyOf();
const jobOf = (job: Partial<PolicyJob> = {}): PolicyJob => ({
  schema: 1,
  policy: { namespace: 'shop', name: 'web', uid },
  source: 'Webhook',
  cause: 'push:push-1',
  receivedAt: new Date(startTime - 1_000).toISOString(),
  ...job,
});

/** Everything that reads a status and acts on it, on the same world one after the other. */
const acts: Readonly<Record<string, (world: World) => Promise<unknown>>> = {
  'a push': (world) => processPush(pushOf(), contextOf(), world.ports),
  'a reconcile': (world) => processTask(jobOf({ source: 'PolicyChange', cause: 'generation:1' }), contextOf(), world.ports),
  'a look at its rollouts': (world) =>
    watchRollouts(jobOf({ task: 'rollout', cause: 'rollout:x' }), world.ports, new AbortController().signal),
  'the end of its wait': async (world) => {
    const job = waitJob(webOf(world));
    if (job !== undefined) await processTask(job, contextOf(), world.ports);
  },
};

function webOf({ policies }: World) {
  return policies.get('shop/web') ?? assert.fail('the policy is gone');
}

/** Workloads that the policy does not select, one beside its target and one elsewhere. */
function withOthers(world: World): readonly string[] {
  for (const place of [
    { namespace: 'shop', name: 'neighbour' },
    { namespace: 'elsewhere', name: 'web' },
  ])
    world.workloads.set(
      `Deployment/${place.namespace}/${place.name}`,
      workloadOf({ web: `${image}:1.2.3` }, { ...place, uid: place.name }),
    );
  return ['Deployment/shop/neighbour', 'Deployment/elsewhere/web'];
}

/** Lets everything act on a policy, with a job for each that its status asks for. */
async function actOn(world: World): Promise<void> {
  for (const [act, run] of Object.entries(acts)) {
    const policy = webOf(world);
    const wanted = [
      ...neededReconciles(policy, asSeenBy(policy, world.ports.cluster), { now: new Date(startTime), withNew: false }),
      waitJob(policy),
      waveJob(policy, asSeenBy(policy, world.ports.cluster)),
    ];
    for (const job of [...wanted, ...world.jobs]) assert.ok(JSON.stringify(job ?? '').length < 2_000, `a job before ${act}`);
    await planNow({ policy }, () => world.ports.cluster);
    await run(world).catch((error: unknown) => assert.ok(error instanceof WaitError, `${act}: ${String(error)}`));
  }
}

test('without a hostile status, a policy updates its target, and rolls back a failed update', async () => {
  const updated = createWorld();
  await actOn(updated);
  assert.deepEqual(updated.images(), [`${image}:1.3.0`]);
  const history = [entryOf({ at: now })];
  const failing = createWorld();
  failing.workloads.set('Deployment/shop/web', changedWorkload(stuckRollout));
  failing.put(policyOf({ spec: watchedSpec('Rollback'), status: { observedGeneration: 1, ...latest({}), history } }));
  await actOn(failing);
  assert.deepEqual(failing.images(), [`${image}:1.2.3`]);
});

describe('a hostile status of an ImagePolicy affects neither other workloads nor other images:', () => {
  for (const [name, raw] of statuses)
    for (const [isRollout, actions] of [
      [false, {}],
      [true, {}],
      [false, { rollbackTo: 'previous', requestedAt: 'now', release: now }],
    ] as const)
      test(`${name}${isRollout ? ', with a failed rollout' : ''}${Object.keys(actions).length > 0 ? ', with a rollback' : ''}`, async () => {
        const status = readStatus(raw, 1);
        const world = createWorld();
        const others = withOthers(world);
        const before = others.map((key) => world.workloads.get(key));
        if (isRollout) world.workloads.set('Deployment/shop/web', changedWorkload(stuckRollout));
        world.put(policyOf({ spec: watchedSpec('Rollback'), status, actions }));
        await actOn(world);
        assert.deepEqual(
          others.map((key) => world.workloads.get(key)),
          before,
        );
        for (const running of world.images()) assert.match(running, /^registry\.example\.com\/shop\/web:1\.[23]\.\d(?:@sha256:[ab]+)?$/);
        assert.deepEqual(
          world.requests.filter((request) => request.startsWith('PATCH') && request !== 'PATCH web'),
          [],
        );
        assert.ok(world.requests.length < 60, world.requests.join(', '));
        assert.ok(world.jobs.length < 20 && world.events.length < 20);
        const { later: _later, ...stored } = toStored(webOf(world).status) as Record<string, unknown>;
        assert.equal(storedStatusSchema.safeParse(stored).error, undefined);
        assert.ok(JSON.stringify(stored).length < 100_000);
      });
});

/** The same value, which counts how many entries and fields are read. */
function counted(value: unknown, count: () => void): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return new Proxy(value, {
    get(target, key) {
      count();
      return counted(Reflect.get(target, key), count);
    },
  });
}

/** The steps that a reading takes. */
function stepsOf(raw: unknown, read: (raw: unknown) => unknown): number {
  let steps = 0;
  read(counted(raw, () => (steps += 1)));
  return steps;
}

const metadata = { name: 'java', namespace: 'platform', uid: 'u', resourceVersion: '1', generation: 1 };
const readContext = { aliases: new Map(), customTargets: [] };

/** The readers of each kind, with the fields that its definition has. The API server removes all others. */
const readers = {
  ImagePolicy: { read: (raw: unknown) => readStatus(raw, 1), fields: statusSchema.shape },
  BaseImagePolicy: { read: (status: unknown) => readBasePolicy({ metadata, status }, readContext).status, fields: baseStatusSchema.shape },
  NotificationTarget: { read: (status: unknown) => readNotificationTarget({ metadata, status }).status, fields: targetStatusSchema.shape },
};

describe('reading a hostile status takes bounded steps and returns a bounded status:', () => {
  const ofBases = {
    'many dependents': { dependents: many(700_000, 0) },
    'a wave of many workloads': { lastWave: { base: digestOf('a'), workloads: many(700_000, 0) } },
    'a wave of long names': { lastWave: { base: digestOf('a'), workloads: many(90, long.slice(0, 20_000)) } },
    'a check at no time': { lastCheckTime: digits },
  };
  for (const [kind, { read, fields }] of Object.entries(readers))
    for (const [name, raw] of [...statuses, ...Object.entries(ofBases)])
      test(`${kind}: ${name}`, () => {
        const status = read(raw) as Record<string, unknown>;
        assert.equal(Object.getPrototypeOf(status), Object.prototype);
        const known = Object.entries(status).filter(([field]) => Object.hasOwn(fields, field));
        assert.ok(JSON.stringify(known).length < 500_000);
        assert.ok(stepsOf(raw, read) < 30_000);
      });
});
