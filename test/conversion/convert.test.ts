import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import { RE2JS } from 're2js';
import { convertObject } from '../../src/conversion/convert.ts';
import { matchesNothing } from '../../src/conversion/specs/convert-spec.ts';
import { savedAnnotation } from '../../src/conversion/specs/saved-v1.ts';
import { differences, down, isHidden, oldPolicy, setAnnotation, setAt, up, v1, v1Policy } from '../service/resources/objects.ts';

const image = 'harbor.example.com/shop/web';
const targets = [{ kind: 'Deployment', name: 'web' }];
const plain = { image, select: { semver: { range: '1.x' } }, targets };
const oldPlain = {
  repository: image,
  tagPolicy: { strategy: 'SemVer', pattern: '1.x' },
  updateTarget: { kind: 'Deployment', name: 'web', namespace: 'shop' },
  pollIntervalMinutes: 60,
};

const pairs: [name: string, v1: object, v1alpha1: object][] = [
  ['a range', { select: { semver: { range: '1.x' } } }, { tagPolicy: { strategy: 'SemVer', pattern: '1.x' } }],
  ['no range', { select: { semver: {} } }, { tagPolicy: { strategy: 'SemVer' } }],
  ['latest', { select: { digest: { tag: 'latest' } } }, { tagPolicy: { strategy: 'Latest' } }],
  ['a pattern', { select: { alphabetical: {} }, tags: { allow: 'v.*' } }, { tagPolicy: { strategy: 'Regex', pattern: 'v.*' } }],
  ['minutes', { poll: { interval: '5m' } }, { pollIntervalMinutes: 5 }],
  [
    'another namespace',
    { targets: [{ kind: 'Deployment', name: 'web', namespace: 'ops' }] },
    { updateTarget: { kind: 'Deployment', name: 'web', namespace: 'ops' } },
  ],
];

for (const [name, newer, olderStatus] of pairs) {
  test(`${name} is the same in both versions`, () => {
    assert.deepEqual(down(v1Policy({ ...plain, ...newer })).spec, { ...oldPlain, ...olderStatus });
    assert.deepEqual(up(oldPolicy({ ...oldPlain, ...olderStatus })).spec, { ...plain, poll: { interval: '60m' }, ...newer });
  });
}

const shown: [name: string, v1: object, v1alpha1: object][] = [
  ['all tags alphabetically', { select: { alphabetical: {} } }, { tagPolicy: { strategy: 'Regex', pattern: '.*' } }],
  ['defaults that the API server wrote', { suspend: false, select: { semver: { range: '1.x', prereleases: false } } }, {}],
  ['half minutes', { poll: { interval: '90s' } }, { pollIntervalMinutes: 2 }],
  ['hours', { poll: { interval: '1h30m' } }, { pollIntervalMinutes: 90 }],
  ['too often', { poll: { interval: '0s' } }, { pollIntervalMinutes: 1 }],
  ['too seldom', { poll: { interval: '9999999h' } }, { pollIntervalMinutes: 527_040 }],
  ['no interval', { poll: {} }, { pollIntervalMinutes: 60 }],
  ['its namespace written out', { targets: [{ ...targets[0], namespace: 'shop', initContainers: false }] }, {}],
  ['a rollout', { rollout: { watch: false, timeout: '1m', onFailure: 'Hold' } }, {}],
  ['pull secrets', { pullSecrets: [{ name: 'a' }] }, {}],
  ['empty lists', { platforms: [], tags: { ignore: [] }, update: { windows: [] } }, {}],
  ['what is the default anyway', { update: { mode: 'Automatic', pin: 'Tag', allowDowngrade: false } }, {}],
  [
    'the default of pin for digests',
    { select: { digest: { tag: 'latest' } }, update: { pin: 'Digest' } },
    { tagPolicy: { strategy: 'Latest' } },
  ],
];

for (const [name, newer, olderStatus] of shown) {
  test(`v1alpha1 shows ${name}`, () => assert.deepEqual(down(v1Policy({ ...plain, ...newer })).spec, { ...oldPlain, ...olderStatus }));
}

