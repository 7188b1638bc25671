/** Where images run, and what is behind, from policies and workloads. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ImagePolicy } from '../../../src/core/model/image-policy.ts';
import type { Workload } from '../../../src/core/model/workload.ts';
import { createTurns } from '../../../src/core/async/turns.ts';
import { repositoriesOf, versionsOf } from '../../../src/service/explain/image-versions.ts';
import { placesOf } from '../../../src/service/explain/running-places.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import { digestOf, latestSpec, policyOf, specOf, workloadOf } from '../../core/model/samples.ts';
import { changedAt, changedWorkload, image, rolledOut, viewOf, withLastUpdate } from '../../core/rollout/rollout-samples.ts';
import { samplePorts } from '../api/sample-policies.ts';

const { each } = createTurns();
const selectedAt = '2026-03-01T11:00:00Z';
const selects = (tag: string, more: Partial<ImagePolicy> = {}) =>
  policyOf({ status: { latest: { tag, digest: digestOf('b'), selectedAt } }, ...more });
const runs = (text: string, more: Partial<Workload> = {}) => workloadOf({ web: text }, more);
const clusterOf = (...workloads: Workload[]) => ({ ...samplePorts([]).cluster, ...viewOf(...workloads) });
const onlyPlace = (policy: ImagePolicy, ...workloads: Workload[]) => {
  const places = placesOf(policy, clusterOf(...workloads)) ?? assert.fail('the workloads are not known');
  assert.equal(places.length, 1);
  return places[0] ?? assert.fail();
};

const held = { type: 'Held', status: 'True', reason: 'Held', message: 'set by hand', lastTransitionTime: selectedAt } as const;
const other = specOf({ windows: [{ from: '01:00', to: '02:00', timeZone: 'UTC' }] });

for (const [name, policy, workload, expected] of [
  ['what is selected runs', selects('1.3.0'), runs(`${image}:1.3.0`), ['Current', undefined]],
  ['an older image runs', selects('1.3.0'), runs(`${image}:1.2.0`), ['Behind', undefined]],
  [
    'an older image runs, for the reason of the policy',
    selects('1.3.0', { status: { latest: { tag: '1.3.0', selectedAt }, conditions: [held] } }),
    runs(`${image}:1.2.0`),
    ['Behind', 'Held'],
  ],
  ['an older image runs, and a window is closed', selects('1.3.0', { spec: other }), runs(`${image}:1.2.0`), ['Behind', 'Window']],
  ['a newer image runs', selects('1.3.0'), runs(`${image}:1.4.0`), ['Kept', 'OlderThanRunning']],
  ['the tag runs with another digest', selects('1.3.0'), runs(`${image}:1.3.0@${digestOf('c')}`), ['Kept', 'Retagged']],
  [
    'a followed tag runs with another digest',
    selects('latest', { spec: latestSpec() }),
    runs(`${image}:latest@${digestOf('c')}`),
    ['Behind', undefined],
  ],
  ['nothing is selected', policyOf(), runs(`${image}:1.2.0`), ['Unknown', undefined]],
  [
    'what was selected is not selected any more',
    selects('1.3.0', { spec: specOf({ strategy: strategies.semver({ range: '<1' }) }) }),
    runs(`${image}:1.2.0`),
    ['Unknown', undefined],
  ],
  [
    'the spec cannot be used',
    policyOf({ spec: { problem: { reason: 'InvalidPolicy', message: 'no' }, scope: specOf() } }),
    runs(`${image}:1.2.0`),
    ['Unknown', undefined],
  ],
] as const)
  test(`a place shows its state and reason where ${name}`, () => {
    const { state, reason } = onlyPlace(policy, workload);
    assert.deepEqual([state, reason], expected);
  });

test('a suspended policy is behind because it is suspended, not because of a guard', () => {
  const ready = { ...held, type: 'Ready', reason: 'Suspended', message: 'spec.suspend' };
  const policy = selects('1.3.0', {
    spec: { ...other, suspended: true },
    status: { latest: { tag: '1.3.0', selectedAt }, conditions: [ready] },
  });
  const { state, reason } = onlyPlace(policy, runs(`${image}:1.2.0`));
  assert.deepEqual([state, reason], ['Behind', 'Suspended']);
});

test('the digest of a place comes from its image, from the last change, or from the selection', () => {
  const policy = selects('1.3.0');
  const changed = withLastUpdate(changedWorkload(rolledOut), { digest: digestOf('d') });
  const known = (one: Workload, of = policy) => {
    const { digest, digestFrom } = onlyPlace(of, one);
    return [digestFrom, digest];
  };
  assert.deepEqual(known(runs(`${image}:1.2.0@${digestOf('a')}`)), ['Image', digestOf('a')]);
  assert.deepEqual(known(changed), ['Change', digestOf('d')]);
  assert.deepEqual(known(runs(`${image}:1.3.0`)), ['Selection', digestOf('b')]);
  assert.deepEqual(known(runs(`${image}:1.2.0`)), [undefined, undefined]);
  // A followed tag may have had any digest when the pods were started.
  assert.deepEqual(known(runs(`${image}:latest`), selects('latest', { spec: latestSpec() })), [undefined, undefined]);
});

test('a place is behind since the selection, or since a later change of its image', () => {
  const policy = selects('1.4.0');
  assert.equal(onlyPlace(policy, runs(`${image}:1.2.0`)).behindSince, selectedAt);
  const changed = onlyPlace(policy, withLastUpdate(changedWorkload(rolledOut)));
  assert.deepEqual([changed.since, changed.behindSince], [changedAt, changedAt]);
  assert.equal(onlyPlace(policy, runs(`${image}:1.4.0`)).behindSince, undefined);
});

test('the places of a policy are computed again for a changed workload, and are not known before their kind is listed', () => {
  const policy = selects('1.3.0');
  assert.equal(onlyPlace(policy, runs(`${image}:1.2.0`)).state, 'Behind');
  assert.equal(onlyPlace(policy, runs(`${image}:1.3.0`)).state, 'Current');
  assert.equal(placesOf(selects('1.3.0'), { ...clusterOf(runs(`${image}:1.3.0`)), targetState: () => 'starting' }), undefined);
});

test('a place in another namespace is shown only with consent', () => {
  const elsewhere = { kind: 'Deployment', namespace: 'bar', name: 'web' };
  const policy = selects('1.3.0', { spec: specOf({ targets: [elsewhere] }) });
  assert.deepEqual(placesOf(policy, clusterOf(runs(`${image}:1.2.0`, elsewhere))), []);
  assert.equal(onlyPlace(policy, runs(`${image}:1.2.0`, { ...elsewhere, allowPoliciesFrom: 'shop' })).workload.namespace, 'bar');
});

const inNamespace = (namespace: string, text: string, latest: string) => {
  const target = { kind: 'Deployment', namespace, name: 'web' };
  const policy = policyOf({ namespace, spec: specOf({ targets: [target] }), status: { latest: { tag: latest, selectedAt } } });
  return placesOf(policy, clusterOf(runs(text, target))) ?? assert.fail();
};

test('versions are counted by namespace, the newest first, with selected versions that run nowhere', async () => {
  const places = [
    ...inNamespace('a', `${image}:1.9.0`, '1.10.0'),
    ...inNamespace('b', `${image}:1.9.0@${digestOf('a')}`, '1.9.0'),
    ...inNamespace('c', `${image}:1.2.0`, '1.10.0'),
  ];
  assert.deepEqual(
    (await versionsOf(places, each)).map(({ tag, digest, places: count, behind, namespaces }) => [
      tag,
      digest,
      count,
      behind,
      namespaces.map((one) => `${one.namespace} ${one.places}${one.isWanted ? ' wanted' : ''}`).join(', '),
    ]),
    [
      ['1.10.0', undefined, 0, 0, 'a 0 wanted, c 0 wanted'],
      ['1.9.0', digestOf('a'), 2, 1, 'a 1, b 1 wanted'],
      ['1.2.0', undefined, 1, 1, 'c 1'],
    ],
  );
  assert.deepEqual(await repositoriesOf(places, each), [
    { repository: image, places: 3, behind: 2, versions: 2, namespaces: 3, policies: 3 },
  ]);
});

test('one tag with two digests is two versions, and a container that two policies select is one place', async () => {
  const spec = latestSpec();
  const [first, second] = [digestOf('a'), digestOf('b')];
  const cluster = clusterOf(runs(`${image}:latest@${first}`));
  const status = { latest: { tag: 'latest', digest: second, selectedAt } };
  const places = ['one', 'two'].flatMap((name) => placesOf(policyOf({ name, uid: name, spec, status }), cluster) ?? []);
  assert.deepEqual(
    (await versionsOf(places, each)).map(({ digest, places: count, behind }) => [digest, count, behind]),
    [
      [second, 0, 0],
      [first, 1, 1],
    ],
  );
});
