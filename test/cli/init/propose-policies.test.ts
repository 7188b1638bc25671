import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readPolicy } from '../../../src/service/resources/read-policy.ts';
import { planNow } from '../../../src/service/explain/plan-now.ts';
import { proposePolicies, type Mode, type Proposal, type RunningImage } from '../../../src/cli/init/propose-policies.ts';
import { withStatus } from '../../../src/cli/init/preview.ts';
import { strategyOf } from '../../../src/service/command-line/selection/choose-selection.ts';
import { parseImageReference } from '../../../src/core/model/image-reference.ts';
import { originTag } from '../../../src/core/model/rebased-tag.ts';
import type { ImageList } from '../../../src/core/model/workload.ts';
import { compareTags } from '../../../src/core/select/select-tag.ts';
import { areOtherTracks } from '../../../src/core/select/tag-track.ts';
import { digestOf, workloadOf } from '../../core/model/samples.ts';
import { readContext } from '../../harness/resource-group.ts';

interface Place {
  readonly namespace?: string;
  readonly container?: string;
  readonly list?: ImageList;
}

const runs = (name: string, image: string, { namespace = 'shop', container = 'web', list = 'containers' }: Place = {}): RunningImage => ({
  workload: { kind: 'Deployment', namespace, name },
  container,
  list,
  reference: parseImageReference(image),
});
const tagged =
  (...tags: string[]) =>
  () => ({ tags });
const options = { mode: 'Approval' as Mode, taken: new Set<string>() };
const shown = ({ policies }: { policies: readonly Proposal[] }) =>
  policies.map(({ policy: { metadata, spec } }) => [metadata.name, spec.targets]);

test('init proposes one policy for workloads of a namespace with the same selection, and separate ones otherwise', () => {
  const images = [
    runs('web', 'ghcr.io/shop/app:1.4.2'),
    runs('worker', 'ghcr.io/shop/app:1.5.0'),
    runs('legacy', 'ghcr.io/shop/app:0.9.1'),
    runs('web', 'ghcr.io/shop/app:1.4.2', { namespace: 'test' }),
  ];
  const found = proposePolicies(images, tagged('0.9.1', '1.4.2', '1.5.0'), options);
  assert.deepEqual(shown(found), [
    [
      'app',
      [
        { kind: 'Deployment', name: 'web' },
        { kind: 'Deployment', name: 'worker' },
      ],
    ],
    ['legacy', [{ kind: 'Deployment', name: 'legacy' }]],
    ['app', [{ kind: 'Deployment', name: 'web' }]],
  ]);
  assert.deepEqual(found.policies[0]?.runs, ['1.4.2', '1.5.0']);
  assert.equal(found.policies[0]?.selects, '1.5.0');
});

test('init names containers if others of the workload run the same repository with another selection', () => {
  const images = [
    runs('db', 'postgres:16.3', { container: 'db' }),
    runs('db', 'postgres:14.9', { container: 'old' }),
    runs('db', 'postgres:16.3', { container: 'init', list: 'initContainers' }),
  ];
  assert.deepEqual(shown(proposePolicies(images, tagged('16.3', '14.9'), options)), [
    ['postgres', [{ kind: 'Deployment', name: 'db', containers: ['db', 'init'], initContainers: true }]],
    ['db', [{ kind: 'Deployment', name: 'db', containers: ['old'] }]],
  ]);
});

test('init includes image volumes if all uses of a repository have the same selection, and else leaves out the repository', () => {
  const images = (tag: string) => [
    runs('a', 'ghcr.io/m/llama:1.0.0', { container: 'server' }),
    runs('a', `ghcr.io/m/llama:${tag}`, { container: 'volumes/model', list: 'volumes' }),
  ];
  const has = tagged('1.0.0', '2.0.0');
  assert.deepEqual(shown(proposePolicies(images('1.0.0'), has, options)), [['llama', [{ kind: 'Deployment', name: 'a', volumes: true }]]]);
  const apart = proposePolicies(images('2.0.0'), has, options);
  assert.deepEqual([apart.policies.length, apart.leftOut.length], [0, 2]);
});

test('init gives the reason for an image left out: only a digest, a registry that does not answer, a missing tag', () => {
  const digest = digestOf('a');
  const images = [runs('a', `ghcr.io/a/a@${digest}`), runs('b', 'ghcr.io/b/b:1.0.0'), runs('c', 'ghcr.io/c/c:stable')];
  const { policies, leftOut } = proposePolicies(
    images,
    ({ repository }) => (repository.path === 'b/b' ? { problem: 'the registry denies access' } : { tags: ['1.0.0'] }),
    options,
  );
  assert.equal(policies.length, 0);
  assert.deepEqual(
    leftOut.map(({ image, workloads, why }) => [image, workloads, why.split(':')[0]]),
    [
      [`ghcr.io/a/a@${digest}`, ['Deployment shop/a'], 'it is pinned by its digest only'],
      ['ghcr.io/b/b:1.0.0', ['Deployment shop/b'], 'the registry denies access'],
      [
        'ghcr.io/c/c:stable',
        ['Deployment shop/c'],
        'the registry does not have the tag stable, which runs, nor any other that could follow it',
      ],
    ],
  );
});

