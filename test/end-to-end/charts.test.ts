/** Charts that are pushed by Helm and by crane to a real registry reach the resources that install them, with the definitions of their projects. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { formatFieldPath, parseFieldPath } from '../../src/core/model/field-path.ts';
import type { EventView } from '../../src/service/api/event-view.ts';
import { valueAt } from '../../src/service/resources/validation/problem.ts';
import type { Spec } from '../../src/service/resources/v1.ts';
import { lacksCrane, lacksHelm } from '../harness/binaries.ts';
import { craneTag, helmPush } from '../harness/push-chart.ts';
import { pushChart, pushImage } from '../harness/push-image.ts';
import { createAccount, tokenOf } from '../harness/service-account.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { waitFor } from '../harness/wait-for.ts';
import { runCommand } from '../cli/run-command.ts';
import { pathOf } from '../service/kube/targets/custom-definition.ts';
import { chartResources, typeOf } from './chart-resources.ts';
import { type ChartKind, chartKinds, startChartWorld } from './chart-world.ts';
import { announce, assertPatchedTimes, type Service, type World } from './world.ts';

const lacks = (await lacksHelm()) ?? (await lacksCrane());

describe('charts', { skip: lacks ?? false }, () => {
  let world: World;
  let charts: ReturnType<typeof chartResources>;
  let service: Service;
  let headers: Record<string, string>;
  before(async () => {
    world = await startChartWorld(Object.keys(chartKinds) as ChartKind[]);
    charts = chartResources(world);
    service = await world.start();
    await announce(world.registry, service);
    const rules = [{ apiGroups: ['operator.technomad.dev'], resources: ['imagepolicies'], verbs: ['get', 'list'] }];
    await createAccount(world.cluster, { name: 'reader', namespace: world.namespace }, [{ namespace: world.namespace, rules }]);
    headers = { Authorization: `Bearer ${await tokenOf(world.cluster, { name: 'reader', namespace: world.namespace })}` };
  });
  after(() => world.stop());

  const target = (kind: ChartKind, name: string, tag: string, digest?: string): Spec['targets'][number] => ({
    ...typeOf(kind),
    name,
    fields: { tag, ...(digest !== undefined && { digest }) },
  });
  /** Creates a policy for charts, and waits until it has been reconciled. */
  const follow = async (name: string, repository: string, targets: Spec['targets'], more: Partial<Spec> = {}) => {
    await world.createPolicy(name, `${world.registry.host}/${repository}`, { strategy: 'SemVer' }, { artifact: 'Chart', targets, ...more });
    await world.waitForFirstLook(name);
  };

  const readEvents = async (repository: string): Promise<{ events?: readonly EventView[] }> => {
    const response = await fetch(`${service.operationsUrl}/api/v1/events?repository=${encodeURIComponent(repository)}`, { headers });
    return (await response.json()) as { events?: readonly EventView[] };
  };

  it('that Helm pushes reach every kind that installs them, as tag or as version', async () => {
    const { host } = world.registry;
    const repository = 'charts/web';
    await helmPush({ host, repository, version: '1.0.0' });
    const source = { repoURL: `${host}/charts`, chart: 'web', targetRevision: '1.0.0' };
    const native = { repoURL: `oci://${host}/${repository}`, path: '.', targetRevision: '1.0.0' };
    const destination = { name: 'in-cluster', namespace: 'shop' };
    await charts.create('application', 'one', { project: 'default', destination, source });
    const git = { repoURL: 'https://git.example.com/values.git', targetRevision: 'main', ref: 'values' };
    await charts.create('application', 'several', { project: 'default', destination, sources: [git, native] });
    const template = { metadata: { name: 'web' }, spec: { project: 'default', destination, source } };
    await charts.create('applicationset', 'all', { generators: [{ list: { elements: [] } }], template });
    await charts.create('ocirepository', 'web', { interval: '1h', url: `oci://${host}/${repository}`, ref: { tag: '1.0.0' } });
    await charts.create('helmchart', 'web', { chart: `oci://${host}/${repository}`, version: '1.0.0' });
    const rows = [
      ['application', 'one', 'spec.source.targetRevision', '1.1.0+build.2'],
      ['application', 'several', 'spec.sources[1].targetRevision', '1.1.0_build.2'],
      ['applicationset', 'all', 'spec.template.spec.source.targetRevision', '1.1.0+build.2'],
      ['ocirepository', 'web', 'spec.ref.tag', '1.1.0_build.2'],
      ['helmchart', 'web', 'spec.version', '1.1.0+build.2'],
    ] as const;
    await follow(
      'web',
      repository,
      rows.map(([kind, name, path]) => target(kind, name, path)),
    );
    const before = await Promise.all(rows.map(([kind, name]) => charts.read(kind, name)));
    await helmPush({ host, repository, version: '1.1.0+build.2' });
    for (const [index, [kind, name, path, value]] of rows.entries()) {
      const { spec, metadata } = await charts.waitForValue(kind, name, path, value);
      // Nothing else of the spec changes.
      const expected = JSON.stringify(before[index]?.spec).replaceAll('"1.0.0"', JSON.stringify(value));
      assert.deepEqual(spec, JSON.parse(expected), formatFieldPath(parseFieldPath(path)));
      assert.equal(metadata.generation, 2);
    }
    await world.waitForCondition('web', 'Ready', 'UpToDate');
    // Crane copies the first version to a higher one.
    await craneTag({ host, repository, tag: '1.0.0', as: '1.2.0' });
    for (const [kind, name, path] of rows) await charts.waitForValue(kind, name, path, '1.2.0');
  });

  it('are not confused with images of the same repository, and the record of a push says which artifact would select it', async () => {
    const { host } = world.registry;
    const repository = 'shop/both';
    const image = (tag: string) => `${host}/${repository}:${tag}`;
    await pushImage({ host, repository, tag: '1.0.0' });
    await helmPush({ host, repository, version: '1.0.1' });
    await world.createDeployment('both', image('1.0.0'));
    await charts.create('helmchart', 'both', { chart: `oci://${host}/${repository}`, version: '1.0.1' });
    await world.createPolicy('both-image', `${host}/${repository}`, { strategy: 'SemVer' }, { target: 'both' });
    await world.waitForFirstLook('both-image');
    await follow('both-chart', repository, [target('helmchart', 'both', 'spec.version')]);
    await helmPush({ host, repository, version: '1.1.0' });
    await charts.waitForValue('helmchart', 'both', 'spec.version', '1.1.0');
    await pushImage({ host, repository, tag: '1.2.0', content: 'newer' });
    assertPatchedTimes(await world.waitForImage('both', image('1.2.0')), 1);
    const saidOf = (tag: string, policy: string, pattern: RegExp) =>
      waitFor(`the push of ${tag} to say ${pattern.source} for ${policy}`, async () => {
        const { events = [] } = await readEvents(`${host}/${repository}`);
        const results = events.filter((event) => event.tag === tag).flatMap(({ policies }) => policies);
        return results.some((result) => result.name === policy && pattern.test(`${result.reason} ${result.message}`));
      });
    await saidOf('1.1.0', 'both-image', /^NotAnImage .*; a policy with spec\.artifact: Chart selects it$/);
    await saidOf('1.2.0', 'both-chart', /^OtherArtifact .*; a policy with spec\.artifact: Image selects it$/);
    assert.equal((await charts.read('helmchart', 'both')).metadata.generation, 2);
  });

  it('reach a HelmRelease through its HelmRepository, in another namespace only with the consent of its owners', async () => {
    const { host } = world.registry;
    const repository = 'charts/release';
    await pushChart({ host, repository, tag: '1.0.0' });
    const elsewhere = await world.cluster.namespace('sources');
    const source = { interval: '5m', type: 'oci', insecure: true };
    await charts.create('helmrepository', 'own', { ...source, url: `oci://${host}/charts` });
    await charts.create('helmrepository', 'theirs', { ...source, url: `oci://${host}/charts` }, { within: elsewhere });
    const release = (sourceRef: object) => ({
      interval: '5m',
      chart: { spec: { chart: 'release', version: '1.0.0', sourceRef: { kind: 'HelmRepository', ...sourceRef } } },
    });
    await charts.create('helmrelease', 'own', release({ name: 'own' }));
    await charts.create('helmrelease', 'theirs', release({ name: 'theirs', namespace: elsewhere }));
    const version = 'spec.chart.spec.version';
    await follow('own', repository, [target('helmrelease', 'own', version)]);
    await follow('theirs', repository, [target('helmrelease', 'theirs', version)]);
    await pushChart({ host, repository, tag: '1.1.0' });
    await charts.waitForValue('helmrelease', 'own', version, '1.1.0');
    await world.waitForCondition('theirs', 'Stalled', 'ContainerNotFound');
    assert.match(JSON.stringify((await world.readStatus('theirs')).targets), /: its HelmRepository cannot be seen/);
    assert.equal((await charts.read('helmrelease', 'theirs')).metadata.generation, 1);
    // From here on nothing is pushed: what the HelmRepositories say, and who may see them, decides.
    const allow = 'operator.technomad.dev/allow-policies-from';
    const consent = (path: string, value: string | null) => world.annotate(path, { [allow]: value });
    const theirs = `${pathOf(chartKinds.helmrepository, elsewhere)}/theirs`;
    await consent(theirs, world.namespace);
    await charts.waitForValue('helmrelease', 'theirs', version, '1.1.0');
    await world.waitForCondition('theirs', 'Ready', 'UpToDate');
    await consent(theirs, null);
    await world.waitForCondition('theirs', 'Stalled', 'ContainerNotFound');
    const config = join(tempFolder('config'), 'config.json');
    writeFileSync(config, JSON.stringify({ registries: [{ host, insecure: true }] }));
    const asAdmin = ['--config', config, '--kubeconfig', world.cluster.kubeconfigPath];
    const explain = async () => (await runCommand('explain', [`${world.namespace}/theirs`, ...asAdmin])).out;
    assert.match(await explain(), /ContainerNotFound: .*: its HelmRepository cannot be seen/);
    await consent(`/api/v1/namespaces/${elsewhere}`, world.namespace);
    await world.waitForCondition('theirs', 'Ready', 'UpToDate');
    assert.doesNotMatch(await explain(), /ContainerNotFound/);
    const point = (to: string) =>
      world.cluster.request(
        'PATCH',
        `${pathOf(chartKinds.helmrepository, world.namespace)}/own`,
        { spec: { url: `oci://${host}/${to}` } },
        'application/merge-patch+json',
      );
    await point('others');
    await world.waitForCondition('own', 'Stalled', 'ContainerNotFound');
    await point('charts');
    await world.waitForCondition('own', 'Ready', 'UpToDate');
    await point('others');
    await world.waitForCondition('own', 'Stalled', 'ContainerNotFound');
    await pushChart({ host, repository, tag: '1.2.0' });
    await charts.waitForValue('helmrelease', 'theirs', version, '1.2.0');
    assert.equal((await charts.read('helmrelease', 'own')).metadata.generation, 2);
    await point('charts');
    await charts.waitForValue('helmrelease', 'own', version, '1.2.0');
  });

  it('are installed by their digest, where the resource has a field for it', async () => {
    const { host } = world.registry;
    const repository = 'charts/pinned';
    const first = await pushChart({ host, repository, tag: '1.0.0' });
    await charts.create('ocirepository', 'pinned', {
      interval: '1h',
      url: `oci://${host}/${repository}`,
      ref: { tag: '1.0.0', digest: first.digest },
    });
    const fields = target('ocirepository', 'pinned', 'spec.ref.tag', 'spec.ref.digest');
    await follow('pinned', repository, [fields], { update: { pin: 'Digest' } });
    const { digest } = await pushChart({ host, repository, tag: '1.1.0' });
    const { spec } = await charts.waitForValue('ocirepository', 'pinned', 'spec.ref.digest', digest);
    assert.equal(valueAt(spec, ['ref', 'tag']), '1.1.0');
  });

  it('are not written if another field of the resource decides, or if the resource names another repository', async () => {
    const { host } = world.registry;
    const repository = 'charts/kept';
    await pushChart({ host, repository, tag: '1.0.0' });
    const url = `oci://${host}/${repository}`;
    await charts.create('ocirepository', 'kept', { interval: '1h', url, ref: { tag: '1.0.0', semver: '1.x' } });
    await charts.create('helmchart', 'kept', { chart: 'kept', repo: `https://${host}/charts`, version: '1.0.0' });
    await follow('kept', repository, [target('ocirepository', 'kept', 'spec.ref.tag'), target('helmchart', 'kept', 'spec.version')]);
    await pushChart({ host, repository, tag: '1.1.0' });
    await world.waitForCondition('kept', 'Stalled', 'ContainerNotFound');
    const { targets = [] } = await world.readStatus('kept');
    assert.match(JSON.stringify(targets), /spec\.ref\.semver is set, and takes precedence/);
    assert.match(JSON.stringify(targets), /is no single version of the OCI artifact/);
    for (const kind of ['ocirepository', 'helmchart'] as const) assert.equal((await charts.read(kind, 'kept')).metadata.generation, 1);
  });
});
