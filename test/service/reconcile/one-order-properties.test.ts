/** One order for all ways in: pushes, repeated and late ones, and polls never take a workload back, also where tags rank equal. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { filterTags } from '../../../src/core/select/filter-tags.ts';
import { parseImageReference } from '../../../src/core/model/image-reference.ts';
import { compareTags } from '../../../src/core/select/select-tag.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import type { TagStrategy } from '../../../src/core/model/tag-strategy.ts';
import { processPoll } from '../../../src/service/poll/process-poll.ts';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { processPush } from '../../../src/service/reconcile/process-push.ts';
import { digestOf, policyOf, specOf, web } from '../../core/model/samples.ts';
import { contextOf, createWorld, image, pushOf, setWorkload, startTime, type World } from './world.ts';
import { runsOf } from '../../harness/full-tests.ts';

/** Strategies by name, each with tags of which several rank equal. */
const families: Record<string, { readonly strategy: TagStrategy; readonly tags: readonly string[] }> = {
  'semver, rebuilt by date': {
    strategy: filterTags(strategies.semver({}), { allow: '(?P<version>[0-9.]+)-[0-9]{8}', extract: '$version' }),
    tags: ['1.4.2-20260101', '1.4.2-20260201', '1.4.2-20251101', '1.5.0-20260101', '1.5.0-20250101', '1.3.0-20260301'],
  },
  'semver in two spellings': { strategy: strategies.semver({}), tags: ['v1.3.0', '1.3.0', '1.2.9', 'v1.2.9', '1.10.0', 'v1.10.0'] },
  numerical: { strategy: strategies.numerical(), tags: ['7', '07', '007', '9', '09', '10'] },
  'alphabetical by a part': {
    strategy: filterTags(strategies.alphabetical(), { allow: '(?P<line>[a-z]+)-[0-9]+', extract: '$line' }),
    tags: ['main-1', 'main-9', 'main-10', 'next-1', 'next-2', 'beta-3'],
  },
  newest: { strategy: strategies.newest(), tags: ['a-1', 'a-2', 'a-10', 'b-1', 'b-2', 'c'] },
};

/** Of `newest`: two tags each were created at the same time. */
const created = new Map(families['newest']?.tags.map((tag, index) => [tag, new Date(Date.UTC(2026, 0, 1 + Math.floor(index / 2)))]));

const step = fc.record({
  kind: fc.constantFrom('push', 'lost push', 'late push', 'poll', 'delete'),
  tag: fc.nat({ max: 5 }),
  letter: fc.constantFrom('a', 'b', 'c', 'd'),
});
const input = fc.record({
  family: fc.constantFrom(...Object.keys(families)),
  pin: fc.constantFrom('Tag' as const, 'Digest' as const),
  first: fc.nat({ max: 5 }),
  isPinned: fc.boolean(),
  steps: fc.array(step, { minLength: 1, maxLength: 12 }),
});

function start({ pin, first, isPinned }: { pin: 'Tag' | 'Digest'; first: string; isPinned: boolean }, strategy: TagStrategy): World {
  const world = createWorld({ cluster: { repeatsPerHour: 1_000 } });
  world.tags.clear();
  putImage(world, first, digestOf('e'));
  world.put(policyOf({ spec: specOf({ strategy, pin }) }));
  setWorkload(world, { web: `${image}:${first}${isPinned ? `@${digestOf('e')}` : ''}` });
  return world;
}

function putImage(world: World, tag: string, digest: string): void {
  world.tags.set(tag, digest);
  const at = created.get(tag);
  if (at !== undefined) world.facts.set(digest, { created: at });
}

async function drain(world: World): Promise<void> {
  for (const job of world.jobs.splice(0)) await processTask(job, contextOf(), world.ports);
}

async function poll(world: World): Promise<void> {
  const receivedAt = new Date(startTime).toISOString();
  await processPoll({ schema: 1, repository: web, intervalMs: 3_600_000, receivedAt }, contextOf(), world.ports);
  await drain(world);
}

/** So old that the registry is believed at once. */
async function push(world: World, tag: string, digest: string): Promise<void> {
  await processPush(pushOf({ tag, digest, receivedAt: new Date(startTime - 600_000).toISOString() }), contextOf(), world.ports);
  await drain(world);
}

function runningOf(world: World): { tag: string; digest?: string } {
  const { tag = 'latest', digest } = parseImageReference(world.images()[0] ?? '');
  return { tag, ...(digest !== undefined && { digest }) };
}

test('nothing is downgraded in whatever order pushes arrive: an image of equal rank stays unless a later one is pushed', async () => {
  await fc.assert(
    fc.asyncProperty(input, async ({ family, steps, first, ...rest }) => {
      const { strategy, tags } = families[family] ?? assert.fail();
      const tagAt = (index: number) => tags[index] ?? assert.fail();
      const ranks = strategy.withCreationTimes?.(created) ?? strategy;
      const order = (a: string, b: string) => compareTags(ranks, a, b);
      const pushes: { readonly tag: string; readonly digest: string }[] = [{ tag: tagAt(first), digest: digestOf('e') }];
      const world = start({ ...rest, first: tagAt(first) }, strategy);
      /** Does something, and checks where it leads: forward, and to what ranks equal only where that was pushed or what ran is gone. */
      const check = async (name: string, act: () => Promise<void>, pushed?: string) => {
        const before = runningOf(world);
        await act();
        const after = runningOf(world);
        const change = `${name}: ${JSON.stringify(before)} → ${JSON.stringify(after)}`;
        if (after.tag !== before.tag) {
          assert.ok(order(after.tag, before.tag) > 0, `backwards by ${change}`);
          // A pinned image is gone as well where its tag has moved.
          const held = world.tags.get(before.tag);
          const isGone = held === undefined || (before.digest !== undefined && before.digest !== held);
          const isAsked = after.tag === pushed || ranks.compare(after.tag, before.tag) > 0 || isGone;
          assert.ok(isAsked, `moved to an equal one by ${change}`);
        } else if (after.digest !== before.digest) assert.equal(after.digest, world.tags.get(after.tag), change);
        if (pushed === undefined || !world.tags.has(pushed)) return;
        const isSame = pushes.some(({ tag, digest }) => tag === before.tag && digest === world.tags.get(pushed));
        assert.ok(order(after.tag, pushed) >= 0 || isSame, `not brought by ${change}`);
      };
      const polls = () => check('poll', () => poll(world));
      // When what runs was created is known nowhere else once it is deleted.
      await polls();
      for (const { kind, tag: index, letter } of steps) {
        const tag = tagAt(index);
        // An image was created once: where that is the order, each tag has one image.
        const digest = digestOf(strategy.withCreationTimes === undefined ? letter : String(index));
        if (kind === 'delete') world.tags.delete(tag);
        if (kind === 'push' || kind === 'lost push') putImage(world, tag, digest);
        if (kind === 'push' || kind === 'lost push') pushes.push({ tag, digest });
        if (kind === 'push' || kind === 'late push') await check(`${kind} of ${tag}`, () => push(world, tag, digest), tag);
        if (kind !== 'delete' && kind !== 'lost push') await polls();
      }
      await polls();
      const settled = world.images();
      await polls();
      assert.deepEqual(world.images(), settled, 'the next poll chooses something else');
    }),
    { numRuns: runsOf(500) },
  );
});
