import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readPolicy } from '../../../src/service/resources/read-policy.ts';
import type { ReadContext } from '../../../src/service/resources/read-spec.ts';
import { apiVersion } from '../../../src/service/resources/v1.ts';
import { isUsable, type PolicySpec } from '../../../src/core/model/image-policy.ts';
import { selectTag } from '../../../src/core/select/select-tag.ts';
import { olderVersions } from '../../harness/resource-group.ts';

const context: ReadContext = { aliases: new Map(), customTargets: [], olderVersions };
const metadata = { name: 'web', namespace: 'shop', uid: 'u', resourceVersion: '7', generation: 3 };
const target = { kind: 'Deployment', name: 'my-java-app' };
const spec = { image: 'library/openjdk', select: { semver: {} }, targets: [target], poll: { interval: '5m' } };

const read = (object: object, more: Partial<ReadContext> = {}) => readPolicy({ metadata, ...object }, { ...context, ...more });

function usable(raw: unknown): PolicySpec {
  const policy = read({ spec: raw });
  assert.ok(isUsable(policy.spec), JSON.stringify(policy.spec));
  return policy.spec;
}

function problem(raw: unknown): { reason: string; message: string } {
  const policy = read({ spec: raw });
  assert.ok(!isUsable(policy.spec));
  return policy.spec.problem;
}

test('a typical manifest is read', () => {
  const { spec: read, ...policy } = readPolicy(
    { apiVersion, kind: 'ImagePolicy', metadata: { ...metadata, labels: { a: 'b' }, annotations: { c: 'd' } }, spec },
    context,
  );
  assert.deepEqual(policy, { ...metadata, apiVersion: 'operator.technomad.dev/v1', labels: { a: 'b' }, status: {} });
  assert.ok(isUsable(read));
  const { strategy, ...rest } = read;
  assert.deepEqual(rest, {
    repository: { registry: 'docker.io', path: 'library/openjdk' },
    pin: 'Tag',
    allowDowngrade: false,
    mode: 'Automatic',
    windows: [],
    targets: [{ ...target, namespace: 'shop' }],
    pollIntervalMs: 300_000,
    suspended: false,
    rollout: { timeoutMs: 600_000, onFailure: 'Ignore' },
    origins: { poll: 'policy', minAge: 'built-in', windows: 'built-in', rollout: 'built-in' },
  });
  assert.equal(strategy.description, 'the highest stable version');
});

test('a verification is read with its keys and signers, and pins digests unless the policy says otherwise', () => {
  const keyless = [{ issuer: 'https://a.example', identity: 'ada@example.com' }];
  const verify = { cosign: { keys: [{ secretRef: { name: 'cosign', key: 'cosign.pub' } }], keyless } };
  const { verification, pin } = usable({ ...spec, verify });
  assert.deepEqual(verification?.keys, [{ secret: 'cosign', key: 'cosign.pub' }]);
  assert.deepEqual(
    verification.signers.map(({ description }) => description),
    ['ada@example.com (by https://a.example)'],
  );
  assert.equal(pin, 'Digest');
  assert.equal(usable({ ...spec, verify, update: { pin: 'Tag' } }).pin, 'Tag');
});

test('a verification without keys or signers is a problem of the policy', () => {
  assert.match(problem({ ...spec, verify: { cosign: {} } }).message, /spec\.verify\.cosign: write keys, keyless or both/);
  const empty = problem({ ...spec, verify: { cosign: { keys: [], keyless: null } } });
  assert.deepEqual([empty.reason, /spec\.verify\.cosign/.test(empty.message)], ['InvalidPolicy', true]);
});

test('a manifest that sets every field is read', () => {
  const { strategy, ...rest } = usable({
    ...spec,
    select: { numerical: {} },
    tags: { allow: 'r(?P<build>.*)', extract: '$build', ignore: ['9'] },
    targets: [{ ...target, apiVersion: 'apps/v1', namespace: 'ops', containers: ['web', 'worker'], initContainers: false }, target],
    update: {
      mode: 'Approval',
      pin: 'Digest',
      allowDowngrade: true,
      windows: [
        { days: ['Fri'], from: '22:00', to: '04:00', timeZone: 'Europe/Berlin' },
        { from: '09:00', to: '17:00' },
      ],
    },
    rollout: { maxParallel: 3, timeout: '1h30m', onFailure: 'Hold' },
    pullSecrets: [{ name: 'harbor' }],
    suspend: true,
  });
  assert.equal(selectTag(strategy, ['r3', 'r8', 'r9', '1']), 'r8');
  assert.deepEqual(rest, {
    repository: { registry: 'docker.io', path: 'library/openjdk' },
    pin: 'Digest',
    allowDowngrade: true,
    mode: 'Approval',
    windows: [
      { days: ['Fri'], from: '22:00', to: '04:00', timeZone: 'Europe/Berlin' },
      { from: '09:00', to: '17:00', timeZone: 'UTC' },
    ],
    targets: [
      { ...target, namespace: 'ops', containers: ['web', 'worker'] },
      { ...target, namespace: 'shop' },
    ],
    pullSecrets: ['harbor'],
    maxParallel: 3,
    pollIntervalMs: 300_000,
    suspended: true,
    rollout: { timeoutMs: 5_400_000, onFailure: 'Hold' },
    origins: { poll: 'policy', minAge: 'built-in', windows: 'policy', rollout: 'policy' },
  });
});

