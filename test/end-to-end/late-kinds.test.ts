/** A definition that is installed together with its object, after the policy: only the watch of definitions can end the wait, because the pauses of the program never end. */
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { pushImage } from '../harness/push-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { installKind, pathOf, type CustomKind } from '../service/kube/targets/custom-definition.ts';
import { secret, startWorld, type World } from './world.ts';

const machine: CustomKind = { group: 'example.com', version: 'v1', kind: 'Machine', plural: 'machinery' };

describe('a kind that is installed after the policy that names it', () => {
  let world: World;
  before(async () => {
    const { group, plural } = machine;
    world = await startWorld({ extraRules: [{ apiGroups: [group], resources: [plural], verbs: ['get', 'list', 'watch', 'patch'] }] });
    const endlessPauses = pathToFileURL(join(import.meta.dirname, '../harness/endless-pauses.mjs')).href;
    await world.start({ env: { NODE_OPTIONS: `--import=${endlessPauses}`, WEBHOOK_SECRET: secret } });
  });
  after(() => world.stop());

  it('is found as soon as it is served, and its object is updated', async () => {
    const image = `${world.quiet.host}/shop/late`;
    for (const tag of ['1.0.0', '1.1.0']) await pushImage({ host: world.quiet.host, repository: 'shop/late', tag, content: tag });
    const { group, version, kind } = machine;
    const apiVersion = `${group}/${version}`;
    await world.createPolicy('late', image, { strategy: 'SemVer' }, { targets: [{ apiVersion, kind, name: 'one' }] });
    await world.waitForCondition('late', 'Stalled', 'TargetKindUnknown');
    await installKind(world.cluster, machine);
    const template = { metadata: { labels: { app: 'late' } }, spec: { containers: [{ name: 'c0', image: `${image}:1.0.0` }] } };
    const path = pathOf(machine, world.namespace);
    await world.cluster.request('POST', path, { apiVersion, kind, metadata: { name: 'one' }, spec: { template } });
    await waitFor('the object to be updated', async () =>
      JSON.stringify(await world.cluster.request('GET', `${path}/one`)).includes(`${image}:1.1.0`),
    );
    await world.waitForCondition('late', 'Ready', 'UpToDate');
  });
});
