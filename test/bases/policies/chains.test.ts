/** Chains of bases: whom an image is left to, what it would lose, and which rebased image of a base is selected. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adoptRebased } from '../../../src/bases/policies/adopt-rebased.ts';
import { describeBelow, findBelow } from '../../../src/bases/policies/bases-below.ts';
import { describeBetween, findBetween, listBetween } from '../../../src/bases/policies/bases-between.ts';
import type { ExaminedImage } from '../../../src/bases/policies/examine-images.ts';
import type { OtherPorts } from '../../../src/bases/policies/other-bases.ts';
import type { BuildFacts } from '../../../src/bases/recognize/facts.ts';
import { knownBase, type KnownBase } from '../../../src/bases/recognize/layers.ts';
import { readBasePolicy } from '../../../src/bases/resource/read-base-policy.ts';
import { isUsableBase } from '../../../src/core/model/base-policy.ts';
import { workloadOf } from '../../core/model/samples.ts';
import { digestFor, image } from '../recognize/samples.ts';

const amd64 = 'linux/amd64';
const host = 'harbor.example.com';
const webhook = { url: 'https://ci.example.com/hook', secretRef: { name: 'ci', key: 'key' } };
const onNewBase = [{ trigger: { images: ['*'], webhook } }];
const { signal } = new AbortController();

/** The versions of a repository, by tag their layers; the last one is selected. */
type Versions = Readonly<Record<string, string>>;
const java: Versions = { '21.0.1': 'os java1', '21.0.2': 'os java2' };
const framework: Versions = { '3.1.0': 'os java1 lib' };
const versionsOf = (name: string, versions: Versions): KnownBase[] =>
  Object.entries(versions).map(([tag, layers]) =>
    knownBase(image({ name: `${name}:${tag}`, layers: { [amd64]: layers } }), { repository: `${host}/library/${name}`, tags: [tag] }),
  );

function policyOf(
  name: string,
  versions: Versions,
  { namespace = 'shop', ...more }: Readonly<Record<string, unknown>> & { readonly namespace?: string } = {},
) {
  const latest = versionsOf(name, versions).at(-1);
  const read = readBasePolicy(
    {
      metadata: { name, namespace, uid: `${namespace}/${name}`, resourceVersion: '1', generation: 1 },
      spec: { image: `${host}/library/${name}`, select: { semver: {} }, workloads: [{}], onNewBase, ...more },
      status: { latest: { tag: latest?.tags[0], digest: latest?.digest, selectedAt: '2026-11-23T12:00:00Z' } },
    },
    { aliases: new Map(), customTargets: [] },
  );
  assert.ok(isUsableBase(read.spec), JSON.stringify(read.spec));
  return { ...read, spec: read.spec };
}

/** The facts about an application in `shop/web`, and the image as the policy of `known` has examined it. */
function examined(layers: string, known: readonly KnownBase[], more: Partial<ExaminedImage> = {}) {
  const facts = image({ name: `app on ${layers}`, layers: { [amd64]: layers } });
  const [base] = known;
  assert.ok(base);
  const source = { registry: host, path: 'shop/web' };
  const workload = { workload: { kind: 'Deployment', namespace: 'shop', name: 'web' }, containers: ['web'], hasInitContainers: false };
  const found: ExaminedImage = {
    image: { repository: source, tag: '1.0.0', digest: undefined, workloads: [workload] },
    source,
    digest: facts.digest,
    recognition: { kind: 'recognized', base, by: 'Layers' },
    state: 'Behind',
    ...more,
  };
  return { facts, found };
}

/** A cluster with these policies, whose bases have these versions. */
function portsOf(others: readonly (readonly [ReturnType<typeof policyOf>, Versions])[], facts: readonly BuildFacts[]): OtherPorts {
  const unused = () => assert.fail('not for these tests');
  const versions = new Map(others.map(([policy, versions]) => [policy.uid, versionsOf(policy.name, versions)]));
  return {
    basePolicies: {
      all: () => others.map(([policy]) => policy),
      find: unused,
      read: unused,
      isAsPlanned: unused,
      subscribe: unused,
      writeStatus: unused,
      underWay: new Set(),
    },
    records: {
      read: ({ uid }) => Promise.resolve((versions.get(uid) ?? []).map((version) => ({ ...version, seenAt: '2026-11-23T12:00:00Z' }))),
      add: unused,
    },
    facts: { read: (_, digest) => Promise.resolve(facts.find((one) => one.digest === digest)) },
    cluster: {
      aliases: new Map(),
      crossNamespace: 'consent',
      namespaceConsent: () => null,
      repeatsPerHour: 5,
      targetState: unused,
      now: unused,
      findWorkload: () => workloadOf({ web: `${host}/shop/web:1.0.0` }),
      listWorkloads: unused,
      namespacesWith: unused,
      listEveryWorkload: unused,
      namespaceMatches: () => true,
    },
  };
}

