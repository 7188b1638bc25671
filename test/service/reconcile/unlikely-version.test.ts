/** The first change of a policy without a range: where it hardly goes where the user expects, it waits for a release. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { processPush } from '../../../src/service/reconcile/process-push.ts';
import { actionJob } from '../../../src/service/reconcile/enqueue/requested-actions.ts';
import { PermanentError } from '../../../src/core/model/errors.ts';
import type { PolicyJob } from '../../../src/service/queue/jobs.ts';
import { createRegistryMemory } from '../../../src/service/reconcile/registry-memory.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import { filterTags } from '../../../src/core/select/filter-tags.ts';
import type { TagStrategy } from '../../../src/core/model/tag-strategy.ts';
import { digestOf, policyOf, specOf } from '../../core/model/samples.ts';
import { contextOf, createWorld, image, pushOf, setWorkload, startTime, withPorts, type World } from './world.ts';

const { namespace, name, uid } = policyOf();
const digests = [digestOf('1'), digestOf('2'), digestOf('3')];

/** A registry that holds these tags, with the day of March 2026 on which each image was created; shop/web runs the first. */
function start(tags: Readonly<Record<string, number | undefined>>, strategy: TagStrategy): World {
  const world = createWorld();
  world.tags.clear();
  for (const [index, [tag, day]] of Object.entries(tags).entries()) {
    const digest = digests[index] ?? assert.fail();
    world.tags.set(tag, digest);
    world.facts.set(digest, day === undefined ? {} : { created: new Date(Date.UTC(2026, 2, day)) });
  }
  const running = { image: `${image}:${Object.keys(tags)[0]}`, imageOwner: 'helm', imageSetAt: new Date(startTime - 60_000).toISOString() };
  setWorkload(world, { web: running });
  world.put(policyOf({ spec: specOf({ strategy }) }));
  return world;
}

const reconcile = (world: World) =>
  processTask(
    { schema: 1, policy: { namespace, name, uid }, source: 'Poll', cause: 'poll', receivedAt: '2026-03-01T12:00:00Z' },
    contextOf(),
    world.ports,
  );
const readyOf = (world: World) => world.statusOf('web').conditions?.find(({ type }) => type === 'Held');

const free = strategies.semver({});
const jump = { '10.11.4': 9, '2021.12.16': 2 };
const older = { '1.2.3': 9, '1.3.0': 2 };

describe('the first change of a policy without a range', () => {
  const isFar = /2021\.12\.16 is far from 10\.11\.4, which runs/;
  for (const [what, tags, why, strategy] of [
    ['to a major version that is far away', { ...jump, '2021.12.16': 9 }, isFar, free],
    ['with a range that has every version', jump, isFar, strategies.semver({ range: '*' })],
    ['with a range from 0', jump, isFar, strategies.semver({ range: '>=0, x' })],
    ['to an image created before the running one', older, /1\.3\.0 was created on 2026-03-02, before that of 1\.2\.3 \(2026-03-09\)/, free],
  ] satisfies [string, Record<string, number>, RegExp, TagStrategy][])
    it(`is held ${what}, until it is released`, async () => {
      const world = start(tags, strategy);
      const before = world.images();
      await reconcile(world);
      assert.deepEqual(world.images(), before);
      const { reason, message } = readyOf(world) ?? assert.fail();
      assert.equal(reason, 'UnlikelyVersion');
      assert.match(message, why);
      assert.match(message, /set select\.semver\.range, or, if .* is right, release it/);
      assert.deepEqual(
        world.events.filter((event) => event.reason === reason).map((event) => event.message),
        [message],
      );
      const policy = world.policies.get('shop/web') ?? assert.fail();
      world.put({ ...policy, actions: { release: new Date(startTime).toISOString() } });
      const job = actionJob(world.policies.get('shop/web') ?? assert.fail()) ?? assert.fail('no job for the release');
      await processTask(
        { schema: 1, policy: { namespace, name, uid }, receivedAt: '2026-03-01T12:00:00Z', ...job },
        contextOf(),
        world.ports,
      );
      assert.deepEqual(world.images(), [`${image}:${Object.keys(tags)[1]}`]);
      assert.equal(readyOf(world), undefined);
    });

  it('is held if it is caused by a push', async () => {
    const world = start(jump, free);
    await processPush(pushOf({ tag: '2021.12.16', digest: digests[1] ?? '' }), contextOf(), world.ports);
    assert.deepEqual([world.images(), readyOf(world)?.reason], [[`${image}:10.11.4`], 'UnlikelyVersion']);
  });

  it('is compared by age if the running image is named by its digest alone', async () => {
    const world = start(older, free);
    setWorkload(world, { web: { image: `${image}@${digests[0]}`, imageOwner: 'helm' } });
    world.tags.delete('1.2.3');
    await reconcile(world);
    assert.deepEqual([world.images(), readyOf(world)?.reason], [[`${image}@${digests[0]}`], 'UnlikelyVersion']);
  });

  it('is compared by the part of the tag that the policy extracts', async () => {
    const strategy = filterTags(free, { allow: 'v(?P<version>.*)-prod', extract: '$version' });
    const world = start({ 'v10.11.4-prod': 9, 'v2021.12.16-prod': 9 }, strategy);
    await reconcile(world);
    assert.deepEqual([world.images(), readyOf(world)?.reason], [[`${image}:v10.11.4-prod`], 'UnlikelyVersion']);
  });

  for (const [what, tags, strategy] of [
    ['to a higher version that is near', { '10.11.4': 2, '12.0.0': 9 }, free],
    ['from 0.x to 1.0.0', { '0.9.0': 2, '1.0.0': 9 }, free],
    ['to a version of the same day', { '1.2.4': 9, '1.3.0': 8 }, free],
    ['where nothing says when the images were created', { '1.2.4': undefined, '1.3.0': undefined }, free],
    ['with a range, which says what is expected', jump, strategies.semver({ range: '>=1' })],
  ] satisfies [string, Record<string, number | undefined>, TagStrategy][])
    it(`is made ${what}`, async () => {
      const world = start(tags, strategy);
      await reconcile(world);
      assert.deepEqual(world.images(), [`${image}:${Object.keys(tags)[1]}`]);
    });
});

