/** The fields of custom resources that hold the version of a chart: each form in which resources name its repository. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkFields } from '../../../src/core/model/field-rules.ts';
import type { TargetFields } from '../../../src/core/model/image-policy.ts';
import { planUpdate } from '../../../src/core/plan/plan-update.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import type { WorkloadField } from '../../../src/core/model/workload.ts';
import { allKnown, digestOf, noAliases, specOf, workloadOf } from '../model/samples.ts';

const kinds = {
  Application: 'argoproj.io/v1alpha1',
  ApplicationSet: 'argoproj.io/v1alpha1',
  OCIRepository: 'source.toolkit.fluxcd.io/v1',
  HelmChart: 'helm.cattle.io/v1',
  HelmRelease: 'helm.toolkit.fluxcd.io/v2',
} as const;
type Kind = keyof typeof kinds;
const [a, b] = [digestOf('a'), digestOf('b')];
const context = { customTargets: [], aliases: noAliases };

/** The plan for the target. */
function planned(
  kind: Kind,
  fields: TargetFields,
  held: Record<string, string | null>,
  { tag = '1.3.0', pin = 'Tag' }: { tag?: string; pin?: 'Tag' | 'Digest' } = {},
) {
  const ref = { apiVersion: kinds[kind], kind, namespace: 'shop', name: 'web' };
  const checked = checkFields(ref, fields, { artifact: 'Chart' }, context);
  assert.ok('fields' in checked, JSON.stringify(checked));
  const values = Object.fromEntries(Object.entries(held).map(([path, value]): [string, WorkloadField] => [path, { value }]));
  const workload = workloadOf({}, { ...ref, fields: values });
  const [target] = planUpdate({
    spec: {
      ...specOf({ pin, artifact: 'Chart', strategy: strategies.semver({ ofCharts: true }) }),
      targets: [{ ...ref, fields: checked.fields }],
    },
    candidate: { tag, digest: b },
    hasApplied: true,
    aliases: noAliases,
    ...allKnown,
    findWorkload: (one) => (one.kind === 'HelmRepository' ? sources[`${one.namespace}/${one.name}`] : workload),
  }).targets;
  return target ?? assert.fail();
}

/** The fields that change; else the reason why none does. */
function written(...args: Parameters<typeof planned>) {
  const { changes, unchanged, problem } = planned(...args);
  const [change] = changes;
  if (change === undefined) return problem?.reason ?? unchanged[0]?.reason;
  assert.equal(change.from.split(':')[0], 'registry.example.com/shop/web');
  return Object.fromEntries((change.fields ?? []).flatMap(({ path, to }) => (to === undefined ? [] : [[path, to]])));
}

/** The HelmRepositories that the policy may see. */
const repositoryOf = (url: string, type: string | null) =>
  workloadOf(
    {},
    {
      apiVersion: 'source.toolkit.fluxcd.io/v1',
      kind: 'HelmRepository',
      fields: { 'spec.url': { value: url }, 'spec.type': { value: type } },
    },
  );
const sources: Record<string, ReturnType<typeof workloadOf>> = {
  'shop/oci': repositoryOf('oci://registry.example.com/shop', 'oci'),
  'shop/slash': repositoryOf('oci://registry.example.com/shop/', 'oci'),
  'shop/http': repositoryOf('https://registry.example.com/shop', null),
  'shop/typeless': repositoryOf('oci://registry.example.com/shop', null),
  'flux/oci': repositoryOf('oci://registry.example.com/shop', 'oci'),
  'shop/deleted': { ...repositoryOf('oci://registry.example.com/shop', 'oci'), isDeleted: true },
};
const chartOf = 'spec.chart.spec';
const release = { tag: `${chartOf}.version` };
const helmRelease = (name: string, change: Record<string, string | null> = {}) => ({
  [`${chartOf}.chart`]: 'web',
  [`${chartOf}.version`]: '1.2.3',
  [`${chartOf}.sourceRef.kind`]: 'HelmRepository',
  [`${chartOf}.sourceRef.name`]: name,
  [`${chartOf}.sourceRef.namespace`]: null,
  ...change,
});

