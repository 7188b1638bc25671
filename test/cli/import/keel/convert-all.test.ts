import assert from 'node:assert/strict';
import { test } from 'node:test';
import { convertAll } from '../../../../src/cli/import/keel/convert-all.ts';
import { formatImport } from '../../../../src/cli/import/merge-drafts.ts';
import { convertPollSchedule } from '../../../../src/cli/import/keel/convert-workload.ts';
import type { SourceWorkload } from '../../../../src/cli/import/workload.ts';
import { lintText } from '../../../../src/cli/lint/lint-text.ts';
import { resources } from '../../../harness/resource-group.ts';

function workload(name: string, image: string, annotations: Record<string, string>, more: Partial<SourceWorkload> = {}): SourceWorkload {
  const containers = [{ name: 'app', image }];
  return { kind: 'Deployment', namespace: 'shop', name, labels: {}, annotations, containers, initContainers: [], ...more };
}

const minor = { 'keel.sh/policy': 'minor' };
const specs = (...workloads: SourceWorkload[]) => convertAll(workloads).policies.map(({ policy }) => policy.spec);
const notes = (...workloads: SourceWorkload[]) => convertAll(workloads).policies.flatMap((imported) => imported.notes);
const summary = (...workloads: SourceWorkload[]) =>
  convertAll(workloads).policies.map(({ policy: { metadata, spec } }) => [
    `${metadata.namespace}/${metadata.name}`,
    ...spec.targets.map(({ kind, name }) => `${kind} ${name}`),
  ]);

test('a workload with settings of Keel becomes a policy with the same name', () => {
  const { policies, skipped } = convertAll([workload('web', 'nginx:1.27.1', minor)]);
  assert.deepEqual(skipped, []);
  assert.deepEqual(
    policies.map(({ policy }) => policy),
    [
      {
        apiVersion: 'operator.technomad.dev/v1',
        kind: 'ImagePolicy',
        metadata: { name: 'web', namespace: 'shop' },
        spec: {
          image: 'docker.io/library/nginx',
          select: { semver: { range: '1.x' } },
          targets: [{ kind: 'Deployment', name: 'web' }],
        },
      },
    ],
  );
});

for (const [name, annotations, labels] of [
  ['nothing of Keel', {}, {}],
  ['never', { 'keel.sh/policy': 'never' }, {}],
  ['an empty policy', { 'keel.sh/policy': '' }, {}],
  ['a policy at the annotations that takes back that of the labels', { 'keel.sh/policy': 'never' }, minor],
] as const) {
  test(`a workload without effective settings of Keel yields no policy and no message: ${name}`, () => {
    assert.deepEqual(convertAll([workload('web', 'nginx:1.27.1', annotations, { labels })]), { policies: [], skipped: [], remarks: [] });
  });
}

for (const [name, keys, expected] of [
  ['labels', { labels: minor, annotations: {} }, '1.x'],
  ['annotations before labels', { labels: minor, annotations: { 'keel.sh/policy': 'patch' } }, '1.27.x'],
  ['the former name of labels', { labels: { 'keel.observer/policy': 'minor' }, annotations: {} }, '1.x'],
  ['any case', { labels: {}, annotations: { 'Keel.sh/Policy': 'minor' } }, '1.x'],
] as const) {
  test(`the policy of Keel is read from ${name}`, () => {
    const [spec] = specs(workload('web', 'nginx:1.27.1', keys.annotations, { labels: keys.labels }));
    assert.equal(spec?.select.semver?.range, expected);
  });
}

