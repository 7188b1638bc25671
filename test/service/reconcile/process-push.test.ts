import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WaitError } from '../../../src/core/model/errors.ts';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { processPush } from '../../../src/service/reconcile/process-push.ts';
import { createLogger } from '../../../src/service/telemetry/logger.ts';
import { digestOf, lastMatching, latestSpec, policyOf, specOf, web, webDeployment } from '../../core/model/samples.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { contextOf, createWorld, image, pushOf, setWorkload, startTime, neededReconcile, withPorts, type World } from './world.ts';

test('a push of an unwatched repository is recorded without a request', async () => {
  const world = createWorld();
  await processPush(pushOf({ repository: { registry: 'registry.example.com', path: 'shop/web-admin' } }), contextOf(), world.ports);
  assert.deepEqual([world.unwatched, world.matched.size, world.requests, world.jobs], [['push-1'], 0, [], []]);
});

test('a push that changes nothing is logged once, with its reason', async () => {
  const elsewhere = { repository: { registry: 'registry.example.com', path: 'shop/web-admin' } };
  for (const [push, reason, message] of [
    [pushOf(elsewhere), 'NoPolicy', 'push not watched'],
    [pushOf({ tag: 'main' }), 'NotSelected', 'policy reconciled'],
  ] as const) {
    const lines: Record<string, unknown>[] = [];
    const logger = createLogger('debug', { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) });
    const world = createWorld({ report: { logger } });
    await processPush(push, contextOf(), world.ports);
    assert.deepEqual(
      lines.map((line) => [line['level'], line['msg'], line['event'], line['reason'], line['tag']]),
      [['debug', message, 'push-1', reason, push.tag]],
    );
  }
});

test('a push for a policy with an invalid spec is recorded as stalled', async () => {
  const problem = { reason: 'InvalidPolicy', message: 'spec.select: nothing is chosen' } as const;
  const world = createWorld();
  world.put(policyOf({ spec: { problem, scope: specOf() } }));
  await processPush(pushOf(), contextOf(), world.ports);
  assert.deepEqual(
    [...world.results.values()].map(({ kind, reason }) => [kind, reason]),
    [['stalled', 'InvalidPolicy']],
  );
  assert.deepEqual([world.unwatched, world.requests], [[], []]);
});

test('a push without a policy is not final while the watch of the API server is stale', async () => {
  for (const push of [pushOf({ repository: { registry: 'registry.example.com', path: 'shop/new' } }), pushOf({ tag: 'main' })]) {
    const world = createWorld({ policies: { isWatching: () => false } });
    await assert.rejects(processPush(push, contextOf(), world.ports), WaitError);
    assert.deepEqual([world.unwatched, world.results.size, world.requests], [[], 0, []]);
  }
});

test('a push without a policy is not final while the watch has received nothing since the push', async () => {
  for (const push of [pushOf({ repository: { registry: 'registry.example.com', path: 'shop/new' } }), pushOf({ tag: 'main' })]) {
    const asked: string[] = [];
    const world = createWorld({ policies: { isComplete: async (key) => asked.push(key) > 1 } });
    await assert.rejects(processPush(push, contextOf(), world.ports), WaitError);
    assert.deepEqual([world.unwatched, world.results.size, world.requests], [[], 0, []]);
    await processPush(push, contextOf(), world.ports);
    assert.equal(world.unwatched.length + world.results.size, 1);
    assert.deepEqual(asked, [push.id, push.id]);
  }
});

test('a push is matched with a policy that the watch delivers during the check, and a matched push needs no check', async () => {
  const world: World = createWorld({
    policies: {
      async isComplete() {
        world.put(policyOf());
        return false;
      },
    },
  });
  world.policies.clear();
  await processPush(pushOf(), contextOf(), world.ports);
  assert.deepEqual(world.images(), [`${image}:1.3.0`]);
  const known = createWorld({ policies: { isComplete: () => Promise.reject(new Error('asked')) } });
  await processPush(pushOf(), contextOf(), known.ports);
  assert.deepEqual(known.images(), [`${image}:1.3.0`]);
});

