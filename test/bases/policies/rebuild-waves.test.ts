/** Rebuilds go in waves: canaries first, a few at a time, in windows, and none after a failure. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { pipelineOf } from '../../../src/bases/triggers/find-project.ts';
import { knownBase } from '../../../src/bases/recognize/layers.ts';
import type { RebuildState } from '../../../src/bases/triggers/order.ts';
import type { LastUpdate } from '../../../src/core/model/last-update.ts';
import type { Workload, WorkloadRef, WorkloadRollout } from '../../../src/core/model/workload.ts';
import { image as factsOf } from '../recognize/samples.ts';
import { base, imageOf, now, run, trigger } from './acting.ts';

const names = ['a', 'b', 'c', 'd'];
const pipeline = pipelineOf({ system: 'githubDispatch', project: '$source', name: 'base-image' });
const minutesAgo = (minutes: number) => new Date(now - minutes * 60_000).toISOString();
const requestOf = (name: string, more: Partial<RebuildState> = {}): RebuildState => ({
  pipeline,
  source: `shop/${name}`,
  state: 'Requested',
  at: minutesAgo(60),
  ...more,
});

const complete: WorkloadRollout = {
  observedGeneration: 2,
  wanted: 1,
  toUpdate: 1,
  updated: 1,
  available: 1,
  outdated: 0,
  wasComplete: true,
};
const progressing: WorkloadRollout = { ...complete, updated: 0, available: 0, wasComplete: false, isIncomplete: true };

interface Running {
  readonly rollout?: WorkloadRollout;
  readonly setAt?: string;
  readonly lastUpdate?: LastUpdate;
}

/** Workloads of these names; `d` is the canary. */
const workloads =
  (running: Readonly<Record<string, Running>> = {}) =>
  ({ name, namespace, kind }: WorkloadRef): Workload => {
    const { rollout = complete, setAt, lastUpdate } = running[name] ?? {};
    const container = {
      name: 'app',
      image: `harbor.example.com/shop/${name}:1.2.3`,
      ...(setAt && { imageSetAt: setAt }),
      ...(lastUpdate && { lastUpdate }),
    };
    return {
      apiVersion: 'apps/v1',
      kind,
      namespace,
      name,
      uid: name,
      generation: 2,
      resourceVersion: '7',
      containersPath: '/spec/template/spec/containers',
      containers: [container],
      labels: name === 'd' ? { tier: 'canary' } : {},
      hasAnnotations: false,
      rollout,
    };
  };

const canaries = { matchLabels: { tier: 'canary' } };

/** The sources whose rebuild is requested, and the reasons why others wait. */
async function step(
  waves: object,
  behind: readonly string[],
  more: Parameters<typeof run>[2] & { readonly rebuiltNames?: readonly string[] } = {},
  update: object = {},
) {
  const images = behind.map((name) => imageOf(name));
  const rebuilt = (more.rebuiltNames ?? []).map((name) => imageOf(name));
  const acted = await run({ onNewBase: [trigger()], waves, ...update }, images, { findWorkload: workloads(), rebuilt, ...more });
  return {
    ...acted,
    sources: acted.requested.map(({ source }) => source.replace('shop/', '')),
    reasons: images.map((image) => acted.stateOf(image)?.reason ?? acted.stateOf(image)?.state),
    messages: images.map((image) => acted.stateOf(image)?.message ?? ''),
  };
}