const source = 'spec.source';
const argo = { tag: `${source}.targetRevision` };
const helm = (revision: string | null, change: Record<string, string | null> = {}) => ({
  [`${source}.repoURL`]: 'registry.example.com/shop',
  [`${source}.chart`]: 'web',
  [`${source}.targetRevision`]: revision,
  ...change,
});
const native = { [`${source}.repoURL`]: 'oci://registry.example.com/shop/web', [`${source}.chart`]: null };
const flux = (change: Record<string, string | null>) => ({
  'spec.url': 'oci://registry.example.com/shop/web',
  'spec.ref.tag': null,
  'spec.ref.semver': null,
  'spec.ref.digest': null,
  ...change,
});
const k3s = (version: string | null, chart = 'oci://registry.example.com/shop/web') => ({ 'spec.chart': chart, 'spec.version': version });
const build = { tag: '1.3.0_build.7' };

const rows: [name: string, args: Parameters<typeof written>, expected: Record<string, string> | string][] = [
  ['Argo CD, with a chart', ['Application', argo, helm('1.2.3')], { [argo.tag]: '1.3.0' }],
  ['Argo CD, with a newer version', ['Application', argo, helm('1.4.0')], 'OlderThanRunning'],
  ['Argo CD, with a build in the version', ['Application', argo, helm('1.2.3+b'), build], { [argo.tag]: '1.3.0+build.7' }],
  ['Argo CD, with that build', ['Application', argo, helm('1.3.0+build.7'), build], 'UpToDate'],
  ['Argo CD, with an OCI URL', ['Application', argo, { ...helm('1.2.3_b', native) }, build], { [argo.tag]: '1.3.0_build.7' }],
  [
    'Argo CD, with an OCI URL and a chart',
    ['Application', argo, helm('1.2.3', { [`${source}.repoURL`]: 'oci://registry.example.com/shop' })],
    'ContainerNotFound',
  ],
  [
    'Argo CD, with a Helm repository',
    ['Application', argo, helm('1.2.3', { [`${source}.repoURL`]: 'https://registry.example.com/shop' })],
    'ContainerNotFound',
  ],
  [
    'Argo CD, with a Git repository',
    ['Application', argo, helm('main', { [`${source}.repoURL`]: 'https://registry.example.com/shop/web', [`${source}.chart`]: null })],
    'ContainerNotFound',
  ],
  ['Argo CD, with another chart', ['Application', argo, helm('1.2.3', { [`${source}.chart`]: 'other' })], 'ContainerNotFound'],
  ['Argo CD, with a range', ['Application', argo, helm('1.*')], 'ContainerNotFound'],
  ['Argo CD, with a range that could be a tag', ['Application', argo, helm('1.x')], 'ContainerNotFound'],
  ['Argo CD, with two numbers, which are a range', ['Application', argo, helm('1.2')], 'ContainerNotFound'],
  ['Argo CD, with no revision', ['Application', argo, helm(null)], 'NotComparable'],
  [
    'Argo CD, one of several sources',
    [
      'Application',
      { tag: 'spec.sources[1].targetRevision' },
      { 'spec.sources[1].repoURL': 'registry.example.com/shop', 'spec.sources[1].chart': 'web', 'spec.sources[1].targetRevision': '1.2.3' },
    ],
    { 'spec.sources[1].targetRevision': '1.3.0' },
  ],
  [
    'an ApplicationSet',
    [
      'ApplicationSet',
      { tag: 'spec.template.spec.source.targetRevision' },
      {
        'spec.template.spec.source.repoURL': 'registry.example.com/shop',
        'spec.template.spec.source.chart': 'web',
        'spec.template.spec.source.targetRevision': '1.2.3',
      },
    ],
    { 'spec.template.spec.source.targetRevision': '1.3.0' },
  ],
  [
    'an ApplicationSet with templates',
    [
      'ApplicationSet',
      { tag: 'spec.template.spec.source.targetRevision' },
      {
        'spec.template.spec.source.repoURL': '{{.url}}',
        'spec.template.spec.source.chart': 'web',
        'spec.template.spec.source.targetRevision': '1.2.3',
      },
    ],
    'ContainerNotFound',
  ],
  [
    'Flux, by tag',
    ['OCIRepository', { tag: 'spec.ref.tag' }, flux({ 'spec.ref.tag': '1.2.3_b' }), build],
    { 'spec.ref.tag': '1.3.0_build.7' },
  ],
  [
    'Flux, by tag, with a semver that takes precedence',
    ['OCIRepository', { tag: 'spec.ref.tag' }, flux({ 'spec.ref.tag': '1.2.3', 'spec.ref.semver': '>=1' })],
    'ContainerNotFound',
  ],
  [
    'Flux, by tag, with a digest that takes precedence',
    ['OCIRepository', { tag: 'spec.ref.tag' }, flux({ 'spec.ref.tag': '1.2.3', 'spec.ref.digest': a })],
    'ContainerNotFound',
  ],
  [
    'Flux, by version',
    ['OCIRepository', { tag: 'spec.ref.semver' }, flux({ 'spec.ref.semver': '1.2.3' }), build],
    { 'spec.ref.semver': '1.3.0+build.7' },
  ],
  ['Flux, by range', ['OCIRepository', { tag: 'spec.ref.semver' }, flux({ 'spec.ref.semver': '>=1.2.3' })], 'ContainerNotFound'],
  [
    'Flux, by tag and digest',
    [
      'OCIRepository',
      { tag: 'spec.ref.tag', digest: 'spec.ref.digest' },
      flux({ 'spec.ref.tag': '1.2.3', 'spec.ref.digest': a }),
      { pin: 'Digest' },
    ],
    { 'spec.ref.tag': '1.3.0', 'spec.ref.digest': b },
  ],
  [
    'Flux, with another repository',
    ['OCIRepository', { tag: 'spec.ref.tag' }, flux({ 'spec.url': 'oci://registry.example.com/shop/other', 'spec.ref.tag': '1.2.3' })],
    'ContainerNotFound',
  ],
  ['a HelmRelease', ['HelmRelease', release, helmRelease('oci'), build], { [release.tag]: '1.3.0+build.7' }],
  ['a HelmRelease, with a slash at the end of the URL', ['HelmRelease', release, helmRelease('slash')], { [release.tag]: '1.3.0' }],
  [
    'a HelmRelease, with a repository of another namespace',
    ['HelmRelease', release, helmRelease('oci', { [`${chartOf}.sourceRef.namespace`]: 'flux' })],
    { [release.tag]: '1.3.0' },
  ],
  ['a HelmRelease, with a range', ['HelmRelease', release, helmRelease('oci', { [release.tag]: '1.x' })], 'ContainerNotFound'],
  ['a HelmRelease, with a Helm repository', ['HelmRelease', release, helmRelease('http')], 'ContainerNotFound'],
  ['a HelmRelease, with a repository that is not of the type oci', ['HelmRelease', release, helmRelease('typeless')], 'ContainerNotFound'],
  ['a HelmRelease, with a repository that the policy may not see', ['HelmRelease', release, helmRelease('hidden')], 'ContainerNotFound'],
  ['a HelmRelease, with a repository that is being deleted', ['HelmRelease', release, helmRelease('deleted')], 'ContainerNotFound'],
  [
    'a HelmRelease, with another kind of source of that name',
    ['HelmRelease', release, helmRelease('oci', { [`${chartOf}.sourceRef.kind`]: 'GitRepository' })],
    'ContainerNotFound',
  ],
  [
    'a HelmRelease, with another chart',
    ['HelmRelease', release, helmRelease('oci', { [`${chartOf}.chart`]: 'other' })],
    'ContainerNotFound',
  ],
  ['k3s', ['HelmChart', { tag: 'spec.version' }, k3s('1.2.3'), build], { 'spec.version': '1.3.0+build.7' }],
  ['k3s, with a chart of a Helm repository', ['HelmChart', { tag: 'spec.version' }, k3s('1.2.3', 'shop/web')], 'ContainerNotFound'],
];
for (const [name, args, expected] of rows)
  test(`the plan for ${name} is ${JSON.stringify(expected)}`, () => assert.deepEqual(written(...args), expected));