test('a push without a policy is retried while the watch is stale, after as long as it has waited, from 1 to 5 s', async () => {
  const pauses: number[] = [];
  for (const ageMs of [-3_000, 0, 3_000, 60_000]) {
    const world = createWorld({ policies: { isWatching: () => false } });
    const push = pushOf({ tag: 'main', receivedAt: new Date(startTime - ageMs).toISOString() });
    await assert.rejects(
      processPush(push, contextOf(), world.ports),
      (error) => error instanceof WaitError && pauses.push(error.until.getTime() - startTime) > 0,
    );
  }
  assert.deepEqual(pauses, [1_000, 1_000, 3_000, 5_000]);
});

test('a push with a policy is processed whether the watch is stale or not', async () => {
  const world = createWorld({ policies: { isWatching: () => false } });
  await processPush(pushOf(), contextOf(), world.ports);
  assert.deepEqual(world.images(), [`${image}:1.3.0`]);
});

test('a push for one policy is processed by its own job, which ends when everything is confirmed', async () => {
  const world = createWorld();
  await processPush(pushOf(), contextOf(), world.ports);
  assert.deepEqual(world.images(), [`${image}:1.3.0`]);
  assert.deepEqual(world.jobs, []);
  assert.deepEqual(world.matched.get('push-1'), ['shop/web']);
  const result = world.results.get('push-1 shop/web');
  assert.deepEqual(
    [result?.kind, result?.reason, result?.tag, result?.digest, result?.afterMs],
    ['updated', 'Updated', '1.3.0', digestOf('b'), 2_000],
  );
  const { history, latest, trigger } = world.statusOf('web');
  assert.deepEqual(
    history?.map(({ container, from, to, digest, trigger: source }) => [container, from, to, digest, source]),
    [['web', `${image}:1.2.3`, `${image}:1.3.0`, digestOf('b'), 'Webhook']],
  );
  assert.deepEqual([latest?.tag, latest?.digest], ['1.3.0', digestOf('b')]);
  assert.deepEqual([trigger?.source, trigger?.receiver, trigger?.event], ['Webhook', 'prod', 'push-1']);
});

test('a push for a policy that is deleted or names another repository before the retry ends', async () => {
  for (const [change, reason] of [
    [(world: World) => world.policies.delete('shop/web'), 'PolicyGone'],
    [
      (world: World) => world.put(policyOf({ spec: specOf({ repository: { registry: 'registry.example.com', path: 'shop/other' } }) })),
      'NotSelected',
    ],
  ] as const) {
    const world = createWorld();
    const failing = withPorts(world.ports, { registry: { headManifest: () => Promise.reject(new Error('down')) } });
    await assert.rejects(processPush(pushOf(), contextOf(), failing), /down/);
    assert.equal(world.results.get('push-1 shop/web')?.kind, 'retrying');
    change(world);
    await processPush(pushOf(), contextOf({ failures: 1, isRepeated: true }), world.ports);
    const { kind, reason: why } = world.results.get('push-1 shop/web') ?? assert.fail();
    assert.deepEqual([kind, why], ['ignored', reason]);
  }
});

test('a push does not replace the reconcile of all tags that a new policy needs, however early it arrives', async () => {
  const world = createWorld();
  const wanted = () => neededReconcile(world.policies.get('shop/web') ?? policyOf(), world.ports.cluster, new Date(startTime));
  world.tags.set('1.4.0', digestOf('c'));
  await processPush(pushOf(), contextOf(), world.ports);
  assert.deepEqual(world.images(), [`${image}:1.3.0`]);
  const job = wanted();
  assert.equal(job?.source, 'PolicyChange');
  await processTask(job, contextOf(), world.ports);
  assert.deepEqual(world.images(), [`${image}:1.4.0`]);
  assert.equal(wanted(), undefined);
});

test('a push that is delivered twice changes the workload once', async () => {
  const world = createWorld();
  await processPush(pushOf(), contextOf(), world.ports);
  await processPush(pushOf(), contextOf(), world.ports);
  assert.deepEqual(world.requests, ['HEAD 1.3.0', 'PATCH web']);
});

