/** An admission policy of the API server refuses the new image on one workload: the waves of the policy do not wait for it. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Spec } from '../../src/service/resources/v1.ts';
import { runCommand } from '../cli/run-command.ts';
import { pushImage } from '../harness/push-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { all, runPods } from './base-fleet.ts';
import { deliver, harborBody, startWorld, type Service, type World } from './world.ts';

const names = ['app-0', 'app-1', 'app-2', 'app-3'];
const [refused = '', ...others] = names;
const policies = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';

describe('a workload whose change the API server refuses', () => {
  let world: World;
  let service: Service;
  let kubelet: ReturnType<typeof runPods>;
  const image = (tag: string) => `${world.quiet.host}/shop/app:${tag}`;
  const patchImage = (name: string, tag: string, query: string) => {
    const containers = [{ name: 'c0', image: image(tag) }];
    return world.cluster.request('PATCH', `${world.deploymentPath(name)}${query}`, { spec: { template: { spec: { containers } } } });
  };
  const isRefused = (name: string, tag: string) =>
    patchImage(name, tag, '?dryRun=All').then(
      () => false,
      (error: unknown) => String(error).includes('not on this one'),
    );

  before(async () => {
    world = await startWorld({ controllers: true });
    kubelet = runPods(world.cluster, world.namespace);
    await push('1.0.0');
    await all(names, async (name) => {
      await world.createDeployment(name, image('1.0.0'));
      await world.cluster.request('PATCH', world.deploymentPath(name), { metadata: { labels: { tier: 'app' } } });
    });
    service = await world.start();
    const targets = [{ kind: 'Deployment', selector: { matchLabels: { tier: 'app' } } }];
    const rollout: Spec['rollout'] = { onFailure: 'Rollback', waves: { maxParallel: 1, pause: '1s', maxFailures: 2 } };
    await world.createPolicy('app', `${world.quiet.host}/shop/app`, { strategy: 'SemVer' }, { targets, rollout });
    await world.waitForFirstLook('app');
    await refuse();
  });
  after(async () => {
    await world.cluster.request('DELETE', `${policies}/refused-image`);
    await world.cluster.request('DELETE', `${policies.replace('policies', 'policybindings')}/refused-image`);
    await kubelet.stop();
    await world.stop();
  });

  const push = (tag: string) => pushImage({ host: world.quiet.host, repository: 'shop/app', tag, content: tag });
  const check = () => runCommand('check', [`${world.namespace}/app`, '--kubeconfig', world.cluster.kubeconfigPath]);
  const tagsOf = async () => {
    const deployments = await Promise.all(names.map((name) => world.readDeployment(name)));
    return deployments.map(({ spec }) => spec.template.spec.containers[0]?.image.split(':').at(-1));
  };

  async function refuse(): Promise<void> {
    const rules = [{ apiGroups: ['apps'], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['deployments'] }];
    const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': world.namespace } };
    const isOld = `object.spec.template.spec.containers.all(one, one.image.endsWith(':1.0.0'))`;
    const expression = `object.metadata.name != '${refused}' || ${isOld}`;
    await world.cluster.request('POST', policies, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: 'refused-image' },
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: { resourceRules: rules, namespaceSelector },
        validations: [{ expression, message: 'not on this one' }],
      },
    });
    await world.cluster.request('POST', policies.replace('policies', 'policybindings'), {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name: 'refused-image' },
      spec: { policyName: 'refused-image', validationActions: ['Deny'] },
    });
    await waitFor('the change to be refused', () => isRefused(refused, '1.0.1'));
  }

  async function update(tag: string): Promise<void> {
    await push(tag);
    const answer = await deliver(service, harborBody(world.quiet.host, 'shop/app', [{ tag }]));
    assert.equal(answer.status, 202);
  }

  it('is passed over while fewer than maxFailures have failed', async () => {
    await update('1.0.1');
    await waitFor('the others to run 1.0.1', async () => (await tagsOf()).join() === ['1.0.0', ...others.map(() => '1.0.1')].join());
    const stalled = await world.waitForCondition('app', 'Stalled', 'PatchRejected');
    assert.match(stalled.message, /app-0: the API server refuses the change: .*not on this one/);
    await waitFor('the end of the wait', async () => (await world.readStatus('app')).waiting === undefined);
  });

  it('ends the rollout after maxFailures, until the API server accepts the change', async () => {
    await world.cluster.request('PATCH', world.policyPath('app'), { spec: { rollout: { waves: { maxFailures: 1 } } } });
    await update('1.0.2');
    await waitFor('the policy to be stalled with 1.0.2', async () => {
      const { latest, conditions = [] } = await world.readStatus('app');
      return latest?.tag === '1.0.2' && conditions.some(({ type, reason }) => type === 'Stalled' && reason === 'PatchRejected');
    });
    await check();
    assert.deepEqual(await tagsOf(), ['1.0.0', '1.0.1', '1.0.1', '1.0.1']);
    await world.cluster.request('PATCH', `${policies}/refused-image`, { spec: { validations: [{ expression: 'true' }] } });
    await waitFor('the change to be accepted', async () => !(await isRefused(refused, '1.0.2')));
    await check();
    await waitFor('1.0.2 to run everywhere', async () => (await tagsOf()).every((tag) => tag === '1.0.2'));
    await world.waitForCondition('app', 'Ready', 'UpToDate');
  });
});
