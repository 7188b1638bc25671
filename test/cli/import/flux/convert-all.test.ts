import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { specSchema } from '../../../../src/service/resources/v1.ts';
import { formatImport } from '../../../../src/cli/import/merge-drafts.ts';
import { lintText } from '../../../../src/cli/lint/lint-text.ts';
import { api, convert, folder, marked, notes, policy, problems, repository, sample, semver, specs } from './samples.ts';
import { resources } from '../../../harness/resource-group.ts';

test('the demo app of the guide becomes a policy in the namespace of its workload', () => {
  const { policies, skipped } = convert(sample('guide'));
  assert.deepEqual(skipped, []);
  assert.deepEqual(
    policies.map((one) => one.policy),
    [
      {
        apiVersion: 'operator.technomad.dev/v1',
        kind: 'ImagePolicy',
        metadata: { name: 'podinfo', namespace: 'default' },
        spec: {
          image: 'ghcr.io/stefanprodan/podinfo',
          select: { semver: { range: '5.0.x' } },
          poll: { interval: '5m' },
          targets: [{ kind: 'Deployment', name: 'podinfo' }],
        },
      },
    ],
  );
});

test('markers in a HelmRelease, a Task and kustomizations are targets too', () => {
  const golang = `${api}\nkind: ImageRepository\nmetadata: {name: golang, namespace: flux-system}\nspec: {image: golang}\n---\n${api}\nkind: ImagePolicy\nmetadata: {name: golang, namespace: flux-system}\nspec: {imageRepositoryRef: {name: golang}, policy: {semver: {range: 1.x}}}`;
  const { policies, skipped } = convert(sample('guide'), sample('guide-targets'), golang);
  const targets = policies.map(({ policy: { metadata, spec } }) => [metadata.name, spec.targets]);
  assert.deepEqual(targets, [
    ['podinfo', [{ kind: 'Deployment', name: 'podinfo' }]],
    [
      'podinfo-2',
      [
        {
          apiVersion: 'helm.toolkit.fluxcd.io/v2',
          kind: 'HelmRelease',
          name: 'podinfo',
          fields: { repository: 'spec.values.image.repository', tag: 'spec.values.image.tag', digest: 'spec.values.image.digest' },
        },
      ],
    ],
    ['golang', [{ apiVersion: 'tekton.dev/v1beta1', kind: 'Task', name: 'golang', fields: { image: 'spec.steps[0].image' } }]],
  ]);
  assert.deepEqual(skipped, []);
});

describe('the policies in the guide of Flux', () => {
  const [, ...rest] = sample('guide-policies').split('\n');
  const documents = parseAllDocuments(rest.join('\n')).map((document) => (document.toJS() as { spec: object }).spec);
  const expected: readonly object[] = [
    {
      select: { numerical: {} },
      tags: { allow: '^main-[a-fA-F0-9]+-(?P<ts>.*).*$', extract: '$ts' },
    },
    { select: { semver: { range: '>=1.0.0' } } },
    { select: { semver: { range: '>=1.0.0 <2.0.0' } } },
    { select: { semver: { range: '>=1.0.0-0', prereleases: true } } },
    { select: { semver: { range: '^1.x', prereleases: true } }, tags: { allow: '.*-rc.*' } },
    {
      select: { semver: { range: '>=1.0.0' } },
      tags: { allow: String.raw`^(?P<semver>[0-9]*\.[0-9]*\.[0-9]*)-(alpine[0-9]*\.[0-9]*).*$`, extract: '$semver' },
    },
    { select: { alphabetical: {} }, tags: { allow: String.raw`^RELEASE\.(?P<timestamp>.*)Z$`, extract: '$timestamp' } },
  ];
  test('are all tested', () => assert.equal(documents.length, expected.length));
  for (const [index, spec] of documents.entries())
    test(`are converted: ${JSON.stringify(spec)}`, () => {
      const [{ select, tags } = assert.fail('no policy')] = specs(repository(), policy(spec), marked());
      assert.deepEqual({ select, ...(tags && { tags }) }, expected[index]);
    });
});

