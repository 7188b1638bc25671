/** `image-watcher init` for charts: with the definitions of Argo CD, Flux and k3s on a real API server, and a real registry. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Proposals } from '../../../src/cli/init/propose-policies.ts';
import { readDocuments } from '../../../src/cli/manifests/read-documents.ts';
import type { Spec } from '../../../src/service/resources/v1.ts';
import { pushBlob, pushChart, pushImage, putManifest, type PushTarget } from '../../harness/push-image.ts';
import { type Registry, startRegistry } from '../../harness/registry.ts';
import { kubeconfigWithRules } from '../../harness/service-account.ts';
import { tempFolder } from '../../harness/temp-folder.ts';
import { type ChartKind, chartKinds } from '../../end-to-end/chart-world.ts';
import { pathOf } from '../../service/kube/targets/custom-definition.ts';
import { installDefinition } from '../../service/kube/targets/real-definition.ts';
import { policiesPath } from '../../service/resources/install-crd.ts';
import { startCliWorld, withNamespace, type CliWorld } from '../cluster-world.ts';
import { runCommand } from '../run-command.ts';

let world: CliWorld;
let registry: Registry;
let denied: Registry;
let config: string;
const auth = { user: 'a', password: 'b' };

before(async () => {
  [world, registry, denied] = await Promise.all([startCliWorld(), startRegistry(), startRegistry({ htpasswd: auth })]);
  config = join(tempFolder('init'), 'config.yaml');
  writeFileSync(config, JSON.stringify({ registries: [registry, denied].map(({ host }) => ({ host, insecure: true })) }));
  for (const name of Object.keys(chartKinds)) await installDefinition(world.cluster, name);
  const tags = {
    'charts/web': ['1.0.0', '1.1.0', '2.0.0'],
    'charts/api': ['0.3.1_build.7', '0.3.2_build.8', '0.4.0'],
    'charts/next': ['2.0.0-rc.1', '2.0.0-rc.2'],
    'charts/pinned': ['1.0.0'],
  };
  for (const [repository, list] of Object.entries(tags)) for (const tag of list) await pushChart({ host: registry.host, repository, tag });
  await pushChart({ host: denied.host, repository: 'charts/private', tag: '1.0.0', auth });
  await pushManifests({ host: registry.host, repository: 'flux/manifests', tag: 'v1.0.0' });
  await pushManifests({ host: registry.host, repository: 'flux/manifests', tag: 'v1.2.0' });
  await pushImage({ host: registry.host, repository: 'shop/web', tag: '1.0.0' });
});
after(() => Promise.all([world.stop(), registry.stop(), denied.stop()]));

/** Manifests, as `flux push artifact` stores them. */
async function pushManifests(target: PushTarget): Promise<void> {
  const mediaType = 'application/vnd.oci.image.manifest.v1+json';
  const blob = (type: string) => pushBlob(target, `application/vnd.cncf.flux.${type}`, Buffer.from(`${type} of ${target.tag}`));
  const manifest = { schemaVersion: 2, mediaType, config: await blob('config.v1+json'), layers: [await blob('content.v1.tar+gzip')] };
  await putManifest(target, target.tag, mediaType, manifest);
}

const create = (namespace: string, kind: ChartKind, name: string, spec: object, metadata: object = {}) =>
  world.cluster.request('POST', pathOf(chartKinds[kind], namespace), {
    apiVersion: `${chartKinds[kind].group}/${chartKinds[kind].version}`,
    kind: chartKinds[kind].kind,
    metadata: { name, ...metadata },
    spec,
  });
const application = (...sources: object[]) => ({
  project: 'default',
  destination: { name: 'in-cluster', namespace: 'shop' },
  ...(sources.length === 1 ? { source: sources[0] } : { sources }),
});
const applicationSet = (source: object) => ({
  generators: [{ list: { elements: [] } }],
  template: { metadata: { name: 'web' }, spec: application(source) },
});
const release = (version: string, sourceRef: object, chart = 'web') => ({ interval: '1h', chart: { spec: { chart, version, sourceRef } } });
const git = { repoURL: 'https://git.example.com/values.git', targetRevision: 'main', ref: 'values' };

const run = (namespace: string, ...args: string[]) =>
  runCommand('init', ['-n', namespace, ...args, '--kubeconfig', world.kubeconfig, '--config', config, '--docker-config', '/dev/null']);

async function propose(namespace: string): Promise<Proposals> {
  const { code, out, err } = await run(namespace, '-o', 'json');
  assert.equal(code, 0, err);
  return JSON.parse(out) as Proposals;
}

