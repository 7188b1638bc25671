import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { apiVersion, readPolicy, readStatus, type ReadContext } from '../../src/api-versions/v1alpha1.ts';
import { isUsable, type PolicySpec } from '../../src/core/image-policy.ts';
import { selectTag } from '../../src/core/select-tag.ts';

const context: ReadContext = { aliases: new Map(), defaultPollIntervalMs: 3_600_000 };
const metadata = { name: 'web', namespace: 'shop', uid: 'u', resourceVersion: '7', generation: 3 };
const target = { kind: 'Deployment', name: 'my-java-app', namespace: 'default' };
const spec = { repository: 'library/openjdk', tagPolicy: { strategy: 'SemVer' }, updateTarget: target, pollIntervalMinutes: 5 };

const read = (object: object) => readPolicy({ metadata, ...object }, context);

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

test('a manifest as it exists today', () => {
  const { spec: read, ...policy } = readPolicy(
    { apiVersion, kind: 'ImagePolicy', metadata: { ...metadata, labels: { a: 'b' } }, spec },
    context,
  );
  assert.deepEqual(policy, { ...metadata, apiVersion: 'operator.technomad.dev/v1alpha1', status: {} });
  assert.ok(isUsable(read));
  const { strategy, ...rest } = read;
  assert.deepEqual(rest, {
    repository: { registry: 'docker.io', path: 'library/openjdk' },
    pin: 'Tag',
    targets: [target],
    pollIntervalMs: 300_000,
  });
  assert.equal(strategy.description, 'the highest stable version');
});

const tags = ['1.18.2', '1.18.10', '1.19.0', '2.0.0-rc.1', 'latest', 'release-1', 'release-2'];
const strategies: [name: string, tagPolicy: object, selected: string, pin: 'Tag' | 'Digest'][] = [
  ['SemVer', { strategy: 'SemVer' }, '1.19.0', 'Tag'],
  ['SemVer with an empty pattern', { strategy: 'SemVer', pattern: '' }, '1.19.0', 'Tag'],
  ['SemVer with a range', { strategy: 'SemVer', pattern: '1.18.*' }, '1.18.10', 'Tag'],
  ['Latest', { strategy: 'Latest' }, 'latest', 'Digest'],
  ['Latest, whatever the pattern says', { strategy: 'Latest', pattern: '(' }, 'latest', 'Digest'],
  ['Regex', { strategy: 'Regex', pattern: 'release-\\d+' }, 'release-2', 'Tag'],
];

for (const [name, tagPolicy, selected, pin] of strategies) {
  test(`${name} selects ${selected}`, () => {
    const { strategy, pin: pinned } = usable({ ...spec, tagPolicy });
    assert.deepEqual([selectTag(strategy, tags), pinned], [selected, pin]);
  });
}

test('without an interval, the one of the configuration', () => {
  const { pollIntervalMinutes: _, ...rest } = spec;
  assert.equal(usable(rest).pollIntervalMs, 3_600_000);
});

test('aliases apply to what a policy names', () => {
  const aliases = new Map([['registry.internal', 'registry.example.com']]);
  const policy = readPolicy({ metadata, spec: { ...spec, repository: 'registry.internal/shop/web' } }, { ...context, aliases });
  assert.deepEqual(isUsable(policy.spec) && policy.spec.repository, { registry: 'registry.example.com', path: 'shop/web' });
});

const problems: [name: string, raw: unknown, reason: string, message: RegExp][] = [
  ['no spec', undefined, 'InvalidPolicy', /has no spec/],
  ['null', null, 'InvalidPolicy', /has no spec/],
  ['text', 'spec', 'InvalidPolicy', /^spec: /],
  ['nothing in it', {}, 'InvalidPolicy', /spec\.repository: .*; spec\.tagPolicy: .*; spec\.updateTarget: /],
  [
    'a target without a namespace',
    { ...spec, updateTarget: { kind: 'Deployment', name: 'a' } },
    'InvalidPolicy',
    /spec\.updateTarget\.namespace/,
  ],
  ['an unknown strategy', { ...spec, tagPolicy: { strategy: 'Newest' } }, 'InvalidPolicy', /spec\.tagPolicy\.strategy/],
  ['an interval of nothing', { ...spec, pollIntervalMinutes: 0 }, 'InvalidPolicy', /spec\.pollIntervalMinutes/],
  ['half a minute', { ...spec, pollIntervalMinutes: 0.5 }, 'InvalidPolicy', /spec\.pollIntervalMinutes/],
  ['a tag', { ...spec, repository: 'nginx:1.2' }, 'InvalidPolicy', /spec\.repository: "nginx:1\.2" has a tag/],
  ['a digest', { ...spec, repository: `nginx@sha256:${'a'.repeat(64)}` }, 'InvalidPolicy', /spec\.repository: .*digest/],
  ['a scheme', { ...spec, repository: 'https://registry.example.com/shop/web' }, 'InvalidPolicy', /^spec\.repository: /],
  [
    'a range that is none',
    { ...spec, tagPolicy: { strategy: 'SemVer', pattern: 'banana' } },
    'InvalidTagPolicy',
    /^spec\.tagPolicy\.pattern: .*banana/,
  ],
  [
    'a pattern that is none',
    { ...spec, tagPolicy: { strategy: 'Regex', pattern: '(' } },
    'InvalidTagPolicy',
    /^spec\.tagPolicy\.pattern: /,
  ],
  ['no pattern', { ...spec, tagPolicy: { strategy: 'Regex' } }, 'InvalidTagPolicy', /^spec\.tagPolicy\.pattern: missing/],
];

for (const [name, raw, reason, message] of problems) {
  test(`${name}: ${reason}`, () => {
    const found = problem(raw);
    assert.equal(found.reason, reason);
    assert.match(found.message, message);
  });
}

test('any spec and any status is read, never thrown at', () => {
  const fields = fc.record(
    { repository: fc.anything(), tagPolicy: fc.anything(), updateTarget: fc.anything(), pollIntervalMinutes: fc.anything() },
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
      (spec, status) => {
        const policy = read({ spec, status });
        if (!isUsable(policy.spec)) assert.ok(policy.spec.problem.message.length <= 1_001);
      },
    ),
    { numRuns: 300 },
  );
});

test('a status is read as far as it can be', () => {
  const condition = { type: 'Ready', status: 'True', reason: 'UpToDate', message: '', lastTransitionTime: '2026-03-01T12:00:00Z' };
  const status = { observedGeneration: 2, lastCheckedTime: '2026-03-01T12:00:00Z', lastAppliedTag: '1.2.3', conditions: [condition] };
  assert.deepEqual(readStatus(status), status);
  assert.deepEqual(readStatus({ ...status, conditions: 'none', lastAppliedTag: 7, other: true }), {
    observedGeneration: 2,
    lastCheckedTime: '2026-03-01T12:00:00Z',
  });
  for (const nothing of [undefined, null, {}, 'text', 7]) assert.deepEqual(readStatus(nothing), {});
});
