/** The installation of charts is watched by the status of what installs them, with the definitions of Flux and Argo CD and a stand-in that writes status as their controllers do. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pushChart } from '../harness/push-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { chartResources, failedWith, typeOf, upgraded } from './chart-resources.ts';
import { type ChartKind, startChartWorld } from './chart-world.ts';
import { announce, type World } from './world.ts';

const version = 'spec.chart.spec.version';
const revision = 'spec.source.targetRevision';

describe('rollouts of charts', () => {
  let world: World;
  let charts: ReturnType<typeof chartResources>;
  before(async () => {
    world = await startChartWorld(['application', 'helmrelease', 'helmrepository']);
    charts = chartResources(world);
    await announce(world.registry, await world.start());
  });
  after(() => world.stop());

  const follow = async (name: string, kind: ChartKind, tag: string) => {
    const targets = [{ ...typeOf(kind), name, fields: { tag } }];
    const more = { artifact: 'Chart', targets, rollout: { onFailure: 'Rollback' } } as const;
    await world.createPolicy(name, `${world.registry.host}/charts/${name}`, { strategy: 'SemVer' }, more);
    await world.waitForFirstLook(name);
  };
  const results = async (name: string) => ((await world.readStatus(name)).history ?? []).map(({ tag, result }) => `${tag} ${result}`);
  const push = (name: string, tag: string) => pushChart({ host: world.registry.host, repository: `charts/${name}`, tag });

  it('of a HelmRelease are reported as complete, or rolled back and the chart rejected if the upgrade fails', async () => {
    const name = 'release';
    await push(name, '1.0.0');
    await charts.create('helmrepository', 'charts', {
      interval: '5m',
      type: 'oci',
      insecure: true,
      url: `oci://${world.registry.host}/charts`,
    });
    const chart = { chart: name, version: '1.0.0', sourceRef: { kind: 'HelmRepository', name: 'charts' } };
    await charts.create('helmrelease', name, { interval: '5m', chart: { spec: chart } });
    await follow(name, 'helmrelease', version);

    await push(name, '1.1.0');
    await charts.waitForValue('helmrelease', name, version, '1.1.0');
    await world.waitForCondition(name, 'Reconciling', 'Progressing');
    const running = "Running 'upgrade' action with timeout of 5m0s";
    await charts.reportFlux('helmrelease', name, [
      ['Reconciling', 'True', 'Progressing', running],
      ['Ready', 'Unknown', 'Progressing', running],
    ]);
    assert.deepEqual(await results(name), ['1.1.0 Applied']);
    await charts.reportFlux('helmrelease', name, upgraded);
    await world.waitForCondition(name, 'Ready', 'UpToDate');
    assert.deepEqual(await results(name), ['1.1.0 RolledOut']);

    const { digest } = await push(name, '1.2.0');
    await charts.waitForValue('helmrelease', name, version, '1.2.0');
    const failed = 'Helm upgrade failed for release shop/release.v3 with chart release@1.2.0: template: no such field';
    await charts.reportFlux('helmrelease', name, failedWith(failed));
    await charts.waitForValue('helmrelease', name, version, '1.1.0');
    await charts.reportFlux('helmrelease', name, upgraded);
    const { message } = await world.waitForCondition(name, 'Stalled', 'RejectedDigest');
    assert.match(message, /no such field/);
    await waitFor('the rollback to be complete', async () => (await results(name))[0] === '1.1.0 RolledOut');
    assert.deepEqual(await results(name), ['1.1.0 RolledOut', '1.2.0 RolledBack', '1.1.0 RolledOut']);
    const { rejected = [], rollouts } = await world.readStatus(name);
    assert.deepEqual(
      rejected.map((one) => [one.tag, one.digest, one.reason]),
      [['1.2.0', digest, 'UpgradeFailed']],
    );
    assert.equal(rollouts?.rolledBack, 1);
    // Events are written after the status.
    for (const reason of ['RolledOut', 'RolloutFailed', 'RolledBack'])
      await waitFor(`an Event ${reason}`, async () => (await world.listEvents('HelmRelease', name)).some((one) => one.reason === reason));

    // The next good chart is installed.
    await push(name, '1.3.0');
    await charts.waitForValue('helmrelease', name, version, '1.3.0');
  });

  it('of an Application are watched by its sync and its health, each for the revision that was written', async () => {
    const name = 'app';
    await push(name, '1.0.0');
    const source = { repoURL: `${world.registry.host}/charts`, chart: name, targetRevision: '1.0.0' };
    await charts.create('application', name, { project: 'default', destination: { namespace: 'shop' }, source });
    await follow(name, 'application', revision);
    await charts.reportApplication(name, 'Failed', 'one or more objects failed to apply', 'Degraded');

    await push(name, '1.1.0');
    await charts.waitForValue('application', name, revision, '1.1.0');
    // The status of the former revision says nothing about this one.
    await world.waitForCondition(name, 'Reconciling', 'Progressing');
    await charts.reportApplication(name, 'Succeeded', 'successfully synced', 'Healthy');
    await world.waitForCondition(name, 'Ready', 'UpToDate');

    await push(name, '1.2.0');
    await charts.waitForValue('application', name, revision, '1.2.0');
    await charts.reportApplication(
      name,
      'Failed',
      'one or more objects failed to apply, reason: spec.replicas must be positive',
      'Healthy',
    );
    await charts.waitForValue('application', name, revision, '1.1.0');
    await charts.reportApplication(name, 'Succeeded', 'successfully synced', 'Healthy');
    await world.waitForCondition(name, 'Stalled', 'RejectedDigest');
    await waitFor('the rollback to be complete', async () => (await results(name))[0] === '1.1.0 RolledOut');
    const { rejected = [] } = await world.readStatus(name);
    assert.match(rejected[0]?.message ?? '', /replicas must be positive/);
  });
});