describe('rebuilds', () => {
  test('are requested for canaries first, and the status of other images says what they wait for', async () => {
    const { sources, reasons, messages } = await step({ canaries, maxParallel: 2 }, names);
    assert.deepEqual(sources, ['d']);
    assert.deepEqual(reasons, ['WavePending', 'WavePending', 'WavePending', 'RebuildPending']);
    assert.match(messages[0] ?? '', /requested when the 1 before it are rolled out/);
  });

  test('are requested for other images when the canary runs its rebuilt image and the pause has passed', async () => {
    const waves = { canaries, maxParallel: 2, pause: '10m' };
    const rebuilds = [requestOf('d')];
    const under = await step(waves, names, { rebuilds });
    assert.deepEqual(under.sources, []);
    const rolling = await step(waves, ['a', 'b', 'c'], {
      rebuilds,
      rebuiltNames: ['d'],
      findWorkload: workloads({ d: { rollout: progressing, setAt: minutesAgo(1) } }),
    });
    assert.deepEqual([rolling.sources, rolling.until], [[], new Date(now + 10_000)]);
    const paused = await step(waves, ['a', 'b', 'c'], {
      rebuilds,
      rebuiltNames: ['d'],
      findWorkload: workloads({ d: { setAt: minutesAgo(4) } }),
    });
    assert.deepEqual([paused.sources, paused.until], [[], new Date(now + 6 * 60_000)]);
    assert.match(paused.messages[0] ?? '', /the pause ends at 2026-11-23T12:06:00Z/);
    const next = await step(waves, ['a', 'b', 'c'], {
      rebuilds,
      rebuiltNames: ['d'],
      findWorkload: workloads({ d: { setAt: minutesAgo(11) } }),
    });
    assert.deepEqual(next.sources, ['a', 'b']);
  });

  test('do not wait for a refused or overdue rebuild, unless it is that of a canary', async () => {
    for (const request of [requestOf('a', { state: 'Failed' }), requestOf('a', { at: minutesAgo(300) })]) {
      const { sources } = await step({ maxParallel: 1 }, ['a', 'b'], { rebuilds: [request] });
      assert.deepEqual(sources, ['b']);
    }
    for (const request of [requestOf('d', { state: 'Failed' }), requestOf('d', { at: minutesAgo(300) })]) {
      const { sources, messages } = await step({ canaries }, ['a', 'd'], { rebuilds: [request] });
      assert.deepEqual(sources, []);
      assert.match(messages[0] ?? '', /when the canaries run theirs, and 1 of these are refused or overdue/);
    }
  });

  test('stop, and the base is rejected, when the rollout of a rebuilt image fails', async () => {
    const deadlineExceeded = { message: 'ReplicaSet "d-1" has timed out progressing.', at: minutesAgo(1) };
    const failing = { ...progressing, deadlineExceeded };
    const failed = {
      rebuilds: [requestOf('d')],
      rebuiltNames: ['d'],
      findWorkload: workloads({ d: { rollout: failing, setAt: minutesAgo(20) } }),
    };
    const { sources, status, until } = await step({ canaries, pause: '1s' }, ['a', 'b'], failed);
    // What follows from the rejection is done then, also if nothing else happens.
    assert.deepEqual([sources, until], [[], new Date(now + 1_000)]);
    assert.match(status.rejected?.[0]?.message ?? '', /Deployment shop\/d: .*timed out progressing/);
    assert.equal(status.rejected?.[0]?.digest, base.digest);
    const annotations = { 'operator.technomad.dev/release': minutesAgo(0) };
    assert.deepEqual((await step({ canaries, pause: '1s' }, ['a', 'b'], { ...failed, annotations })).sources, ['a', 'b']);
    const tolerant = await step({ canaries, pause: '1s', maxFailures: 2 }, ['a', 'b'], failed);
    assert.deepEqual(tolerant.sources, ['a', 'b']);
  });

  test('stop, and the base is rejected, when a workload was rolled back from a rebuilt image', async () => {
    const rebuilt = factsOf({ name: 'rebuilt', layers: { 'linux/amd64': 'os java2 d' } });
    const newer = { ...factsOf({ name: 'newer', layers: { 'linux/amd64': 'os java2' } }), digest: base.digest };
    const known = [knownBase(newer, { repository: 'harbor.example.com/library/base-java', tags: [base.tag] })];
    let away: Error | undefined;
    const facts = {
      read: (_: unknown, digest: string) =>
        away ? Promise.reject(away) : Promise.resolve(digest === rebuilt.digest ? rebuilt : undefined),
    };
    const recordOf = (at: string, failed: string): LastUpdate => ({ policy: 'p', at, trigger: 'Rollback', from: 'x:2', to: 'x:1', failed });
    const sourcesFor = async (lastUpdate: LastUpdate) => {
      const rolledBack = {
        rebuilds: [requestOf('d', { at: minutesAgo(110) })],
        findWorkload: workloads({ d: { lastUpdate } }),
        facts,
        known,
      };
      return step({ pause: '1s', maxParallel: 9 }, ['a', 'd'], rolledBack);
    };
    const failed = await sourcesFor(recordOf(minutesAgo(5), rebuilt.digest));
    assert.deepEqual(failed.sources, []);
    assert.match(failed.status.rejected?.[0]?.message ?? '', /Deployment shop\/d was rolled back from sha256:/);
    // Before the request, or from an image that is not built on the base.
    for (const other of [recordOf(minutesAgo(200), rebuilt.digest), recordOf(minutesAgo(5), `sha256:${'f'.repeat(64)}`)])
      assert.equal((await sourcesFor(other)).status.rejected, undefined);
    // While the image cannot be read, it is not known whether the base has failed.
    away = new Error('the registry does not answer');
    await assert.rejects(sourcesFor(recordOf(minutesAgo(5), rebuilt.digest)), away);
  });

  test('are not requested while the windows are closed', async () => {
    const windows = [{ from: '02:00', to: '03:00' }];
    const { sources, reasons, until, messages } = await step({}, ['a'], {}, { windows });
    assert.deepEqual([sources, reasons, until], [[], ['Window'], new Date('2026-11-24T02:00:00Z')]);
    assert.match(messages[0] ?? '', /the next window opens: 2026-11-24T02:00:00Z/);
  });

  test('do not wait for the rollout of an image that is on the base for another reason', async () => {
    const { sources } = await step({ maxParallel: 1 }, ['a'], {
      rebuiltNames: ['b'],
      findWorkload: workloads({ b: { rollout: progressing, setAt: minutesAgo(1) } }),
    });
    assert.deepEqual(sources, ['a']);
  });
});

