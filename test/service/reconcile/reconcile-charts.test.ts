/** Policies for charts and for any artifacts, in repositories that hold images as well: each gets what it selects, and says what it does not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Artifact } from '../../../src/core/model/artifact.ts';
import type { PolicySpec } from '../../../src/core/model/image-policy.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import { processPoll } from '../../../src/service/poll/process-poll.ts';
import { reconcilePolicy } from '../../../src/service/reconcile/reconcile-policy.ts';
import type { ReconcileRequest } from '../../../src/service/reconcile/attempt.ts';
import { digestOf, policyOf, specOf } from '../../core/model/samples.ts';
import { contextOf, createWorld, image, setWorkload, type World } from './world.ts';

const signal = new AbortController().signal;
const { namespace, name, uid } = policyOf();
const reconcile = (world: World, request: Partial<ReconcileRequest> = {}) =>
  reconcilePolicy({ policy: { namespace, name, uid }, announced: false, ...request }, world.ports, signal);

/** Why each kind of artifact cannot be selected as another one, as the client of the registry says. */
const unusable = {
  image: { Chart: 'its configuration is of the type image' },
  chart: { Image: 'its configuration is of the type chart' },
  bundle: { Image: 'its configuration is of the type bundle', Chart: 'its configuration is of the type bundle' },
  signature: { Image: 'it is a signature', Chart: 'it is a signature', Any: 'it is a signature' },
};
type Content = keyof typeof unusable;

/** shop/web runs 1.0.0; each tag after it is newer than the one before in every way. */
function start(artifact: Artifact, contents: readonly Content[], spec: Partial<PolicySpec> = {}): World {
  const world = createWorld();
  world.tags.clear();
  for (const [index, content] of contents.entries()) {
    const digest = digestOf('abcdef'[index] ?? '0');
    world.tags.set(`1.0.${index}`, digest);
    world.facts.set(digest, { created: new Date(Date.UTC(2026, 2, index + 1)), unusable: unusable[content] });
  }
  setWorkload(world, { web: `${image}:1.0.0` });
  world.put(policyOf({ spec: specOf({ artifact, ...spec }) }));
  return world;
}

const all: readonly Content[] = ['image', 'image', 'chart', 'bundle', 'signature'];
const selected: Record<Artifact, string> = { Image: '1.0.1', Chart: '1.0.2', Any: '1.0.3' };
const ways: Record<string, Partial<PolicySpec>> = {
  semver: {},
  newest: { strategy: strategies.newest() },
  'semver, pinned by digest': { pin: 'Digest' },
};
for (const [artifact, tag] of Object.entries(selected) as [Artifact, string][]) {
  for (const [way, spec] of Object.entries(ways)) {
    test(`a policy for ${artifact} with ${way} selects the best tag of its kind`, async () => {
      const world = start(artifact, all, spec);
      assert.equal((await reconcile(world)).kind, 'updated');
      assert.ok(world.images()[0]?.startsWith(`${image}:${tag}`), world.images().join());
    });
  }

  for (const [index, content] of all.entries()) {
    const pushed = `1.0.${index}`;
    const why = (unusable[content] as Partial<Record<Artifact, string>>)[artifact];
    if (why === undefined || index === 0) continue;
    test(`a push of ${content} changes nothing for a policy for ${artifact}, and the result says what would select it`, async () => {
      const world = start(artifact, all);
      const outcome = await reconcile(world, { hint: { tag: pushed, digest: digestOf('abcdef'[index] ?? '0') }, announced: true });
      assert.deepEqual([outcome.kind, outcome.reason], ['ignored', artifact === 'Image' ? 'NotAnImage' : 'OtherArtifact']);
      const fitting = { image: 'Image', chart: 'Chart', bundle: 'Any', signature: undefined }[content];
      assert.match(outcome.message, new RegExp(`:${pushed} is no .*: ${why}`));
      const hint = fitting === undefined ? new RegExp(`${why}$`) : new RegExp(`; a policy with spec.artifact: ${fitting} selects it$`);
      assert.match(outcome.message, hint);
      assert.equal(
        world.requests.some((request) => request.startsWith('PATCH')),
        false,
      );
    });
  }
}

test('a repository without any chart stalls a policy for charts, and says why', async () => {
  const outcome = await reconcile(start('Chart', ['chart', 'image', 'image']));
  assert.deepEqual([outcome.kind, outcome.reason], ['unchanged', 'UpToDate']);
  const world = start('Chart', ['image', 'image']);
  setWorkload(world, { web: `${image}:0.9.0` });
  const only = await reconcile(world);
  assert.deepEqual([only.kind, only.reason], ['stalled', 'OtherArtifact'], only.message);
  assert.match(only.message, /1\.0\.1 is no Helm chart: .*selects it, and none of the next 1 can be used$/);
});

test('policies for images and for charts of one repository share facts about tags, and select only their own content', async () => {
  const world = start('Image', all, { strategy: strategies.newest() });
  await reconcile(world);
  assert.deepEqual(world.images(), [`${image}:1.0.1`]);
  setWorkload(world, { web: `${image}:1.0.0` });
  world.put(policyOf({ spec: specOf({ artifact: 'Chart', strategy: strategies.newest() }) }));
  await reconcile(world);
  assert.deepEqual(world.images(), [`${image}:1.0.2`]);
});

test('a poll finds a chart for a policy for charts, and nothing for a policy for images', async () => {
  for (const [artifact, jobs] of [
    ['Chart', 1],
    ['Image', 0],
  ] as const) {
    const world = start(artifact, artifact === 'Chart' ? ['chart', 'chart', 'image'] : ['image', 'chart', 'chart']);
    const { repository, pollIntervalMs: intervalMs } = specOf();
    await processPoll({ schema: 1, repository, intervalMs, receivedAt: '2026-03-01T12:00:00Z' }, contextOf(), world.ports);
    assert.equal(world.jobs.length, jobs, artifact);
  }
});
