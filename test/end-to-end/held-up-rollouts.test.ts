/** A rollout that cannot go on, because somebody holds it or there is no room, is no fault of its image: its time counts from when it can. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { waitFor } from '../harness/wait-for.ts';
import { startRolloutWorld, type RolloutWorld } from './rollout-world.ts';

/** Long enough for pods to become ready once they are there. */
const timeoutMs = 25_000;
const rollout = { onFailure: 'Rollback', timeout: `${timeoutMs / 1_000}s` } as const;

describe('rollouts that were delayed beyond their deadline while the service was suspended', () => {
  let rollouts: RolloutWorld;
  before(async () => {
    rollouts = await startRolloutWorld();
  });
  after(() => rollouts.stop());

  const patch = (path: string, spec: object) => rollouts.world.cluster.request('PATCH', path, { spec }, 'application/merge-patch+json');
  const statefulSets = () => `/apis/apps/v1/namespaces/${rollouts.world.namespace}/statefulsets`;
  const quota = () => `/api/v1/namespaces/${rollouts.world.namespace}/resourcequotas`;

  const createStatefulSet = async (name: string) => {
    const { world, kubelet, image, push } = rollouts;
    await push(name, '1.0.0');
    const labels = { app: name };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c0', image: image(name, '1.0.0') }] } };
    const body = { metadata: { name }, spec: { serviceName: name, selector: { matchLabels: labels }, template } };
    await world.cluster.request('POST', statefulSets(), body);
    await kubelet.becomesReady(name, image(name, '1.0.0'));
    await world.createPolicy(name, `${world.quiet.host}/shop/${name}`, { strategy: 'SemVer' }, { kind: 'StatefulSet', rollout });
    await world.waitForFirstLook(name);
  };

  it('complete, and nothing is rolled back', async () => {
    const { world, kubelet, image, push, announce, create, update, waitForReady } = rollouts;
    for (const name of ['paused', 'empty', 'crowded']) await create(name, rollout);
    await createStatefulSet('partitioned');
    await patch(world.deploymentPath('paused'), { replicas: 2 });
    await kubelet.becomesReady('paused', image('paused', '1.0.0'));
    await waitFor('both pods to be available', async () => (await readStatus(world.deploymentPath('paused'))).availableReplicas === 2);
    await patch(world.deploymentPath('empty'), { replicas: 0 });
    await patch(`${statefulSets()}/partitioned`, { updateStrategy: { rollingUpdate: { partition: 1 } } });

    await update('paused', '1.0.1');
    await kubelet.findPod('paused', image('paused', '1.0.1'));
    await patch(world.deploymentPath('paused'), { paused: true });
    await update('empty', '1.0.1');
    await push('partitioned', '1.0.1');
    await announce('partitioned', '1.0.1');
    const noRoom = { hard: { pods: '0' } };
    await world.cluster.request('POST', quota(), { metadata: { name: 'none' }, spec: noRoom });
    await world.cluster.request(
      'PATCH',
      `${quota()}/none/status`,
      { status: { ...noRoom, used: { pods: '0' } } },
      'application/merge-patch+json',
    );
    await update('crowded', '1.0.1');
    const changedAt = Date.now();
    const waiting = await waitFor('the quota to be told', async () => {
      const ready = await world.condition('crowded', 'Ready');
      return ready?.message.includes('exceeded quota') && ready;
    });
    assert.equal(waiting.reason, 'Progressing');
    await waitFor('all rollouts to be overdue', () => Date.now() > changedAt + timeoutMs + 1_000);
    // Whoever would roll back has had a reason to look: the status of each is written anew.
    for (const name of names) await world.annotate(world.policyPath(name), { 'operator.technomad.dev/requested-at': 'overdue' });
    for (const name of names)
      await waitFor(`${name} to be looked at`, async () => (await world.readStatus(name)).lastHandledRequest === 'overdue');

    await world.cluster.request('DELETE', `${quota()}/none`);
    await patch(world.deploymentPath('paused'), { paused: false });
    await patch(world.deploymentPath('empty'), { replicas: 1 });
    await patch(`${statefulSets()}/partitioned`, { updateStrategy: { rollingUpdate: { partition: 0 } } });
    await Promise.all(names.map((name) => kubelet.becomesReady(name, image(name, '1.0.1'))));
    await kubelet.becomesReady('paused', image('paused', '1.0.1'));
    for (const name of names) {
      await waitForReady(name, 'UpToDate');
      const { history, rejected } = await world.readStatus(name);
      assert.deepEqual([history?.map(({ tag, result }) => `${tag} ${result}`), rejected], [['1.0.1 RolledOut'], undefined], name);
    }
  });

  const names = ['paused', 'empty', 'crowded', 'partitioned'];
  const readStatus = async (path: string) =>
    (await rollouts.world.cluster.request<{ status: { availableReplicas?: number } }>('GET', path)).status;
});
