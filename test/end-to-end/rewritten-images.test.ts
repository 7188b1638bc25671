/** Images that the cluster stores in another form than they were written: they are the same images, for status, explanation and the next push. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pushImage } from '../harness/push-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { announce, startWorld, type Service, type World } from './world.ts';

/** A host that stands for the registry in the cluster, as a mirror does. */
const mirror = 'mirror.example.com';

describe('an image of the policy in another form', () => {
  let world: World;
  let service: Service;
  before(async () => {
    world = await startWorld();
    const registries = [{ host: world.registry.host, insecure: true, aliases: [mirror] }];
    service = await world.start({ config: { registries } });
    await announce(world.registry, service);
  });
  after(() => world.stop());

  const push = async (name: string, tag: string) => {
    const { digest } = await pushImage({ host: world.registry.host, repository: `shop/${name}`, tag, content: `${name} ${tag}` });
    return digest;
  };
  const readyAfterCheck = async (name: string) => {
    const request = `check-${Date.now()}`;
    await world.annotate(world.policyPath(name), { 'operator.technomad.dev/requested-at': request });
    await waitFor(`the check of ${name}`, async () => (await world.readStatus(name)).lastHandledRequest === request);
    return world.condition(name, 'Ready');
  };

  const forms: Record<string, (repository: string, tag: string, digest: string) => string> = {
    'by its digest': (repository, _, digest) => `${repository}@${digest}`,
    'by tag and digest': (repository, tag, digest) => `${repository}:${tag}@${digest}`,
    'at an alias of the registry': (repository, tag, digest) => `${repository.replace(/^[^/]+/, mirror)}:${tag}@${digest}`,
    'by its digest at an alias': (repository, _, digest) => `${repository.replace(/^[^/]+/, mirror)}@${digest}`,
  };
  for (const [form, write] of Object.entries(forms)) {
    for (const pin of ['Tag', 'Digest'] as const) {
      it(`counts as applied by the policy, ${form} with pin: ${pin}, and the next push is applied`, async () => {
        const name = `${form.replaceAll(/[^a-z]+/g, '-')}-${pin.toLowerCase()}`;
        const repository = `${world.registry.host}/shop/${name}`;
        await push(name, '1.0.0');
        await world.createDeployment(name, `${repository}:1.0.0`);
        await world.createPolicy(name, repository, { strategy: 'SemVer' }, { update: { pin } });
        await world.waitForFirstLook(name);
        const digest = await push(name, '1.1.0');
        await world.waitForImage(name, `${repository}:1.1.0${pin === 'Digest' ? `@${digest}` : ''}`);
        await waitFor(`the status of ${name}`, async () => (await world.readStatus(name)).lastAppliedTag === '1.1.0');

        await world.setImage(name, write(repository, '1.1.0', digest));
        const ready = await readyAfterCheck(name);
        assert.deepEqual([ready?.status, ready?.reason], ['True', 'UpToDate'], ready?.message);
        const { running, targets } = await world.readStatus(name);
        assert.deepEqual([running, targets?.[0]?.state], ['1.1.0', 'UpToDate']);

        const next = await push(name, '1.2.0');
        await waitFor(`${name} to run 1.2.0`, async () => {
          const [container] = (await world.readDeployment(name)).spec.template.spec.containers;
          return container?.image.endsWith(pin === 'Digest' ? `:1.2.0@${next}` : ':1.2.0');
        });
      });
    }
  }
});
