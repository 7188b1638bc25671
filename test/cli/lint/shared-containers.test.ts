/** Which policies of one image would move a container of each other, and which would not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PolicySpec, PolicyTarget, TargetParts } from '../../../src/core/model/image-policy.ts';
import type { TagStrategy } from '../../../src/core/model/tag-strategy.ts';
import type { Workload } from '../../../src/core/model/workload.ts';
import { findSharedContainers } from '../../../src/cli/lint/shared-containers.ts';
import { filterTags } from '../../../src/core/select/filter-tags.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import { noAliases, policyOf, specOf, webDeployment, workloadOf } from '../../core/model/samples.ts';

const image = 'registry.example.com/shop/web';
const { semver, digest, numerical, replace } = strategies;
const alpine = filterTags(semver({}), { allow: '^([0-9.]+)-alpine$', extract: '$1' });
const one = semver({ range: '1.x' });
const two = semver({ range: '2.x' });

interface Side {
  readonly strategy: TagStrategy;
  readonly target?: TargetParts;
  readonly spec?: Partial<PolicySpec>;
}

const named = (...containers: string[]): TargetParts => ({ containers });

/** `a moves b`, or what is mutual, with the containers. */
function compare(
  a: Side,
  b: Side,
  workloads: readonly Workload[] = [],
  bases: readonly PolicyTarget[] = [webDeployment, webDeployment],
): string {
  const policies = [a, b].map(({ strategy, target, spec }, index) => {
    const base = bases[index] ?? webDeployment;
    return policyOf({ name: index === 0 ? 'a' : 'b', spec: specOf({ strategy, targets: [{ ...base, ...target }], ...spec }) });
  });
  const found = findSharedContainers(policies, { workloads, aliases: noAliases });
  const texts = found.map(({ mover, keeper, isMutual, containers }) => {
    const what = isMutual ? 'each moves the other' : `${mover.policy.name} moves ${keeper.policy.name}`;
    return [what, ...containers].join(' ');
  });
  return texts.join('; ') || 'nothing';
}

for (const [what, a, b, expected] of [
  ['two major versions, of which the higher one takes all', { strategy: one }, { strategy: two }, 'b moves a'],
  ['the same versions', { strategy: one }, { strategy: one }, 'each moves the other'],
  ['a version and its variant', { strategy: one }, { strategy: alpine }, 'nothing'],
  ['a version and a variant that takes over', { strategy: one }, { strategy: alpine, target: { takeOver: true } }, 'b moves a'],
  ['a version and a tag that is followed', { strategy: one }, { strategy: digest({ tag: 'main' }) }, 'nothing'],
  ['two tags that are followed', { strategy: digest({ tag: 'main' }) }, { strategy: digest({ tag: 'stable' }) }, 'nothing'],
  ['a version and a number of builds', { strategy: one }, { strategy: numerical() }, 'nothing'],
  ['a version and the replacement of another one', { strategy: two }, { strategy: replace({ from: '1.4.2', to: '1.4.2-a' }) }, 'nothing'],
  ['a version and its replacement', { strategy: one }, { strategy: replace({ from: '1.4.2', to: '1.4.2-a' }) }, 'b moves a'],
  ['different containers', { strategy: one, target: named('x') }, { strategy: two, target: named('y') }, 'nothing'],
  ['one container that both name', { strategy: one, target: named('x', 'y') }, { strategy: two, target: named('y') }, 'b moves a y'],
  [
    'one container that both name, whatever its variant',
    { strategy: one, target: named('x') },
    { strategy: alpine, target: named('x') },
    'each moves the other x',
  ],
  ['a container that only the other one names', { strategy: one, target: named('x') }, { strategy: two }, 'b moves a x'],
  ['a container that only the mover names', { strategy: one }, { strategy: two, target: named('x') }, 'nothing'],
  ['a policy that only reports', { strategy: one }, { strategy: two, spec: { mode: 'DryRun' } }, 'nothing'],
  ['a suspended policy', { strategy: one }, { strategy: two, spec: { suspended: true } }, 'nothing'],
  [
    'another image',
    { strategy: one },
    { strategy: two, spec: { repository: { registry: 'registry.example.com', path: 'shop/api' } } },
    'nothing',
  ],
] satisfies [what: string, a: Side, b: Side, expected: string][])
  test(`lint, without the workload, finds "${expected}" for ${what}`, () => assert.equal(compare(a, b), expected));