test('a tag that was pushed again under a policy that pins tags is reported without another request', async () => {
  const world = createWorld();
  await processPush(pushOf(), contextOf(), world.ports);
  const before = world.requests.length;
  await processPush(pushOf({ id: 'push-2', digest: digestOf('c') }), contextOf(), world.ports);
  const result = world.results.get('push-2 shop/web');
  assert.deepEqual([result?.kind, result?.reason, world.requests.length], ['unchanged', 'Retagged', before]);
  const { conditions, latest } = world.statusOf('web');
  assert.match(conditions?.find(({ type }) => type === 'Ready')?.message ?? '', /1\.3\.0 was pushed again/);
  assert.equal(latest?.digest, digestOf('b'), 'what nobody checked is not written down');
});

test('the result of a push says why the only policy does not select the tag', async () => {
  const world = createWorld();
  await processPush(pushOf({ tag: 'main' }), contextOf(), world.ports);
  assert.deepEqual([world.results.get('push-1 shop/web')?.reason, world.requests], ['NotSelected', []]);
  assert.deepEqual(world.statusOf('web'), {});
});

test('several policies share one request to the registry for a push, and only those that select the tag are reconciled', async () => {
  const world = createWorld();
  const names = Array.from({ length: 200 }, (_, index) => `web-${index}`);
  world.policies.clear();
  for (const name of names) setWorkload(world, { web: `${image}:1.2.3` }, { name, uid: `uid-of-${name}` });
  const specFor = (name: string) => specOf({ targets: [{ ...webDeployment, name }] });
  world.put(
    ...names.map((name) => policyOf({ name, spec: specFor(name) })),
    policyOf({ name: 'builds', spec: specOf({ strategy: lastMatching('build-.*') }) }),
  );
  await processPush(pushOf(), contextOf(), world.ports);
  const [asked, ...patched] = world.requests;
  assert.deepEqual([asked, new Set(patched)], ['HEAD 1.3.0', new Set(names.map((name) => `PATCH ${name}`))]);
  assert.equal(patched.length, names.length);
  assert.deepEqual([world.jobs, world.matched.get('push-1')?.length, world.results.size], [[], 201, 201]);
  assert.deepEqual(
    [world.results.get('push-1 shop/web-7')?.kind, world.results.get('push-1 shop/builds')?.reason],
    ['updated', 'NotSelected'],
  );
});

test('policies that do not select the tag of a push do not delay policies that do', async () => {
  const world = createWorld();
  world.put(policyOf({ name: 'follows', spec: latestSpec() }), policyOf({ name: 'other' }));
  const { eventLog } = world.ports.report;
  const recordResult: typeof eventLog.recordResult = (id, key, result) =>
    key === 'shop/follows' ? Promise.reject(new Error('no room')) : eventLog.recordResult(id, key, result);
  await assert.rejects(
    processPush(pushOf(), contextOf(), withPorts(world.ports, { report: { eventLog: { ...eventLog, recordResult } } })),
    /no room/,
  );
  assert.deepEqual([world.images(), [...world.results.keys()].toSorted()], [[`${image}:1.3.0`], ['push-1 shop/other', 'push-1 shop/web']]);
});

test('a tag that none of several policies selects costs no request and no job', async () => {
  const world = createWorld();
  world.put(policyOf({ name: 'other' }));
  await processPush(pushOf({ tag: 'main' }), contextOf(), world.ports);
  assert.deepEqual([world.requests, world.jobs, world.results.size], [[], [], 2]);
});

