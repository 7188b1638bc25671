/** The installation of charts is watched by the status of what installs them, with the definitions of Flux and Argo CD and a stand-in that writes status as their controllers do. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { parseFieldPath } from '../../src/core/model/field-path.ts';
import { valueAt } from '../../src/service/resources/validation/problem.ts';
import { pushChart } from '../harness/push-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { pathOf } from '../service/kube/targets/custom-definition.ts';
import { type ChartKind, chartKinds, startChartWorld } from './chart-world.ts';
import { announce, type World } from './world.ts';

interface Raw {
  readonly metadata: { readonly generation: number };
  readonly spec: object;
}

const version = 'spec.chart.spec.version';
const revision = 'spec.source.targetRevision';

describe('rollouts of charts', () => {
  let world: World;
  before(async () => {
    world = await startChartWorld(['application', 'helmrelease', 'helmrepository']);
    await announce(world.registry, await world.start());
  });
  after(() => world.stop());

  const pathTo = (kind: ChartKind, name: string) => `${pathOf(chartKinds[kind], world.namespace)}/${name}`;
  const create = (kind: ChartKind, name: string, spec: object) =>
    world.cluster.request('POST', pathOf(chartKinds[kind], world.namespace), {
      apiVersion: `${chartKinds[kind].group}/${chartKinds[kind].version}`,
      kind: chartKinds[kind].kind,
      metadata: { name },
      spec,
    });
  const read = (kind: ChartKind, name: string) => world.cluster.request<Raw>('GET', pathTo(kind, name));
  const waitForValue = (kind: ChartKind, name: string, path: string, value: string) =>
    waitFor(`${path} of ${kind} ${name} to be ${value}`, async () => {
      const raw = await read(kind, name);
      return valueAt(raw, parseFieldPath(path)) === value && raw;
    });
  const follow = async (name: string, kind: ChartKind, tag: string) => {
    const { group, version: ofKind, kind: named } = chartKinds[kind];
    const targets = [{ apiVersion: `${group}/${ofKind}`, kind: named, name, fields: { tag } }];
    const more = { artifact: 'Chart', targets, rollout: { onFailure: 'Rollback' } } as const;
    await world.createPolicy(name, `${world.registry.host}/charts/${name}`, { strategy: 'SemVer' }, more);
    await world.waitForFirstLook(name);
  };
  const results = async (name: string) => ((await world.readStatus(name)).history ?? []).map(({ tag, result }) => `${tag} ${result}`);
  const push = (name: string, tag: string) => pushChart({ host: world.registry.host, repository: `charts/${name}`, tag });

  /** Writes the conditions of a HelmRelease as the helm-controller does, all about its current generation. */
  const reportRelease = async (
    name: string,
    conditions: readonly (readonly [type: string, status: string, reason: string, message: string])[],
  ) => {
    const { generation } = (await read('helmrelease', name)).metadata;
    const isFinal = !conditions.some(([type]) => type === 'Reconciling');
    const status = {
      lastAttemptedGeneration: generation,
      ...(isFinal && { observedGeneration: generation }),
      conditions: conditions.map(([type, value, reason, message]) => ({
        type,
        status: value,
        reason,
        message,
        observedGeneration: generation,
        lastTransitionTime: new Date().toISOString(),
      })),
    };
    await world.cluster.request('PATCH', `${pathTo('helmrelease', name)}/status`, { status }, 'application/merge-patch+json');
  };
  /** Reports a sync of the Application as it is now, and its health. */
  const reportApplication = async (name: string, phase: string, message: string, health: string) => {
    const { spec } = await read('application', name);
    const source = valueAt(spec, ['source']);
    const now = new Date().toISOString();
    const status = {
      sync: { status: phase === 'Succeeded' ? 'Synced' : 'OutOfSync', comparedTo: { source, destination: { namespace: 'shop' } } },
      health: { status: health, lastTransitionTime: now },
      operationState: { phase, message, operation: { sync: {} }, startedAt: now, finishedAt: now, syncResult: { revision: '1', source } },
    };
    await world.cluster.request('PATCH', pathTo('application', name), { status }, 'application/merge-patch+json');
  };

  it('a good chart of a HelmRelease is reported complete, and one whose upgrade fails is rolled back and rejected', async () => {
    const name = 'release';
    await push(name, '1.0.0');
    await create('helmrepository', 'charts', { interval: '5m', type: 'oci', insecure: true, url: `oci://${world.registry.host}/charts` });
    const chart = { chart: name, version: '1.0.0', sourceRef: { kind: 'HelmRepository', name: 'charts' } };
    await create('helmrelease', name, { interval: '5m', chart: { spec: chart } });
    await follow(name, 'helmrelease', version);

    await push(name, '1.1.0');
    await waitForValue('helmrelease', name, version, '1.1.0');
    await world.waitForCondition(name, 'Reconciling', 'Progressing');
    const running = "Running 'upgrade' action with timeout of 5m0s";
    await reportRelease(name, [
      ['Reconciling', 'True', 'Progressing', running],
      ['Ready', 'Unknown', 'Progressing', running],
    ]);
    assert.deepEqual(await results(name), ['1.1.0 Applied']);
    await reportRelease(name, [
      ['Ready', 'True', 'UpgradeSucceeded', 'Helm upgrade succeeded'],
      ['Released', 'True', 'UpgradeSucceeded', 'Helm upgrade succeeded'],
    ]);
    await world.waitForCondition(name, 'Ready', 'UpToDate');
    assert.deepEqual(await results(name), ['1.1.0 RolledOut']);

    const { digest } = await push(name, '1.2.0');
    await waitForValue('helmrelease', name, version, '1.2.0');
    const failed = 'Helm upgrade failed for release shop/release.v3 with chart release@1.2.0: template: no such field';
    await reportRelease(name, [
      ['Stalled', 'True', 'RetriesExceeded', 'Failed to upgrade after 1 attempt(s)'],
      ['Ready', 'False', 'RollbackSucceeded', 'Helm rollback to previous release shop/release.v2 succeeded'],
      ['Released', 'False', 'UpgradeFailed', failed],
      ['Remediated', 'True', 'RollbackSucceeded', 'Helm rollback to previous release shop/release.v2 succeeded'],
    ]);
    await waitForValue('helmrelease', name, version, '1.1.0');
    await reportRelease(name, [['Ready', 'True', 'UpgradeSucceeded', 'Helm upgrade succeeded']]);
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
    await waitForValue('helmrelease', name, version, '1.3.0');
  });

  it('an Application is watched by its sync and its health, each of the revision that was written', async () => {
    const name = 'app';
    await push(name, '1.0.0');
    const source = { repoURL: `${world.registry.host}/charts`, chart: name, targetRevision: '1.0.0' };
    await create('application', name, { project: 'default', destination: { namespace: 'shop' }, source });
    await follow(name, 'application', revision);
    await reportApplication(name, 'Failed', 'one or more objects failed to apply', 'Degraded');

    await push(name, '1.1.0');
    await waitForValue('application', name, revision, '1.1.0');
    // The status of the former revision says nothing about this one.
    await world.waitForCondition(name, 'Reconciling', 'Progressing');
    await reportApplication(name, 'Succeeded', 'successfully synced', 'Healthy');
    await world.waitForCondition(name, 'Ready', 'UpToDate');

    await push(name, '1.2.0');
    await waitForValue('application', name, revision, '1.2.0');
    await reportApplication(name, 'Failed', 'one or more objects failed to apply, reason: spec.replicas must be positive', 'Healthy');
    await waitForValue('application', name, revision, '1.1.0');
    await reportApplication(name, 'Succeeded', 'successfully synced', 'Healthy');
    await world.waitForCondition(name, 'Stalled', 'RejectedDigest');
    await waitFor('the rollback to be complete', async () => (await results(name))[0] === '1.1.0 RolledOut');
    const { rejected = [] } = await world.readStatus(name);
    assert.match(rejected[0]?.message ?? '', /replicas must be positive/);
  });
});
