/** Canaries that are restarted come before all others, whatever the action, and after none that is no canary. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { knownBase } from '../../../src/bases/recognize/layers.ts';
import type { RunningPods } from '../../../src/core/rollout/running-pods.ts';
import { workloadOf } from '../../core/model/samples.ts';
import { digestFor, image as factsOf, repository } from '../recognize/samples.ts';
import { base, imageOf, now, rebase, run, trigger } from './acting.ts';
import { complete, incomplete, pods } from './restart-run.ts';

const platform = 'linux/amd64';
const former = factsOf({ name: 'former', layers: { [platform]: 'os java1 web' } });
const rebuilt = digestFor('rebuilt');
const known = [knownBase(factsOf({ name: '21.0.1', layers: { [platform]: 'os java1' } }), { repository, tags: ['21.0.1'] })];
const facts = { read: (_: unknown, digest: string) => Promise.resolve(digest === former.digest ? former : undefined) };

/** Its pods run the image before, they are starting, or they run the image of the tag. */
const outdated = pods(former.digest);
const restartedAt = new Date(now - 60_000).toISOString();
const starting = pods(former.digest, { restartedFor: [rebuilt], restartedAt, rollout: incomplete });
const restarted = pods(rebuilt, { restartedFor: [rebuilt], restartedAt, rollout: complete });

const findWorkload = ({ name, namespace }: { name: string; namespace: string }) =>
  workloadOf({ app: `harbor.example.com/shop/${name}:1.2.3` }, { name, namespace, labels: { canary: String(name.startsWith('canary')) } });
const waves = { maxParallel: 1, canaries: { matchLabels: { canary: 'true' } } };
const of = (name: string, action: { rebase: object } | { trigger: object }) =>
  'rebase' in action
    ? { rebase: { ...action.rebase, images: [`*/shop/${name}`] } }
    : { trigger: { ...action.trigger, images: [`*/shop/${name}`] } };

/** What a step does about images on an older base, while workloads of the action `restart` run these pods. */
async function step(
  behind: Readonly<Record<string, { rebase: object } | { trigger: object }>>,
  running: Readonly<Record<string, RunningPods>>,
  status: object = {},
  more: object = {},
  rebased?: () => never,
  images = Object.keys(running),
  { refused = [], namespace = 'platform' }: { readonly refused?: readonly string[]; readonly namespace?: string } = {},
) {
  const onNewBase = [...Object.entries(behind).map(([name, action]) => of(name, action)), { restart: { images: ['*'] } }];
  const current = images.map((name) => {
    const workload = { kind: 'Deployment', namespace, name };
    return imageOf(name, { digest: rebuilt, base: base.digest, workloads: [{ workload, containers: ['app'], hasInitContainers: false }] });
  });
  const names = Object.keys(behind);
  const acted = await run(
    { onNewBase, waves: { ...waves, ...more } },
    names.map((name) => imageOf(name)),
    {
      findWorkload,
      facts,
      known,
      status,
      ...(rebased && { rebased }),
      current: { images: current, pods: running, refused },
    },
  );
  const done = acted.steps.filter((one) => /^(?:create|restart) /.test(one)).map((one) => one.replace('for harbor.example.com/shop/', ''));
  return { ...acted, done: [...done, ...acted.requested.map(({ source }) => `request ${source}`)] };
}

const wavesOf = (progressing: number) => ({
  waves: { base: base.digest, pending: 1, progressing, done: 0, failed: 0 },
});