test('when the registry fails for a push to several policies, each of them tries again in a job of its own', async () => {
  const world = createWorld({ registry: { headManifest: () => Promise.reject(new Error('502')) } });
  world.put(policyOf({ name: 'other', spec: specOf({ targets: [{ ...webDeployment, name: 'other' }] }) }));
  await processPush(pushOf(), contextOf(), world.ports);
  assert.deepEqual(
    world.jobs.toSorted((one, other) => one.policy.name.localeCompare(other.policy.name)),
    ['other', 'web'].map((name) => ({
      schema: 1,
      notBefore: new Date(startTime + 1_000).toISOString(),
      policy: { namespace: 'shop', name, uid: policyOf({ name }).uid },
      source: 'Webhook',
      cause: 'push:push-1',
      receivedAt: pushOf().receivedAt,
      eventId: 'push-1',
      receiver: 'prod',
      hint: { tag: '1.3.0', digest: digestOf('b'), repository: web },
    })),
  );
  for (const job of world.jobs) await processTask(job, contextOf(), withPorts(world.ports, { registry: createWorld().ports.registry }));
  assert.deepEqual(world.images(), [`${image}:1.3.0`]);
});

test('a policy that takes long delays neither the next try nor the report of another one', async () => {
  const answered = Promise.withResolvers<undefined>();
  const slow = { secrets: [{ namespace: 'shop', name: 'slow', namedBy: 'policy' as const }] };
  const world = createWorld();
  world.put(policyOf({ name: 'failing' }), policyOf({ name: 'slow' }), policyOf({ name: 'follows', spec: latestSpec() }));
  world.policies.delete('shop/web');
  const ports = withPorts(world.ports, {
    registry: {
      sourceOf: ({ name }, spec) => ({ ...spec.repository, ...(name === 'slow' && { access: slow }) }),
      // The question that policies share fails for both, and each asks for itself.
      resolveTag: ({ access }) => (access === undefined || firsts++ === 0 ? Promise.reject(new Error('502')) : answered.promise),
    },
  });
  let firsts = 0;
  const processed = processPush(pushOf(), contextOf(), ports);
  await waitFor('the job and the report', () => world.jobs.length === 1 && world.results.has('push-1 shop/follows'));
  assert.deepEqual([world.jobs[0]?.policy.name, world.results.get('push-1 shop/slow')], ['failing', undefined]);
  answered.reject(new Error('502'));
  await processed;
  assert.deepEqual(
    world.jobs.map(({ policy }) => policy.name),
    ['failing', 'slow'],
  );
});

test('a push whose record or jobs were not stored is retried', async () => {
  const away = new Error('Redis is away');
  const world = createWorld({
    queues: { addPolicyJobs: () => Promise.reject(away) },
    registry: { headManifest: () => Promise.reject(new Error('502')) },
  });
  world.put(policyOf({ name: 'other' }));
  await assert.rejects(processPush(pushOf(), contextOf(), world.ports), away);
  const { eventLog } = world.ports.report;
  const forgetful = withPorts(world.ports, { report: { eventLog: { ...eventLog, unwatched: () => Promise.reject(away) } } });
  world.policies.clear();
  await assert.rejects(processPush(pushOf(), contextOf(), forgetful), away);
});

test('a mutable tag that was pushed twice is updated to the digest in the registry', async () => {
  const world = createWorld();
  world.put(policyOf({ spec: latestSpec() }));
  for (const letter of ['d', 'e']) {
    world.tags.set('latest', digestOf(letter));
    await processPush(pushOf({ id: letter, tag: 'latest', digest: digestOf(letter) }), contextOf(), world.ports);
  }
  assert.deepEqual(world.images(), [`${image}:latest@${digestOf('e')}`]);
});

test('a mutable tag gets its latest digest even if the answer for the first push arrives after the second was applied', async () => {
  const answer = Promise.withResolvers<{ digest: string }>();
  const asked = Promise.withResolvers<void>();
  let requests = 0;
  const headManifest = () => {
    if (requests++ > 0) return Promise.resolve({ digest: digestOf('e') });
    asked.resolve();
    return answer.promise;
  };
  const world = createWorld({ registry: { headManifest } });
  world.put(policyOf({ spec: latestSpec() }));
  const first = processPush(pushOf({ id: 'd', tag: 'latest', digest: digestOf('d') }), contextOf(), world.ports);
  await asked.promise;
  await processPush(pushOf({ id: 'e', tag: 'latest', digest: digestOf('e') }), contextOf(), world.ports);
  answer.resolve({ digest: digestOf('d') });
  await first;
  assert.deepEqual(world.images(), [`${image}:latest@${digestOf('e')}`]);
});
