/** Rollouts with the real controllers; what the kubelet would say is written by the test. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { waitFor } from '../harness/wait-for.ts';
import { eachOf } from './fleet.ts';
import { resultsOf as results, startRolloutWorld, type RolloutWorld } from './rollout-world.ts';
import { assertPatchedTimes, deliver, harborBody } from './world.ts';

describe('rollouts', () => {
  let rollouts: RolloutWorld;
  let world: RolloutWorld['world'];
  let service: RolloutWorld['service'];
  let kubelet: RolloutWorld['kubelet'];
  before(async () => {
    rollouts = await startRolloutWorld();
    ({ world, service, kubelet } = rollouts);
  });
  after(() => rollouts.stop());

  const image: RolloutWorld['image'] = (...names) => rollouts.image(...names);
  const push: RolloutWorld['push'] = (...what) => rollouts.push(...what);
  const announce: RolloutWorld['announce'] = (...what) => rollouts.announce(...what);
  const create: RolloutWorld['create'] = (...what) => rollouts.create(...what);
  const update: RolloutWorld['update'] = (...what) => rollouts.update(...what);
  const waitForResults: RolloutWorld['waitForResults'] = (...what) => rollouts.waitForResults(...what);
  const waitForReady: RolloutWorld['waitForReady'] = (...what) => rollouts.waitForReady(...what);
  const waitForEvent = (kind: string, name: string, reason: string) =>
    waitFor(`the Event ${reason} on ${kind} ${name}`, async () =>
      (await world.waitForEvents(kind, name)).find((event) => event.reason === reason),
    );

  it('make the policy Ready when the update is complete, not before', async () => {
    await create('done');
    await update('done', '1.0.1');
    const progressing = await waitForReady('done', 'Progressing');
    assert.equal(progressing.status, 'False');
    assert.equal((await world.condition('done', 'Reconciling'))?.reason, 'Progressing');
    await kubelet.becomesReady('done', image('done', '1.0.1'));
    await waitForResults('done', '1.0.1 Webhook RolledOut');
    assert.equal((await waitForReady('done', 'UpToDate')).status, 'True');
    assert.equal(await world.condition('done', 'Reconciling'), undefined);
    for (const kind of ['ImagePolicy', 'Deployment']) await waitForEvent(kind, 'done', 'RolledOut');
    const metrics = await (await fetch(`${service.operationsUrl}/metrics`)).text();
    assert.match(metrics, /image_watcher_rollouts_total\{kind="Deployment",result="RolledOut"\} [1-9]/);
  });

  const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;

  it(
    'are over when kubectl wait has seen the image and then Ready, not before',
    { skip: hasKubectl ? false : 'kubectl is not installed' },
    async () => {
      await create('waited');
      await waitForReady('waited', 'UpToDate');
      const kubectlWait = (condition: string) =>
        promisify(execFile)('kubectl', [
          '--kubeconfig',
          world.cluster.kubeconfigPath,
          '-n',
          world.namespace,
          'wait',
          'ipol/waited',
          `--for=${condition}`,
          '--timeout=10m',
        ]);
      // What makes the first command necessary: Ready is that of the image before.
      await kubectlWait('condition=Ready');
      let isOver = false;
      const over = kubectlWait('jsonpath={.status.latest.tag}=1.0.1')
        .then(() => kubectlWait('condition=Ready'))
        .then(() => (isOver = true));
      await update('waited', '1.0.1');
      await waitForReady('waited', 'Progressing');
      assert.equal(isOver, false);
      await kubelet.becomesReady('waited', image('waited', '1.0.1'));
      await over;
      await waitForResults('waited', '1.0.1 Webhook RolledOut');
    },
  );

  it("are rolled back if the image cannot be pulled, with the pod's message, and the image is not tried again", async () => {
    await create('broken');
    const digest = await update('broken', '1.0.1');
    await kubelet.cannotPull('broken', image('broken', '1.0.1'), 'Back-off pulling image: not found');
    const deployment = await world.waitForImage('broken', image('broken', '1.0.0'));
    assertPatchedTimes(deployment, 2);
    assert.match(deployment.metadata.annotations?.['kubernetes.io/change-cause'] ?? '', /rolled back to .*1\.0\.0.*1\.0\.1 failed/);
    await waitForResults('broken', '1.0.0 Rollback RolledOut', '1.0.1 Webhook RolledBack');
    const ready = await waitForReady('broken', 'RejectedDigest');
    assert.match(ready.message, /ImagePullBackOff: Back-off pulling image: not found/);
    const { rejected } = await world.readStatus('broken');
    assert.deepEqual(
      rejected?.map((one) => [one.digest, one.reason]),
      [[digest, 'ImagePullFailed']],
    );
    for (const kind of ['ImagePolicy', 'Deployment']) {
      const event = await waitForEvent(kind, 'broken', 'RolledBack');
      assert.match(event.message, /not found/);
    }

    await announce('broken', '1.0.1');
    const answer = await deliver(service, harborBody(world.quiet.host, 'shop/broken', [{ tag: '1.0.1', digest }]));
    assert.equal(answer.status, 202);
    await update('broken', '1.0.2');
    assertPatchedTimes(await world.readDeployment('broken'), 3);
    await kubelet.becomesReady('broken', image('broken', '1.0.2'));
    assert.equal((await waitForReady('broken', 'UpToDate')).status, 'True');
    assert.equal(await world.condition('broken', 'Stalled'), undefined);
  });

  it('are rolled back if a container crashes repeatedly', async () => {
    await create('crashing');
    await update('crashing', '1.0.1');
    await kubelet.crashes('crashing', image('crashing', '1.0.1'));
    await world.waitForImage('crashing', image('crashing', '1.0.0'));
    const { rejected } = await waitForResults('crashing', '1.0.0 Rollback RolledOut', '1.0.1 Webhook RolledBack');
    assert.match(rejected?.[0]?.message ?? '', /CrashLoopBackOff.*4 restarts, last ended with Error \(exit code 3\)/);
  });

  const faults: [name: string, against: string, happen: (name: string, image: string) => Promise<void>, message: RegExp][] = [
    [
      'crowded',
      'cluster',
      async (name, of) => {
        await kubelet.isUnschedulable(name, of, '0/3 nodes are available: 3 Insufficient cpu.');
        await world.cluster.request('PATCH', world.deploymentPath(name), { spec: { progressDeadlineSeconds: 1 } });
      },
      /0\/3 nodes are available: 3 Insufficient cpu/,
    ],
    [
      'limited',
      'registry',
      (name, of) => kubelet.cannotPull(name, of, 'Back-off pulling image: 429 Too Many Requests'),
      /429 Too Many Requests/,
    ],
    ['broken-registry', 'registry', (name, of) => kubelet.cannotPull(name, of, 'unexpected status: 503 Service Unavailable'), /503/],
  ];

  const isTriedAgain = async (...[name, against, happen, message]: (typeof faults)[number]) => {
    await create(name);
    const digest = await update(name, '1.0.1');
    await happen(name, image(name, '1.0.1'));
    await world.waitForImage(name, image(name, '1.0.0'));
    const ready = await waitForReady(name, 'RolloutRetry');
    await world.cluster.request('PATCH', world.deploymentPath(name), { spec: { progressDeadlineSeconds: 600 } });
    const { rejected, waiting, history } = await world.readStatus(name);
    assert.deepEqual([rejected, waiting?.tag, waiting?.digest], [undefined, '1.0.1', digest]);
    assert.equal(history?.find(({ result }) => result === 'RolledBack')?.failure?.against, against);
    assert.match(ready.message, message);
    assert.match(ready.message, /release/);
    const event = await waitForEvent('ImagePolicy', name, 'RolledBack');
    assert.match(event.message, message);
    assert.ok(event.message.includes(`tried again at ${waiting?.until}`), event.message);
    await world.waitForImage(name, image(name, '1.0.1'));
    await kubelet.becomesReady(name, image(name, '1.0.1'));
    assert.equal((await waitForReady(name, 'UpToDate')).status, 'True');
  };

  // Each is tried again only after a minute.
  describe('are rolled back for a fault outside of the image, which is not rejected but retried', { concurrency: true }, () => {
    for (const [name, against, happen, message] of faults) it(`${against}: ${name}`, () => isTriedAgain(name, against, happen, message));
  });

  it('are rolled back once by two replicas if the controller gives up', async () => {
    const secondWorker = await world.start({ roles: 'work' });
    await create('stuck');
    await update('stuck', '1.0.1');
    await kubelet.runs('stuck', image('stuck', '1.0.1'));
    await world.cluster.request('PATCH', world.deploymentPath('stuck'), { spec: { progressDeadlineSeconds: 1 } });
    const { rejected } = await waitForResults('stuck', '1.0.0 Rollback RolledOut', '1.0.1 Webhook RolledBack');
    assert.equal(rejected?.[0]?.reason, 'ProgressDeadlineExceeded');
    assert.match(rejected?.[0]?.message ?? '', /has timed out progressing/);
    // The update, the deadline, and the way back.
    assertPatchedTimes(await world.readDeployment('stuck'), 3);
    await secondWorker.stop();
  });

  it('stop with onFailure: Hold until there is a newer image', async () => {
    await create('held', { onFailure: 'Hold' });
    await update('held', '1.0.1');
    await kubelet.cannotPull('held', image('held', '1.0.1'), 'not found');
    const held = await world.waitForCondition('held', 'Held', 'RolloutFailed');
    assert.match(held.message, /1\.0\.1 failed.*not found/);
    assert.deepEqual(results(await world.readStatus('held')), ['1.0.1 Webhook Failed']);
    assertPatchedTimes(await world.readDeployment('held'), 1);
    await update('held', '1.0.2');
    await kubelet.becomesReady('held', image('held', '1.0.2'));
    await waitForReady('held', 'UpToDate');
    assert.equal(await world.condition('held', 'Held'), undefined);
  });

  it('are only reported, not rolled back, if they fail and the policy does not say otherwise', async () => {
    await create('told', undefined);
    await world.patchPolicy('told', { rollout: null });
    await waitFor('the change to be looked at', async () => (await world.readStatus('told')).observedGeneration === 2);
    await update('told', '1.0.1');
    await kubelet.cannotPull('told', image('told', '1.0.1'), 'not found');
    await waitForReady('told', 'RolloutFailed');
    assertPatchedTimes(await world.readDeployment('told'), 1);
    assert.equal((await world.readStatus('told')).rejected, undefined);
    // It may come out after all.
    await kubelet.becomesReady('told', image('told', '1.0.1'));
    await waitForResults('told', '1.0.1 Webhook RolledOut');
    await waitForReady('told', 'UpToDate');
  });

  it('are superseded by the rollout of a newer push', async () => {
    await create('overtaken');
    await update('overtaken', '1.0.1');
    await kubelet.findPod('overtaken', image('overtaken', '1.0.1'));
    await update('overtaken', '1.0.2');
    await kubelet.becomesReady('overtaken', image('overtaken', '1.0.2'));
    const status = await waitForResults('overtaken', '1.0.2 Webhook RolledOut', '1.0.1 Webhook Applied');
    assert.equal(status.rejected, undefined);
    await waitForReady('overtaken', 'UpToDate');
  });

  it('are reported as not watched if the workload is paused', async () => {
    await create('still');
    await update('still', '1.0.1');
    await kubelet.becomesReady('still', image('still', '1.0.1'));
    await waitForResults('still', '1.0.1 Webhook RolledOut');
    // Nothing but a rollback that somebody asked for is written to a paused Deployment.
    await world.cluster.request('PATCH', world.deploymentPath('still'), { spec: { paused: true } });
    const policy = `/apis/operator.technomad.dev/v1/namespaces/${world.namespace}/imagepolicies/still`;
    await world.annotate(policy, { 'operator.technomad.dev/rollback-to': 'previous' });
    await world.waitForImage('still', image('still', '1.0.0'));
    for (const kind of ['ImagePolicy', 'Deployment']) {
      const event = await waitForEvent(kind, 'still', 'RolloutNotWatched');
      assert.match(event.message, /it is paused/);
    }
    assert.match((await waitForReady('still', 'RejectedDigest')).message, /not watched: it is paused/);
  });

  it('are watched to their end after an outage of the service, whatever happened during it', async () => {
    await create('away');
    await create('away-broken');
    await update('away', '1.0.1');
    await update('away-broken', '1.0.1');
    for (const name of ['away', 'away-broken']) await waitForReady(name, 'Progressing');
    await service.kill9();
    await kubelet.becomesReady('away', image('away', '1.0.1'));
    await kubelet.cannotPull('away-broken', image('away-broken', '1.0.1'), 'not found');
    await service.restart();
    await waitForResults('away', '1.0.1 Webhook RolledOut');
    await waitForResults('away-broken', '1.0.0 Rollback RolledOut', '1.0.1 Webhook RolledBack');
    assertPatchedTimes(await world.readDeployment('away-broken'), 2);
  });

  it('of thirty workloads are rolled back only for the workload that fails, and the status stays small', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `many-${index}`);
    const broken = 'many-17';
    await push('many', '1.0.0');
    await eachOf(names, async (name) => {
      await world.createDeployment(name, image('many', '1.0.0'));
      await world.cluster.request('PATCH', world.deploymentPath(name), { metadata: { labels: { uses: 'many' } } });
      await kubelet.becomesReady(name, image('many', '1.0.0'));
    });
    const targets = [{ kind: 'Deployment', selector: { matchLabels: { uses: 'many' } } }];
    const rollout = { onFailure: 'Rollback', maxParallel: 5 } as const;
    await world.createPolicy('many', `${world.quiet.host}/shop/many`, { strategy: 'SemVer' }, { targets, rollout });
    await world.waitForFirstLook('many');
    const digest = await push('many', '1.0.1');
    await announce('many', '1.0.1');
    await eachOf(names, async (name) => void (await world.waitForImage(name, image('many', '1.0.1'))));
    await eachOf(
      names.filter((name) => name !== broken),
      (name) => kubelet.becomesReady(name, image('many', '1.0.1')),
    );
    await kubelet.cannotPull(broken, image('many', '1.0.1'), 'Back-off pulling image: not found');
    await world.waitForImage(broken, image('many', '1.0.0'));
    const status = await waitFor('all rollouts to be over', async () => {
      const found = await world.readStatus('many');
      return found.rollouts?.done === 29 && found.rollouts.rolledBack === 1 && found;
    });
    assert.deepEqual(
      status.rejected?.map((one) => one.digest),
      [digest],
    );
    assert.match((await waitForReady('many', 'RejectedDigest')).message, /many-17.*ImagePullBackOff: Back-off pulling image: not found/);
    for (const name of names) {
      const deployment = await world.readDeployment(name);
      assert.equal(deployment.spec.template.spec.containers[0]?.image, image('many', name === broken ? '1.0.0' : '1.0.1'));
      const update = JSON.parse(deployment.metadata.annotations?.['last-update.operator.technomad.dev/c0'] ?? '{}') as { from?: string };
      assert.equal(update.from, image('many', name === broken ? '1.0.1' : '1.0.0'));
    }
    assert.ok(JSON.stringify(await world.readStatus('many')).length < 16_000);
  });

  it('survive kill -9 after the patch without a status: the workload remembers what ran before', async () => {
    await create('forgotten');
    await update('forgotten', '1.0.1');
    await waitForReady('forgotten', 'Progressing');
    await service.kill9();
    await world.cluster.request('PATCH', `${world.policyPath('forgotten')}/status`, {
      status: { history: null, targets: null, rollouts: null, lastAppliedTag: null },
    });
    await kubelet.cannotPull('forgotten', image('forgotten', '1.0.1'), 'not found');
    await service.restart();
    await world.waitForImage('forgotten', image('forgotten', '1.0.0'));
    await waitForReady('forgotten', 'RejectedDigest');
  });

  it('survive kill -9 between the patch and the status, with what ran before', async () => {
    await create('torn');
    // The status is written before the job ends: a job of the killed service would be repeated, and would find the image before the push is announced.
    await world.waitForIdleWorkers();
    await service.kill9();
    const digest = await push('torn', '1.0.1');
    // As the killed service left it: patched by its hand, and nothing written down.
    const operations = [{ op: 'replace', path: '/spec/template/spec/containers/0/image', value: image('torn', '1.0.1') }];
    const path = `${world.deploymentPath('torn')}?fieldManager=image-watcher`;
    await world.cluster.request('PATCH', path, operations, 'application/json-patch+json');
    await service.restart();
    await announce('torn', '1.0.1');
    await waitForReady('torn', 'Progressing');
    await kubelet.cannotPull('torn', image('torn', '1.0.1'), 'not found');
    await world.waitForImage('torn', image('torn', '1.0.0'));
    const { rejected } = await waitForResults('torn', '1.0.0 Rollback RolledOut', '1.0.1 Webhook RolledBack');
    assert.equal(rejected?.[0]?.digest, digest);
  });
});