test('targets are read by selector, with init containers, and as fields of a custom resource', () => {
  const selector = { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'c', operator: 'In' as const, values: ['d'] }] };
  const release = { apiVersion: 'helm.toolkit.fluxcd.io/v2', kind: 'HelmRelease', name: 'web', fields: { tag: 'spec.values.image.tag' } };
  const { targets } = usable({
    ...spec,
    targets: [
      { kind: 'StatefulSet', selector },
      { ...target, kind: 'CronJob', apiVersion: 'batch/v1', initContainers: true, volumes: true },
      release,
    ],
  });
  assert.deepEqual(targets, [
    { kind: 'StatefulSet', namespace: 'shop', selector },
    { ...target, kind: 'CronJob', namespace: 'shop', initContainers: true, volumes: true },
    // The repository is beside the tag, whether the policy says so or not.
    { ...release, namespace: 'shop', fields: { repository: 'spec.values.image.repository', tag: 'spec.values.image.tag' } },
  ]);
});

const tags = ['1.18.2', '1.18.10', '1.19.0', '2.0.0-rc.1', 'latest', 'release-1', 'release-2', '7', '10'];
const choices: [name: string, choice: object, selected: string, pin: 'Tag' | 'Digest'][] = [
  ['semver', { select: { semver: {} } }, '1.19.0', 'Tag'],
  ['semver with an empty range', { select: { semver: { range: '' } } }, '1.19.0', 'Tag'],
  ['semver with a range', { select: { semver: { range: '1.18.*' } } }, '1.18.10', 'Tag'],
  ['semver with prereleases', { select: { semver: { prereleases: true } } }, '2.0.0-rc.1', 'Tag'],
  ['digest', { select: { digest: { tag: 'latest' } } }, 'latest', 'Digest'],
  ['digest of another tag', { select: { digest: { tag: 'main' } } }, 'main', 'Digest'],
  ['semver, pinned by its digest', { select: { semver: {} }, update: { pin: 'Digest' } }, '1.19.0', 'Digest'],
  ['alphabetical', { select: { alphabetical: {} }, tags: { allow: 'release-\\d+' } }, 'release-2', 'Tag'],
  ['one tag in place of another', { select: { replace: { from: '9', to: '10' } } }, '10', 'Tag'],
  ['numerical', { select: { numerical: {} } }, '10', 'Tag'],
  ['without some tags', { select: { semver: {} }, tags: { ignore: ['^1\\.19'] } }, '1.18.10', 'Tag'],
];

for (const [name, choice, selected, pin] of choices) {
  test(`${name} selects ${selected}`, () => {
    const { strategy, pin: pinned } = usable({ ...spec, ...choice });
    assert.deepEqual([selectTag(strategy, [...tags, 'main']), pinned], [selected, pin]);
  });
}

test('rollouts are watched and failures reported by default', () => {
  const rolloutOf = (rollout: object | undefined) => usable({ ...spec, ...(rollout && { rollout }) }).rollout;
  assert.deepEqual(rolloutOf(undefined), { timeoutMs: 600_000, onFailure: 'Ignore' });
  assert.deepEqual(rolloutOf({}), { timeoutMs: 600_000, onFailure: 'Rollback' });
  assert.deepEqual(rolloutOf({ timeout: '90s', onFailure: 'Hold' }), { timeoutMs: 90_000, onFailure: 'Hold' });
  assert.equal(rolloutOf({ watch: false }), undefined);
});