const own = policyOf('java', java);
const known = versionsOf('java', java);
const onFramework = 'os java1 lib app';

const others: [name: string, other: ReturnType<typeof policyOf>, versions: Versions, layers: string, isLeft: boolean][] = [
  ['a base in between', policyOf('framework', framework), framework, onFramework, true],
  ['a base in between that only reports', policyOf('framework', framework, { onNewBase: [{ report: {} }] }), framework, onFramework, false],
  ['a dry run', policyOf('framework', framework, { mode: 'DryRun' }), framework, onFramework, false],
  ['a suspended policy', policyOf('framework', framework, { suspend: true }), framework, onFramework, false],
  ['another kind of workloads', policyOf('framework', framework, { workloads: [{ kinds: ['CronJob'] }] }), framework, onFramework, false],
  [
    'a policy of a namespace without consent',
    policyOf('framework', framework, { namespace: 'tenant', workloads: [{ namespaceSelector: { matchLabels: { tier: 'apps' } } }] }),
    framework,
    onFramework,
    false,
  ],
  [
    'a policy for another line of it',
    policyOf('framework', { '4.0.0': 'os java1 lib4' }, { select: { semver: { range: '4.x' } } }),
    { ...framework, '4.0.0': 'os java1 lib4' },
    onFramework,
    false,
  ],
  [
    'a policy that brings it from that line to its own',
    policyOf('framework', { '4.0.0': 'os java1 lib4' }, { select: { semver: { range: '4.x' } }, from: ['3.*'] }),
    { ...framework, '4.0.0': 'os java1 lib4' },
    onFramework,
    true,
  ],
  ['an application without it', policyOf('framework', framework), framework, 'os java1 app', false],
  ['the same base in another repository', policyOf('mirror', java), java, 'os java1 app', false],
];
for (const [name, other, versions, layers, isLeft] of others)
  test(`a policy of a base ${isLeft ? 'leaves' : 'does not leave'} an application to another policy in this case: ${name}`, async () => {
    const { facts, found } = examined(layers, known);
    const between = await findBetween(
      own,
      [found],
      portsOf(
        [
          [own, java],
          [other, versions],
        ],
        [facts],
      ),
      { known, signal },
    );
    assert.equal(between.has(found), isLeft);
    const [first] = between.values();
    if (first === undefined) return;
    assert.equal(describeBetween(first).reason, 'BaseBetween');
    assert.match(
      describeBetween(first).message ?? '',
      /it is built on harbor\.example\.com\/library\/framework:3\.1\.0: .*shop\/framework/,
    );
    assert.deepEqual(
      listBetween(between).map(({ repository, tag, workloads }) => [repository.path, tag, workloads]),
      [['library/framework', other.status.latest?.tag, []]],
    );
  });

const starter: Versions = { '1.0.0': 'os java1 lib starter' };
for (const order of [
  [policyOf('framework', framework), policyOf('starter', starter)],
  [policyOf('starter', starter), policyOf('framework', framework)],
])
  test(`of two bases in between, the lower one is brought forward first, whichever is listed first: ${order.map(({ name }) => name).join(', ')}`, async () => {
    const { facts, found } = examined('os java1 lib starter app', known);
    const ports = portsOf(
      order.map((one) => [one, one.name === 'starter' ? starter : framework]),
      [facts],
    );
    const between = await findBetween(own, [found], ports, { known, signal });
    assert.deepEqual(
      listBetween(between).map(({ repository, tag }) => `${repository.path}:${tag}`),
      ['library/framework:3.1.0'],
    );
  });

