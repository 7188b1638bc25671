import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { processPush } from '../../src/reconcile/process-push.ts';
import { createAheadSelections } from '../../src/reconcile/select-ahead.ts';
import type { PushJob } from '../../src/queue/jobs.ts';
import { digestOf, latestSpec, policyOf, specOf } from '../model/samples.ts';
import { contextOf, createWorld, image, pushOf, setWorkload, startTime, withPorts, type PortOverrides, type World } from './world.ts';

/** A world in which the selection for `push` has begun, and how its job is processed. */
async function begun(world: World, push: PushJob = pushOf(), overrides: PortOverrides = {}) {
  const ahead = createAheadSelections(withPorts(world.ports, overrides));
  ahead.begin(push);
  // What was begun ends before the job starts.
  await new Promise(setImmediate);
  return { ahead, work: () => processPush(push, contextOf(), world.ports, ahead) };
}

test('the job goes on with what was selected, and asks the registry nothing', async () => {
  const world = createWorld();
  const { work } = await begun(world);
  assert.deepEqual([world.requests, world.images(), world.results.size], [['HEAD 1.3.0'], [`${image}:1.2.3`], 0], 'nothing is changed yet');
  await work();
  assert.deepEqual([world.requests, world.images()], [['HEAD 1.3.0', 'PATCH web'], [`${image}:1.3.0`]]);
  assert.deepEqual(world.statusOf('web').history?.length, 1);
  assert.equal(world.results.get('push-1 shop/web')?.kind, 'updated');
});

test('a job that starts before the registry has answered waits for that answer', async () => {
  const answer = Promise.withResolvers<undefined>();
  const world = createWorld();
  const { headManifest } = world.ports.registry;
  const { work } = await begun(world, pushOf(), {
    registry: { headManifest: async (...asked) => (await answer.promise) ?? headManifest(...asked) },
  });
  const working = work();
  assert.deepEqual(world.requests, []);
  answer.resolve(undefined);
  await working;
  assert.deepEqual(world.requests, ['HEAD 1.3.0', 'PATCH web']);
});

describe('what changes until the job starts is respected', () => {
  test('an edited policy', async () => {
    const world = createWorld();
    const { work } = await begun(world);
    world.put({ ...policyOf({ spec: specOf({ suspended: true }) }), generation: 9 });
    await work();
    assert.deepEqual([world.images(), world.results.get('push-1 shop/web')?.reason], [[`${image}:1.2.3`], 'Suspended']);
  });

  test('a policy that was deleted and created again', async () => {
    const world = createWorld();
    const { work } = await begun(world);
    world.put(policyOf({ uid: 'another' }));
    await work();
    assert.deepEqual([world.images(), world.requests], [[`${image}:1.3.0`], ['HEAD 1.3.0', 'HEAD 1.3.0', 'PATCH web']]);
  });

  test('a newer image that somebody set', async () => {
    const world = createWorld();
    const { work } = await begun(world);
    setWorkload(world, { web: `${image}:1.4.0` });
    await work();
    assert.deepEqual([world.images(), world.requests], [[`${image}:1.4.0`], ['HEAD 1.3.0']]);
  });

  test('a second policy of the repository', async () => {
    const world = createWorld();
    const { work } = await begun(world);
    world.put(policyOf({ name: 'other' }));
    await work();
    assert.deepEqual(world.jobs.map(({ policy }) => policy.name).toSorted(), ['other', 'web']);
  });
});

test('a process that stops does not wait for it', async () => {
  const world = createWorld();
  const signals: AbortSignal[] = [];
  const headManifest: World['ports']['registry']['headManifest'] = (_source, _tag, signal) => {
    signals.push(signal);
    return new Promise(() => undefined);
  };
  const { ahead } = await begun(world, pushOf(), { registry: { headManifest } });
  const stopping = new AbortController();
  const working = processPush(pushOf(), contextOf({ signal: stopping.signal }), world.ports, ahead);
  stopping.abort(new Error('the process is stopping'));
  await assert.rejects(working, /the process is stopping/);
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [true],
    'the request ends as well',
  );
});