test('the poll interval of a policy without one is the built-in interval', () => {
  const { poll: _, ...rest } = spec;
  assert.equal(usable(rest).pollIntervalMs, 3_600_000);
  assert.equal(usable({ ...spec, poll: {} }).pollIntervalMs, 3_600_000);
  assert.equal(usable({ ...spec, poll: { interval: '1h30m' } }).pollIntervalMs, 5_400_000);
});

test('aliases apply to the image that a policy names', () => {
  const aliases = new Map([['registry.internal', 'registry.example.com']]);
  const policy = read({ spec: { ...spec, image: 'registry.internal/shop/web' } }, { aliases });
  assert.deepEqual(isUsable(policy.spec) && policy.spec.repository, { registry: 'registry.example.com', path: 'shop/web' });
});

test('requests of users are read from annotations', () => {
  const annotations = {
    'operator.technomad.dev/approve': ' 1.2.3@sha256:x ',
    'operator.technomad.dev/rollback-to': 'previous',
    'operator.technomad.dev/release': '',
    'operator.technomad.dev/requested-at': 'now',
    'operator.technomad.dev/other': 'x',
  };
  const policy = readPolicy({ metadata: { ...metadata, annotations }, spec }, context);
  assert.deepEqual(policy.actions, { approve: '1.2.3@sha256:x', rollbackTo: 'previous', requestedAt: 'now' });
});

const deployment = { kind: 'Deployment', name: 'web', namespace: 'ops' };
const sayable = { image: 'shop/web', select: { semver: { range: '1.x' } }, targets: [deployment] };
const legacyRows: [name: string, spec: object, isLegacy: boolean][] = [
  ['SemVer', sayable, true],
  ['with a poll interval', { ...sayable, poll: { interval: '5m' } }, true],
  [
    'with what the API server fills in',
    { ...sayable, suspend: false, update: { mode: 'Automatic', allowDowngrade: false }, tags: {} },
    true,
  ],
  ['Latest', { ...sayable, select: { digest: { tag: 'latest' } } }, true],
  ['Regex', { ...sayable, select: { alphabetical: {} }, tags: { allow: '^v' } }, true],
  ['a selector', { ...sayable, targets: [{ kind: 'Deployment', namespace: 'ops', selector: { matchLabels: { a: 'b' } } }] }, false],
  ['two targets', { ...sayable, targets: [deployment, { ...deployment, name: 'db' }] }, false],
  ['another kind', { ...sayable, targets: [{ ...deployment, kind: 'StatefulSet' }] }, false],
  ['chosen containers', { ...sayable, targets: [{ ...deployment, containers: ['web'] }] }, false],
  ['init containers', { ...sayable, targets: [{ ...deployment, initContainers: true }] }, false],
  ['image volumes', { ...sayable, targets: [{ ...deployment, volumes: true }] }, false],
  ['no image volumes', { ...sayable, targets: [{ ...deployment, volumes: false }] }, true],
  ['images of another track', { ...sayable, targets: [{ ...deployment, takeOver: true }] }, false],
  ['a custom resource', { ...sayable, targets: [{ ...deployment, apiVersion: 'example.com/v1', fields: { image: 'spec.image' } }] }, false],
  ['downgrades', { ...sayable, update: { allowDowngrade: true } }, false],
  ['a pinned digest', { ...sayable, update: { pin: 'Digest' } }, false],
  ['prereleases', { ...sayable, select: { semver: { prereleases: true } } }, false],
  ['another tag that moves', { ...sayable, select: { digest: { tag: 'stable' } } }, false],
  ['an extracted version', { ...sayable, tags: { allow: '^v(.*)$', extract: '$1' } }, false],
  ['rollouts', { ...sayable, rollout: { onFailure: 'Rollback' } }, false],
  ['pull secrets', { ...sayable, pullSecrets: [{ name: 'a' }] }, false],
  ['a wrong range', { ...sayable, select: { semver: { range: 'x.y' } } }, false],
];

for (const [name, raw, isLegacy] of legacyRows) {
  test(`a policy that v1alpha1 ${isLegacy ? 'can' : 'cannot'} express is read in the case "${name}"`, () => {
    for (const annotations of [{}, { 'operator.technomad.dev/v1alpha1': '{"targetNamespace":"ops","kind":"StatefulSet"}' }]) {
      const { legacyTarget } = readPolicy({ metadata: { ...metadata, annotations }, spec: raw }, context);
      assert.deepEqual(legacyTarget, isLegacy ? deployment : undefined);
    }
  });
}