for (const [name, keys, expected] of [
  ['approvals', { approvals: '1' }, { update: { mode: 'Approval' } }],
  ['no approvals', { approvals: '0' }, {}],
  ['a pull secret', { imagePullSecret: 'creds' }, { pullSecrets: [{ name: 'creds' }] }],
  ['a poll', { trigger: 'poll', pollSchedule: '@every 10m' }, { poll: { interval: '10m' } }],
  ['a poll without a schedule', { trigger: 'poll' }, { poll: { interval: '1m' } }],
  ['a schedule without a poll, which Keel ignores', { pollSchedule: '@every 10m' }, {}],
] as const) {
  test(`a setting of Keel is converted: ${name}`, () => {
    const annotations = Object.fromEntries(Object.entries(keys).map(([key, value]) => [`keel.sh/${key}`, value]));
    const [{ image: _, select: __, targets: ___, ...rest } = assert.fail('no policy')] = specs(
      workload('web', 'nginx:1.27.1', { ...minor, ...annotations }),
    );
    assert.deepEqual(rest, expected);
  });
}

for (const [name, keys, expected] of [
  ['several approvals', { approvals: '3' }, /asked for 3 approvals; here one is enough/],
  ['a deadline of approvals', { approvals: '1', approvalDeadline: '5' }, /has no deadline/],
  ['approvals that are no number', { approvals: 'many' }, /"many" is no number/],
  ['a cron expression', { trigger: 'poll', pollSchedule: '0 3 * * *' }, /"0 3 \* \* \*" has no counterpart/],
  [
    'settings without a counterpart',
    { notify: '#ops', releaseNotes: 'https://x' },
    /^Not carried over: keel\.sh\/notify, keel\.sh\/releaseNotes\.$/,
  ],
  ['image volumes', { imageVolumes: 'true' }, /^Not carried over: keel\.sh\/imageVolumes\.$/],
] as const) {
  test(`a setting of Keel leads to a note: ${name}`, () => {
    const annotations = Object.fromEntries(Object.entries(keys).map(([key, value]) => [`keel.sh/${key}`, value]));
    assert.ok(notes(workload('web', 'nginx:1.27.1', { ...minor, ...annotations })).some((note) => expected.test(note)));
  });
}

test('annotations that Keel writes itself are not mentioned', () => {
  const written = { 'keel.sh/digest': 'sha256:1', 'keel.sh/update-time': 'now' };
  const said = notes(workload('web', 'nginx:1.27.1', { 'keel.sh/policy': 'major', ...written }));
  assert.deepEqual(said, ['Only tags with three numbers are candidates; Keel takes "1.5" for 1.5.0.']);
});

test('each repository of a workload becomes a policy, those of init containers only if Keel reads them', () => {
  const more = {
    containers: [
      { name: 'app', image: 'ghcr.io/shop/web:1.0.0' },
      { name: 'proxy', image: 'envoyproxy/envoy:v1.31.0' },
      { name: 'second', image: 'ghcr.io/shop/web:1.0.0' },
    ],
    initContainers: [{ name: 'migrate', image: 'ghcr.io/shop/migrate:1.0.0' }],
  };
  assert.deepEqual(
    specs(workload('web', '', minor, more)).map(({ image }) => image),
    ['ghcr.io/shop/web', 'docker.io/envoyproxy/envoy'],
  );
  const all = specs(workload('web', '', { ...minor, 'keel.sh/initContainers': 'true' }, more));
  assert.deepEqual(
    all.map(({ image, targets }) => [image, targets[0]?.initContainers]),
    [
      ['ghcr.io/shop/web', true],
      ['docker.io/envoyproxy/envoy', true],
      ['ghcr.io/shop/migrate', true],
    ],
  );
  const some = specs(workload('web', '', { ...minor, 'keel.sh/monitorContainers': '^(app|second)$' }, more));
  assert.deepEqual(
    some.map(({ targets }) => targets),
    [[{ kind: 'Deployment', name: 'web', containers: ['app', 'second'] }]],
  );
});