const url = (value: string) => ({ [`${source}.repoURL`]: value });
const explained: [name: string, args: Parameters<typeof planned>, message: RegExp][] = [
  ['a range', ['Application', argo, helm('1.x')], /targetRevision holds a range or a name, .*: write one version there$/],
  ['a template', ['Application', argo, helm('{{v}}')], /: spec\.source\.targetRevision is a template: write there/],
  [
    'a Helm repository',
    ['Application', argo, helm('1.2.3', url('https://x.example.com'))],
    /repoURL names no OCI .* as HOST\/PATH, without/,
  ],
  [
    'a scheme beside a chart',
    ['Application', argo, helm('1.2.3', url('oci://x.example.com/a'))],
    /repoURL names no OCI .* without a scheme/,
  ],
  [
    'a chart by name',
    ['HelmChart', { tag: 'spec.version' }, k3s('1.2.3', 'web')],
    /chart names no OCI .* oci:\/\/HOST\/PATH: .* no pushes$/,
  ],
  ['a HelmRepository over https', ['HelmRelease', release, helmRelease('http')], /: its HelmRepository is not of the type oci: others/],
  [
    'a HelmRepository out of sight',
    ['HelmRelease', release, helmRelease('hidden')],
    /: its HelmRepository cannot be seen: it does not exist, or/,
  ],
  [
    'another kind of source',
    ['HelmRelease', release, helmRelease('oci', { [`${chartOf}.sourceRef.kind`]: 'GitRepository' })],
    /sourceRef\.kind is not HelmRepository: others announce no pushes$/,
  ],
  [
    'another chart',
    ['Application', argo, helm('1.2.3', { [`${source}.chart`]: 'secret-name' })],
    /artifact registry\.example\.com\/shop\/web$/,
  ],
];
for (const [name, args, message] of explained) {
  test(`the message about ${name} names the problem, without the value of the field`, () => {
    const text = planned(...args).problem?.message ?? '';
    assert.match(text, message);
    assert.doesNotMatch(text, /x\.example\.com|1\.x|\{\{|secret-name/);
  });
}

const refused: [name: string, kind: Kind, fields: TargetFields, artifact: 'Image' | 'Chart' | 'Any', message: RegExp][] = [
  ['a version, by a policy for images', 'Application', argo, 'Image', /holds the version of a chart.*write spec\.artifact: Chart$/],
  [
    'the tag of an image, by a policy for charts',
    'HelmRelease',
    { tag: 'spec.values.image.tag' },
    'Chart',
    /holds an image.*remove spec\.artifact$/,
  ],
  ['a whole image in the place of a version', 'HelmChart', { image: 'spec.version' }, 'Chart', /write it as fields\.tag$/],
  ['a tag in the place of a digest', 'OCIRepository', { tag: 'spec.ref.digest' }, 'Any', /write it as fields\.digest$/],
  ['a digest in the place of a tag', 'OCIRepository', { digest: 'spec.ref.tag' }, 'Any', /write it as fields\.tag$/],
  ['the URL', 'OCIRepository', { tag: 'spec.url' }, 'Chart', /may not be written/],
  ['the name of the chart', 'Application', { tag: 'spec.source.chart' }, 'Chart', /the version of a chart is in spec\.source\.target/],
  [
    'the repository of another source',
    'Application',
    { tag: 'spec.sources[0].targetRevision', repository: 'spec.sources[1].repoURL' },
    'Chart',
    /may not be written with the repository/,
  ],
  ['another field of the release', 'HelmChart', { tag: 'spec.targetNamespace' }, 'Chart', /may not be written/],
];
for (const [name, kind, fields, artifact, message] of refused) {
  test(`a plan does not write ${name}`, () => {
    const checked = checkFields({ apiVersion: kinds[kind], kind }, fields, { artifact }, context);
    assert.ok('message' in checked, JSON.stringify(checked));
    assert.match(checked.message, message);
  });
}

test('a policy for any artifact writes fields of images and of charts', () => {
  for (const [kind, tag] of [
    ['Application', argo.tag],
    ['Application', 'spec.source.helm.valuesObject.image.tag'],
  ] as const)
    assert.ok('fields' in checkFields({ apiVersion: kinds[kind], kind }, { tag }, { artifact: 'Any' }, context), tag);
});