const hidden: [name: string, spec: object][] = [
  ['a suspended policy', { suspend: true }],
  ['approval', { update: { mode: 'Approval' } }],
  ['a dry run', { update: { mode: 'DryRun' } }],
  ['windows', { update: { windows: [{ from: '09:00', to: '17:00' }] } }],
  ['minAge', { minAge: '30m' }],
  ['verify', { verify: { cosign: { keys: [{ secretRef: { name: 'a', key: 'b' } }] } } }],
  ['downgrades', { update: { allowDowngrade: true } }],
  ['a digest pinned with a version', { update: { pin: 'Digest' } }],
  ['a tag pinned with a digest', { select: { digest: { tag: 'latest' } }, update: { pin: 'Tag' } }],
  ['the newest', { select: { newest: {} } }],
  ['one tag in place of another', { select: { replace: { from: '1.4.2', to: '1.4.2-base.20261123' } } }],
  ['numbers', { select: { numerical: {} } }],
  ['another mutable tag', { select: { digest: { tag: 'main' } } }],
  ['prereleases', { select: { semver: { prereleases: true } } }],
  ['two strategies', { select: { semver: {}, digest: { tag: 'latest' } } }],
  ['no strategy', { select: {} }],
  ['a strategy of a later version', { select: { calver: {} } }],
  ['a strategy named like a method', { select: { constructor: {} } }],
  ['a filter of versions', { tags: { allow: 'v.*' } }],
  ['a part of the tag', { select: { alphabetical: {} }, tags: { allow: '^(?P<v>.*)$', extract: '$v' } }],
  ['ignored tags', { select: { alphabetical: {} }, tags: { allow: '.*', ignore: ['rc'] } }],
  ['platforms', { platforms: ['linux/arm64'] }],
  ['several targets', { targets: [...targets, { kind: 'Deployment', name: 'api' }] }],
  ['no target', { targets: [] }],
  ['a selector', { targets: [{ kind: 'Deployment', selector: { matchLabels: { a: 'b' } } }] }],
  ['another kind', { targets: [{ kind: 'StatefulSet', name: 'web' }] }],
  ['some containers', { targets: [{ ...targets[0], containers: ['web'] }] }],
  ['init containers', { targets: [{ ...targets[0], initContainers: true }] }],
  ['image volumes', { targets: [{ ...targets[0], volumes: true }] }],
  ['a custom resource', { targets: [{ ...targets[0], apiVersion: 'a/v1', fields: { image: 'spec.image' } }] }],
  ['a field of a later version', { freeze: true }],
  ['a field named like a method', { constructor: {} }],
  ['no image', { image: undefined }],
  ['null', { update: null }],
];

for (const [name, part] of hidden) {
  test(`v1alpha1 cannot act on ${name}, and an edit of something else keeps it`, () => {
    const object = v1Policy(JSON.parse(JSON.stringify({ ...plain, ...part })));
    const view = down(object);
    assert.ok(isHidden(view), JSON.stringify(view.spec));
    assert.deepEqual(up(view), object);
    assert.deepEqual(differences(up(setAt(view, 'spec.pollIntervalMinutes', 7)), object), ['spec.poll.interval']);
  });
}

test('the pattern that stands for a hidden policy matches nothing in any regex dialect', () => {
  for (const tag of ['', 'latest', '1.2.3', matchesNothing, matchesNothing.slice(7), `x${matchesNothing.slice(7)}`, '\n']) {
    assert.equal(RE2JS.compile(matchesNothing).matcher(tag).find(), false);
    assert.equal(new RegExp(matchesNothing, 's').test(tag), false);
  }
});

