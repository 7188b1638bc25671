/** Which policies change a container of each other by their companions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PolicySpec } from '../../../src/core/model/image-policy.ts';
import { findSharedContainers } from '../../../src/cli/lint/shared-containers.ts';
import { noAliases, policyOf, specOf, webDeployment, workloadOf } from '../../core/model/samples.ts';

const registry = 'registry.example.com';
const [web, proxy, api] = ['web', 'proxy', 'api'].map((name) => ({ registry, path: `shop/${name}` })) as [
  PolicySpec['repository'],
  PolicySpec['repository'],
  PolicySpec['repository'],
];
const beside = (repository: PolicySpec['repository'], ...containers: string[]): Partial<PolicySpec> => ({
  alongside: {
    images: [{ repository, ...(containers.length > 0 && { containers }) }],
    match: 'SameTag',
    withinMs: 1,
  },
});
const target = (...containers: string[]) => ({ targets: [{ ...webDeployment, ...(containers.length > 0 && { containers }) }] });
const running = workloadOf({ web: `${registry}/shop/web:1.0.0`, proxy: `${registry}/shop/proxy:1.0.0`, api: `${registry}/shop/api:1.0.0` });

const policies = (a: Partial<PolicySpec>, b: Partial<PolicySpec>) =>
  [a, b].map((spec, index) =>
    policyOf({ name: index === 0 ? 'a' : 'b', uid: String(index), spec: specOf({ targets: [webDeployment], ...spec }) }),
  );

for (const [what, a, b, unseen, seen] of [
  ['the companion of one is the own image of the other', beside(proxy), { repository: proxy }, 'a and b', 'a and b: proxy'],
  ['both have one companion', beside(proxy), { repository: api, ...beside(proxy) }, 'a and b', 'a and b: proxy'],
  ['each is the companion of the other', beside(proxy), { repository: proxy, ...beside(web) }, 'a and b', 'a and b: proxy'],
  ['another image', beside(proxy), { repository: api }, '', ''],
  ['another container of the companion', beside(proxy, 'proxy'), { repository: proxy, ...target('second') }, '', ''],
  ['the same container of the companion', beside(proxy, 'proxy'), { repository: proxy, ...target('proxy') }, 'a and b', 'a and b: proxy'],
  ['another workload', beside(proxy), { repository: proxy, targets: [{ ...webDeployment, name: 'api' }] }, '', ''],
  ['the other one is suspended', beside(proxy), { repository: proxy, suspended: true }, '', ''],
  ['the other one only reports', beside(proxy), { repository: proxy, mode: 'DryRun' }, '', ''],
  ['the one with the companion only reports', { ...beside(proxy), mode: 'DryRun' }, { repository: proxy }, '', ''],
] satisfies [what: string, a: Partial<PolicySpec>, b: Partial<PolicySpec>, unseen: string, seen: string][])
  test(`lint finds ${seen === '' ? 'no shared container' : 'a shared container'} of a companion: ${what}`, () => {
    const find = (workloads: Parameters<typeof findSharedContainers>[1]['workloads']) =>
      findSharedContainers(policies(a, b), { workloads, aliases: noAliases })
        .map(({ mover, keeper, containers }) => [`${mover.policy.name} and ${keeper.policy.name}`, ...containers].join(': '))
        .join();
    assert.deepEqual([find([]), find([running])], [unseen, seen]);
  });

test('lint finds no shared container if the workload does not run the own image of the other policy', () => {
  const [a, b] = policies(beside(proxy), { repository: api, ...beside(proxy) });
  const workload = workloadOf({ web: `${registry}/shop/web:1.0.0`, proxy: `${registry}/shop/proxy:1.0.0` });
  assert.deepEqual(
    findSharedContainers(
      [a, b].filter((one) => one !== undefined),
      { workloads: [workload], aliases: noAliases },
    ),
    [],
  );
});

test('lint reports two policies of one image with the same companion once', () => {
  const [a, b] = policies(beside(proxy), beside(proxy));
  const found = findSharedContainers(
    [a, b].filter((one) => one !== undefined),
    { workloads: [running], aliases: noAliases },
  );
  assert.deepEqual(
    found.map(({ companions }) => companions),
    [undefined],
  );
});
