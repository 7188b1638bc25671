/** What a policy can say in v1 besides how a tag is chosen, against the real API server. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Spec } from '../../src/service/resources/v1.ts';
import { pushImage } from '../harness/push-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { announce, assertPatchedTimes, startWorld, type Service, type World } from './world.ts';

const consent = 'operator.technomad.dev/allow-policies-from';
const any = { strategy: 'SemVer' } as const;

describe('a policy in v1', () => {
  let world: World;
  let service: Service;
  before(async () => {
    world = await startWorld();
    service = await world.start();
    await announce(world.registry, service);
  });
  after(() => world.stop());

  const image = (name: string, tag: string) => `${world.registry.host}/shop/${name}:${tag}`;
  const push = (name: string, tag: string) =>
    pushImage({ host: world.registry.host, repository: `shop/${name}`, tag, content: `${name} ${tag}` });
  const create = async (name: string, more: Partial<Spec>) => {
    await push(name, '1.0.0');
    await world.createDeployment(name, image(name, '1.0.0'));
    await world.createPolicy(name, `${world.registry.host}/shop/${name}`, any, more);
  };

  it('compares the extracted parts of tags, and only of tags that the filter allows', async () => {
    await push('parts', 'v1.0.0-prod');
    await world.createDeployment('parts', image('parts', 'v1.0.0-prod'));
    await world.createPolicy('parts', `${world.registry.host}/shop/parts`, any, {
      tags: { allow: '^v(?P<version>.*)-prod(-debug)?$', extract: '$version', ignore: ['-debug$'] },
    });
    await world.waitForFirstLook('parts');
    for (const tag of ['v2.0.0-dev', 'v3.0.0-prod-debug', '4.0.0', 'v1.10.0-prod', 'v1.9.0-prod']) await push('parts', tag);
    await world.waitForImage('parts', image('parts', 'v1.10.0-prod'));
    await waitFor('what is selected', async () => (await world.readStatus('parts')).latest?.tag === 'v1.10.0-prod');
  });

  it('does nothing while it is suspended, is not stalled, and catches up afterwards', async () => {
    await create('paused', { suspend: true });
    const ready = await world.waitForCondition('paused', 'Ready', 'Suspended');
    assert.match(ready.message, /until spec\.suspend is false/);
    await push('paused', '1.0.1');
    await waitFor('the push to be looked at while nothing may be done', async () => {
      const metrics = await (await fetch(`${service.operationsUrl}/metrics`)).text();
      return /reconciles_total\{source="Webhook",outcome="suspended"/.test(metrics);
    });
    assert.equal(await world.condition('paused', 'Stalled'), undefined);
    assertPatchedTimes(await world.readDeployment('paused'), 0);
    await world.patchPolicy('paused', { suspend: false });
    assertPatchedTimes(await world.waitForImage('paused', image('paused', '1.0.1')), 1);
    await world.waitForCondition('paused', 'Ready', 'UpToDate');
    await waitFor('the change to be looked at', async () => (await world.readStatus('paused')).observedGeneration === 2);
  });

  it('waits for the consent of the owners of a target in another namespace', async () => {
    const policies = await world.cluster.namespace('policies');
    await push('owned', '1.0.0');
    await push('owned', '1.0.1');
    await world.createDeployment('owned', image('owned', '1.0.0'));
    const path = `/apis/operator.technomad.dev/v1/namespaces/${policies}/imagepolicies`;
    const spec: Spec = {
      image: `${world.registry.host}/shop/owned`,
      select: { semver: {} },
      targets: [{ kind: 'Deployment', name: 'owned', namespace: world.namespace }],
    };
    await world.cluster.request('POST', path, {
      apiVersion: 'operator.technomad.dev/v1',
      kind: 'ImagePolicy',
      metadata: { name: 'owned' },
      spec,
    });
    const stalled = await waitFor('the policy to be stalled', async () => {
      const policy = (await world.cluster.request('GET', `${path}/owned`)) as { status?: Awaited<ReturnType<World['readStatus']>> };
      return policy.status?.conditions?.find(({ type, reason }) => type === 'Stalled' && reason === 'NoConsent');
    });
    assert.ok(stalled.message.includes(`${consent}: "${policies}"`), stalled.message);
    assertPatchedTimes(await world.readDeployment('owned'), 0);
    await world.annotate(world.deploymentPath('owned'), { [consent]: policies });
    await world.waitForImage('owned', image('owned', '1.0.1'));

    // Withdrawn: the Namespace's word does not count where the target has one.
    await world.annotate(world.deploymentPath('owned'), { [consent]: '' });
    await world.annotate(`/api/v1/namespaces/${world.namespace}`, { [consent]: '*' });
    await push('owned', '1.0.2');
    await waitFor('the policy to be stalled again', async () => {
      const policy = (await world.cluster.request('GET', `${path}/owned`)) as { status?: Awaited<ReturnType<World['readStatus']>> };
      return policy.status?.conditions?.some(({ type, reason }) => type === 'Stalled' && reason === 'NoConsent');
    });
    await world.annotate(world.deploymentPath('owned'), { [consent]: null });
    await world.waitForImage('owned', image('owned', '1.0.2'));
  });
});
