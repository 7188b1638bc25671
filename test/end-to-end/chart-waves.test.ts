/** Charts reach HelmReleases and Applications in waves, and go back as the pair of tag and digest that was there before, with the definitions of Flux and Argo CD. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { valueAt } from '../../src/service/resources/validation/problem.ts';
import type { Spec } from '../../src/service/resources/v1.ts';
import { pushChart } from '../harness/push-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { type ObjectWatch, watchObjects } from '../harness/watch-objects.ts';
import { chartResources, failedWith, type Installer, typeOf, upgraded } from './chart-resources.ts';
import { type ChartKind, startChartWorld } from './chart-world.ts';
import { announce, type World } from './world.ts';

const paths = {
  helmrelease: ['spec', 'chart', 'spec', 'version'],
  application: ['spec', 'source', 'targetRevision'],
} as const;
type Kind = keyof typeof paths;
const canary = 'release-canary';
/** Each with its kind, in the order of the waves: the canary, then two at a time by name. */
const installers: readonly (readonly [name: string, kind: Kind])[] = [
  [canary, 'helmrelease'],
  ['app-a', 'application'],
  ['app-b', 'application'],
  ['release-a', 'helmrelease'],
  ['release-b', 'helmrelease'],
];
const others = installers.slice(1).map(([name]) => name);

