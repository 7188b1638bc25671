/** Policies that were written as v1alpha1 go on driving updates: before, during and after the upgrade to v1. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { crdName } from '../../src/service/resources/group.ts';
import { oldCrd } from '../service/resources/old-crd.ts';
import { runCrd } from '../cli/run-command.ts';
import { pushImage } from '../harness/push-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { eachOf } from './fleet.ts';
import { assertPatchedTimes, deliver, harborBody, startWorld, type Service, type World } from './world.ts';

interface OlderPolicy {
  metadata: { name: string; generation: number };
  spec: Record<string, unknown>;
  status?: { lastAppliedTag?: string };
}

describe('policies of v1alpha1', () => {
  let world: World;
  let service: Service;
  before(async () => {
    world = await startWorld({ crd: oldCrd });
    service = await world.start({ untilReady: false });
  });
  after(() => world.stop());

  const olderPath = (name = '') => `/apis/operator.technomad.dev/v1alpha1/namespaces/${world.namespace}/imagepolicies${name && `/${name}`}`;
  const readOlder = (name: string): Promise<OlderPolicy> => world.cluster.request<OlderPolicy>('GET', olderPath(name));
  const image = (name: string, tag: string) => `${world.quiet.host}/shop/${name}:${tag}`;
  const push = (name: string, tag: string) => pushImage({ host: world.quiet.host, repository: `shop/${name}`, tag, content: tag });
  const crd = (action: string, ...args: string[]) => runCrd(world.cluster.kubeconfigPath, action, ...args);

  /** As `kubectl create` sends it. */
  const createPolicy = (name: string, tagPolicy: object) =>
    world.cluster.request('POST', `${olderPath()}?fieldManager=kubectl-create`, {
      apiVersion: 'operator.technomad.dev/v1alpha1',
      kind: 'ImagePolicy',
      metadata: { name },
      spec: {
        repository: `${world.quiet.host}/shop/${name}`,
        tagPolicy,
        updateTarget: { kind: 'Deployment', name, namespace: world.namespace },
        pollIntervalMinutes: 60,
      },
    });
  const create = async (name: string, tagPolicy: object) => {
    await push(name, '1.0.0');
    await world.createDeployment(name, image(name, '1.0.0'));
    await createPolicy(name, tagPolicy);
  };
  const announcePush = async (name: string, tag: string) => {
    await push(name, tag);
    await announce(name, tag);
  };
  const announce = async (name: string, tag: string) => {
    const answer = await deliver(service, harborBody(world.quiet.host, `shop/${name}`, [{ tag }]));
    assert.equal(answer.status, 202);
  };
  /** Behind hundreds of others. */
  const waitForImage = (name: string, tag: string) => world.waitForImage(name, image(name, tag));
  const storedVersions = async (): Promise<string[]> => {
    const definition = await world.cluster.request('GET', `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crdName}`);
    return definition.status.storedVersions;
  };

  it('are not readable before the definition knows v1: pushes are accepted and kept until then', async () => {
    await create('web', { strategy: 'SemVer', pattern: '1.x' });
    await create('builds', { strategy: 'Regex', pattern: '1\\.\\d\\.\\d' });
    // Enough that their migration takes longer than a push.
    await eachOf(
      Array.from({ length: 300 }, (_, index) => `idle-${index}`),
      async (name) => void (await createPolicy(name, { strategy: 'Latest' })),
    );
    await announcePush('web', '1.0.1');
    const readyz = await (await fetch(`${service.operationsUrl}/readyz?verbose`)).text();
    assert.match(readyz, /\[!\]kubernetes policies failed: .*CustomResourceDefinition/);
    assertPatchedTimes(await world.readDeployment('web'), 0);
  });

  it('work after "crd apply" while they are still stored as v1alpha1', async () => {
    const applied = await crd('apply', '--conversion-url', service.conversionUrl, '--ca-secret', 'default/image-watcher-conversion');
    assert.equal(applied.code, 0, applied.err);
    assertPatchedTimes(await waitForImage('web', '1.0.1'), 1);
    await announcePush('builds', '1.0.1');
    await waitForImage('builds', '1.0.1');
    assert.ok((await storedVersions()).includes('v1alpha1'));
    await waitFor('the status in the older shape', async () => (await readOlder('web')).status?.lastAppliedTag === '1.0.1');
  });

  it('follow an edit made in the older schema', async () => {
    await announcePush('web', '2.0.0');
    const { spec } = await readOlder('web');
    const tagPolicy = { strategy: 'SemVer', pattern: '2.x' };
    await world.cluster.request('PATCH', olderPath('web'), { spec: { ...spec, tagPolicy } }, 'application/merge-patch+json');
    await waitForImage('web', '2.0.0');
  });

  it('work during the migration', async (t) => {
    await push('web', '2.0.1');
    // One after the other, so that it lasts.
    const migration = crd('migrate', '--output', 'json', '--concurrency', '1');
    await announce('web', '2.0.1');
    await waitForImage('web', '2.0.1');
    if (!(await storedVersions()).includes('v1alpha1')) t.diagnostic('the migration had ended before');
    const { code, err } = await migration;
    assert.equal(code, 0, err);
    assert.deepEqual(await storedVersions(), ['v1']);
  });

  it('can be updated, created and edited in the older schema after the migration', async () => {
    await announcePush('builds', '1.0.2');
    await waitForImage('builds', '1.0.2');
    await create('late', { strategy: 'SemVer' });
    await world.waitForFirstLook('late');
    await announcePush('late', '1.0.1');
    assertPatchedTimes(await waitForImage('late', '1.0.1'), 1);
    const generation = (await readOlder('late')).metadata.generation;
    await world.cluster.request('PATCH', olderPath('late'), { spec: { pollIntervalMinutes: 30 } }, 'application/merge-patch+json');
    assert.equal((await readOlder('late')).metadata.generation, generation + 1);
    await waitFor('the edit to be looked at', async () => (await world.readStatus('late')).observedGeneration === generation + 1);
  });

  it('have their problems reported in words of v1alpha1', async () => {
    await createPolicy('broken', { strategy: 'SemVer', pattern: 'banana' });
    const stalled = await world.waitForCondition('broken', 'Stalled', 'InvalidTagPolicy');
    assert.match(stalled.message, /^spec\.tagPolicy\.pattern: .*banana/);
  });
});
