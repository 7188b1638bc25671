import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { specSchema } from '../../../../src/service/resources/v1.ts';
import { convertAll } from '../../../../src/cli/import/argocd-image-updater/convert-all.ts';
import { formatImport } from '../../../../src/cli/import/merge-drafts.ts';
import { readObjects } from '../../../../src/cli/import/read-files.ts';
import { lintText } from '../../../../src/cli/lint/lint-text.ts';
import { configSchema } from '../../../../src/service/config/schema.ts';
import { resources } from '../../../harness/resource-group.ts';

const folder = join(import.meta.dirname, 'samples');
const sample = (name: string) => readFileSync(join(folder, `${name}.yaml`), 'utf8');
const convert = (...texts: string[]) =>
  convertAll({ objects: texts.flatMap((text) => readObjects(text, 'argocd')), areFiles: true, assumedNamespace: 'shop' });

const prefix = 'argocd-image-updater.argoproj.io';
function application(annotations: Record<string, string>, spec: object = {}, status?: object, labels: object = {}) {
  const keys = Object.entries(annotations).map(([key, value]) => [`${prefix}/${key}`, value]);
  const metadata = { name: 'web', namespace: 'argocd', labels, annotations: Object.fromEntries(keys) };
  return JSON.stringify({
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Application',
    metadata,
    spec: { destination: { namespace: 'shop' }, ...spec },
    status,
  });
}
const updater = (applicationRefs: readonly object[], more: object = {}, name = 'u') =>
  JSON.stringify({
    apiVersion: `${prefix}/v1alpha1`,
    kind: 'ImageUpdater',
    metadata: { name, namespace: 'argocd' },
    spec: { applicationRefs, ...more },
  });
const web = { 'image-list': 'web=ghcr.io/shop/web:1.x' };
const specs = (...texts: string[]) => convert(...texts).policies.map(({ policy }) => policy.spec);
const notes = (...texts: string[]) => convert(...texts).policies.flatMap((one) => one.notes);

test('the conversion of each sample of Argo CD Image Updater has the expected outcome', () => {
  const names = globSync('*.yaml', { cwd: folder }).map((file) => basename(file, '.yaml'));
  const counts = names.sort().map((name) => {
    const { policies, skipped } = convert(sample(name));
    return [name, policies.map(({ policy: { metadata, spec } }) => `${metadata.name}: ${Object.keys(spec.select).join()}`), skipped.length];
  });
  assert.deepEqual(counts, [
    ['examples', ['dev-api: digest', 'dev-front: digest', 'my-app: semver', 'prod-api: semver', 'prod-front: semver'], 4],
    ['imageupdater', ['app-001: semver', 'app-002-test1: newest', 'app-002-test2: newest', 'app-002-nginx: semver', 'app-003: newest'], 1],
    ['imageupdater-pull-request', ['app-001: semver'], 0],
    ['imageupdater-short', ['app-001: semver'], 0],
    ['imageupdater-verification', ['my-app-backend: semver', 'my-app-no-signature: semver'], 0],
    ['migration-after', ['production-app-nginx: semver', 'production-app-redis: newest', 'staging-app: newest'], 0],
    ['migration-before', ['production-app-nginx: semver', 'production-app-redis: newest', 'staging-app: newest'], 0],
    ['registries', [], 0],
  ]);
});

test('annotations and the ImageUpdater that the documentation makes of them become the same policies', () => {
  assert.deepEqual(specs(sample('migration-before')), specs(sample('migration-after')));
  const [nginx] = specs(sample('migration-before'));
  assert.deepEqual(nginx, {
    image: 'docker.io/library/nginx',
    select: { semver: { range: '1.20' } },
    tags: { allow: String.raw`^(?P<version>[0-9]+\.[0-9]+)$`, extract: '${version}.0', ignore: ['^latest$', '^dev$'] },
    targets: [{ kind: 'Deployment', selector: { matchLabels: { 'app.kubernetes.io/instance': 'production-app' } } }],
  });
});

