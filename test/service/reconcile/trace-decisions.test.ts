/** Decisions and rollouts in the spans of their jobs; the spans are those that a collector gets. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { TracedChange } from '../../../src/service/telemetry/tracing.ts';
import { processPush } from '../../../src/service/reconcile/process-push.ts';
import { traceDecision, traceMatches, traceRollout } from '../../../src/service/reconcile/trace-decisions.ts';
import { openTraces } from '../../harness/traces.ts';
import { contextOf, createWorld, image, pushOf } from './world.ts';

const earlier = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

/** The events of a span in which the work is done. */
async function eventsOf(t: TestContext, work: () => void | Promise<void>) {
  const { tracing, finish } = await openTraces(t);
  await tracing.span({ name: 'job' }, async () => work());
  return (await finish()).flatMap(({ events }) => events);
}

test('the span of a push has the matched policies and their decisions as events', async (t) => {
  const world = createWorld();
  const events = await eventsOf(t, () => processPush(pushOf(), contextOf(), world.ports));
  assert.deepEqual(world.images(), [`${image}:1.3.0`]);
  assert.deepEqual(
    events.map(({ name, attributes }) => [name, attributes['image_watcher.reason'] ?? attributes['image_watcher.policies']]),
    [
      ['matched', ['shop/web']],
      ['decision', 'Updated'],
    ],
  );
});

test('a push without a policy is an event "unwatched" of its span', async (t) => {
  assert.deepEqual(await eventsOf(t, () => traceMatches([])), [{ name: 'unwatched', attributes: {} }]);
});

test('at most twenty names and blocked changes are recorded in a span, with the number of all policies', async (t) => {
  const policies = Array.from({ length: 30 }, (_, index) => `shop/web-${index}`);
  const blocked = policies.map((name) => ({ reason: 'Downgrade', message: `${name} would be downgraded` }) as const);
  const [matched, decision, ...others] = await eventsOf(t, () => {
    traceMatches(policies);
    traceDecision('shop/web-0', {
      kind: 'unchanged',
      reason: 'UpToDate',
      message: 'nothing to do',
      tag: '1.3.0',
      blocked: blocked as never,
    });
  });
  assert.deepEqual(matched?.attributes, { 'image_watcher.policies': policies.slice(0, 20), 'image_watcher.policies.count': 30 });
  assert.deepEqual(decision?.attributes['container.image.tags'], ['1.3.0']);
  assert.deepEqual(
    others.map(({ name, attributes }) => [name, attributes['image_watcher.message']]),
    blocked.slice(0, 20).map(({ message }) => ['blocked', message]),
  );
});

for (const [what, follows] of [
  ['a span beside that of its check, since the change', { traceparent: earlier, at: 1_763_700_000_123 }],
  ['no span where the change is not known', undefined],
] as const satisfies [string, TracedChange | undefined][])
  test(`a finished rollout is ${what}`, async (t) => {
    const { tracing, finish } = await openTraces(t);
    const [workload] = createWorld().workloads.values();
    assert.ok(workload);
    await tracing.span({ name: 'check rollout', follows }, () =>
      Promise.resolve(traceRollout('shop/web', workload, { reason: 'RolloutFailed', message: 'it crashed' })),
    );
    const rollouts = (await finish()).filter(({ name }) => name === 'rollout');
    assert.deepEqual(
      rollouts.map(({ parentId, start, failure, attributes }) => [parentId, start, failure, attributes['image_watcher.policy']]),
      follows === undefined ? [] : [['00f067aa0ba902b7', follows.at, 'it crashed', 'shop/web']],
    );
  });
