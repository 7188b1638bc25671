/** The workloads of one policy are changed in waves, with the real controllers; a bad image does not get beyond the first wave. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Spec } from '../../src/service/resources/v1.ts';
import type { PolicyStatus } from '../../src/core/model/policy-status.ts';
import { waitFor } from '../harness/wait-for.ts';
import { all, observeDeployments, runPods } from './base-fleet.ts';
import { runCommand } from '../cli/run-command.ts';
import { deliver, harborBody, startWorld, type Service, type World } from './world.ts';
import { pushImage } from '../harness/push-image.ts';

const names = Array.from({ length: 20 }, (_, index) => `app-${`${index}`.padStart(2, '0')}`);
const canaries = names.slice(7, 9);
const others = names.filter((name) => !canaries.includes(name));
const waves = { maxParallel: 4, canaries: { matchLabels: { canary: 'true' } }, pause: '1s' };

describe('the waves of a policy', () => {
  let world: World;
  let service: Service;
  let kubelet: ReturnType<typeof runPods>;
  let seen: Awaited<ReturnType<typeof observeDeployments>>;
  const image = (tag: string) => `${world.quiet.host}/shop/app:${tag}`;

  before(async () => {
    world = await startWorld({ controllers: true });
    kubelet = runPods(world.cluster, world.namespace);
    await push('1.0.0');
    await all(names, async (name) => {
      await world.createDeployment(name, image('1.0.0'));
      const labels = { tier: 'app', ...(canaries.includes(name) && { canary: 'true' }) };
      await world.cluster.request('PATCH', world.deploymentPath(name), { metadata: { labels } });
    });
    await waitFor('all Deployments to be out', async () => {
      const path = `/apis/apps/v1/namespaces/${world.namespace}/deployments`;
      const { items } = await world.cluster.request<{ items: { status: { availableReplicas?: number } }[] }>('GET', path);
      return items.filter(({ status }) => (status.availableReplicas ?? 0) > 0).length === names.length;
    });
    seen = await observeDeployments(world.cluster, world.namespace);
    service = await world.start();
    const targets = [{ kind: 'Deployment', selector: { matchLabels: { tier: 'app' } } }];
    const rollout: Spec['rollout'] = { onFailure: 'Rollback', waves };
    await world.createPolicy('app', `${world.quiet.host}/shop/app`, { strategy: 'SemVer' }, { targets, rollout });
    await world.waitForFirstLook('app');
  });
  after(async () => {
    seen.stop();
    await kubelet.stop();
    await world.stop();
  });

  async function push(tag: string): Promise<string> {
    const { digest } = await pushImage({ host: world.quiet.host, repository: 'shop/app', tag, content: tag });
    return digest;
  }

  async function update(tag: string): Promise<string> {
    seen.clear();
    const digest = await push(tag);
    const answer = await deliver(service, harborBody(world.quiet.host, 'shop/app', [{ tag }]));
    assert.equal(answer.status, 202);
    return digest;
  }

  const cli = (command: string) => runCommand(command, [`${world.namespace}/app`, '--kubeconfig', world.cluster.kubeconfigPath]);
  const readyOf = ({ conditions = [] }: PolicyStatus) => conditions.find(({ type }) => type === 'Ready');
  const waitForStatus = (what: string, isReached: (status: PolicyStatus) => boolean) =>
    waitFor(
      what,
      async () => {
        assert.equal(seen.error, undefined);
        const status = await world.readStatus('app');
        return isReached(status) && status;
      },
      { intervalMs: 20 },
    );
  const isOut = (tag: string) => () => {
    const changed = seen.changes.filter((change) => change.image === image(tag));
    return new Set(changed.map(({ name }) => name)).size === names.length && changed.length;
  };
  const setWaves = (change: object) => world.cluster.request('PATCH', world.policyPath('app'), { spec: { rollout: { waves: change } } });

  it('begin with the canaries, never exceed maxParallel, and are the same when the service is killed', async () => {
    await update('1.0.1');
    await waitFor('the canaries', () => seen.changes.length > 1, { intervalMs: 10 });
    await service.kill9();
    await service.restart();
    await waitFor('the third wave', () => seen.changes.length > 7, { intervalMs: 10 });
    await service.kill9();
    await service.restart();
    const early: string[] = [];
    await waitForStatus('1.0.1 to be out', (status) => {
      const isReady = readyOf(status)?.status === 'True' && status.latest?.tag === '1.0.1';
      if (isReady && seen.changes.length < names.length) early.push(readyOf(status)?.message ?? '');
      return isReady && isOut('1.0.1')() === names.length;
    });
    assert.deepEqual(early, [], 'the policy is Ready only when the last wave is out');
    assert.ok(seen.most <= 4, `${seen.most} were rolling out at the same time`);
    const order = seen.changes.map(({ name }) => name);
    assert.deepEqual(order.slice(0, 2).toSorted(), canaries);
    assert.deepEqual(order.slice(2).toSorted(), others, 'each is changed once');
    for (const { name, besides } of seen.changes.slice(2))
      assert.ok(!besides.some((one) => canaries.includes(one)), `${name} beside a canary`);
    const { waiting, rollouts, rejected } = await world.readStatus('app');
    assert.deepEqual([waiting, rollouts?.done, rejected], [undefined, names.length, undefined]);
  });

  it('pause after a wave, and the status says what they wait for', async () => {
    await setWaves({ pause: '2h' });
    await update('1.0.2');
    const paused = await waitForStatus('the pause', ({ waiting }) => waiting?.reason === 'WavePause');
    assert.deepEqual(seen.changes.map(({ name }) => name).toSorted(), canaries);
    const ready = readyOf(paused);
    assert.deepEqual([ready?.status, ready?.reason], ['False', 'WavePause']);
    assert.match(ready?.message ?? '', /1\.0\.2 waits until .* when the pause after the last wave is over/);
    const doneAt = Date.parse(paused.rollouts?.lastDoneAt ?? '');
    const nextSecond = Math.ceil(doneAt / 1_000) * 1_000;
    assert.equal(Date.parse(paused.waiting?.until ?? ''), nextSecond + 7_200_000, 'the pause begins when the canaries have rolled out');
    const { out } = await cli('explain');
    assert.match(out, /wave +WavePause: 1\.0\.2 waits for the pause after the last wave/);
    await setWaves({ pause: '1s' });
    await waitForStatus('1.0.2 to be out', (status) => readyOf(status)?.status === 'True' && isOut('1.0.2')() === names.length);
    assert.ok(seen.most <= 4, `${seen.most} were rolling out at the same time`);
  });

  it('end with the canaries if the image is bad: the canaries are rolled back, and no other workload is changed', async () => {
    kubelet.crashes = (one) => one === image('1.0.3');
    const digest = await update('1.0.3');
    const status = await waitForStatus('the canaries to be rolled back', ({ rollouts }) => rollouts?.rolledBack === canaries.length);
    assert.deepEqual(
      status.rejected?.map((one) => [one.digest, one.reason]),
      [[digest, 'CrashLoop']],
    );
    const ended = await waitForStatus('the end of the wait', ({ waiting }) => waiting === undefined);
    assert.deepEqual([readyOf(ended)?.status, readyOf(ended)?.reason], ['False', 'RejectedDigest']);
    for (const { name } of seen.changes) assert.ok(canaries.includes(name), `${name} was changed`);
  });

  it('continue after fewer failures than maxFailures, and retry the failed workload only after a release', async () => {
    const [broken = ''] = others;
    await setWaves({ maxFailures: 2, maxParallel: 10 });
    kubelet.crashes = (one, pod) => one === image('1.0.4') && pod.startsWith(`${broken}-`);
    await update('1.0.4');
    const status = await waitForStatus('all others to run it', ({ rollouts, waiting }) => {
      return rollouts?.done === names.length - 1 && rollouts.rolledBack === 1 && waiting === undefined;
    });
    assert.equal(
      status.rejected?.some(({ tag }) => tag === '1.0.4'),
      false,
    );
    assert.deepEqual([readyOf(status)?.status, readyOf(status)?.reason], ['False', 'RejectedDigest']);
    assert.match(readyOf(status)?.message ?? '', /1\.0\.4 is not tried again on Deployment .*app-00/);
    assert.deepEqual(seen.changesOf(broken), [image('1.0.4'), image('1.0.2')]);
    kubelet.crashes = () => false;
    const { code, err } = await cli('release');
    assert.equal(code, 0, err);
    await waitForStatus('1.0.4 to run everywhere', (now) => readyOf(now)?.status === 'True');
    assert.deepEqual(seen.changesOf(broken), [image('1.0.4'), image('1.0.2'), image('1.0.4')]);
  });
});
