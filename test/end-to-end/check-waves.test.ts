/** Checks of the phases during and after with waves, with the real controllers: the other workloads wait for the verdict on the canary, and never get a bad image. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startEndpoint, verdict, type Reply } from '../harness/check-servers.ts';
import { pushImage } from '../harness/push-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { all, observeDeployments, runPods } from './base-fleet.ts';
import { deliver, harborBody, startWorld, type Service, type World } from './world.ts';

const key = 'a key of checks';
const others = ['app-0', 'app-1', 'app-3'];
const canary = 'app-2';
const names = [...others, canary];

describe('checks and waves', () => {
  let world: World;
  let service: Service;
  let kubelet: ReturnType<typeof runPods>;
  let seen: Awaited<ReturnType<typeof observeDeployments>>;
  let endpoint: Awaited<ReturnType<typeof startEndpoint>>;
  /** `check tag` → the answer from now on. */
  const replies = new Map<string, Reply>();
  const image = (tag: string) => `${world.quiet.host}/shop/app:${tag}`;
  const push = (tag: string) => pushImage({ host: world.quiet.host, repository: 'shop/app', tag, content: tag });

  before(async () => {
    world = await startWorld({ controllers: true });
    kubelet = runPods(world.cluster, world.namespace);
    endpoint = await startEndpoint(key, ({ data }) => replies.get(`${data.check} ${data.tag}`) ?? verdict('wait'));
    await world.cluster.request('POST', `/api/v1/namespaces/${world.namespace}/secrets`, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'checks' },
      stringData: { key },
    });
    await push('1.0.0');
    await all(names, async (name) => {
      await world.createDeployment(name, image('1.0.0'));
      const labels = { tier: 'app', ...(name === canary && { canary: 'true' }) };
      await world.cluster.request('PATCH', world.deploymentPath(name), { metadata: { labels } });
    });
    seen = await observeDeployments(world.cluster, world.namespace);
    service = await world.start({ config: { checks: { hosts: [endpoint.host] } } });
    const http = { url: endpoint.url, secretRef: { name: 'checks', key: 'key' } };
    const checks = (['during', 'after'] as const).map((phase) => ({ name: phase, phase, every: '1s', http }));
    const waves = { maxParallel: 10, canaries: { matchLabels: { canary: 'true' } }, pause: '1s' };
    await world.createPolicy(
      'app',
      `${world.quiet.host}/shop/app`,
      { strategy: 'SemVer' },
      {
        targets: [{ kind: 'Deployment', selector: { matchLabels: { tier: 'app' } } }],
        rollout: { onFailure: 'Rollback', waves, checks },
      },
    );
    await world.waitForFirstLook('app');
  });
  after(async () => {
    seen?.stop();
    await kubelet?.stop();
    await world?.stop();
    await endpoint?.stop();
  });

  const update = async (tag: string) => {
    seen.clear();
    const { digest } = await push(tag);
    assert.equal((await deliver(service, harborBody(world.quiet.host, 'shop/app', [{ tag }]))).status, 202);
    return digest;
  };
  const asked = (check: string, tag: string) => endpoint.events.filter(({ data }) => data.check === check && data.tag === tag);
  const waitForQuestions = (check: string, tag: string, count: number) =>
    waitFor(`${count} questions of ${check} about ${tag}`, () => asked(check, tag).length >= count);
  const waitForVerdicts = (tag: string, expected: Readonly<Record<string, string>>) =>
    waitFor(`the verdicts on ${tag}`, async () => {
      const { checks = [] } = await world.readStatus('app');
      const found = checks.filter((one) => one.tag === tag).map(({ name, state }): [string, string] => [name, state]);
      assert.deepEqual(Object.fromEntries(found), expected);
      assert.equal(found.length, Object.keys(expected).length, 'one verdict each');
      return true;
    });
  const changed = () => seen.changes.map(({ name, image: to }) => `${name} ${to.split(':').at(-1)}`);

  it('a check during runs while the canary rolls out, a check after when it is out, and other waves wait for both', async () => {
    kubelet.holds = (one) => one === image('1.0.1');
    replies.set('during 1.0.1', verdict('pass'));
    await update('1.0.1');
    await waitForQuestions('during', '1.0.1', 3);
    assert.deepEqual([changed(), asked('after', '1.0.1').length], [[`${canary} 1.0.1`], 0]);
    await waitForVerdicts('1.0.1', { during: 'Running' });
    kubelet.holds = () => false;
    await waitForVerdicts('1.0.1', { during: 'Passed', after: 'Running' });
    await waitForQuestions('after', '1.0.1', 2);
    await service.kill9();
    assert.deepEqual(changed(), [`${canary} 1.0.1`]);
    replies.set('after 1.0.1', verdict('pass'));
    await service.restart();
    await waitFor('all to run it', () => seen.changes.length === names.length);
    await world.waitForCondition('app', 'Ready', 'UpToDate');
    await waitForVerdicts('1.0.1', { during: 'Passed', after: 'Passed' });
    assert.deepEqual(
      new Set(asked('after', '1.0.1').map(({ id }) => id)).size + new Set(asked('during', '1.0.1').map(({ id }) => id)).size,
      2,
      'each is one question',
    );
    assert.deepEqual(changed().toSorted(), names.map((name) => `${name} 1.0.1`).toSorted());
  });

  for (const [what, check, tag] of [
    ['during its rollout', 'during', '1.0.2'],
    ['after its rollout', 'after', '1.0.3'],
  ] as const)
    it(`a bad verdict about the canary ${what} rolls it back, and no other workload is changed`, async () => {
      kubelet.holds = (one) => check === 'during' && one === image(tag);
      replies.set(`during ${tag}`, check === 'during' ? verdict('fail', 'too slow') : verdict('pass'));
      replies.set(`after ${tag}`, verdict('fail', 'checkout answers 500'));
      const digest = await update(tag);
      const status = await waitFor('the canary to be rolled back', async () => {
        assert.equal(seen.error, undefined);
        const found = await world.readStatus('app');
        return (
          found.rejected?.some((one) => one.digest === digest) && found.rollouts?.rolledBack === 1 && found.waiting === undefined && found
        );
      });
      assert.deepEqual(changed(), [`${canary} ${tag}`, `${canary} 1.0.1`]);
      assert.match(status.rejected?.find((one) => one.digest === digest)?.message ?? '', new RegExp(`the check ${check} failed`));
      await world.waitForCondition('app', 'Ready', 'RejectedDigest');
      for (const name of others)
        assert.equal((await world.readDeployment(name)).spec.template.spec.containers[0]?.image, image('1.0.1'), name);
    });
});