test('a policy of Flux for latest becomes one that follows its digest, in the workload and in the values of a chart', () => {
  const podinfo = sample('guide').split('---\n')[0] ?? '';
  const { policies, skipped } = convert(podinfo, sample('guide-latest'));
  assert.deepEqual(skipped, []);
  assert.deepEqual(
    policies.map((one) => [one.policy.spec.select, one.policy.spec.poll, one.policy.spec.targets.map(({ kind }) => kind)]),
    [[{ digest: { tag: 'latest' } }, { interval: '10m' }, ['Deployment', 'HelmRelease']]],
  );
});

for (const [name, spec, more, expected] of [
  ['alphabetical', { policy: { alphabetical: { order: 'asc' } } }, {}, { select: { alphabetical: {} } }],
  [
    'a digest',
    { ...semver, digestReflectionPolicy: 'Always', interval: '10m' },
    { interval: '1h' },
    { update: { pin: 'Digest' }, poll: { interval: '10m' } },
  ],
  ['a suspended repository', semver, { suspend: true }, { suspend: true }],
  ['an interval in Go', semver, { interval: '1h30m0s' }, { poll: { interval: '1h30m' } }],
  ['a Secret', semver, { secretRef: { name: 'regcred' } }, { pullSecrets: [{ name: 'regcred' }] }],
  ['excluded tags', semver, { exclusionList: [String.raw`^.*\.sig$`, '1.0.2'] }, { tags: { ignore: ['1.0.2'] } }],
  [
    'a version that is left out',
    { policy: { semver: { range: '>=1.0.0, !=1.5.0' } } },
    {},
    { select: { semver: { range: '>=1.0.0' } }, tags: { ignore: [String.raw`^v?1\.5\.0$`] } },
  ],
] as const)
  test(`a setting of Flux is converted: ${name}`, () => {
    const [spec_] = specs(repository(more), policy(spec), marked());
    assert.partialDeepStrictEqual(spec_, expected);
  });

