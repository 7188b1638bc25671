/** Volumes whose content is an image (`volumes[].image.reference`), with the real API server and its controllers. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Spec } from '../../src/service/resources/v1.ts';
import { pushChart } from '../harness/push-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { startRolloutWorld, type RolloutWorld } from './rollout-world.ts';
import { deliver, harborBody } from './world.ts';

interface Raw {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly { readonly image: string }[];
        readonly volumes?: readonly {
          readonly name: string;
          readonly image?: { readonly reference?: string; readonly pullPolicy?: string };
        }[];
      };
    };
  };
}

describe('image volumes', () => {
  let rollouts: RolloutWorld;
  let world: RolloutWorld['world'];
  before(async () => {
    rollouts = await startRolloutWorld();
    ({ world } = rollouts);
  });
  after(() => rollouts.stop());

  const image: RolloutWorld['image'] = (...names) => rollouts.image(...names);
  const server = () => image('server', '7.0.0');
  const read = (name: string) => world.cluster.request<Raw>('GET', world.deploymentPath(name));
  /** A Deployment that is out, whose one container has the name of its volume, and a policy for what the volume holds. */
  const create = async (name: string, parts: Partial<Spec['targets'][number]>) => {
    await rollouts.push(name, '1.0.0');
    const containers = [{ name: 'models', image: server(), volumeMounts: [{ name: 'models', mountPath: '/models' }] }];
    const volumes = [
      { name: 'tmp', emptyDir: {} },
      { name: 'models', image: { reference: image(name, '1.0.0'), pullPolicy: 'IfNotPresent' } },
    ];
    const template = { metadata: { labels: { app: name } }, spec: { containers, volumes } };
    await world.cluster.request('POST', world.deploymentPath(''), {
      metadata: { name },
      spec: { selector: { matchLabels: { app: name } }, template },
    });
    await rollouts.kubelet.becomesReady(name, image(name, '1.0.0'));
    const targets: Spec['targets'] = [{ kind: 'Deployment', name, ...parts }];
    await world.createPolicy(
      name,
      `${world.quiet.host}/shop/${name}`,
      { strategy: 'SemVer' },
      { targets, rollout: { onFailure: 'Rollback' } },
    );
    await world.waitForFirstLook(name);
  };
  const waitForVolume = (name: string, tag: string) =>
    waitFor(`the volume of ${name} to be ${tag}`, async () => {
      const raw = await read(name);
      return raw.spec.template.spec.volumes?.[1]?.image?.reference === image(name, tag) && raw;
    });

  it('are updated on a push, rolled back on failure or on request, and may hold artifacts', async () => {
    await create('models', { volumes: true });
    const { kubelet } = rollouts;
    await rollouts.push('models', '1.1.0');
    await rollouts.announce('models', '1.1.0');
    const { metadata, spec } = await waitForVolume('models', '1.1.0');
    assert.equal(spec.template.spec.containers[0]?.image, server());
    assert.deepEqual(spec.template.spec.volumes, [
      { name: 'tmp', emptyDir: {} },
      { name: 'models', image: { reference: image('models', '1.1.0'), pullPolicy: 'IfNotPresent' } },
    ]);
    const remembered = metadata.annotations?.['volumes.last-update.operator.technomad.dev/models'] ?? '{}';
    assert.equal((JSON.parse(remembered) as { from?: string }).from, image('models', '1.0.0'));
    await kubelet.becomesReady('models', image('models', '1.1.0'));
    await rollouts.waitForResults('models', '1.1.0 Webhook RolledOut');
    assert.equal((await world.readStatus('models')).history?.[0]?.container, 'volumes/models');

    // The kubelet reports it on the container that mounts the volume.
    await rollouts.push('models', '1.2.0');
    await rollouts.announce('models', '1.2.0');
    await kubelet.cannotPull('models', image('models', '1.2.0'), 'Back-off pulling image: models not found');
    await waitForVolume('models', '1.1.0');
    await rollouts.waitForResults('models', '1.1.0 Rollback RolledOut', '1.2.0 Webhook RolledBack', '1.1.0 Webhook RolledOut');
    const ready = await rollouts.waitForReady('models', 'RejectedDigest');
    assert.match(ready.message, /ImagePullBackOff: Back-off pulling image: models not found/);
    assert.equal((await world.readStatus('models')).rejected?.[0]?.reason, 'ImagePullFailed');

    await world.annotate(world.policyPath('models'), { 'operator.technomad.dev/rollback-to': '1.0.0' });
    await waitForVolume('models', '1.0.0');
    await kubelet.becomesReady('models', image('models', '1.0.0'));

    await pushChart({ host: world.quiet.host, repository: 'shop/models', tag: '1.3.0' });
    await rollouts.announce('models', '1.3.0');
    assert.equal((await waitForVolume('models', '1.3.0')).spec.template.spec.containers[0]?.image, server());
  });

  it('stay unchanged if the policy does not name volumes, and its status says what to write', async () => {
    await create('unasked', {});
    await rollouts.push('unasked', '1.1.0');
    await deliver(rollouts.service, harborBody(world.quiet.host, 'shop/unasked', [{ tag: '1.1.0' }]));
    const stalled = await world.waitForCondition('unasked', 'Stalled', 'ContainerNotFound');
    assert.match(stalled.message, /no container that runs .*; its volume "models" holds it: to update it, write volumes: true/);
    assert.equal((await read('unasked')).spec.template.spec.volumes?.[1]?.image?.reference, image('unasked', '1.0.0'));
    await world.patchPolicy('unasked', { targets: [{ kind: 'Deployment', name: 'unasked', volumes: true }] });
    await waitForVolume('unasked', '1.1.0');
  });
});