test('init proposes several policies for more than 64 workloads, and uses no name that is taken', () => {
  const images = Array.from({ length: 65 }, (_, index) => runs(`w${index}`, 'ghcr.io/shop/my__app:1.0.0'));
  const { policies } = proposePolicies(images, tagged('1.0.0'), { mode: 'Automatic', taken: new Set(['shop/my-app']) });
  assert.deepEqual(
    policies.map(({ policy: { metadata, spec } }) => [metadata.name, spec.targets.length, spec.update]),
    [
      ['my-app-2', 64, undefined],
      ['w64', 1, undefined],
    ],
  );
});

test('init proposes update.pin: Digest for an image with tag and digest', () => {
  const [policy] = proposePolicies([runs('a', `ghcr.io/a/a:1.0.0@${digestOf('a')}`)], tagged('1.0.0'), options).policies;
  assert.deepEqual(policy?.policy.spec.update, { mode: 'Approval', pin: 'Digest' });
});

const number = fc.integer({ min: 0, max: 30 }).map(String);
const suffix = fc.constantFrom(
  '',
  '',
  '-alpine',
  '-alpine3.20',
  '-alpine3.21',
  '-slim',
  '-rc.1',
  '-rc2',
  '-SNAPSHOT',
  '-r4',
  '-12',
  '-debian-12-r3',
  '_9-jre',
  '-g3f2a1b7',
  '.7',
  '-base.20261123',
);
const version = fc
  .tuple(fc.constantFrom('', '', 'v', 'app-', 'release-v', '0'), fc.array(number, { minLength: 1, maxLength: 4 }), suffix)
  .map(([before, numbers, after]) => `${before}${numbers.join('.')}${after}`);
const word = fc.constantFrom(
  'latest',
  'main',
  'stable-slim',
  '20260301',
  '20260302-alpine',
  '2026-03-01',
  '2026.3.1',
  'main-3f2a1b7',
  'sha-1234567',
  'build-57',
  'build-112',
  '1047',
  '1048',
  '3.13.0rc1',
  'jdk17',
  '0.0.0',
  'x.y',
);
const anyTag = fc.oneof(
  { weight: 4, arbitrary: version },
  { weight: 1, arbitrary: word },
  { weight: 1, arbitrary: fc.stringMatching(/^[a-z0-9_][a-z0-9_.-]{0,20}$/) },
);

/** What the service would do about a policy that has been reconciled once. */
async function planOf(proposal: Proposal, image: string, digest: string) {
  const policy = readPolicy(withStatus(proposal, { tag: proposal.selects ?? '', digest }), readContext);
  const workload = workloadOf({ web: image });
  const planned = await planNow({ policy }, () => ({
    crossNamespace: 'consent',
    aliases: new Map(),
    repeatsPerHour: 3,
    namespaceConsent: () => undefined,
    findWorkload: () => workload,
    listWorkloads: () => [workload],
    targetState: () => ({ since: 0 }),
    now: () => 0,
  }));
  return 'why' in planned ? assert.fail(planned.why) : planned;
}

test('a policy that init proposes changes nothing when created, and without approval only to a newer tag of the same form', async () => {
  let changed = 0;
  await fc.assert(
    fc.asyncProperty(anyTag, fc.array(anyTag, { maxLength: 20 }), fc.boolean(), async (running, others, isPinned) => {
      const image = `ghcr.io/shop/web:${running}${isPinned ? `@${digestOf('a')}` : ''}`;
      const propose = (mode: Mode) =>
        proposePolicies([runs('web', image)], tagged(running, originTag(running), ...others), { ...options, mode });
      const { policies, leftOut } = propose('Approval');
      assert.deepEqual(leftOut, []);
      const [proposal] = policies;
      if (proposal === undefined) assert.fail('no policy');
      // Of commits, only their images show the order.
      if (proposal.selects === undefined) return;
      const { allowed } = await planOf(proposal, image, digestOf('a'));
      assert.deepEqual(
        allowed.targets.flatMap(({ changes }) => changes),
        [],
      );
      const [automatic] = propose('Automatic').policies;
      if (automatic === undefined) assert.fail('no policy');
      const { spec } = automatic.policy;
      const strategy = strategyOf(spec);
      const origin = originTag(running);
      assert.equal(strategy.reject(origin), undefined);
      assert.ok(!areOtherTracks(origin, proposal.selects));
      const [change] = (await planOf(automatic, image, digestOf('a'))).allowed.targets.flatMap(({ changes }) => changes);
      if (change === undefined) return;
      changed += 1;
      if (spec.select.digest === undefined) assert.ok(compareTags(strategy, proposal.selects, origin) > 0, `${change.from} → ${change.to}`);
      else assert.equal(change.to, `ghcr.io/shop/web:${origin}@${digestOf('a')}`);
    }),
    { numRuns: 500 },
  );
  assert.ok(changed > 50, `${changed} changes`);
});