test('where it fails, the job fails with the same error, and its next try asks for itself', async () => {
  const world = createWorld();
  const failing = { registry: { headManifest: () => Promise.reject(new Error('connection reset')) } };
  const { work } = await begun(world, pushOf(), failing);
  await assert.rejects(work(), /connection reset/);
  assert.deepEqual(world.requests, []);
  await work();
  assert.deepEqual([world.requests, world.images()], [['HEAD 1.3.0', 'PATCH web'], [`${image}:1.3.0`]]);
});

test('it serves one try of one push', async () => {
  const world = createWorld();
  const { ahead } = await begun(world);
  const policy = world.policies.get('shop/web') ?? policyOf();
  const { signal } = contextOf();
  const refused = [
    ahead.take(pushOf({ receivedAt: new Date(startTime).toISOString() }), policy, signal),
    ahead.take(pushOf({ id: 'push-2' }), policy, signal),
    ahead.take(pushOf(), { ...policy, uid: 'another' }, signal),
    ahead.take(pushOf(), { ...policy, spec: specOf() }, signal),
  ];
  assert.deepEqual(new Set(refused), new Set([undefined]), 'a later push has joined the job, or the policy has other defaults');
  assert.equal((await ahead.take(pushOf(), policy, signal))?.selected?.selection.candidate.tag, '1.3.0');
  assert.equal(ahead.take(pushOf(), policy, signal), undefined);
});

test('nothing is requested where more than one request may follow, or none', async () => {
  const verification = { keys: [{ secret: 'cosign', key: 'cosign.pub' }], signers: [] };
  for (const [what, policies, push] of [
    ['no policy', [], pushOf({ repository: { registry: 'registry.example.com', path: 'shop/other' } })],
    ['several policies', [policyOf({ name: 'other' })], pushOf()],
    ['a tag that is not selected', [], pushOf({ tag: 'main' })],
    ['a suspended policy', [policyOf({ spec: specOf({ suspended: true }) })], pushOf()],
    ['signatures', [policyOf({ spec: specOf({ verification }) })], pushOf()],
    ['platforms', [policyOf({ spec: specOf({ platforms: ['linux/amd64'] }) })], pushOf()],
    ['a minimum age', [policyOf({ spec: specOf({ minAgeMs: 60_000 }) })], pushOf()],
    ['downgrades', [policyOf({ spec: specOf({ allowDowngrade: true }) })], pushOf()],
    ['a tag that runs already', [], pushOf({ tag: '1.2.3', digest: digestOf('a') })],
  ] as const) {
    const world = createWorld();
    world.put(...policies);
    await begun(world, push);
    assert.deepEqual(world.requests, [], what);
  }
});

test('a mutable tag is asked for by its digest', async () => {
  const world = createWorld();
  world.put(policyOf({ spec: latestSpec() }));
  world.tags.set('latest', digestOf('d'));
  const { work } = await begun(world, pushOf({ tag: 'latest', digest: digestOf('d') }));
  await work();
  assert.deepEqual(
    world.requests.filter((request) => request.startsWith('HEAD')),
    ['HEAD latest'],
  );
});

test('pushes that are never stored cost few requests, and hold no memory', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const world = createWorld();
  const signals: AbortSignal[] = [];
  const headManifest: World['ports']['registry']['headManifest'] = async (_source, _tag, signal) => {
    signals.push(signal);
    return undefined;
  };
  const ahead = createAheadSelections(withPorts(world.ports, { registry: { headManifest } }));
  const beginMany = async () => {
    for (let number = 0; number < 100; number++) ahead.begin(pushOf({ id: `push-${number}` }));
    await new Promise(setImmediate);
  };
  await beginMany();
  assert.equal(signals.length, 4);
  t.mock.timers.tick(3_000);
  assert.ok(signals.every(({ aborted }) => aborted));
  assert.equal(ahead.take(pushOf({ id: 'push-0' }), policyOf(), contextOf().signal), undefined);
  await beginMany();
  assert.equal(signals.length, 8);
});