const problems: [name: string, raw: unknown, reason: string, message: RegExp][] = [
  ['no spec', undefined, 'InvalidPolicy', /has no spec/],
  ['null', null, 'InvalidPolicy', /has no spec/],
  ['text', 'spec', 'InvalidPolicy', /^spec: /],
  ['nothing in it', {}, 'InvalidPolicy', /spec\.image: .*; spec\.select: .*; spec\.targets: /],
  ['no targets', { ...spec, targets: [] }, 'InvalidPolicy', /spec\.targets/],
  ['a target without a kind', { ...spec, targets: [{ name: 'a' }] }, 'InvalidPolicy', /spec\.targets\[0\]\.kind/],
  [
    'a target without a name',
    { ...spec, targets: [target, { kind: 'Deployment' }] },
    'InvalidPolicy',
    /spec\.targets\[1\]: write either name or selector/,
  ],
  [
    'a scheme and capitals',
    { ...spec, image: 'https://harbor.example.com/Team/App' },
    'InvalidPolicy',
    /^spec\.image: write "harbor\.example\.com\/team\/app": an image name is in lower case and has no scheme$/,
  ],
  ['nothing is chosen', { ...spec, select: {} }, 'InvalidPolicy', /^spec\.select: .*write exactly one of semver/],
  ['two are chosen', { ...spec, select: { semver: {}, numerical: {} } }, 'InvalidPolicy', /^spec\.select: .*write exactly one of semver/],
  ['an interval of nothing', { ...spec, poll: { interval: '' } }, 'InvalidPolicy', /spec\.poll\.interval/],
  ['an interval of no time', { ...spec, poll: { interval: '0s' } }, 'InvalidPolicy', /spec\.poll\.interval: /],
  ['an interval in days', { ...spec, poll: { interval: '1d' } }, 'InvalidPolicy', /spec\.poll\.interval/],
  ['a tag', { ...spec, image: 'nginx:1.2' }, 'InvalidPolicy', /spec\.image: write only the repository/],
  ['a digest', { ...spec, image: `nginx@sha256:${'a'.repeat(64)}` }, 'InvalidPolicy', /spec\.image: .*digest/],
  ['a scheme', { ...spec, image: 'https://registry.example.com/shop/web' }, 'InvalidPolicy', /^spec\.image: /],
  [
    'a range that is none',
    { ...spec, select: { semver: { range: 'banana' } } },
    'InvalidTagPolicy',
    /^spec\.select\.semver\.range: .*banana/,
  ],
  ['a pattern that is none', { ...spec, tags: { allow: '(' } }, 'InvalidTagPolicy', /^spec\.tags\.allow: /],
  ['a pattern to ignore that is none', { ...spec, tags: { ignore: ['a', '('] } }, 'InvalidTagPolicy', /^spec\.tags\.ignore\[1\]: /],
  [
    'a followed tag that is filtered out',
    { ...spec, select: { digest: { tag: 'main' } }, tags: { allow: 'v.*' } },
    'InvalidTagPolicy',
    /^spec\.tags.*"main".*remove tags/,
  ],
  [
    'what only a newer version knows',
    { ...spec, canary: { steps: 3 }, tags: { soak: 1 } },
    'NotYetSupported',
    /spec\.canary, spec\.tags\.soak.*remove/,
  ],
  ['an invalid field is reported before an unknown one', { ...spec, image: 'a:b', canary: {} }, 'InvalidPolicy', /spec\.image/],
];

for (const [name, raw, reason, message] of problems) {
  test(`a policy is reported as ${reason} in the case "${name}"`, () => {
    const found = problem(raw);
    assert.equal(found.reason, reason);
    assert.match(found.message, message);
  });
}

test('a suspended policy is suspended, whatever else is wrong with it', () => {
  for (const [, raw] of problems.filter(([, raw]) => typeof raw === 'object' && raw !== null)) {
    assert.equal(read({ spec: { ...(raw as object), suspend: true } }).spec.suspended, true);
  }
});

test('reading never throws, whatever the spec, status and annotations are', () => {
  const fields = fc.record(
    {
      image: fc.anything(),
      select: fc.anything(),
      tags: fc.anything(),
      targets: fc.anything(),
      update: fc.anything(),
      poll: fc.anything(),
      suspend: fc.anything(),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.anything(),
        fields,
        fields.map((some) => ({ ...spec, ...some })),
      ),
      fc.anything(),
      fc.anything(),
      (spec, status, annotations) => {
        const policy = readPolicy({ metadata: { ...metadata, annotations }, spec, status }, context);
        if (!isUsable(policy.spec)) assert.ok(policy.spec.problem.message.length <= 1_001);
      },
    ),
    { numRuns: 500 },
  );
});