const target = (kind: ChartKind, name: string, tag: string, digest?: string): Spec['targets'][number] => ({
  apiVersion: `${chartKinds[kind].group}/${chartKinds[kind].version}`,
  kind: chartKinds[kind].kind,
  name,
  fields: { tag, ...(digest !== undefined && { digest }) },
});

test('init proposes a policy for each kind with an OCI chart in an exact version, which the API server accepts', async () => {
  const namespace = await world.cluster.namespace('charts');
  const { host } = registry;
  const oci = (name: string) => `oci://${host}/charts/${name}`;
  const web = { repoURL: `${host}/charts`, chart: 'web', targetRevision: '1.0.0' };
  await create(namespace, 'application', 'one', application(web));
  await create(namespace, 'application', 'several', application(git, { repoURL: oci('web'), path: '.', targetRevision: '1.1.0' }));
  await create(namespace, 'applicationset', 'all', applicationSet(web));
  await create(namespace, 'helmchart', 'web', { chart: oci('web'), version: '1.0.0' });
  await create(namespace, 'helmrepository', 'charts', { interval: '1h', type: 'oci', url: `oci://${host}/charts` });
  await create(namespace, 'helmrelease', 'web', release('1.0.0', { kind: 'HelmRepository', name: 'charts' }));
  await create(namespace, 'helmrelease', 'api', release('0.3.1+build.7', { kind: 'HelmRepository', name: 'charts' }, 'api'));
  await create(namespace, 'helmrelease', 'by-reference', { interval: '1h', chartRef: { kind: 'OCIRepository', name: 'next' } });
  await create(namespace, 'ocirepository', 'next', { interval: '1h', url: oci('next'), ref: { semver: '2.0.0-rc.1' } });
  const digest = `sha256:${'a'.repeat(64)}`;
  await create(namespace, 'ocirepository', 'pinned', { interval: '1h', url: oci('pinned'), ref: { tag: '1.0.0', digest } });
  await create(namespace, 'ocirepository', 'bundle', { interval: '1h', url: `oci://${host}/flux/manifests`, ref: { tag: 'v1.0.0' } });
  const found = await propose(namespace);
  assert.deepEqual(found.leftOut, []);
  const specs = Object.fromEntries(
    found.policies.map(({ policy, selects }) => [
      policy.metadata.name,
      { ...policy.spec, image: policy.spec.image.slice(host.length + 1), selects },
    ]),
  );
  const update = { mode: 'Approval' };
  const chart = { artifact: 'Chart', update };
  assert.deepEqual(specs, {
    web: {
      ...chart,
      image: 'charts/web',
      select: { semver: { range: '1.x' } },
      targets: [
        target('helmrelease', 'web', 'spec.chart.spec.version'),
        target('application', 'one', 'spec.source.targetRevision'),
        target('application', 'several', 'spec.sources[1].targetRevision'),
        target('applicationset', 'all', 'spec.template.spec.source.targetRevision'),
        target('helmchart', 'web', 'spec.version'),
      ],
      selects: '1.1.0',
    },
    api: {
      ...chart,
      image: 'charts/api',
      select: { semver: { range: '0.3.x' } },
      targets: [target('helmrelease', 'api', 'spec.chart.spec.version')],
      selects: '0.3.2_build.8',
    },
    next: {
      ...chart,
      image: 'charts/next',
      select: { semver: { range: '2.x', prereleases: true } },
      targets: [target('ocirepository', 'next', 'spec.ref.semver')],
      selects: '2.0.0-rc.2',
    },
    pinned: {
      ...chart,
      image: 'charts/pinned',
      select: { semver: { range: '1.x' } },
      targets: [target('ocirepository', 'pinned', 'spec.ref.tag', 'spec.ref.digest')],
      update: { ...update, pin: 'Digest' },
      selects: '1.0.0',
    },
    manifests: {
      artifact: 'Any',
      update,
      image: 'flux/manifests',
      select: { semver: { range: '1.x' } },
      targets: [target('ocirepository', 'bundle', 'spec.ref.tag')],
      selects: 'v1.2.0',
    },
  });
  const notesOf = (name: string) => found.policies.find(({ policy }) => policy.metadata.name === name)?.notes.join('\n') ?? '';
  assert.match(notesOf('web'), /^The highest 1\.x is selected\.\n2\.0\.0 is outside of the range/);
  assert.match(notesOf('manifests'), /installs is no chart: artifact: Any/);

  const { out: diff } = await run(namespace, '--diff');
  assert.match(
    diff,
    /^# Application \S+\/one spec\.source\.targetRevision stays at \S+\/charts\/web:1\.0\.0: ApprovalRequired: 1\.1\.0 waits for approval/m,
  );
  assert.match(
    diff,
    /^# HelmRelease \S+\/api \S+version stays at \S+\/charts\/api:0\.3\.1_build\.7: ApprovalRequired: 0\.3\.2_build\.8 waits/m,
  );
  assert.doesNotMatch(diff, /several/);
  const { out } = await run(namespace);
  const documents = readDocuments(out).map((document) => ('value' in document ? document.value : assert.fail(out)));
  for (const document of documents) await world.cluster.request('POST', policiesPath(namespace, 'v1'), document);
  const again = await propose(namespace);
  assert.equal(again.policies.length, 0);
  for (const { why } of again.leftOut) assert.match(why, /^ImagePolicy \S+ updates it already$/);
});