const labelled = (labels: Record<string, string>) => workloadOf({ x: `${image}:1.4.0` }, { labels });
const select = (matchLabels: Record<string, string>): PolicyTarget => ({
  kind: 'Deployment',
  namespace: 'shop',
  selector: { matchLabels },
});

for (const [what, workloads, bases, expected] of [
  ['another name', [], [webDeployment, { ...webDeployment, name: 'api' }], 'nothing'],
  ['another namespace', [], [webDeployment, { ...webDeployment, namespace: 'ops' }], 'nothing'],
  ['the same selector, in another order', [], [select({ a: '1', b: '2' }), select({ b: '2', a: '1' })], 'b moves a'],
  ['selectors of which nobody knows what they match', [], [select({ a: '1' }), select({ b: '2' })], 'nothing'],
  ['selectors that match one workload', [labelled({ a: '1', b: '2' })], [select({ a: '1' }), select({ b: '2' })], 'b moves a x'],
  ['a name, and a selector that matches it', [labelled({ a: '1' })], [webDeployment, select({ a: '1' })], 'b moves a x'],
  ['a name, and a selector that does not', [labelled({ a: '2' })], [webDeployment, select({ a: '1' })], 'nothing'],
] satisfies [what: string, workloads: Workload[], bases: PolicyTarget[], expected: string][])
  test(`lint, for two targets, finds "${expected}" for ${what}`, () =>
    assert.equal(compare({ strategy: one }, { strategy: two }, workloads, bases), expected));

for (const [what, images, a, b, expected] of [
  ['the lower version is moved', { x: '1.4.0', y: '2.4.0' }, { strategy: one }, { strategy: two }, 'b moves a x'],
  ['each runs its own variant', { x: '1.4.0', y: '1.4.0-alpine' }, { strategy: one }, { strategy: alpine }, 'nothing'],
  ['the higher version stays', { y: '2.4.0' }, { strategy: one }, { strategy: two }, 'nothing'],
  ['an image that neither policy selects is moved by both', { x: '0.9.0' }, { strategy: one }, { strategy: two }, 'each moves the other x'],
  ['no container runs the image', {}, { strategy: one }, { strategy: two }, 'nothing'],
] satisfies [what: string, images: Record<string, string>, a: Side, b: Side, expected: string][])
  test(`lint, with the workload, finds "${expected}" where ${what}`, () => {
    const containers = Object.entries(images).map(([name, tag]) => [name, `${image}:${tag}`]);
    const workload = workloadOf({ ...Object.fromEntries(containers), other: 'registry.example.com/shop/proxy:1.0.0' });
    assert.equal(compare(a, b, [workload]), expected);
  });

test('lint finds no shared container with a tag that a third policy follows', () => {
  const policies = [one, two, digest({ tag: 'main' })].map((strategy, index) =>
    policyOf({ name: `p${index}`, spec: specOf({ strategy, targets: [webDeployment] }) }),
  );
  const workloads = [workloadOf({ x: `${image}:main` })];
  assert.deepEqual(findSharedContainers(policies, { workloads, aliases: noAliases }), []);
});

test('lint finds shared containers by the tags of the registry if they are known', () => {
  const [a, b] = [one, two].map((strategy, index) => policyOf({ name: `p${index}`, spec: specOf({ strategy, targets: [webDeployment] }) }));
  const workloads = [workloadOf({ x: `${image}:1.4.0` })];
  const tagsOf = (tags: string[]) => (policy: unknown) => (policy === b ? tags : ['1.4.0']);
  const find = (tags: string[]) =>
    findSharedContainers([a ?? assert.fail(), b ?? assert.fail()], { workloads, aliases: noAliases, tagsOf: tagsOf(tags) });
  assert.equal(find(['2.0.0']).length, 1);
  assert.equal(find([]).length, 0);
});