const edits: [name: string, before: object, leaves: Record<string, unknown>, after: object][] = [
  [
    'a version range keeps what else is said of versions',
    { select: { semver: { range: '1.x', prereleases: false } } },
    { 'tagPolicy.pattern': '2.x' },
    { select: { semver: { range: '2.x', prereleases: false } } },
  ],
  ['a removed range', {}, { 'tagPolicy.pattern': undefined }, { select: { semver: {} } }],
  [
    'another strategy takes its pattern along',
    { select: { alphabetical: {} }, tags: { allow: 'v.*' } },
    { 'tagPolicy.strategy': 'Latest', 'tagPolicy.pattern': undefined },
    { select: { digest: { tag: 'latest' } } },
  ],
  [
    'a strategy instead of one that v1alpha1 cannot show',
    { select: { numerical: {} }, tags: { allow: '^b(?P<n>.*)$', extract: '$n', ignore: ['x'] }, minAge: '1h' },
    { 'tagPolicy.strategy': 'SemVer', 'tagPolicy.pattern': '1.x' },
    { minAge: '1h' },
  ],
  [
    'the manifest of before, applied to a view that hides what was added since, changes nothing',
    { select: { semver: { range: '1.x', prereleases: true } }, tags: { allow: '^v(.*)$', extract: '$1', ignore: ['rc'] }, minAge: '1h' },
    { 'tagPolicy.strategy': 'SemVer', 'tagPolicy.pattern': '1.x' },
    { select: { semver: { range: '1.x', prereleases: true } }, tags: { allow: '^v(.*)$', extract: '$1', ignore: ['rc'] }, minAge: '1h' },
  ],
  [
    'the same with latest',
    { select: { digest: { tag: 'latest' } }, tags: { ignore: ['rc'] } },
    { 'tagPolicy.strategy': 'Latest', 'tagPolicy.pattern': undefined },
    { select: { digest: { tag: 'latest' } }, tags: { ignore: ['rc'] } },
  ],
  [
    'another range keeps what v1alpha1 has no words for',
    { select: { semver: { range: '1.x', prereleases: true } }, tags: { ignore: ['rc'] } },
    { 'tagPolicy.strategy': 'SemVer', 'tagPolicy.pattern': '2.x' },
    { select: { semver: { range: '2.x', prereleases: true } }, tags: { ignore: ['rc'] } },
  ],
  [
    'another pattern keeps what v1alpha1 has no words for',
    { select: { alphabetical: {} }, tags: { allow: 'v.*', ignore: ['rc'] } },
    { 'tagPolicy.pattern': 'main-.*' },
    { select: { alphabetical: {} }, tags: { allow: 'main-.*', ignore: ['rc'] } },
  ],
  [
    'another mutable tag than latest was chosen in v1',
    { select: { digest: { tag: 'main' } }, minAge: '1h' },
    { 'tagPolicy.strategy': 'Latest' },
    { select: { digest: { tag: 'latest' } }, minAge: '1h' },
  ],
  [
    'an edit of a suspended policy leaves it suspended',
    { suspend: true, select: { semver: { range: '1.x', prereleases: true } } },
    { 'tagPolicy.pattern': 'v.*' },
    { suspend: true, select: { alphabetical: {} }, tags: { allow: 'v.*' } },
  ],
  [
    'a manifest without a pattern, applied to a hidden view, leaves our pattern in place: a range that v1 has stays',
    { suspend: true, select: { semver: { range: '1.x', prereleases: true } } },
    { 'tagPolicy.strategy': 'SemVer' },
    { suspend: true, select: { semver: { range: '1.x', prereleases: true } } },
  ],
  [
    'the same without our pattern: who was not shown the range does not remove it',
    { suspend: true, select: { semver: { range: '1.x', prereleases: true } } },
    { 'tagPolicy.strategy': 'SemVer', 'tagPolicy.pattern': undefined },
    { suspend: true, select: { semver: { range: '1.x', prereleases: true } } },
  ],
  [
    'a manifest without a pattern instead of another strategy does not mean our pattern',
    { suspend: true, select: { newest: {} } },
    { 'tagPolicy.strategy': 'SemVer' },
    { suspend: true, select: { semver: {} } },
  ],
  [
    'a default pin that was written out follows the strategy',
    { update: { pin: 'Tag', mode: 'Automatic' } },
    { 'tagPolicy.strategy': 'Latest' },
    { select: { digest: { tag: 'latest' } }, update: { mode: 'Automatic' } },
  ],
  ['half minutes stay', { poll: { interval: '90s' } }, { repository: 'nginx' }, { image: 'nginx', poll: { interval: '90s' } }],
  ['an interval', { poll: { interval: '90s' } }, { pollIntervalMinutes: 3 }, { poll: { interval: '3m' } }],
  [
    'the first of several targets',
    { targets: [{ kind: 'StatefulSet', selector: { matchLabels: { a: 'b' } }, containers: ['c'] }, ...targets] },
    { 'updateTarget.name': 'api', 'updateTarget.namespace': 'ops' },
    { targets: [{ kind: 'StatefulSet', name: 'api', namespace: 'ops', containers: ['c'] }, ...targets] },
  ],
  [
    'back into the own namespace',
    { targets: [{ ...targets[0], namespace: 'ops' }] },
    { 'updateTarget.namespace': 'shop' },
    { targets: [{ ...targets[0] }] },
  ],
  ['a later version’s fields stay', { freeze: { a: 1 } }, { repository: 'nginx' }, { image: 'nginx', freeze: { a: 1 } }],
];

