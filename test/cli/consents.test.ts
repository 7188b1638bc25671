/** The consents that policies of today need, found and written on a real API server. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { UsageError } from '../../src/service/command-line/command.ts';
import { installCrd, policiesPath } from '../service/resources/install-crd.ts';
import { borrowControlPlane, type ControlPlane } from '../harness/control-plane.ts';
import { startKubeProxy, type KubeProxy } from '../harness/kube-proxy.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { waitFor } from '../harness/wait-for.ts';
import { writeKubeconfig } from '../service/kube/fake-api-server.ts';
import { type CustomKind, installKind, known, pathOf } from '../service/kube/targets/custom-definition.ts';
import { runCommand } from './run-command.ts';

const annotation = 'operator.technomad.dev/allow-policies-from';

const applyAll = ['--apply', '--from', '*'] as const;

interface Told {
  readonly leftOut: number;
  readonly consents: readonly { policyNamespace: string; policies: string[]; target: { name: string }; state: string; answer?: object }[];
}

describe('image-watcher consents', () => {
  let cluster: ControlPlane;
  let proxy: KubeProxy;
  let kubeconfig: string;
  let places: { shop: string; ops: string; kitchen: string };
  before(async () => {
    cluster = await borrowControlPlane();
    await Promise.all([
      installCrd(cluster, ['v1']),
      installKind(cluster, known.rollout),
      installKind(cluster, known.helmRelease),
      installKind(cluster, known.helmRepository),
    ]);
    proxy = await startKubeProxy(cluster, cluster.kubeconfigPath);
    proxy.tokens.add('token');
    const tokenFile = join(tempFolder('token'), 'token');
    writeFileSync(tokenFile, 'token');
    kubeconfig = writeKubeconfig(proxy.server, { tokenFile });
  });
  after(async () => {
    await cluster.stop();
    await proxy.stop();
  });
  beforeEach(async () => {
    for (const namespace of Object.values(places ?? {})) await cluster.request('DELETE', policiesPath(namespace, 'v1'));
    const [shop, ops, kitchen] = await Promise.all(['shop', 'ops', 'kitchen'].map((name) => cluster.namespace(name)));
    places = { shop: shop ?? '', ops: ops ?? '', kitchen: kitchen ?? '' };
  });

  const template = { metadata: { labels: { uses: 'web' } }, spec: { containers: [{ name: 'web', image: 'shop/web:1' }] } };
  const deploymentsPath = () => `/apis/apps/v1/namespaces/${places.kitchen}/deployments`;
  const deploy = (name: string, allowed?: string, image = 'shop/web:1') =>
    cluster.request('POST', deploymentsPath(), {
      metadata: { name, labels: { uses: 'web' }, ...(allowed !== undefined && { annotations: { [annotation]: allowed } }) },
      spec: { selector: { matchLabels: { uses: 'web' } }, template: { ...template, spec: { containers: [{ name: 'web', image }] } } },
    });
  const answerOf = async (name: string, path = deploymentsPath()) => {
    const { metadata } = await cluster.request<{ metadata: { annotations?: Record<string, string> } }>('GET', `${path}/${name}`);
    return metadata.annotations?.[annotation];
  };
  const aim = (namespace: string, name: string, ...targets: object[]) =>
    cluster.request('POST', policiesPath(namespace, 'v1'), {
      apiVersion: 'operator.technomad.dev/v1',
      kind: 'ImagePolicy',
      metadata: { name },
      spec: { image: 'shop/web', select: { semver: {} }, targets },
    });
  const deployment = (name: string) => ({ kind: 'Deployment', name, namespace: places.kitchen });
  const consents = (...args: string[]) => runCommand('consents', [...args, '--kubeconfig', kubeconfig]);
  const listConsents = async (...args: string[]) => {
    const { code, out, err } = await consents('--output', 'json', ...args);
    assert.equal(err, '');
    const { consents: rows } = JSON.parse(out) as Told;
    return { code, rows: rows.map(({ policyNamespace, target, state }) => `${policyNamespace} ${target.name} ${state}`).toSorted() };
  };

  it('succeeds where no policy has a target in another namespace', async () => {
    await deploy('web');
    await aim(places.kitchen, 'own', deployment('web'));
    assert.deepEqual(await consents(), { code: 0, out: 'no policy has a target in another namespace that runs an image of it\n', err: '' });
  });

  it('lists each pair that exists, by name, by selector and of custom resources, and changes nothing', async () => {
    const { shop, ops } = places;
    await deploy('web');
    await deploy('open', '*');
    const { group, version, kind } = known.rollout;
    const rollouts = pathOf(known.rollout, places.kitchen);
    await cluster.request('POST', rollouts, { apiVersion: `${group}/${version}`, kind, metadata: { name: 'canary' }, spec: { template } });
    await aim(shop, 'a', deployment('web'), deployment('missing'));
    await aim(shop, 'b', deployment('web'));
    await aim(ops, 'c', { kind: 'Deployment', namespace: places.kitchen, selector: { matchLabels: { uses: 'web' } } });
    await aim(ops, 'd', { apiVersion: `${group}/${version}`, kind, name: 'canary', namespace: places.kitchen });
    const expected = [`${ops} canary missing`, `${ops} open granted`, `${ops} web missing`, `${shop} web missing`].toSorted();
    assert.deepEqual(await listConsents(), { code: 1, rows: expected });
    const { out } = await consents();
    assert.match(out, new RegExp(`missing  ${shop} \\(a, b\\) -> Deployment ${places.kitchen}/web: nobody has answered`));
    assert.match(out, /1 granted, 3 missing: --apply --from NAMESPACE writes what policies of that namespace miss\n$/);
    assert.deepEqual([await answerOf('web'), await answerOf('canary', rollouts)], [undefined, undefined]);

    assert.deepEqual(await listConsents(...applyAll), { code: 0, rows: expected.map((row) => row.replace('missing', 'written')) });
    assert.deepEqual((await answerOf('web'))?.split(',').toSorted(), [shop, ops].toSorted());
    assert.deepEqual([await answerOf('canary', rollouts), await answerOf('open')], [ops, '*']);
    assert.deepEqual(await listConsents(...applyAll), { code: 0, rows: expected.map((row) => row.replace('missing', 'granted')) });
  });

  it('does not change existing answers of a workload or its Namespace; --merge adds to lists, but never to a denial', async () => {
    const { shop } = places;
    for (const [name, allowed] of [
      ['list', 'web'],
      ['nobody', 'nobody'],
      ['empty', ''],
      ['silent', undefined],
    ] as const)
      await deploy(name, allowed);
    await cluster.request('PATCH', `/api/v1/namespaces/${places.kitchen}`, { metadata: { annotations: { [annotation]: 'web' } } });
    await aim(shop, 'a', ...['list', 'nobody', 'empty', 'silent'].map(deployment));
    const refused = ['empty', 'list', 'nobody', 'silent'].map((name) => `${shop} ${name} refused`);
    for (const args of [[], applyAll]) assert.deepEqual(await listConsents(...args), { code: 1, rows: refused });
    const { out } = await consents(...applyAll);
    assert.match(out, /kitchen\S*\/silent: its Namespace says "web", which is left alone/);
    assert.match(out, /kitchen\S*\/empty: its annotation says "", which is left alone/);
    const merged = refused.map((row) => (row.includes(' list ') ? row.replace('refused', 'written') : row));
    assert.deepEqual(await listConsents(...applyAll, '--merge'), { code: 1, rows: merged });
    const answers = await Promise.all(['list', 'nobody', 'empty', 'silent'].map((name) => answerOf(name)));
    assert.deepEqual(answers, [`web,${shop}`, 'nobody', '', undefined]);
  });

  it('writes no annotation longer than the service reads, because that would refuse all policies', async () => {
    const long = Array.from({ length: 1_638 }, (_, index) => `team-${1_000 + index}`).join(',');
    await deploy('web', long);
    await aim(places.shop, 'a', deployment('web'));
    const { code, out } = await consents(...applyAll, '--merge');
    assert.equal(code, 1);
    assert.match(
      out,
      /failed .*\/web: its annotation would have \d+ characters, of which at most 16384 are read: let its owners write "\*"/,
    );
    assert.equal(await answerOf('web'), long);
  });

  it('skips workloads that run no image of the policy, and writes for the namespaces of --from only', async () => {
    const { shop, ops, kitchen } = places;
    const { group, version, kind } = known.helmRelease;
    const releases = pathOf(known.helmRelease, kitchen);
    const release = (name: string, values: object) =>
      cluster.request('POST', releases, {
        apiVersion: `${group}/${version}`,
        kind,
        metadata: { name, labels: { uses: 'web' } },
        spec: { values },
      });
    await deploy('web');
    await deploy('mirrored', undefined, 'mirror.example.com/shop/web:1');
    await deploy('database', undefined, 'postgres:17');
    await release('ours', { image: { repository: 'shop/web', tag: '1' } });
    await release('theirs', { image: { repository: 'postgres', tag: '17' } });
    await release('without', {});
    const selected = { namespace: kitchen, selector: { matchLabels: { uses: 'web' } } };
    const fields = { repository: 'spec.values.image.repository', tag: 'spec.values.image.tag' };
    for (const namespace of [shop, ops])
      await aim(namespace, 'a', { kind: 'Deployment', ...selected }, { apiVersion: `${group}/${version}`, kind, ...selected, fields });
    const config = join(tempFolder('config'), 'config.yaml');
    writeFileSync(config, 'registries: [{ host: docker.io, aliases: [mirror.example.com] }]\n');
    const rowsOf = (namespace: string, state: string) => ['mirrored', 'ours', 'web'].map((name) => `${namespace} ${name} ${state}`);
    const all = [...rowsOf(shop, 'missing'), ...rowsOf(ops, 'missing')].toSorted();
    assert.deepEqual(await listConsents('--config', config), { code: 1, rows: all });
    assert.match((await consents('--config', config)).out, /6 left out, where the workload runs no image of the policy's repository/);
    assert.deepEqual(await listConsents('--config', config, '--from', shop, '--apply'), { code: 0, rows: rowsOf(shop, 'written') });
    assert.deepEqual(await listConsents('--config', config), {
      code: 1,
      rows: [...rowsOf(shop, 'granted'), ...rowsOf(ops, 'refused')].toSorted(),
    });
    assert.deepEqual(
      [await answerOf('web'), await answerOf('database'), await answerOf('ours', releases), await answerOf('theirs', releases)],
      [shop, undefined, shop, undefined],
    );
    assert.equal(await answerOf('without', releases), undefined);
    assert.deepEqual(await listConsents('--config', config, '--from', ops, '--apply', '--merge'), {
      code: 0,
      rows: rowsOf(ops, 'written'),
    });
    assert.equal(await answerOf('web'), `${shop},${ops}`);
  });

  it('lists and writes the consents of HelmRepositories, also of releases in the namespace of the policy', async () => {
    const { shop, kitchen } = places;
    const sources = pathOf(known.helmRepository, kitchen);
    const create = (path: string, { group, version, kind }: CustomKind, name: string, spec: object) =>
      cluster.request('POST', path, { apiVersion: `${group}/${version}`, kind, metadata: { name }, spec });
    await create(sources, known.helmRepository, 'charts', { type: 'oci', url: 'oci://ghcr.io/shop' });
    await create(sources, known.helmRepository, 'others', { type: 'oci', url: 'oci://ghcr.io/elsewhere' });
    const release = (namespace: string, name: string, source: string) => {
      const sourceRef = { kind: 'HelmRepository', name: source, namespace: kitchen };
      const chart = { spec: { chart: 'web', version: '1.0.0', sourceRef } };
      return create(pathOf(known.helmRelease, namespace), known.helmRelease, name, { chart });
    };
    await release(shop, 'web', 'charts');
    await release(shop, 'stranger', 'others');
    await release(kitchen, 'theirs', 'charts');
    const target = (name: string, namespace: string) => ({
      apiVersion: 'helm.toolkit.fluxcd.io/v2',
      kind: 'HelmRelease',
      name,
      namespace,
      fields: { tag: 'spec.chart.spec.version' },
    });
    await cluster.request('POST', policiesPath(shop, 'v1'), {
      apiVersion: 'operator.technomad.dev/v1',
      kind: 'ImagePolicy',
      metadata: { name: 'web' },
      spec: {
        image: 'ghcr.io/shop/web',
        artifact: 'Chart',
        select: { semver: {} },
        targets: [target('web', shop), target('stranger', shop), target('theirs', kitchen)],
      },
    });
    assert.deepEqual(await listConsents(), { code: 1, rows: [`${shop} charts missing`, `${shop} theirs missing`] });
    assert.match((await consents()).out, /missing .*-> HelmRepository \S*kitchen\S*\/charts: .*\n1 left out/s);
    assert.deepEqual(await listConsents(...applyAll), { code: 0, rows: [`${shop} charts written`, `${shop} theirs written`] });
    assert.deepEqual([await answerOf('charts', sources), await answerOf('others', sources)], [shop, undefined]);
  });

  it('does not overwrite an answer that an owner writes at the same moment', async () => {
    await deploy('web');
    await aim(places.shop, 'a', deployment('web'));
    const isAnswered = Promise.withResolvers<void>();
    proxy.spoil({ after: isAnswered.promise }, { method: 'PATCH' });
    const applying = listConsents(...applyAll);
    await waitFor('the patch to be on its way', () => proxy.requests.some((request) => request.startsWith('PATCH')));
    await cluster.request('PATCH', `${deploymentsPath()}/web`, { metadata: { annotations: { [annotation]: 'nobody' } } });
    isAnswered.resolve();
    assert.deepEqual(await applying, { code: 1, rows: [`${places.shop} web refused`] });
    assert.equal(await answerOf('web'), 'nobody');
  });

  it('reports workloads that could not be read or written, and processes the others', async () => {
    await deploy('web');
    const missing = { apiVersion: 'example.com/v1', kind: 'Nothing', name: 'x', namespace: places.kitchen };
    await aim(places.shop, 'a', missing, deployment('web'));
    const { code, out } = await consents(...applyAll);
    assert.equal(code, 1);
    assert.match(out, /failed .* -> Nothing \S+\/x: .*example\.com/);
    assert.equal(await answerOf('web'), places.shop);
    proxy.spoil({ status: 403, body: { kind: 'Status', code: 403, message: 'policies are not yours' } }, { path: /imagepolicies/ });
    const forbidden = await consents();
    assert.deepEqual([forbidden.code, forbidden.out], [1, '']);
    assert.match(forbidden.err, /policies are not yours/);
  });

  it('reports wrong usage', async () => {
    for (const [args, message] of [
      [['shop/web'], /takes no arguments: shop\/web/],
      [['--merge'], /--merge is only for --apply/],
      [['--apply'], /--apply needs --from NAMESPACE/],
      [['--apply', '--from', ''], /--from is namespaces/],
      [['--apply', '--from', 'shop,*'], /--from is namespaces/],
      [['--output', 'xml'], /--output is text, json or yaml/],
      [['--all'], /--all/],
    ] as const)
      await assert.rejects(consents(...args), (error) => error instanceof UsageError && message.test(error.message));
  });
});