test('init leaves out charts without an exact version in an OCI registry or written by another tool, with the reason', async () => {
  const namespace = await world.cluster.namespace('without');
  const { host } = registry;
  const oci = `oci://${host}/charts/web`;
  const web = { repoURL: `${host}/charts`, chart: 'web', targetRevision: '1.0.0' };
  const http = { kind: 'HelmRepository', name: 'http' };
  const flux = { interval: '1h', url: oci };
  await create(namespace, 'application', 'git', application(git));
  await create(namespace, 'application', 'range', application({ ...web, targetRevision: '1.x' }));
  await create(namespace, 'application', 'https', application({ ...web, repoURL: 'https://charts.example.com' }));
  await create(namespace, 'application', 'moving', application({ repoURL: oci, path: '.', targetRevision: 'latest' }));
  await create(namespace, 'application', 'unknown', application({ ...web, chart: 'renamed' }));
  await create(namespace, 'application', 'image', application({ repoURL: `${host}/shop`, chart: 'web', targetRevision: '1.0.1' }));
  const owner = { apiVersion: 'argoproj.io/v1alpha1', kind: 'ApplicationSet', name: 'all', uid: 'a-uid', controller: true };
  await create(namespace, 'application', 'generated', application(web), { ownerReferences: [owner] });
  const tracked = { 'argocd.argoproj.io/tracking-id': 'apps:argoproj.io/Application:argocd/tracked' };
  await create(namespace, 'application', 'tracked', application(web), { annotations: tracked });
  await create(namespace, 'applicationset', 'template', applicationSet({ ...web, targetRevision: '{{version}}' }));
  await create(namespace, 'helmrepository', 'http', { interval: '1h', url: 'https://charts.example.com' });
  await create(namespace, 'helmrelease', 'http', release('1.0.0', http));
  await create(namespace, 'helmrelease', 'git', release('1.0.0', { kind: 'GitRepository', name: 'charts' }));
  await create(namespace, 'helmrelease', 'lost', release('1.0.0', { ...http, name: 'lost' }));
  await create(namespace, 'helmrelease', 'any', release('', http));
  await create(namespace, 'helmrelease', 'by-flux', release('1.0.0', http), { labels: { 'kustomize.toolkit.fluxcd.io/name': 'apps' } });
  await create(namespace, 'ocirepository', 'range', { ...flux, ref: { semver: '>=1.0.0' } });
  await create(namespace, 'ocirepository', 'digest', { ...flux, ref: { digest: `sha256:${'a'.repeat(64)}` } });
  await create(namespace, 'ocirepository', 'latest', flux);
  await create(namespace, 'helmchart', 'named', { chart: 'web', repo: 'https://charts.example.com', version: '1.0.0' });
  await create(namespace, 'helmchart', 'unversioned', { chart: oci });
  const addon = { 'objectset.rio.cattle.io/id': '', 'objectset.rio.cattle.io/owner-gvk': 'k3s.cattle.io/v1, Kind=Addon' };
  await create(namespace, 'helmchart', 'addon', { chart: oci, version: '1.0.0' }, { annotations: addon });
  const { policies, leftOut } = await propose(namespace);
  assert.deepEqual(policies, []);
  const reasons: Readonly<Record<string, RegExp>> = {
    'Application/range': /targetRevision holds a range or a name/,
    'Application/https': /repoURL names no OCI repository.*Helm repositories announce no pushes$/,
    'Application/moving': /^latest is no version/,
    'Application/unknown': /does not know \S+\/charts\/renamed/,
    'Application/image': /does not have the tag 1\.0\.1/,
    'Application/generated': /^ApplicationSet all controls the resource/,
    'Application/tracked': /^Argo CD manages the resource and would set its version back/,
    'ApplicationSet/template': /targetRevision is a template/,
    'HelmRelease/http': /^its HelmRepository is not of the type oci/,
    'HelmRelease/git': /sourceRef\.kind is not HelmRepository/,
    'HelmRelease/lost': /^its HelmRepository cannot be seen/,
    'HelmRelease/any': /is not of the type oci|names no version/,
    'HelmRelease/by-flux': /^Flux manages the resource/,
    'OCIRepository/range': /semver holds a range or a name/,
    'OCIRepository/digest': /^it is pinned by its digest only: write the version that is installed into spec\.ref\.tag$/,
    'OCIRepository/latest': /^it names no version, so the other tool chooses one/,
    'HelmChart/named': /^spec\.chart names no OCI repository/,
    'HelmChart/unversioned': /^it names no version/,
    'HelmChart/addon': /^the folder of manifests of k3s manages the resource/,
  };
  const why = leftOut.flatMap((one) => one.workloads.map((workload) => [workload.replace(` ${namespace}/`, '/'), one.why] as const));
  assert.deepEqual(why.map(([name]) => name).toSorted(), Object.keys(reasons).toSorted());
  for (const [name, text] of why) assert.match(text, reasons[name] ?? /never/, name);
  assert.ok(leftOut.some(({ image }) => image === 'https://charts.example.com web 1.0.0'));
});