for (const [name, before, leaves, after] of edits) {
  test(`an edit made in v1alpha1 is applied in the case "${name}"`, () => {
    const view = down(v1Policy({ ...plain, ...before }));
    const edited = Object.entries(leaves).reduce((object, [path, value]) => setAt(object, `spec.${path}`, value), view);
    assert.deepEqual(up(edited).spec, { ...plain, ...after });
  });
}

test('a Regex without a pattern never selected anything and still selects nothing', () => {
  for (const tagPolicy of [{ strategy: 'Regex' }, { strategy: 'Regex', pattern: '' }]) {
    const stored = up(oldPolicy({ ...oldPlain, tagPolicy }));
    assert.deepEqual([stored.spec?.['select'], stored.spec?.['tags']], [{}, undefined]);
    assert.deepEqual(down(stored).spec, { ...oldPlain, tagPolicy });
  }
});

test('the default interval of v1alpha1 does not add an interval to a v1 policy without one', () => {
  const view = down(v1Policy(plain));
  assert.equal(view.spec?.['pollIntervalMinutes'], 60);
  assert.equal(up(setAt(view, 'spec.repository', 'nginx')).spec?.['poll'], undefined);
  assert.equal(up(setAt(view, 'spec.pollIntervalMinutes', undefined)).spec?.['poll'], undefined);
});

test('an object without a spec stays without one, and a removed spec is removed', () => {
  assert.deepEqual(up(oldPolicy(undefined)), v1Policy(undefined));
  assert.deepEqual(down(v1Policy(undefined)), oldPolicy(undefined));
  const { spec: _, ...without } = down(v1Policy(plain));
  assert.deepEqual(up(without), v1Policy(undefined));
  assert.deepEqual(up(oldPolicy(null)), v1Policy(undefined));
});

const status = {
  observedGeneration: 3,
  lastCheckTime: '2026-11-21T10:00:00Z',
  latest: { tag: '1.4.2', selectedAt: '2026-11-21T10:00:00Z' },
  conditions: [{ type: 'Ready', status: 'True', reason: 'UpToDate', message: 'm', lastTransitionTime: '2026-11-21T10:00:00Z', later: 1 }],
  history: [{ tag: '1.4.2' }, { tag: '1.4.1' }],
};