for (const [name, spec, more, expected] of [
  ['a Secret of another namespace', semver, { secretRef: { name: 'regcred' } }, /Copy the Secret regcred from flux-system to shop/],
  ['a digest that is kept', { ...semver, digestReflectionPolicy: 'IfNotPresent' }, {}, /pushed again is applied with its new digest/],
  ['a cloud', semver, { provider: 'aws' }, /credentials\.cloud/],
  ['a service account', semver, { serviceAccountName: 'puller' }, /service account puller/],
  ['certificates', semver, { certSecretRef: { name: 'tls' } }, /\{host: ghcr\.io, caFile/],
  ['a proxy', semver, { proxySecretRef: { name: 'proxy' } }, /registries: \[\{host: ghcr\.io, proxy/],
  ['plain http', semver, { insecure: true }, /insecure: true/],
  ['an invalid interval', semver, { interval: 'sometimes' }, /"sometimes" has no counterpart/],
  ['one version', { policy: { semver: { range: '5.0.0' } } }, {}, /Only 5\.0\.0 is in the range/],
  ['a suspended policy', { ...semver, suspend: true }, {}, /suspended, as in Flux/],
] as const)
  test(`a setting of Flux leads to a note: ${name}`, () => {
    const found = notes(repository(more), policy(spec), marked());
    assert.ok(
      found.some((note) => expected.test(note)),
      found.join('\n'),
    );
    for (const note of found) assert.match(note, /[.)]$/);
  });

test('an automation of Flux that pushes to another branch becomes mode: Approval, and a suspended one becomes suspend', () => {
  const guide = (spec: string) => `${api}\nkind: ImageUpdateAutomation\nmetadata: {name: a, namespace: flux-system}\nspec: ${spec}`;
  const pushed = `${api}\n${sample('guide-push').split('\n').slice(1).join('\n')}`.replace(
    'name: flux-system',
    'name: flux-system\n  namespace: flux-system',
  );
  const [approved] = specs(repository(), policy(semver), marked(), pushed);
  assert.deepEqual(approved?.update, { mode: 'Approval' });
  const [suspended] = specs(repository(), policy(semver), marked(), guide('{suspend: true}'));
  assert.equal(suspended?.suspend, true);
  const selected = (label: string) => guide(`{policySelector: {matchLabels: {app: ${label}}}}`);
  assert.ok(
    notes(repository(), policy(semver), marked(), selected('web')).some((note) => note.startsWith('No ImageUpdateAutomation selects')),
  );
  assert.deepEqual(notes(repository(), policy(semver), marked(), guide('{policySelector: {}}')), []);
});

for (const [name, texts, expected] of [
  [
    'no repository',
    [policy(semver), marked()],
    [
      'ImagePolicy flux-system/web: there is no ImageRepository flux-system/web',
      'Deployment shop/web: ImagePolicy flux-system/web is not carried over',
    ],
  ],
  ['no marker', [repository(), policy(semver)], ['ImagePolicy flux-system/web: no marker in the files names it']],
  ['no policy', [marked()], ['Deployment shop/web: its marker names the ImagePolicy flux-system/web, which is not in the files']],
  [
    'another repository',
    [repository(), policy(semver), marked('ghcr.io/old/web:1.0.0')],
    ['Deployment shop/web: ImagePolicy flux-system/web replaces ghcr.io/old/web by ghcr.io/shop/web: set the new repository once by hand'],
  ],
  [
    'a pattern that is none',
    [repository(), policy({ ...semver, filterTags: { pattern: '(' } })],
    [/^ImagePolicy flux-system\/web: the pattern "\(" is not RE2 syntax/],
  ],
  [
    'a group that the pattern has not',
    [repository(), policy({ ...semver, filterTags: { pattern: '^v', extract: '$x' } }), marked()],
    [/\$x.*is not a group/],
  ],
  ['a range that is none', [repository(), policy({ policy: { semver: { range: 'newest' } } })], [/"newest" is no version constraint/]],
  ['no selection', [repository(), policy({ policy: {} })], [/it has no policy/]],
  [
    'the smallest',
    [repository(), policy({ policy: { numerical: { order: 'desc' } } }), marked()],
    [/its order is desc, which selects the smallest tag/],
  ],
  [
    'a field that may not be written',
    [
      repository(),
      policy(semver),
      'apiVersion: example.com/v1\nkind: App\nmetadata: {name: a, namespace: shop}\nspec:\n  version: 1.0.0 # {"$imagepolicy": "flux-system:web:tag"}',
    ],
    [/^App shop\/a: .*customTargets/],
  ],
] as const)
  test(`a policy of Flux is not converted, with the reason: ${name}`, () => {
    assert.deepEqual(convert(...texts).policies, []);
    const found = problems(...texts);
    for (const one of expected)
      assert.ok(
        found.some((problem) => (typeof one === 'string' ? problem === one : one.test(problem))),
        found.join('\n'),
      );
  });

test('only containers with a marker of Flux become targets, and comments that are no markers do not', () => {
  const two = marked().replace(
    '      - name: web',
    '      - {name: other, image: "ghcr.io/shop/web:1.0.0"} # {"$imagepolicy": 1}\n      - name: web',
  );
  const [spec] = specs(repository(), policy(semver), two);
  assert.deepEqual(spec?.targets, [{ kind: 'Deployment', name: 'web', containers: ['web'] }]);
  for (const marker of ['flux-system', 'flux-system:web:size', 'a:b:c:d'])
    assert.deepEqual(specs(repository(), policy(semver), marked(undefined, marker)), []);
});

test('a marker in a kustomization stands for the workloads in the files that run its image', () => {
  const kustomization = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
images:
- name: web
  newName: ghcr.io/shop/web # {"$imagepolicy": "flux-system:web:name"}
  newTag: 1.0.0 # {"$imagepolicy": "flux-system:web:tag"}
`;
  const workload = marked('web:1.0.0', 'none');
  const { policies, skipped } = convert(repository(), policy(semver), kustomization, workload);
  assert.deepEqual(skipped, []);
  assert.deepEqual(
    policies.map((one) => [one.policy.spec.image, one.policy.spec.targets]),
    [['ghcr.io/shop/web', [{ kind: 'Deployment', name: 'web' }]]],
  );
  assert.match(policies[0]?.notes.join() ?? '', /remove its entry in images/);
});

test('the conversion of Flux prints valid policies, and comments about everything else', () => {
  const texts = globSync('*.yaml', { cwd: folder }).map((file) => readFileSync(join(folder, file), 'utf8'));
  const imported = convert(...texts, repository(), policy(semver), marked());
  for (const { policy: written } of imported.policies) specSchema.parse(written.spec);
  const { policies, problems: wrong } = lintText(formatImport(imported), resources);
  assert.deepEqual([policies, wrong], [imported.policies.length, []]);
  assert.ok(imported.policies.length >= 2 && imported.skipped.length > 0);
});