for (const [name, annotations, expected] of [
  ['a range', {}, { select: { semver: { range: '1.x' } } }],
  ['no constraint', { 'image-list': 'web=ghcr.io/shop/web' }, { select: { semver: {} } }],
  ['a tilde', { 'image-list': 'ghcr.io/shop/web:~1.26' }, { select: { semver: { range: '~1.26' } } }],
  ['prereleases', { 'image-list': 'ghcr.io/shop/web:2.x-0' }, { select: { semver: { range: '2.x', prereleases: true } } }],
  [
    'a digest',
    { 'image-list': 'web=ghcr.io/shop/web:main', 'web.update-strategy': 'digest', 'web.ignore-tags': 'x' },
    { select: { digest: { tag: 'main' } } },
  ],
  ['the newest build', { 'web.update-strategy': 'latest' }, { select: { newest: {} } }],
  ['the alphabet', { 'update-strategy': 'name' }, { select: { alphabetical: {} } }],
  ['allowed tags', { 'web.update-strategy': 'newest-build', 'web.allow-tags': 'regexp:^main-' }, { tags: { allow: '^main-.*$' } }],
  ['ignored tags', { 'web.ignore-tags': 'latest, v[0-9]*-rc?' }, { tags: { ignore: ['^latest$', '^v[0-9].*-rc.$'] } }],
  ['a pause', { 'web.ignore-tags': '*' }, { suspend: true }],
  ['a pull secret', { 'web.pull-secret': 'pullsecret:argocd/regcred' }, { pullSecrets: [{ name: 'regcred' }] }],
  ['one platform', { 'web.update-strategy': 'newest-build', 'web.platforms': 'linux/arm64' }, { platforms: ['linux/arm64'] }],
  ['a branch for each update', { 'write-back-method': 'git', 'git-branch': 'main:updates' }, { update: { mode: 'Approval' } }],
] as const)
  test(`a setting of Argo CD Image Updater is converted: ${name}`, () => {
    const [spec] = specs(application({ ...web, ...annotations }));
    assert.partialDeepStrictEqual(spec, expected);
  });

for (const [name, annotations, spec, expected] of [
  ['a Secret of another namespace', { 'web.pull-secret': 'pullsecret:argocd/regcred' }, {}, /Copy the Secret regcred from argocd to shop/],
  ['a field of a Secret', { 'web.pull-secret': 'secret:argocd/a#b' }, {}, /USER:PASSWORD/],
  ['a script', { 'web.pull-secret': 'ext:/a.sh' }, {}, /"ext:\/a\.sh" have no counterpart/],
  ['several platforms', { 'web.platforms': 'linux/arm64,linux/amd64' }, {}, /spec\.platforms requires all/],
  ['a forced update', { 'web.force-update': 'true' }, {}, /force-update/],
  ['Git', { 'write-back-method': 'git:secret:argocd/git' }, {}, /writes the image to Git/],
  ['Helm parameters', { 'web.helm.image-name': 'a.name', 'web.helm.image-tag': 'a.tag' }, {}, /a\.name, a\.tag are not written/],
  ['an image that Kustomize replaces', { 'web.kustomize.image-name': 'quay.io/a/b' }, {}, /Kustomize replaces quay\.io\/a\/b/],
  ['healing', {}, { syncPolicy: { automated: { selfHeal: true } } }, /ignoreDifferences/],
  ['an unknown strategy', { 'web.update-strategy': 'oldest' }, {}, /"oldest" is no strategy/],
] as const)
  test(`a setting of Argo CD Image Updater leads to a note: ${name}`, () => {
    const found = notes(application({ ...web, ...annotations }, spec));
    assert.ok(
      found.some((note) => expected.test(note)),
      found.join('\n'),
    );
  });

for (const [name, annotations, spec, expected] of [
  ['an invalid constraint', { 'image-list': 'ghcr.io/shop/web:latest' }, {}, /"latest" is no version constraint/],
  ['a digest without a tag', { 'image-list': 'web=ghcr.io/shop/web', 'web.update-strategy': 'digest' }, {}, /needs a tag/],
  ['an invalid match function', { 'web.allow-tags': 'glob:*' }, {}, /no match function/],
  ['an invalid pattern', { 'web.allow-tags': 'regexp:(' }, {}, /is not RE2 syntax/],
  ['an invalid glob', { 'web.ignore-tags': '[a' }, {}, /"\[" without "\]"/],
  ['an invalid image', { 'image-list': 'web=ghcr.io/shop//web' }, {}, /not a repository path/],
  [
    'another cluster',
    {},
    { destination: { server: 'https://example.com', namespace: 'shop' } },
    /another cluster \(https:\/\/example\.com\)/,
  ],
] as const)
  test(`an Application is not converted, with the reason: ${name}`, () => {
    const { policies, skipped } = convert(application({ ...web, ...annotations }, spec));
    assert.deepEqual(policies, []);
    assert.match(skipped.map(({ problem }) => problem).join(), expected);
  });