it('a registry that cannot say when images were created does not prevent the first change of a policy', async () => {
  const world = start({ '1.2.3': 9, '1.3.0': 2 }, free);
  const broken = withPorts(world.ports, { registry: { readImage: () => Promise.reject(new Error('500')) } });
  await processTask(
    { schema: 1, policy: { namespace, name, uid }, source: 'Poll', cause: 'poll', receivedAt: '2026-03-01T12:00:00Z' },
    contextOf(),
    broken,
  );
  assert.deepEqual(world.images(), [`${image}:1.3.0`]);
});

describe('a first change that was held for its age, after a restart without access to the creation times,', () => {
  /** The ports of a process that remembers nothing, with this registry. */
  const restarted = ({ ports }: World, readImage: World['ports']['registry']['readImage']) =>
    withPorts(ports, { registry: { readImage, ...createRegistryMemory({ now: () => startTime, elapsed: () => 0 }) } });
  const poll = (world: World, ports = world.ports, job: Partial<PolicyJob> = {}) =>
    processTask(
      { schema: 1, policy: { namespace, name, uid }, source: 'Poll', cause: 'poll', receivedAt: '2026-03-01T12:00:00Z', ...job },
      contextOf(),
      ports,
    );
  const failures: Readonly<Record<string, (world: World) => World['ports']['registry']['readImage']>> = {
    'the registry fails': () => () => Promise.reject(new Error('500')),
    'the registry refuses': () => () => Promise.reject(new PermanentError('RegistryDenied', '403')),
    'the running image is gone': ({ ports }) => {
      const { readImage } = ports.registry;
      return async (...request) => (request[1] === '1.2.3' ? undefined : readImage(...request));
    },
  };

  for (const [why, readImageOf] of Object.entries(failures))
    it(`stays held and says so, because ${why}, until it is released`, async () => {
      const world = start(older, free);
      await poll(world);
      const ports = restarted(world, readImageOf(world));
      await poll(world, ports);
      await poll(world, ports);
      assert.deepEqual([world.images(), readyOf(world)?.reason], [[`${image}:1.2.3`], 'UnlikelyVersion']);
      assert.match(
        readyOf(world)?.message ?? '',
        /web: 1\.3\.0 stays held, because it could not be read when .*1\.2\.3, which runs, were created.* release it/,
      );
      world.put({ ...(world.policies.get('shop/web') ?? assert.fail()), actions: { release: new Date(startTime).toISOString() } });
      await poll(world, ports, actionJob(world.policies.get('shop/web') ?? assert.fail()));
      assert.deepEqual([world.images(), readyOf(world)], [[`${image}:1.3.0`], undefined]);
    });

  it('is evaluated by its age again as soon as the creation times can be read', async () => {
    const world = start(older, free);
    await poll(world);
    await poll(
      world,
      restarted(world, () => Promise.reject(new Error('500'))),
    );
    await poll(world);
    assert.match(readyOf(world)?.message ?? '', /1\.3\.0 was created on 2026-03-02, before that of 1\.2\.3/);
    world.facts.set(world.tags.get('1.3.0') ?? '', {});
    await poll(world, restarted(world, world.ports.registry.readImage));
    assert.deepEqual([world.images(), readyOf(world)], [[`${image}:1.3.0`], undefined]);
  });

  it('does not hold back another version, nor the same one after an edit of the policy', async () => {
    for (const edit of [
      (world: World) => world.tags.set('1.4.0', digests[2] ?? ''),
      (world: World) => world.put({ ...(world.policies.get('shop/web') ?? assert.fail()), generation: 2 }),
    ]) {
      const world = start(older, free);
      await poll(world);
      edit(world);
      await poll(
        world,
        restarted(world, () => Promise.reject(new Error('500'))),
      );
      assert.notDeepEqual(world.images(), [`${image}:1.2.3`]);
    }
  });
});

it('a change after the first one of a policy is not checked for an unlikely version, and costs no request for that', async () => {
  const world = start({ '1.2.3': 2, '1.3.0': 9 }, free);
  await reconcile(world);
  const digest = digestOf('4');
  world.tags.set('2021.12.16', digest);
  world.facts.set(digest, { created: new Date(0) });
  world.requests.length = 0;
  await reconcile(world);
  assert.deepEqual(world.images(), [`${image}:2021.12.16`]);
  assert.deepEqual(
    world.requests.filter((request) => request.startsWith('READ')),
    [],
  );
});