describe('canaries with the action restart', () => {
  test('are restarted before other images are rebased', async () => {
    const { done, until } = await step({ web: rebase }, { 'canary-api': outdated });
    assert.deepEqual(done, ['restart canary-api']);
    assert.deepEqual(until, new Date(now + 10_000));
  });

  test('are restarted before rebuilds are requested, and the status of an image to rebuild says that it waits for them', async () => {
    const { done, states } = await step({ web: trigger() }, { 'canary-api': outdated });
    assert.deepEqual(done, ['restart canary-api']);
    const [waiting] = [...states.values()].filter(({ action }) => action === 'trigger');
    assert.equal(waiting?.message, 'its rebuild is requested when the canaries that are restarted have rolled out');
  });

  test('delay rebases and rebuilds until they have rolled out', async () => {
    const { done } = await step({ web: rebase, shop: trigger() }, { 'canary-api': starting });
    assert.deepEqual(done, []);
  });

  test('are followed by other workloads after the pause, which begins when the canaries have rolled out', async () => {
    const after = await step({ web: rebase }, { 'canary-api': restarted }, wavesOf(1));
    assert.deepEqual([after.done, after.until], [[], new Date(now + 600_000)]);
    const { lastDoneAt } = after.status.waves ?? {};
    assert.ok(lastDoneAt !== undefined);
    assert.deepEqual((await step({ web: rebase }, { 'canary-api': restarted }, { waves: { ...wavesOf(0).waves, lastDoneAt } })).done, []);
    const later = { waves: { ...wavesOf(0).waves, lastDoneAt: new Date(now - 601_000).toISOString() } };
    assert.deepEqual((await step({ web: rebase }, { 'canary-api': restarted }, later)).done, ['create web']);
  });

  test('are restarted after the canaries that are rebased, one rollout at a time', async () => {
    assert.deepEqual((await step({ 'canary-web': rebase, web: rebase }, { 'canary-api': outdated })).done, ['create canary-web']);
  });

  test('are the only workloads that are restarted while other images are to be rebased', async () => {
    assert.deepEqual((await step({ web: rebase }, { api: outdated, 'canary-api': outdated })).done, ['restart canary-api']);
    assert.deepEqual((await step({ web: rebase }, { api: outdated })).done, ['create web']);
  });

  test('do not wait for canaries that are rebuilt, but restarts of other workloads do', async () => {
    const canary = { 'canary-web': trigger() };
    assert.deepEqual((await step(canary, { api: outdated })).done, ['request shop/canary-web']);
    assert.deepEqual((await step(canary, { 'canary-api': outdated })).done, ['restart canary-api', 'request shop/canary-web']);
  });

  const failed = pods(former.digest, { restartedFor: [rebuilt], restartedAt: new Date(now - 20 * 60_000).toISOString() });

  test('cause the base to be rejected if they fail, before anything else has changed', async () => {
    const { done, status } = await step({ web: rebase, shop: trigger() }, { 'canary-api': failed });
    assert.deepEqual(done, []);
    assert.match(status.rejected?.[0]?.message ?? '', /canary-api/);
  });

  test('stop other changes by as many failures as reject the base, and by no fewer', async () => {
    const behind = { web: rebase, shop: trigger() };
    const one = await step(behind, { 'canary-api': failed, 'canary-job': restarted }, {}, { maxFailures: 2 });
    assert.deepEqual([one.done, one.status.rejected], [['create web', 'request shop/shop'], undefined]);
    const both = await step(behind, { 'canary-api': failed, 'canary-job': failed }, {}, { maxFailures: 2 });
    assert.deepEqual([both.done, both.status.rejected?.length], [[], 1]);
  });

  const refusedOf = (behind: Parameters<typeof step>[0], running: Parameters<typeof step>[1]) =>
    step(behind, running, {}, {}, undefined, undefined, { refused: ['canary-api'] });

  test('stop all other changes while a restart is refused, and the status of these names the canary, reason and remedy', async () => {
    const { done, states, until } = await refusedOf({ web: rebase, shop: trigger() }, { 'canary-api': outdated });
    assert.deepEqual([done, until], [[], new Date(now + 60_000)]);
    const waiting = [...states].filter(([{ source }]) => ['shop/web', 'shop/shop'].includes(source.path));
    assert.equal(waiting.length, 2);
    for (const [, { message = '' }] of waiting)
      assert.equal(
        message,
        'it waits for the canary Deployment platform/canary-api (remove what prevents its restart, or let spec.waves.canaries not select it): ' +
          'it cannot be restarted: denied by a webhook',
      );
    const restarts = await refusedOf({}, { api: outdated, 'canary-api': outdated });
    assert.deepEqual(restarts.done, []);
    const api = [...restarts.states].find(([{ source }]) => source.path === 'shop/api')?.[1];
    assert.match(api?.message ?? '', /wait for the canary Deployment platform\/canary-api .*: denied by a webhook/);
  });

  test('do not delay other canaries while a restart is refused', async () => {
    assert.deepEqual((await refusedOf({}, { 'canary-api': outdated, 'canary-job': outdated })).done, ['restart canary-job']);
  });

  test('are not waited for if their owners do not consent', async () => {
    const elsewhere = await step({ web: rebase }, { 'canary-api': outdated }, {}, {}, undefined, undefined, { namespace: 'shop' });
    assert.deepEqual(elsewhere.done, ['create web']);
  });

  test('are not waited for if a restart would not pull another image', async () => {
    const cached = pods(former.digest, { pullsAlways: [] });
    assert.deepEqual((await step({ web: rebase }, { 'canary-api': cached })).done, ['create web']);
  });
});

test('restarts begin when the pause after the last rebased workload is over', async () => {
  const doneAt = (ms: number) => ({
    waves: { base: base.digest, pending: 0, progressing: 0, done: 1, failed: 0, lastDoneAt: new Date(now - ms).toISOString() },
  });
  const early = await step({}, { api: outdated }, doneAt(1_000));
  assert.deepEqual([early.done, early.until], [[], new Date(now + 10_000)]);
  assert.deepEqual((await step({}, { api: outdated }, doneAt(601_000))).done, ['restart api']);
});

test('restarts in progress delay rebases, so that no more workloads change simultaneously than maxParallel', async () => {
  const begun = { lastWave: { base: base.digest, workloads: ['Deployment/platform/api'] } };
  assert.deepEqual((await step({ web: rebase, 'canary-web': rebase }, { api: starting }, begun)).done, []);
  const after = await step({ web: rebase }, { api: restarted }, { ...begun, ...wavesOf(1) });
  assert.deepEqual([after.done, after.until], [[], new Date(now + 600_000)]);
  assert.deepEqual((await step({ web: rebase }, { api: outdated }, begun)).done, ['create web']);
});

test('a canary is restarted while an image of the current wave cannot be rebased, and that image then waits for the canary', async () => {
  const fails = () => {
    throw new Error('the registry does not answer');
  };
  const waveOf = (workload: string) => ({ lastWave: { base: base.digest, workloads: [workload] } });
  const behind = { web: rebase, shop: rebase };
  assert.deepEqual((await step(behind, { 'canary-api': outdated }, waveOf('Deployment/shop/web'), {}, fails)).done, ['restart canary-api']);
  assert.deepEqual((await step(behind, { 'canary-api': starting }, waveOf('Deployment/platform/canary-api'))).done, []);
});

test('a canary that is starting is waited for although its tag has moved on to an image on another base', async () => {
  const begun = { lastWave: { base: base.digest, workloads: ['Deployment/platform/canary-api'] } };
  const run = (pods: RunningPods) => step({ web: rebase }, { 'canary-api': pods }, begun, {}, undefined, []);
  const waiting = await run(starting);
  assert.deepEqual([waiting.done, waiting.until], [[], new Date(now + 10_000)]);
  assert.deepEqual((await run(restarted)).done, ['create web']);
  // It is not waited for without end.
  assert.deepEqual((await run({ ...starting, restartedAt: new Date(now - 3_600_000).toISOString() })).done, ['create web']);
});