describe('a policy that rebases some images and has others rebuilt', () => {
  const rebaseOf = (images: string) => ({ rebase: { images: [images], pushSecret: { name: 'rebaser' } } });
  const mixed = (rebased: string, behind: readonly string[], more: Parameters<typeof run>[2] = {}, waves: object = {}) =>
    run(
      { onNewBase: [rebaseOf(`*/shop/${rebased}`), trigger()], waves: { canaries, ...waves } },
      behind.map((name) => imageOf(name)),
      {
        findWorkload: workloads(),
        ...more,
      },
    );

  test('rebases canaries and waits for their rollout before it requests other rebuilds', async () => {
    const images = ['a', 'd'].map((name) => imageOf(name));
    const { requested, created, states } = await run({ onNewBase: [rebaseOf('*/shop/d'), trigger()], waves: { canaries } }, images, {
      findWorkload: workloads(),
    });
    assert.deepEqual([requested, created.map(({ spec }) => spec.image)], [[], ['harbor.example.com/shop/d']]);
    const [waiting] = [...states.values()].filter(({ action }) => action === 'trigger');
    assert.deepEqual(
      [waiting?.reason, waiting?.message],
      ['WavePending', 'its rebuild is requested when the canaries that are rebased have rolled out'],
    );
  });

  test('requests rebuilds of canaries and waits for their rollout before it rebases other images', async () => {
    const { requested, created, steps, until } = await mixed('a', ['a', 'd']);
    assert.deepEqual([requested.map(({ source }) => source), created], [['shop/d'], []]);
    assert.ok(!steps.some((one) => one.startsWith('rebase')), steps.join());
    assert.deepEqual(until, new Date(now + 10_000));
  });

  for (const [name, running, isHeld] of [
    ['has not rolled out', { rollout: progressing, setAt: minutesAgo(1) }, true],
    ['has rolled out', { setAt: minutesAgo(11) }, false],
  ] as const)
    test(`${isHeld ? 'does not rebase' : 'rebases'} other images when a rebuilt canary ${name}`, async () => {
      const { created } = await mixed('a', ['a'], {
        rebuilt: [imageOf('d')],
        rebuilds: [requestOf('d')],
        findWorkload: workloads({ d: running }),
      });
      assert.equal(created.length, isHeld ? 0 : 1);
    });

  test('does not rebase after as many failures of rebuilt canaries as reject the base, except after a release', async () => {
    const deadlineExceeded = { message: 'ReplicaSet "d-1" has timed out progressing.', at: minutesAgo(1) };
    const failed = {
      rebuilt: [imageOf('d')],
      rebuilds: [requestOf('d')],
      findWorkload: workloads({ d: { rollout: { ...progressing, deadlineExceeded }, setAt: minutesAgo(20) } }),
    };
    const { created, status } = await mixed('a', ['a'], failed);
    assert.equal(created.length, 0);
    assert.match(status.rejected?.[0]?.message ?? '', /Deployment shop\/d: .*timed out progressing/);
    assert.equal((await mixed('a', ['a'], failed, { maxFailures: 2 })).created.length, 1);
    const annotations = { 'operator.technomad.dev/release': minutesAgo(0) };
    assert.equal((await mixed('a', ['a'], { ...failed, annotations })).created.length, 1);
  });

  test('does not wait for a canary that cannot be rebuilt because nothing names its source', async () => {
    const images = [imageOf('a'), { ...imageOf('d'), builtFrom: 'https://elsewhere.example.com' }];
    const { created } = await run({ onNewBase: [rebaseOf('*/shop/a'), trigger()], waves: { canaries } }, images, {
      findWorkload: workloads(),
    });
    assert.equal(created.length, 1);
  });
});