describe('charts', () => {
  let world: World;
  let charts: ReturnType<typeof chartResources>;
  const watches: ObjectWatch<Installer>[] = [];
  /** What each resource held, in order. */
  const held = new Map<string, string[]>();
  before(async () => {
    world = await startChartWorld(['application', 'helmrelease', 'helmrepository', 'ocirepository']);
    charts = chartResources(world);
    await announce(world.registry, await world.start());
  });
  after(async () => {
    for (const watch of watches) watch.stop();
    await world.stop();
  });

  const push = (name: string, tag: string) =>
    pushChart({ host: world.registry.host, repository: `charts/${name}`, tag, content: `${name} ${tag}` });
  /** Remembers each value of a kind from now on. */
  const follow = async (kind: ChartKind, valueOf: (raw: Installer) => string) => {
    const note = (raw: Installer) => {
      const values = held.get(raw.metadata.name) ?? [];
      if (values.at(-1) !== valueOf(raw)) held.set(raw.metadata.name, [...values, valueOf(raw)]);
    };
    const watch = await watchObjects<Installer>(world.cluster, charts.pathTo(kind), note);
    for (const raw of watch.items) note(raw);
    watches.push(watch);
  };
  const holds = (name: string, value: string) =>
    waitFor(`${name} to hold ${value}`, () => {
      for (const { error } of watches) assert.equal(error, undefined);
      return held.get(name)?.at(-1) === value;
    });
  const succeed = (name: string, kind: Kind) =>
    kind === 'helmrelease'
      ? charts.reportFlux(kind, name, upgraded)
      : charts.reportApplication(name, 'Succeeded', 'successfully synced', 'Healthy');
  /** Waits until these hold the version, reports that it is installed there, and checks that nothing else has it yet. */
  const waveOf = async (names: readonly string[], version: string) => {
    await Promise.all(names.map((name) => holds(name, version)));
    const index = installers.findIndex(([name]) => name === names.at(-1));
    for (const [name] of installers.slice(index + 1)) assert.ok(!held.get(name)?.includes(version), `${name} is not in this wave`);
    for (const [name, kind] of installers) if (names.includes(name)) await succeed(name, kind);
  };

  describe('in waves', () => {
    before(async () => {
      await push('web', '1.0.0');
      const url = `oci://${world.registry.host}/charts`;
      await charts.create('helmrepository', 'charts', { interval: '5m', type: 'oci', insecure: true, url });
      const sourceRef = { kind: 'HelmRepository', name: 'charts' };
      const source = { repoURL: `${world.registry.host}/charts`, chart: 'web', targetRevision: '1.0.0' };
      const specs = {
        helmrelease: { interval: '5m', chart: { spec: { chart: 'web', version: '1.0.0', sourceRef } } },
        application: { project: 'default', destination: { namespace: 'shop' }, source },
      };
      for (const [name, kind] of installers)
        await charts.create(kind, name, specs[kind], { labels: { chart: 'web', ...(name === canary && { canary: 'true' }) } });
      for (const kind of ['helmrelease', 'application'] as const) await follow(kind, (raw) => String(valueAt(raw, paths[kind])));
      const selector = { matchLabels: { chart: 'web' } };
      const targets: Spec['targets'] = (['helmrelease', 'application'] as const).map((kind) => ({
        ...typeOf(kind),
        selector,
        fields: { tag: paths[kind].join('.') },
      }));
      const waves = { maxParallel: 2, canaries: { matchLabels: { canary: 'true' } }, pause: '1s' };
      const more: Partial<Spec> = { artifact: 'Chart', targets, rollout: { onFailure: 'Rollback', waves } };
      await world.createPolicy('web', `${world.registry.host}/charts/web`, { strategy: 'SemVer' }, more);
      await world.waitForFirstLook('web');
    });

    it('change one kind after the other, each wave when the previous wave is installed', async () => {
      await push('web', '1.1.0');
      await waveOf([canary], '1.1.0');
      await waveOf(['app-a', 'app-b'], '1.1.0');
      await waveOf(['release-a', 'release-b'], '1.1.0');
      await world.waitForCondition('web', 'Ready', 'UpToDate');
      const { rollouts } = await world.readStatus('web');
      assert.equal(rollouts?.done, installers.length);
    });

    it('end when the first resource fails, which is rolled back, and no other resource is changed', async () => {
      const { digest } = await push('web', '1.2.0');
      await holds(canary, '1.2.0');
      await charts.reportFlux('helmrelease', canary, failedWith('Helm upgrade failed: template: no such field'));
      await holds(canary, '1.1.0');
      await charts.reportFlux('helmrelease', canary, upgraded);
      await world.waitForCondition('web', 'Ready', 'RejectedDigest');
      const { rejected = [], waiting } = await waitFor('the end of the waves', async () => {
        const status = await world.readStatus('web');
        return status.waiting === undefined && status;
      });
      assert.deepEqual([rejected.map((one) => [one.digest, one.reason]), waiting], [[[digest, 'UpgradeFailed']], undefined]);
      for (const name of others) assert.deepEqual(held.get(name), ['1.0.0', '1.1.0']);
    });

    it('end also in a later wave, without the next wave, and keep the chart where it works', async () => {
      await push('web', '1.3.0');
      await waveOf([canary], '1.3.0');
      await Promise.all(['app-a', 'app-b'].map((name) => holds(name, '1.3.0')));
      await charts.reportApplication('app-b', 'Succeeded', 'successfully synced', 'Healthy');
      await charts.reportApplication('app-a', 'Failed', 'one or more objects failed to apply, reason: no such field', 'Healthy');
      await holds('app-a', '1.1.0');
      await charts.reportApplication('app-a', 'Succeeded', 'successfully synced', 'Healthy');
      await world.waitForCondition('web', 'Ready', 'RejectedDigest');
      await waitFor('the end of the waves', async () => (await world.readStatus('web')).waiting === undefined);
      const last = installers.map(([name]) => [name, held.get(name)?.at(-1)]);
      assert.deepEqual(last, [
        [canary, '1.3.0'],
        ['app-a', '1.1.0'],
        ['app-b', '1.3.0'],
        ['release-a', '1.1.0'],
        ['release-b', '1.1.0'],
      ]);
      for (const name of ['release-a', 'release-b']) assert.deepEqual(held.get(name), ['1.0.0', '1.1.0']);
    });
  });

  it('that are pinned are rolled back to the former tag and digest, both in one patch', async () => {
    const digests = new Map<string, string>();
    const pair = (tag: string) => `${tag}@${digests.get(tag)}`;
    const pushPinned = async (tag: string) => void digests.set(tag, (await push('pinned', tag)).digest);
    await pushPinned('1.0.0');
    const url = `oci://${world.registry.host}/charts/pinned`;
    await charts.create('ocirepository', 'pinned', { interval: '1h', url, ref: { tag: '1.0.0', digest: digests.get('1.0.0') } });
    await follow(
      'ocirepository',
      (raw) => `${String(valueAt(raw, ['spec', 'ref', 'tag']))}@${String(valueAt(raw, ['spec', 'ref', 'digest']))}`,
    );
    const fields = { tag: 'spec.ref.tag', digest: 'spec.ref.digest' };
    const more: Partial<Spec> = {
      artifact: 'Chart',
      targets: [{ ...typeOf('ocirepository'), name: 'pinned', fields }],
      update: { pin: 'Digest' },
      rollout: { onFailure: 'Rollback' },
    };
    await world.createPolicy('pinned', `${world.registry.host}/charts/pinned`, { strategy: 'SemVer' }, more);
    await world.waitForFirstLook('pinned');
    await pushPinned('1.1.0');
    await holds('pinned', pair('1.1.0'));
    await charts.reportFlux('ocirepository', 'pinned', [['Ready', 'True', 'Succeeded', "stored artifact for digest '1.1.0'"]]);
    // A rollback passes over what is not known to have rolled out.
    await waitFor('1.1.0 to have rolled out', async () => (await world.readStatus('pinned')).history?.[0]?.result === 'RolledOut');

    await pushPinned('1.2.0');
    await holds('pinned', pair('1.2.0'));
    await charts.reportFlux('ocirepository', 'pinned', [
      ['Stalled', 'True', 'ArtifactUnpackFailed', 'failed to extract layer contents from artifact'],
      ['Ready', 'False', 'ArtifactUnpackFailed', 'failed to extract layer contents from artifact'],
    ]);
    await holds('pinned', pair('1.1.0'));
    assert.deepEqual(held.get('pinned'), ['1.0.0', '1.1.0', '1.2.0', '1.1.0'].map(pair));
    const history = await waitFor('the rollback in the history', async () => {
      const { history = [] } = await world.readStatus('pinned');
      return history[1]?.result === 'RolledBack' && history;
    });
    assert.deepEqual(
      history.map(({ tag, digest }) => `${tag}@${digest}`),
      ['1.1.0', '1.2.0', '1.1.0'].map(pair),
    );
  });
});
