/** What is wrong with v1alpha1 policies: all that the service would find, in their own words, and what the API server refuses of it. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { crdName } from '../../src/service/resources/group.ts';
import { customResourceDefinition } from '../../src/conversion/definition.ts';
import { convertObject } from '../../src/conversion/convert.ts';
import { isObject } from '../../src/core/model/untyped.ts';
import * as v1 from '../../src/service/resources/v1.ts';
import * as v1alpha1 from '../../src/conversion/v1alpha1.ts';
import { validatePolicy, validateSpec } from '../../src/service/resources/validate.ts';
import { borrowControlPlane, type ControlPlane } from '../harness/control-plane.ts';
import { KubeRequestError } from '../harness/kube-request.ts';
import { waitFor } from '../harness/wait-for.ts';
import { policiesPath } from '../service/resources/install-crd.ts';
import { oldCrd } from '../service/resources/old-crd.ts';
import { resources } from '../harness/resource-group.ts';

const plain = {
  repository: 'harbor.example.com/shop/web',
  tagPolicy: { strategy: 'SemVer' },
  updateTarget: { kind: 'Deployment', name: 'web', namespace: 'default' },
};
const policyWith = (spec: object, name = 'web') => ({
  apiVersion: v1alpha1.apiVersion,
  kind: 'ImagePolicy',
  metadata: { name, namespace: 'default' },
  spec: { ...plain, ...spec },
});
const linesOf = (spec: object) => validatePolicy(policyWith(spec), resources).map(({ path, message }) => `${path}: ${message}`);

const oneOf = 'none of Deployment, StatefulSet, DaemonSet, CronJob, ReplicaSet: for other kinds, write the policy in v1';
const target = plain.updateTarget;

for (const [name, spec, ...expected] of [
  [
    'a kind in lower case',
    { updateTarget: { ...target, kind: 'deployment' } },
    'spec.updateTarget.kind: "deployment" is not valid: a kind as Kubernetes writes it, such as "Deployment"',
  ],
  ['another kind', { updateTarget: { ...target, kind: 'Rollout' } }, `spec.updateTarget.kind: "Rollout" is ${oneOf}`],
  [
    'a name with capitals',
    { updateTarget: { ...target, name: 'Web' } },
    'spec.updateTarget.name: "Web" is not valid: lower-case letters, digits, "-" and "." between letters or digits',
  ],
  [
    'a namespace with capitals',
    { updateTarget: { ...target, namespace: 'Shop' } },
    'spec.updateTarget.namespace: "Shop" is not valid: lower-case letters, digits and "-" between letters or digits',
  ],
  [
    'a target without a name',
    { updateTarget: { kind: 'Deployment', namespace: 'default' } },
    'spec.updateTarget.name: is missing: Name of the workload.',
  ],
  ['a tag', { repository: 'nginx:1.2' }, 'spec.repository: write only the repository, without a tag or digest: tagPolicy chooses the tag'],
  [
    'a scheme',
    { repository: 'https://a.example/b' },
    'spec.repository: write "a.example/b": an image name is in lower case and has no scheme',
  ],
  ['a host that is none', { repository: 'a_.b/c' }, 'spec.repository: "a_.b" is not a registry host'],
  [
    'Regex without a pattern',
    { tagPolicy: { strategy: 'Regex' } },
    'spec.tagPolicy: the strategy Regex needs a pattern, which is an RE2 expression',
  ],
  [
    'Regex with an empty pattern',
    { tagPolicy: { strategy: 'Regex', pattern: '' } },
    'spec.tagPolicy: the strategy Regex needs a pattern, which is an RE2 expression',
  ],
  [
    'a large count',
    { tagPolicy: { strategy: 'Regex', pattern: 'a{300}' } },
    'spec.tagPolicy.pattern: write repetition counts of at most 128, the length of the longest tag',
  ],
  [
    '"!="',
    { tagPolicy: { strategy: 'SemVer', pattern: '!=1.2.3' } },
    'spec.tagPolicy.pattern: the range "!=1.2.3" has "!=", which is no operator here: to leave versions out, write the policy in v1, with tags.ignore',
  ],
  ['an interval of nothing', { pollIntervalMinutes: 0 }, 'spec.pollIntervalMinutes: is too small: at least 1'],
  ['no tagPolicy', { tagPolicy: null }, 'spec.tagPolicy: is missing: How the tag is chosen.'],
  [
    'no target',
    { updateTarget: null },
    'spec.updateTarget: is missing: The workload whose containers of this repository are kept up to date.',
  ],
  [
    'another strategy',
    { tagPolicy: { strategy: 'semver' } },
    'spec.tagPolicy.strategy: "semver" is none of SemVer, Latest, Regex; did you mean "SemVer"?',
  ],
  ['nothing wrong', {}],
  ['a pattern without effect', { tagPolicy: { strategy: 'Latest', pattern: '(' } }],
  ['capitals in a host', { repository: 'Harbor.example.com/shop/web' }],
] as const) {
  test(`a spec of v1alpha1 with ${name} has the expected problems`, () => assert.deepEqual(linesOf(spec), expected));
}

const some = (...values: unknown[]) => fc.constantFrom(...values, undefined, null, '', 5, {});
const wildSpec = fc.record({
  repository: some('nginx', 'a.example/b', 'A.example/b', 'a/B', 'nginx:1', 'https://a.example/b', 'a b', 'a@b'),
  tagPolicy: fc.oneof(
    some([]),
    fc.record({
      strategy: some('SemVer', 'Latest', 'Regex', 'Regexp'),
      pattern: some('1.x', '>2 <1', '!=1.2', '(', 'a{200}', '.*', '(?:[a-z]{0,100}-){0,10}'),
    }),
  ),
  updateTarget: fc.oneof(
    some('web'),
    fc.record({
      kind: some('Deployment', 'deployment', 'Job', 'HelmRelease'),
      name: some('web', 'Web'),
      namespace: some('default', 'Shop'),
    }),
  ),
  pollIntervalMinutes: some(1, 60, 527_040, 527_041, 0, -1, 1.5),
});

const convert = (policy: object): unknown => convertObject(policy, v1.apiVersion);

test('a spec of v1alpha1 that the service would refuse has a problem at a field of v1alpha1, in words of v1alpha1', () => {
  fc.assert(
    fc.property(wildSpec, (spec) => {
      const ours = validatePolicy(policyWith(spec), resources);
      const converted = convert(policyWith(spec));
      const theirs = isObject(converted) ? validateSpec(converted['spec'], { namespace: 'default' }) : [];
      if (theirs.length > 0) assert.notDeepEqual(ours, []);
      for (const { path, message } of ours) {
        assert.match(path, /^spec\.(?:repository|tagPolicy|updateTarget|pollIntervalMinutes)\b/);
        assert.doesNotMatch(
          message.replace(/write the policy in v1.*/, ''),
          /\b(?:select|targets|tags|semver|apiVersion|selector|extract)\b/,
        );
      }
      assert.equal(new Set(ours.map(({ path, message }) => `${path} ${message}`)).size, ours.length);
    }),
    { numRuns: 3_000 },
  );
});

