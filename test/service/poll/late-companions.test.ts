/** A poll finds what no webhook announced of images that are changed together: an image, its companion, or a companion that comes late. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processPoll } from '../../../src/service/poll/process-poll.ts';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { digestOf, web } from '../../core/model/samples.ts';
import { proxyImage, runs, startAlongside, type AlongsideWorld } from '../reconcile/alongside-world.ts';
import { contextOf } from '../reconcile/world.ts';

const [b, c, d] = [digestOf('b'), digestOf('c'), digestOf('d')];
const hour = 3_600_000;

/** A poll of the policy's own repository, and the jobs that it makes. */
async function poll(world: AlongsideWorld): Promise<number> {
  const receivedAt = new Date(world.clock.now).toISOString();
  const jobs = world.jobs.length;
  await processPoll({ schema: 1, repository: web, intervalMs: hour, receivedAt }, contextOf(), world.ports);
  const made = world.jobs.slice(jobs);
  for (const job of made) await processTask(job, contextOf(), world.ports);
  return made.length;
}

test('a polled image changes nothing without its companion, and changes both once the companion is there', async () => {
  const world = startAlongside();
  world.tags.set('1.3.0', b);
  await poll(world);
  assert.deepEqual(runs(world), ['1.2.3', '1.2.3']);
  assert.deepEqual([world.statusOf('web').waiting?.reason, world.statusOf('web').waiting?.tag], ['CompanionMissing', '1.3.0']);
  const { since } = world.statusOf('web').incomplete?.[0] ?? {};
  world.clock.now += 600_000;
  await poll(world);
  assert.equal(world.statusOf('web').incomplete?.[0]?.since, since, 'the time does not begin anew');
  world.companions.get('shop/proxy')?.set('1.3.0', c);
  world.clock.now += 600_000;
  await poll(world);
  assert.deepEqual(runs(world), ['1.3.0', '1.3.0']);
  assert.deepEqual([world.statusOf('web').waiting, world.statusOf('web').incomplete ?? []], [undefined, []]);
});

test('a companion that comes after its image was passed over is found by a poll', async () => {
  const world = startAlongside();
  world.tags.set('1.3.0', b);
  await poll(world);
  world.clock.now += hour;
  await poll(world);
  assert.match(
    world
      .statusOf('web')
      .conditions?.map(({ message }) => message)
      .join() ?? '',
    /passed over: 1\.3\.0 has come without/,
  );
  world.companions.get('shop/proxy')?.set('1.3.0', c);
  world.clock.now += hour;
  await poll(world);
  assert.deepEqual(runs(world), ['1.3.0', '1.3.0']);
});

test('a tag of a companion that was pushed again is followed by a poll where digests are pinned', async () => {
  const world = startAlongside({ pin: 'Digest' });
  world.tags.set('1.3.0', b);
  world.companions.get('shop/proxy')?.set('1.3.0', c);
  await poll(world);
  assert.equal(world.images()[1], `${proxyImage}:1.3.0@${c}`);
  world.companions.get('shop/proxy')?.set('1.3.0', d);
  world.clock.now += hour;
  await poll(world);
  assert.equal(world.images()[1], `${proxyImage}:1.3.0@${d}`);
  world.clock.now += hour;
  assert.equal(await poll(world), 0, 'nothing is left to do');
});