test('a base in between that two policies select is brought forward once', async () => {
  const [web, cart] = [examined(onFramework, known), examined('os java1 lib cart', known)];
  const ports = portsOf([[policyOf('framework', framework), framework]], [web.facts, cart.facts]);
  const between = await findBetween(own, [web.found, cart.found], ports, { known, signal });
  const [first, second] = between.values();
  assert.ok(first && second);
  const twice = new Map([
    [web.found, first],
    [cart.found, { ...second, policy: { ...second.policy, uid: 'another' } }],
  ]);
  assert.equal(listBetween(twice).length, 1);
});

test('a policy that skips bases in between leaves nothing to them, and a restart waits for none', async () => {
  const { facts, found } = examined(onFramework, known);
  const ports = portsOf([[policyOf('framework', framework), framework]], [facts]);
  for (const settings of [{ basesBetween: 'Skip' }, { onNewBase: [{ restart: { images: ['*'] } }] }])
    assert.equal((await findBetween(policyOf('java', java, settings), [found], ports, { known, signal })).size, 0);
});

const versions: Versions = { '3.1.0': 'os java2 lib', '3.2.0': 'os java1 lib2' };
const rows: [name: string, image: string, other: ReturnType<typeof policyOf>, waits: boolean][] = [
  ['the newest Java, and the framework is not', 'os java2 lib app', own, true],
  ['an older Java as well', 'os java1 lib app', own, false],
  [
    'the newest Java, whose policy may not see its workload',
    'os java2 lib app',
    policyOf('java', java, { namespace: 'tenant', workloads: [{ namespaceSelector: { matchLabels: { tier: 'apps' } } }] }),
    false,
  ],
];
for (const [name, layers, other, waits] of rows)
  test(`an application ${waits ? 'waits' : 'does not wait'} for a framework on an older Java if it is on ${name}`, async () => {
    const policy = policyOf('framework', versions);
    const all = versionsOf('framework', versions);
    const { facts, found } = examined(layers, all);
    const selected = { tag: '3.2.0', digest: digestFor('framework:3.2.0') };
    const factsOfSelected = image({ name: 'framework:3.2.0', layers: { [amd64]: 'os java1 lib2' } });
    const source = { registry: host, path: 'library/framework' };
    const below = await findBelow(policy, [found], { selected, source, signal }, portsOf([[other, java]], [facts, factsOfSelected]));
    assert.equal(below.has(found), waits);
    const [first] = below.values();
    if (first !== undefined)
      assert.match(describeBelow(first, selected).message ?? '', /library\/java:21\.0\.2, and 3\.2\.0 on \S+\/library\/java:21\.0\.1/);
  });

test('the newest rebase of the selected image is selected, and no rebase of another image that had its tag', async () => {
  const source = { registry: host, path: 'library/framework' };
  const madeFrom = (name: string, from: string, repository = `${host}/library/framework`): BuildFacts => ({
    ...image({ name, layers: { [amd64]: 'os java2 lib' } }),
    rebasedFrom: { repository, digest: digestFor(from) },
  });
  const facts = [
    madeFrom('first', 'original'),
    madeFrom('second', 'first'),
    madeFrom('of a former push', 'former'),
    madeFrom('of another repository', 'original', `${host}/tenant/framework`),
    image({ name: 'of nothing', layers: { [amd64]: 'os' } }),
  ];
  const adopt = async (tags: Readonly<Record<string, string>>) => {
    const ports = {
      registry: { headManifest: (_: unknown, tag: string) => Promise.resolve({ digest: digestFor(tags[tag] ?? '') }) },
      facts: { read: (_: unknown, digest: string) => Promise.resolve(facts.find((one) => one.digest === digest)) },
    };
    const selected = { tag: '3.1.0', digest: digestFor('original') };
    return (await adoptRebased({ source, tags: ['3.1.0', '3.0.0-base.20261124', ...Object.keys(tags)] }, selected, ports, signal)).tag;
  };
  assert.equal(await adopt({}), '3.1.0');
  assert.equal(await adopt({ '3.1.0-base.20261123': 'first' }), '3.1.0-base.20261123');
  assert.equal(await adopt({ '3.1.0-base.20261123': 'first', '3.1.0-base.20261123.2': 'second' }), '3.1.0-base.20261123.2');
  assert.equal(await adopt({ '3.1.0-base.20261123': 'first', '3.1.0-base.20261201': 'of a former push' }), '3.1.0-base.20261123');
  assert.equal(await adopt({ '3.1.0-base.20261123': 'of another repository', '3.1.0-base.20261201': 'of nothing' }), '3.1.0');
});