interface Refusal {
  readonly field: string;
  readonly message: string;
}

describe('the API server, for policies of v1alpha1', () => {
  let cluster: ControlPlane;
  const path = policiesPath('default', 'v1alpha1');
  const crdPath = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crdName}`;
  const invalid = { repository: 'https://Harbor.example.com/Team/App' };
  before(async () => {
    cluster = await borrowControlPlane();
    // As it is in clusters with the older service, with a policy that it never understood.
    await cluster.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', oldCrd);
    await waitFor('the older definition', () => cluster.request('POST', path, policyWith(invalid, 'old')));
    const { spec } = customResourceDefinition({ storage: 'v1alpha1' });
    await cluster.request('PATCH', crdPath, { spec: { versions: spec.versions } });
    await waitFor('the definition', async () => (await refusalOf(invalid)).length > 0);
  });
  after(() => cluster.stop());

  async function refusalOf(spec: object): Promise<readonly Refusal[]> {
    try {
      await cluster.request('POST', `${path}?dryRun=All`, policyWith(spec, 'sample'));
      return [];
    } catch (error) {
      if (!(error instanceof KubeRequestError) || error.status !== 422) throw error;
      return (JSON.parse(error.body) as { details: { causes: Refusal[] } }).details.causes;
    }
  }

  for (const repository of [
    'https://harbor.example.com/shop/web',
    'harbor.example.com/Shop/web',
    'Nginx',
    'nginx:1.2',
    'https://ada:Secret@a.example/b',
  ]) {
    test(`refuses the repository ${repository}, in the words of lint`, async () => {
      const [cause, ...others] = await refusalOf({ repository });
      assert.deepEqual(others, []);
      const [line = '', ...more] = linesOf({ repository });
      assert.deepEqual([more, cause?.field], [[], 'spec.repository']);
      assert.ok(cause?.message.includes(line.replace('spec.repository: ', '')), `${line} in ${cause?.message}`);
    });
  }

  for (const repository of ['nginx', 'Harbor.example.com:5000/shop/web', 'localhost/web']) {
    test(`accepts the repository ${repository}`, async () => assert.deepEqual(await refusalOf({ repository }), []));
  }

  test('lets the status and other fields of a policy be written that only the older definition accepts', async () => {
    await cluster.request('PATCH', `${path}/old/status`, { status: { observedGeneration: 1 } });
    await cluster.request('PATCH', `${path}/old`, { spec: { pollIntervalMinutes: 5 } });
    const { spec, status } = await cluster.request<{ spec: object; status: object }>('GET', `${path}/old`);
    assert.deepEqual([spec, status], [{ ...plain, ...invalid, pollIntervalMinutes: 5 }, { observedGeneration: 1 }]);
  });

  for (const version of ['v1alpha1', 'v1'] as const) {
    test(`lets a policy of ${version} from before the rule get a status and labels, be edited elsewhere and be corrected`, async () => {
      const name = `old-${version}`;
      const at = `${policiesPath('default', version)}/${name}`;
      const stored = version === 'v1' ? convert(policyWith(invalid, name)) : policyWith(invalid, name);
      const { spec: definition } = await cluster.request<{ spec: { versions: { name: string; schema: object }[] } }>('GET', crdPath);
      const loose = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
      const versions = definition.versions.map((known) => ({ ...known, schema: loose, storage: known.name === version }));
      await cluster.request('PATCH', crdPath, { spec: { versions } });
      await waitFor('the policy to be stored', () => cluster.request('POST', policiesPath('default', version), stored));
      await cluster.request('PATCH', crdPath, {
        spec: { versions: definition.versions.map((known) => ({ ...known, storage: known.name === version })) },
      });
      await waitFor('the rules', async () => (await refusalOf(invalid)).length > 0);

      const [field, other] =
        version === 'v1' ? (['image', { minAge: '5m' }] as const) : (['repository', { pollIntervalMinutes: 5 }] as const);
      await cluster.request('PATCH', `${at}/status`, { status: { observedGeneration: 1 } });
      await cluster.request('PATCH', at, { metadata: { labels: { a: 'b' } } });
      await cluster.request('PATCH', at, { spec: other });
      await assert.rejects(cluster.request('PATCH', at, { spec: { [field]: 'Other/Image' } }), /write \\?"other\/image\\?"/);
      await cluster.request('PATCH', at, { spec: { [field]: 'nginx' } });
      const { spec, status } = await cluster.request<{ spec: Record<string, unknown>; status: object }>('GET', at);
      assert.deepEqual([spec[field], status], ['nginx', { observedGeneration: 1 }]);
    });
  }
});
