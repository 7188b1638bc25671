import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PolicySpec } from '../../../src/core/model/image-policy.ts';
import { pullAccess } from '../../../src/core/model/image-source.ts';
import type { Workload } from '../../../src/core/model/workload.ts';
import { policyOf, specOf, webDeployment, workloadOf } from './samples.ts';

const workload = (more: Partial<Workload> = {}) => workloadOf({ web: 'nginx:1' }, more);

interface Cluster {
  readonly workloads?: readonly Workload[];
  /** Service accounts with their imagePullSecrets. */
  readonly accounts?: Readonly<Record<string, readonly string[]>>;
}

/** `a of policy`, `b of target` … */
function accessOf(spec: Partial<PolicySpec>, { workloads = [workload()], accounts = {} }: Cluster = {}): string[] | undefined {
  const access = pullAccess(policyOf(), specOf(spec), {
    workloadsOf: () => workloads,
    pullSecretsOf: (namespace, name) => (namespace === 'shop' ? (accounts[name] ?? []) : []),
  });
  return access?.secrets.map(({ namespace, name, namedBy }) => `${namespace}/${name} of ${namedBy}`);
}

const rows: [name: string, spec: Partial<PolicySpec>, cluster: Cluster, expected: string[] | undefined][] = [
  ['nobody names a Secret', {}, {}, undefined],
  ['the policy', { pullSecrets: ['a', 'b'] }, {}, ['shop/a of policy', 'shop/b of policy']],
  ['the pods of the target', {}, { workloads: [workload({ pullSecrets: ['a'] })] }, ['shop/a of target']],
  ['the default service account', {}, { accounts: { default: ['a'], other: ['b'] } }, ['shop/a of serviceAccount']],
  [
    'a named service account',
    {},
    { workloads: [workload({ serviceAccount: 'other' })], accounts: { default: ['a'], other: ['b'] } },
    ['shop/b of serviceAccount'],
  ],
  [
    'all of them, in this order',
    { pullSecrets: ['p'] },
    { workloads: [workload({ pullSecrets: ['t'] })], accounts: { default: ['s'] } },
    ['shop/p of policy', 'shop/t of target', 'shop/s of serviceAccount'],
  ],
  [
    'the same one several times',
    { pullSecrets: ['a'] },
    { workloads: [workload({ pullSecrets: ['a'] })], accounts: { default: ['a'] } },
    ['shop/a of policy'],
  ],
  ['a target that is not there', { pullSecrets: ['p'] }, { workloads: [], accounts: { default: ['s'] } }, ['shop/p of policy']],
  [
    'a target in another namespace: its Secrets are its own',
    { targets: [{ ...webDeployment, namespace: 'ops' }] },
    { workloads: [workload({ namespace: 'ops', pullSecrets: ['t'] })], accounts: { default: ['s'] } },
    undefined,
  ],
];
for (const [name, spec, cluster, expected] of rows) {
  test(`the named Secrets are collected in the case "${name}"`, () => assert.deepEqual(accessOf(spec, cluster), expected));
}

test('a target of hundreds of workloads contributes only some of their Secrets', () => {
  const workloads = Array.from({ length: 500 }, (_, index) => workload({ pullSecrets: [`s${index}`] }));
  assert.equal(accessOf({ pullSecrets: ['p'] }, { workloads })?.length, 32);
});