test('init reads a chart of a private registry with the Secret that its controller uses, and names it in the policy', async () => {
  const namespace = await world.cluster.namespace('secrets');
  const auths = { [denied.host]: { auth: Buffer.from('a:b').toString('base64') } };
  const data = { '.dockerconfigjson': Buffer.from(JSON.stringify({ auths })).toString('base64') };
  await world.cluster.request('POST', `/api/v1/namespaces/${namespace}/secrets`, {
    metadata: { name: 'pull' },
    type: 'kubernetes.io/dockerconfigjson',
    data,
  });
  const url = `oci://${denied.host}/charts`;
  const ref = { tag: '1.0.0' };
  await create(namespace, 'helmrepository', 'charts', { interval: '1h', type: 'oci', url, secretRef: { name: 'pull' } });
  const resources = [
    ['ocirepository', { interval: '1h', url: `${url}/private`, ref, secretRef: { name: 'pull' } }],
    ['helmchart', { chart: `${url}/private`, version: '1.0.0', dockerRegistrySecret: { name: 'pull' } }],
    ['helmrelease', release('1.0.0', { kind: 'HelmRepository', name: 'charts' }, 'private')],
  ] as const;
  for (const [kind, spec] of resources) {
    await create(namespace, kind, 'private', spec);
    const { policies } = await propose(namespace);
    assert.deepEqual(
      policies.map(({ policy }) => policy.spec.pullSecrets),
      [[{ name: 'pull' }]],
      kind,
    );
    await world.cluster.request('DELETE', `${pathOf(chartKinds[kind], namespace)}/private`);
  }
  await create(namespace, 'ocirepository', 'private', { interval: '1h', url: `${url}/private`, ref });
  const { policies, leftOut } = await propose(namespace);
  assert.deepEqual(policies, []);
  assert.match(leftOut[0]?.why ?? '', /tags cannot be read/);
});

test('init says that a HelmRepository of another namespace has to consent, and names kinds that may not be listed', async () => {
  const [namespace, flux] = [await world.cluster.namespace('release'), await world.cluster.namespace('flux')];
  await create(flux, 'helmrepository', 'charts', { interval: '1h', type: 'oci', url: `oci://${registry.host}/charts` });
  await create(namespace, 'helmrelease', 'web', release('1.0.0', { kind: 'HelmRepository', name: 'charts', namespace: flux }));
  const { policies } = await propose(namespace);
  assert.equal(policies.length, 1);
  assert.ok(
    policies[0]?.notes.some((note) => note.startsWith(`HelmRepository ${flux}/charts is in another namespace, and has to consent`)),
  );
  const rules = [
    { apiGroups: ['apps', 'batch'], resources: ['*'], verbs: ['list'] },
    { apiGroups: ['helm.toolkit.fluxcd.io'], resources: ['helmreleases'], verbs: ['list'] },
  ];
  const kubeconfig = withNamespace(await kubeconfigWithRules(world.cluster, namespace, 'limited', rules), namespace);
  const { code, out, err } = await runCommand('init', [
    '-o',
    'json',
    '--kubeconfig',
    kubeconfig,
    '--config',
    config,
    '--docker-config',
    '/dev/null',
  ]);
  assert.equal(code, 0);
  assert.match(err, /^you may not list applications \(argoproj\.io\/v1alpha1\), so their charts are missing$/m);
  assert.match((JSON.parse(out) as Proposals).leftOut[0]?.why ?? '', /^its HelmRepository cannot be seen/);
});