test('the workloads in the status of an Application become targets, with the containers that run the image', () => {
  const workload = (name: string, kind = 'Deployment') =>
    JSON.stringify({
      apiVersion: 'apps/v1',
      kind,
      metadata: { name, namespace: 'shop' },
      spec: {
        template: {
          spec: {
            containers: [
              { name: 'a', image: 'ghcr.io/shop/web:1.0.0' },
              { name: 'b', image: 'nginx' },
            ],
          },
        },
      },
    });
  const resources = [
    { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web' },
    { group: 'apps', kind: 'StatefulSet', namespace: 'shop', name: 'db' },
  ];
  const { policies, skipped } = convert(
    application(web, {}, { resources }),
    workload('web'),
    workload('other'),
    workload('db', 'StatefulSet'),
  );
  assert.deepEqual(skipped, []);
  assert.deepEqual(
    policies.map((one) => one.policy.spec.targets),
    [
      [
        { kind: 'Deployment', name: 'web' },
        { kind: 'StatefulSet', name: 'db' },
      ],
    ],
  );
  const none = convert(application(web, {}, { resources: [] }), workload('web'));
  assert.match(none.skipped[0]?.problem ?? '', /none of its workloads runs ghcr\.io\/shop\/web/);
});

test('the values of an Application that hold the image become the target of a policy beside the Application', () => {
  const source = { helm: { valuesObject: { main: { image: { repository: 'ghcr.io/shop/web', tag: '1.0.0' } } } } };
  const annotations = { ...web, 'web.helm.image-name': 'main.image.repository', 'web.helm.image-tag': 'main.image.tag' };
  const [policy] = convert(application(annotations, { source })).policies;
  assert.equal(policy?.policy.metadata.namespace, 'argocd');
  const base = 'spec.source.helm.valuesObject.main.image';
  assert.deepEqual(policy?.policy.spec.targets, [
    {
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'Application',
      name: 'web',
      fields: { repository: `${base}.repository`, tag: `${base}.tag` },
    },
  ]);
});

test('the most specific reference to an Application is converted, and its annotations only if an ImageUpdater reads them', () => {
  const image = (range: string) => ({ images: [{ alias: 'web', imageName: `ghcr.io/shop/web:${range}` }] });
  const any = { namePattern: 'w*', ...image('1.x') };
  const labelled = { namePattern: 'w?b', labelSelectors: { matchLabels: { tier: 'front' } }, ...image('2.x') };
  const exact = { namePattern: 'web', ...image('3.x') };
  const annotated = { namePattern: 'web', useAnnotations: true };
  const ranges = (references: readonly object[], labels: object = {}) =>
    specs(application({ 'image-list': 'ghcr.io/shop/web:9.x' }, {}, undefined, labels), updater(references)).map(
      ({ select }) => select.semver?.range,
    );
  assert.deepEqual(ranges([any]), ['1.x']);
  assert.deepEqual(ranges([any, labelled]), ['1.x']);
  assert.deepEqual(ranges([any, labelled], { tier: 'front' }), ['2.x']);
  assert.deepEqual(ranges([any, labelled, exact], { tier: 'front' }), ['3.x']);
  assert.deepEqual(ranges([any, annotated]), ['9.x']);
  const ignored = notes(application(web), updater([{ namePattern: 'other', ...image('1.x') }]));
  assert.ok(ignored.some((note) => note.startsWith('No ImageUpdater reads the annotations')));
});

test('registries.conf becomes settings of the configuration, with notes on the rest', () => {
  const { remarks } = convert(sample('registries'));
  assert.equal(remarks.length, 4);
  const written = `registries:
- {name: Quay, prefix: quay.io, api_url: 'https://quay.io', limit: 10, ca_file: /certs/quay.pem}
- {name: Local, prefix: 'registry.local:5000', api_url: 'http://registry.local:5000', default: true}
- {name: Hub, prefix: docker.io, api_url: 'https://registry-1.docker.io'}
- {name: Moved, prefix: a.example.com, api_url: 'https://b.example.com', insecure: true, ca_data: x}
`;
  const map = JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'argocd-image-updater-config' },
    data: { 'registries.conf': written },
  });
  const [configuration = '', ...others] = convert(map).remarks;
  const settings = parse(configuration.slice(configuration.indexOf(': ') + 2)) as object;
  assert.deepEqual(settings, {
    registries: [
      { host: 'quay.io', caFile: '/certs/quay.pem', requestsPerSecond: 10 },
      { host: 'registry.local:5000', insecure: true },
    ],
  });
  assert.equal(configSchema.shape.registries.safeParse((settings as { registries: object[] }).registries).success, true);
  assert.deepEqual(
    others.map((note) => note.split(':')[0]),
    ['registry.local', 'a.example.com', 'a.example.com', 'a.example.com'],
  );
  assert.deepEqual(convert(map.replace('registries:', 'a: [')).remarks, ['The registries of argocd-image-updater-config cannot be read.']);
});

test('the conversion of Argo CD Image Updater prints valid policies, and comments about everything else', () => {
  const imported = convert(
    ...globSync('*.yaml', { cwd: folder }).map((file) => readFileSync(join(folder, file), 'utf8')),
    application(web),
  );
  for (const { policy } of imported.policies) specSchema.parse(policy.spec);
  const { policies, problems } = lintText(formatImport(imported), resources);
  assert.deepEqual([policies, problems], [imported.policies.length, []]);
  assert.ok(policies >= 10 && imported.skipped.length > 0);
});
