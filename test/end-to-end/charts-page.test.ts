/** The page on charts as a new user reads it: its shortest example works as written, and mistakes get answers that say what to do. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse, stringify } from 'yaml';
import type { Spec } from '../../src/service/resources/v1.ts';
import { withNamespace } from '../cli/cluster-world.ts';
import { runCommand } from '../cli/run-command.ts';
import { fencesOf, pages } from '../docs/markdown.ts';
import { lacksHelm } from '../harness/binaries.ts';
import { helmPush } from '../harness/push-chart.ts';
import { pushImage } from '../harness/push-image.ts';
import type { Rule } from '../harness/service-account.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { waitFor } from '../harness/wait-for.ts';
import { pathOf } from '../service/kube/targets/custom-definition.ts';
import { installDefinition } from '../service/kube/targets/real-definition.ts';
import { policiesPath } from '../service/resources/install-crd.ts';
import { chartKinds } from './chart-world.ts';
import { announce, startWorld, type World } from './world.ts';

const lacks = await lacksHelm();

const page = pages.find(({ path }) => path === 'docs/charts.md') ?? assert.fail();
const [example = assert.fail(), values = assert.fail()] = fencesOf(page.text).flatMap(({ language, body }) =>
  language === 'yaml' ? [body] : [],
);

/** The part of the values that the page shows. */
interface Values {
  readonly permissions: { readonly extraRules: readonly Rule[] };
}

describe('docs/charts.md', { skip: lacks ?? false }, () => {
  let world: World;
  let folder: string;
  let config: string;
  const registries = () => [{ host: world.registry.host, insecure: true, aliases: ['ghcr.io'] }];
  before(async () => {
    world = await startWorld({ extraRules: (parse(values) as Values).permissions.extraRules });
    await installDefinition(world.cluster, 'application');
    folder = tempFolder('page');
    config = join(folder, 'config.yaml');
    writeFileSync(config, JSON.stringify({ registries: registries() }));
    const { host } = world.registry;
    await helmPush({ host, repository: 'shop/charts/web', version: '1.3.0' });
    await pushImage({ host, repository: 'shop/web', tag: '1.9.0' });
    const chart = { repoURL: 'ghcr.io/shop/charts', chart: 'web', targetRevision: '1.3.0' };
    await install('web', chart);
    await install('range', { ...chart, targetRevision: '1.x' });
    await install('https', { ...chart, repoURL: 'https://charts.example.com' });
    await install('image', { ...chart, repoURL: 'ghcr.io/shop' });
  });
  after(() => world.stop());

  const applications = () => pathOf(chartKinds.application, world.namespace);
  const install = (name: string, source: object) =>
    world.cluster.request('POST', applications(), {
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'Application',
      metadata: { name },
      spec: { project: 'default', destination: { name: 'in-cluster', namespace: 'shop' }, source },
    });
  /** The example, in the namespace of the test. */
  const readExample = () => {
    const policy = parse(example) as { apiVersion: string; kind: string; metadata: { name: string; namespace: string }; spec: Spec };
    return { ...policy, metadata: { ...policy.metadata, namespace: world.namespace } };
  };
  const run = (name: string, ...args: string[]) =>
    runCommand(name, [...args, '--kubeconfig', withNamespace(world.cluster.kubeconfigPath, world.namespace), '--config', config]);
  const lint = async (name: string, policy: object) => {
    const file = join(folder, `${name}.yaml`);
    writeFileSync(file, stringify(policy));
    return run('lint', file, '--cluster');
  };

  const [target = assert.fail()] = (parse(example) as { spec: Spec }).spec.targets;
  const named = (name: string): Partial<Spec> => ({ targets: [{ ...target, name }] });
  const mistakes: readonly (readonly [name: string, change: Partial<Spec>, answer: RegExp])[] = [
    [
      'another field',
      { targets: [{ ...target, fields: { tag: 'spec.source.chart' } }] },
      /the version of a chart is in spec\.source\.targetRevision or /,
    ],
    [
      'no fields',
      { targets: [{ apiVersion: 'argoproj.io/v1alpha1', kind: 'Application', name: 'web' }] },
      /such as fields: \{tag: spec\.source\.targetRevision\}/,
    ],
    ['images selected', { artifact: 'Image' }, /holds the version of a chart, and this policy selects images: write spec\.artifact: Chart/],
    ['a digest in a version', { update: { pin: 'Digest' } }, /these fields hold no digest: write update\.pin: Tag/],
    ['platforms', { platforms: ['linux/amd64'] }, /a chart has no platforms: remove platforms/],
    ['a scheme', { image: 'oci://ghcr.io/shop/charts/web' }, /write "ghcr\.io\/shop\/charts\/web"/],
    ['an unknown chart', { image: 'ghcr.io/shop/charts/other' }, /the registry does not know \S+\/other: check the name, or push to it/],
    ['a range in place', named('range'), /targetRevision holds a range or a name, .*: write one version there/],
    ['a Helm repository', named('https'), /repoURL names no OCI repository, .* Helm repositories announce no pushes/],
    [
      'an image',
      { ...named('image'), image: 'ghcr.io/shop/web' },
      /1\.9\.0 is no Helm chart: .*; a policy with spec\.artifact: Image selects it/,
    ],
    [
      'a field that the operator has to permit',
      { targets: [{ apiVersion: 'example.com/v1', kind: 'Thing', name: 'a', fields: { tag: 'spec.version' } }] },
      /let the operator allow it with the setting customTargets/,
    ],
  ];
  for (const [name, change, answer] of mistakes) {
    it(`names mistakes for which lint says what to do: ${name}`, async () => {
      const policy = readExample();
      const { code, out } = await lint('mistake', { ...policy, spec: { ...policy.spec, ...change } });
      assert.equal(code, 1);
      assert.match(out, answer);
    });
  }

  it('begins with an example that works as written and that init proposes', async () => {
    const { host } = world.registry;
    const policy = readExample();
    assert.match((await lint('policy', policy)).out, /^1 policy in 1 file: nothing is wrong$/m);
    const proposed = JSON.parse((await run('init', '--mode', 'Automatic', '-o', 'json')).out) as { policies: { policy: { spec: Spec } }[] };
    assert.deepEqual(
      proposed.policies.map(({ policy: { spec } }) => spec),
      [{ ...policy.spec, image: `${host}/shop/charts/web` }],
    );
    const service = await world.start({ config: { registries: registries() } });
    await announce(world.registry, service);
    await world.cluster.request('POST', policiesPath(world.namespace, 'v1'), policy);
    await world.waitForFirstLook(policy.metadata.name);
    const explain = async () => (await run('explain', `${world.namespace}/${policy.metadata.name}`)).out;
    assert.match(await explain(), /targetRevision stays at ghcr\.io\/shop\/charts\/web:1\.3\.0: already runs 1\.3\.0/);
    await helmPush({ host, repository: 'shop/charts/web', version: '1.4.0' });
    await waitFor('the Application to have the pushed version', async () => {
      const { spec } = await world.cluster.request<{ spec: { source: { targetRevision: string } } }>('GET', `${applications()}/web`);
      return spec.source.targetRevision === '1.4.0';
    });
    await waitFor('the status to name it', async () => (await world.readStatus(policy.metadata.name)).latest?.tag === '1.4.0');
    assert.match(await explain(), /targetRevision stays at ghcr\.io\/shop\/charts\/web:1\.4\.0: already runs 1\.4\.0/);
  });
});