test('the status is shown in the older schema and written field by field', () => {
  const view = down(v1Policy(plain, { status }));
  const [{ later: _, ...ready } = { later: 1 }] = status.conditions;
  assert.deepEqual(view.status, {
    observedGeneration: 3,
    lastCheckedTime: status.lastCheckTime,
    lastAppliedTag: '1.4.2',
    conditions: [ready],
    v1: status,
  });
  assert.deepEqual(up(setAt(view, 'status.lastAppliedTag', '1.5.0')).status, { ...status, lastAppliedTag: '1.5.0' });
  const written = up(setAt(view, 'status.conditions.0.status', 'False')).status;
  assert.deepEqual(written, { ...status, conditions: [{ ...ready, status: 'False', later: 1 }] });
  assert.deepEqual(up(setAt(view, 'status.lastCheckedTime', undefined)).status, setAt(status, 'lastCheckTime', undefined));
});

test('a write in the older schema keeps the status fields that only v1 has, and a removed status is removed', () => {
  const object = v1Policy(plain, { status: { latest: status.latest } });
  const view = down(object);
  assert.deepEqual(view.status, { v1: object.status });
  assert.deepEqual(up(setAt(view, 'spec.repository', 'nginx')).status, object.status);
  const { status: _, ...created } = view;
  assert.equal(up(created).status, undefined);
});

test('an update that an older service applied is kept', () => {
  const olderStatus = { lastAppliedTag: '1.2.3', lastCheckedTime: '2026-11-21T10:00:00Z' };
  const stored = up(oldPolicy(oldPlain, { status: olderStatus }));
  assert.deepEqual(stored.status, { lastAppliedTag: '1.2.3', lastCheckTime: '2026-11-21T10:00:00Z' });
  assert.deepEqual(down(stored).status, { ...olderStatus, v1: stored.status });
});

test('only the spec counts in an annotation that also has a status', () => {
  const old = JSON.stringify({ spec: { ...plain, minAge: '30m' }, status: { ...status, history: [{ tag: 'evil' }] } });
  const packed = `deflate:${deflateRawSync(old).toString('base64')}`;
  const view = down(v1Policy({ ...plain, minAge: '30m' }));
  for (const text of [old, packed]) {
    const stored = up({ ...setAnnotation(view, text), status: { lastAppliedTag: '1.4.2' } });
    assert.deepEqual(stored.spec, { ...plain, minAge: '30m' });
    assert.deepEqual(stored.status, { lastAppliedTag: '1.4.2' });
    assert.equal(up(setAnnotation(view, text)).status, undefined);
  }
});

test('stored objects hold no annotation, and an annotation on an incoming v1 object is not trusted', () => {
  const forged = { [savedAnnotation]: JSON.stringify({ spec: { ...plain, image: 'evil' } }) };
  const object = v1Policy(plain, { metadata: { ...v1Policy(plain).metadata, annotations: { a: 'b', ...forged } } });
  const stored = up(down(object));
  assert.deepEqual(stored.metadata.annotations, { a: 'b' });
  assert.deepEqual([stored.spec, 'annotations' in up(down(v1Policy(plain))).metadata], [plain, false]);
});

test('an annotation cannot grant access to a target in another namespace', () => {
  const annotation = 'operator.technomad.dev/v1alpha1';
  const stored = up(oldPolicy({ ...oldPlain, updateTarget: { kind: 'Deployment', name: 'web', namespace: 'ops' } }));
  assert.equal(stored.metadata.annotations?.[annotation], undefined);
  const former = { ...stored, metadata: { ...stored.metadata, annotations: { [annotation]: '{"targetNamespace":"ops"}' } } };
  assert.deepEqual(up(down(former)).spec, stored.spec);
});

test('converting to the same version returns the same object, an unknown version is an error, and an unknown object is not', () => {
  const object = v1Policy(plain);
  assert.equal(convertObject(object, v1), object);
  assert.throws(() => convertObject(object, 'operator.technomad.dev/v2'), /there is no API version "operator.technomad.dev\/v2"/);
  assert.deepEqual(convertObject({ apiVersion: 'x/v9', spec: 1 }, v1), { apiVersion: v1, spec: 1 });
  for (const value of [null, 5, 'x', [object]]) assert.equal(convertObject(value, v1), value);
});
