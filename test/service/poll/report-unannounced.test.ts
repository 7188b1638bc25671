import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Find } from '../../../src/service/poll/evaluate-policies.ts';
import { reportUnannounced } from '../../../src/service/poll/report-unannounced.ts';
import { digestOf, latestSpec, policyOf, web } from '../../core/model/samples.ts';
import { createWorld, startTime, type World } from '../reconcile/world.ts';

const selected = (tag: string, digest?: string) => ({
  observedGeneration: 1,
  latest: { tag, selectedAt: new Date(startTime).toISOString(), ...(digest !== undefined && { digest }) },
});
const find = (tag: string, { name = 'web', status = selected('1.0.0') } = {}): Find => ({
  policy: policyOf({ name, status }),
  candidate: { tag },
});
const reportFinds = (world: World, ...finds: Find[]) => reportUnannounced(finds, web, world.ports);
const reportedEvents = (world: World) => world.events.map(({ regarding, type, reason }) => [regarding.name, type, reason]);

test('the third unannounced image in a row is reported, then the sixth, the twelfth and so on', async () => {
  const world = createWorld();
  const toldAt: number[] = [];
  for (let count = 1; count <= 30; count++) {
    const before = world.events.length;
    await reportFinds(world, find(`1.${count}.0`));
    if (world.events.length > before) toldAt.push(count);
  }
  assert.deepEqual(toldAt, [3, 6, 12, 24]);
  assert.deepEqual(reportedEvents(world)[0], ['web', 'Warning', 'WebhookMissing']);
  assert.deepEqual(
    world.notices.map(({ kind, subject }) => `${kind} ${subject.kind} ${subject.namespace}/${subject.name}`),
    Array(4).fill('WebhookMissing ImagePolicy shop/web'),
  );
  assert.match(
    world.events[0]?.message ?? '',
    /3 images at registry\.example\.com .*shop\/web:1\.3\.0.*image-watcher events --repository registry/,
  );
  const metrics = await world.ports.report.metrics.registry.metrics();
  assert.match(metrics, /image_watcher_unannounced_finds_total\{registry="registry\.example\.com"\} 30/);
});

for (const [name, finds] of [
  ['what many policies find at once', ['a', 'b', 'c', 'd'].map((name) => find('1.3.0', { name }))],
  ['what is found again', [find('1.3.0'), find('1.3.0'), find('1.3.0')]],
] as const) {
  test(`an unannounced image counts once in the case "${name}"`, async () => {
    const world = createWorld();
    await reportFinds(world, ...finds);
    for (const one of finds) await reportFinds(world, one);
    assert.deepEqual([[...world.unannounced], reportedEvents(world)], [['shop/web:1.3.0@'], []]);
  });
}

for (const [name, one, counts] of [
  ['a tag that was selected before: somebody changed what runs', find('1.3.0', { status: selected('1.3.0') }), false],
  ['an older tag: the newer one was deleted', find('1.2.0', { status: selected('1.3.0') }), false],
  ['a policy that was changed meanwhile', { ...find('1.3.0'), policy: policyOf({ generation: 2, status: selected('1.0.0') }) }, false],
  ['a policy that has selected nothing yet', { ...find('1.3.0'), policy: policyOf() }, false],
  [
    'another digest of the same tag',
    {
      policy: policyOf({ spec: latestSpec(), status: selected('latest', digestOf('a')) }),
      candidate: { tag: 'latest', digest: digestOf('b') },
    },
    true,
  ],
  [
    'the same digest of the same tag',
    {
      policy: policyOf({ spec: latestSpec(), status: selected('latest', digestOf('a')) }),
      candidate: { tag: 'latest', digest: digestOf('a') },
    },
    false,
  ],
] as const) {
  test(`a found image ${counts ? 'counts' : 'does not count'} in the case "${name}"`, async () => {
    const world = createWorld();
    await reportFinds(world, one);
    assert.equal(world.unannounced.size, counts ? 1 : 0);
  });
}

test('an image that a webhook announced does not count as unannounced', async () => {
  const world = createWorld();
  world.announced.add('1.3.0');
  await reportFinds(world, find('1.3.0'), find('1.4.0'));
  assert.deepEqual([...world.unannounced], ['shop/web:1.4.0@']);
});
