import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { WaitError } from '../../../src/core/model/errors.ts';
import { foreseePush } from '../../../src/service/reconcile/foresee-push.ts';
import { processPush } from '../../../src/service/reconcile/process-push.ts';
import { digestOf, latestSpec, policyOf, specOf } from '../../core/model/samples.ts';
import { contextOf, createWorld, image, pushOf, setWorkload, startTime, withPorts, type World } from './world.ts';

/** Stores a push and processes it, as a process does that has both roles. */
async function storeAndProcess(world: World, push = pushOf(), between: () => void = () => undefined): Promise<void> {
  await foreseePush(push, world.ports);
  between();
  await processPush(push, contextOf(), world.ports);
}

describe('a process that stores a push and takes it', () => {
  test('asks the registry while Redis stores it, and not again', async () => {
    const world = createWorld();
    await storeAndProcess(world, pushOf(), () => assert.deepEqual(world.requests, ['HEAD 1.3.0']));
    assert.deepEqual([world.requests, world.images()], [['HEAD 1.3.0', 'PATCH web'], [`${image}:1.3.0`]]);
  });

  test('asks again where the registry does not show the announced digest yet', async () => {
    const world = createWorld();
    const push = pushOf({ digest: digestOf('d') });
    await storeAndProcess(world, push, () => void world.tags.set('1.3.0', digestOf('d')));
    assert.deepEqual([world.requests, world.images()], [['HEAD 1.3.0', 'HEAD 1.3.0', 'PATCH web'], [`${image}:1.3.0`]]);
  });

  test('asks again where the targets run something else since, which a newer push may have caused', async () => {
    const world = createWorld();
    world.put(policyOf({ spec: latestSpec() }));
    world.tags.set('latest', digestOf('d'));
    const processed = storeAndProcess(world, pushOf({ tag: 'latest', digest: digestOf('d') }), () => {
      world.tags.set('latest', digestOf('e'));
      setWorkload(world, { web: `${image}:latest@${digestOf('e')}` });
    });
    // The registry shows another digest than was announced, so the job waits until it has had its time.
    await assert.rejects(processed, WaitError);
    assert.deepEqual([world.requests, world.images()], [['HEAD latest', 'HEAD latest'], [`${image}:latest@${digestOf('e')}`]]);
  });

  test('has the job ask and report where the registry fails', async () => {
    const world = createWorld();
    let asked = 0;
    const resolveTag: typeof world.ports.registry.resolveTag = (...question) =>
      asked++ === 0 ? Promise.reject(new Error('503')) : world.ports.registry.resolveTag(...question);
    const ports = withPorts(world.ports, { registry: { resolveTag } });
    await foreseePush(pushOf(), ports);
    await processPush(pushOf(), contextOf(), ports);
    assert.deepEqual([asked, world.images()], [2, [`${image}:1.3.0`]]);
  });

  test('does not hold up a process that stops while the registry has not answered', async () => {
    const resolveTag = () => new Promise<undefined>(() => undefined);
    const world = createWorld({ registry: { resolveTag } });
    await foreseePush(pushOf(), world.ports);
    const stopping = new AbortController();
    const processed = processPush(pushOf(), contextOf({ signal: stopping.signal }), world.ports);
    stopping.abort(new Error('the process is stopping'));
    await assert.rejects(processed, /the process is stopping/);
  });

  for (const [what, prepare, push] of [
    ['a push that no policy watches', (world: World) => world.policies.clear(), pushOf()],
    ['a tag that the policy does not select', () => undefined, pushOf({ tag: 'main' })],
    [
      'a push that several policies watch, which are asked for together',
      (world: World) => world.put(policyOf({ name: 'other' })),
      pushOf(),
    ],
    ['a push that waits for a scan', () => undefined, pushOf({ waitsUntil: new Date(startTime).toISOString() })],
    ['a repeated delivery', (world: World) => world.ports.policies.recentPushes.remember(pushOf()), pushOf()],
    ['a suspended policy', (world: World) => world.put(policyOf({ spec: specOf({ suspended: true }) })), pushOf()],
    ['a policy that lists all tags', (world: World) => world.put(policyOf({ spec: specOf({ allowDowngrade: true }) })), pushOf()],
  ] as const) {
    test(`asks nothing ahead about ${what}`, async () => {
      const world = createWorld();
      prepare(world);
      await foreseePush(push, world.ports);
      assert.deepEqual(world.requests, []);
    });
  }
});
