/** Two policies that select different images for the same containers, against the real API server: the loop breaker ends their fight. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Spec } from '../../src/service/resources/v1.ts';
import { runCommand } from '../cli/run-command.ts';
import { pushImage } from '../harness/push-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { installKind, known, pathOf } from '../service/kube/targets/custom-definition.ts';
import { startWorld, type World } from './world.ts';

/** `guards.repeatsPerHour`, as it is without a configuration. */
const limit = 5;

interface Raw {
  metadata: { generation: number; annotations?: Record<string, string> };
  spec: object;
}

describe('policies that fight', () => {
  let world: World;
  before(async () => {
    const { group, plural } = known.helmRelease;
    world = await startWorld({ extraRules: [{ apiGroups: [group], resources: [plural], verbs: ['get', 'list', 'watch', 'patch'] }] });
    await installKind(world.cluster, known.helmRelease);
  });
  after(() => world.stop());

  const repository = () => `${world.quiet.host}/shop/web`;
  const paths = () => [
    world.deploymentPath('web'),
    `/apis/batch/v1/namespaces/${world.namespace}/cronjobs/web`,
    `${pathOf(known.helmRelease, world.namespace)}/web`,
  ];
  const readAll = () => Promise.all(paths().map((path) => world.cluster.request<Raw>('GET', path)));
  const allRun = async (tag: string) => (await readAll()).every(({ spec }) => JSON.stringify(spec).includes(`"${tagIn(spec)}${tag}"`));
  const changes = async () => (await readAll()).map(({ metadata }) => metadata.generation - 1);
  /** Pod templates hold whole images, the release a tag. */
  const tagIn = (spec: object) => ('values' in spec ? '' : `${repository()}:`);
  const cli = (command: string, name: string, ...args: string[]) =>
    runCommand(command, [`${world.namespace}/${name}`, ...args, '--kubeconfig', world.cluster.kubeconfigPath]);
  /** The service may see what the other policy did some moments after us. */
  const bringAllTo = (tag: string, name: string) =>
    waitFor(`policy ${name} to bring all targets to ${tag}`, async () => {
      await cli('check', name);
      return allRun(tag);
    });

  async function createTargets(): Promise<Spec['targets']> {
    const template = (more: object = {}) => ({
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: `${repository()}:1.0.0` }], ...more },
    });
    const { group, version, kind } = known.helmRelease;
    const specs = [
      { selector: { matchLabels: { app: 'web' } }, template: template() },
      { schedule: '0 3 * * *', jobTemplate: { spec: { template: template({ restartPolicy: 'Never' }) } } },
      { values: { image: { repository: repository(), tag: '1.0.0' } } },
    ];
    const types = [
      { apiVersion: 'apps/v1', kind: 'Deployment' },
      { apiVersion: 'batch/v1', kind: 'CronJob' },
      { apiVersion: `${group}/${version}`, kind },
    ];
    for (const [index, path] of paths().entries())
      await world.cluster.request('POST', path.replace(/\/web$/, ''), { ...types[index], metadata: { name: 'web' }, spec: specs[index] });
    return [
      { kind: 'Deployment', name: 'web' },
      { kind: 'CronJob', name: 'web' },
      {
        apiVersion: `${group}/${version}`,
        kind,
        name: 'web',
        fields: { repository: 'spec.values.image.repository', tag: 'spec.values.image.tag' },
      },
    ];
  }

  it('over three targets are stopped at the limit for each container, even if their statuses are lost', async () => {
    const push = (tag: string) => pushImage({ host: world.quiet.host, repository: 'shop/web', tag, content: tag });
    for (const tag of ['1.0.0', '1.1.0']) await push(tag);
    const targets = await createTargets();
    const service = await world.start();
    const create = (name: string, pattern: string) =>
      world.createPolicy(name, repository(), { strategy: 'SemVer', pattern }, { targets, update: { allowDowngrade: true } });
    await create('older', '1.0.x');
    await world.waitForFirstLook('older');
    await create('newer', '1.1.x');
    await waitFor('the newer policy to bring all targets to 1.1.0', () => allRun('1.1.0'));
    await bringAllTo('1.0.0', 'older');
    for (let round = 2; round <= 3; round++) {
      await bringAllTo('1.1.0', 'newer');
      await bringAllTo('1.0.0', 'older');
    }
    await service.kill9();
    // What a kill between a patch and its status leaves, each time.
    for (const name of ['older', 'newer'])
      await world.cluster.request(
        'PATCH',
        `${world.policyPath(name)}/status`,
        { status: { history: null } },
        'application/merge-patch+json',
      );
    await service.restart();
    for (let round = 4; round <= limit; round++) {
      await bringAllTo('1.1.0', 'newer');
      await bringAllTo('1.0.0', 'older');
    }
    assert.deepEqual(await changes(), [2 * limit, 2 * limit, 2 * limit]);

    for (let round = 0; round < 2; round++) for (const name of ['newer', 'older']) await cli('check', name);
    await world.waitForCondition('newer', 'Reconciling', 'TooManyChanges');
    assert.deepEqual(await changes(), [2 * limit, 2 * limit, 2 * limit]);
    const { waiting } = await world.readStatus('newer');
    assert.deepEqual([waiting?.tag, waiting?.reason], ['1.1.0', 'TooManyChanges']);
    assert.match((await cli('explain', 'newer')).out, /repeats +TooManyChanges: .*changed to 1\.1\.0 5 times within an hour/);
    for (const { metadata } of await readAll()) {
      const remembered = Object.entries(metadata.annotations ?? {}).find(([key]) => key.startsWith('last-update.'))?.[1] ?? '';
      // The images within the hour, and the last changes one by one: of a limited number, whatever the policies do.
      assert.ok(remembered.length < 2_560, remembered);
    }

    // A release speaks of what is held, which this is not; what a user decides passes.
    await cli('suspend', 'older');
    assert.equal((await cli('release', 'newer')).code, 0);
    await cli('check', 'newer');
    assert.deepEqual(await changes(), [2 * limit, 2 * limit, 2 * limit]);
    await push('1.1.1');
    await bringAllTo('1.1.1', 'newer');
    assert.deepEqual(await changes(), [2 * limit + 1, 2 * limit + 1, 2 * limit + 1]);
  });
});