test('workloads of a namespace with the same settings of Keel share a policy, and names do not collide', () => {
  const base = 'ghcr.io/shop/base_image:1.0.0';
  assert.deepEqual(
    summary(
      workload('a', base, minor),
      workload('b', base, minor, { kind: 'CronJob' }),
      workload('a', base, minor, { namespace: 'ops' }),
      workload('base-image', 'ghcr.io/shop/other:1.0.0', minor),
      workload('base-image', 'ghcr.io/shop/other:2.0.0', minor, { kind: 'StatefulSet' }),
      workload('base-image', 'ghcr.io/shop/other:3.0.0', minor, { kind: 'DaemonSet' }),
    ),
    [
      ['shop/base-image', 'Deployment a', 'CronJob b'],
      ['ops/a', 'Deployment a'],
      ['shop/base-image-other', 'Deployment base-image'],
      ['shop/base-image-2', 'StatefulSet base-image'],
      ['shop/base-image-3', 'DaemonSet base-image'],
    ],
  );
});

test('a policy converted from Keel has at most 64 targets', () => {
  const many = Array.from({ length: 130 }, (_, index) => workload(`web-${index}`, 'ghcr.io/shop/web:1.0.0', minor));
  const policies = summary(...many);
  assert.deepEqual(
    policies.map(([name, ...targets]) => [name, targets.length]),
    [
      ['shop/web', 64],
      ['shop/web-2', 64],
      ['shop/web-3', 2],
    ],
  );
  assert.equal(new Set(policies.flatMap(([, ...targets]) => targets)).size, 130);
});

for (const [name, one, problem] of [
  ['an invalid image', workload('web', 'shop//web:1.0.0', minor), /not a repository path/],
  ['an invalid pattern of containers', workload('web', 'nginx:1.0.0', { ...minor, 'keel.sh/monitorContainers': '(' }), /not RE2 syntax/],
  ['an invalid pull secret', workload('web', 'nginx:1.0.0', { ...minor, 'keel.sh/imagePullSecret': 'A B' }), /pullSecrets/],
  [
    'different tags of one repository',
    workload('web', '', minor, {
      containers: [
        { name: 'a', image: 'nginx:1.0.0' },
        { name: 'b', image: 'nginx:1.1.0' },
      ],
    }),
    /different tags of docker\.io\/library\/nginx \(1\.0\.0, 1\.1\.0\)/,
  ],
] as const) {
  test(`a workload is not converted, but other workloads are: ${name}`, () => {
    const { policies, skipped } = convertAll([one, workload('fine', 'ghcr.io/a/b:1.0.0', minor)]);
    assert.deepEqual(
      policies.map(({ policy }) => policy.metadata.name),
      ['fine'],
    );
    assert.deepEqual(
      skipped.map(({ object }) => object),
      ['Deployment shop/web'],
    );
    assert.match(skipped[0]?.problem ?? '', problem);
  });
}

test('lint finds no problem in policies converted from Keel, and notes stay comments', () => {
  const imported = convertAll([
    workload('web', 'nginx:1.27.1', minor),
    workload('api', 'ghcr.io/shop/api:latest', { 'keel.sh/policy': 'force', 'keel.sh/notify\nspec': 'x' }),
    workload('bad', 'nginx:main', { 'keel.sh/policy': 'all\n---\nkind: Pod' }),
  ]);
  const text = formatImport(imported);
  const { problems, policies } = lintText(text, resources);
  assert.deepEqual([problems, policies], [[], 2]);
  assert.match(text, /^# The range is that of the version that runs \(1\.27\.1\)/m);
  assert.match(text, /^# Not carried over: Deployment shop\/bad: /m);
  assert.doesNotMatch(text, /^kind: Pod/m);
});

for (const [schedule, expected] of [
  ['@every 1h30m', '1h30m'],
  ['@every 90s', '90s'],
  ['@hourly', '1h'],
  ['@daily', '24h'],
  ['@weekly', '168h'],
  ['@every 0m', undefined],
  ['@every 500ms', undefined],
  ['@monthly', undefined],
  ['*/5 * * * *', undefined],
] as const) {
  test(`the schedule ${schedule} of Keel is converted to ${expected ?? 'a note'}`, () => {
    const { interval, note } = convertPollSchedule(schedule);
    assert.deepEqual([interval, note === undefined], [expected, expected !== undefined]);
  });
}
