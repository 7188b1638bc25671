import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPolicy } from '../../../src/service/resources/read-policy.ts';
import type { Acting } from '../../../src/bases/policies/act.ts';
import { childManifest, type Child, type ChildManifest } from '../../../src/bases/policies/child-policies.ts';
import { rollOutRebased, type RebasePorts } from '../../../src/bases/policies/roll-out-rebased.ts';
import { workloadAnnotation } from '../../../src/core/model/base-policy.ts';
import { workloadOf } from '../../core/model/samples.ts';
import { base, imageOf, now, policyWith, rebase } from './acting.ts';
import { readContext } from '../../harness/resource-group.ts';

const policy = policyWith({ onNewBase: [rebase] });
const [action] = policy.spec.onNewBase;
const image = imageOf('web');
const ref = { kind: 'Deployment', namespace: 'shop', name: 'web' };
const images = { workload: ref, containers: ['app'], hasInitContainers: false };
const replacement = {
  ...images,
  uid: 'second',
  repository: 'harbor.example.com/shop/web',
  from: '1.2.3',
  to: '1.2.3-base',
  isPinned: false,
};
const manifest = childManifest(policy, base, replacement);
const stored = { ...manifest, metadata: { ...manifest.metadata, uid: 'child', resourceVersion: '1', generation: 1 } };
const child: Child = { policy: readPolicy(stored, readContext), base: base.digest, replacement };
const runs = (uid: string) =>
  workloadOf({}, { ...ref, uid, containers: [{ name: 'app', image: `${replacement.repository}:${replacement.from}` }] });

/** What is done about the child, where the cache shows the workload with one uid and the API server with another one; undefined: not at all. */
async function rollOut(cached: string | undefined, stored: string | undefined): Promise<string[]> {
  const done: string[] = [];
  const ports: RebasePorts = {
    readWorkload: () => Promise.resolve(done.push('read')).then(() => (stored === undefined ? undefined : runs(stored))),
    isRebaseKnown: () => false,
    discard: () => Promise.reject(new Error('the base is not rejected')),
    rebase: () => Promise.resolve({ tag: replacement.to, digest: image.digest }),
    children: {
      list: () => Promise.resolve([child]),
      create: ({ metadata }: ChildManifest) => Promise.resolve(void done.push(`create for ${metadata.annotations[workloadAnnotation]}`)),
      remove: () => Promise.resolve(void done.push('remove')),
      rollBack: () => Promise.reject(new Error('there is nothing to roll back')),
    },
  };
  const acting: Acting = {
    policy,
    base,
    behind: [image],
    current: [],
    versions: { source: image.source, known: [], line: { description: 'any', relationOf: () => 'older' } },
    findWorkload: () => (cached === undefined ? undefined : runs(cached)),
    selects: () => true,
    permits: () => true,
    isInUse: () => true,
    confirm: () => Promise.resolve(),
    beginWave: () => Promise.resolve(),
    confirmUnchanged: () => Promise.resolve(),
    now,
    signal: new AbortController().signal,
  };
  assert.ok(action?.kind === 'rebase');
  await rollOutRebased(acting, cached === undefined ? [] : [{ image, action }], ports);
  return done;
}

for (const [what, { cached, stored }, expected] of [
  ['is the one that it was created for', { cached: 'second', stored: 'second' }, []],
  ['is that one, which the cache does not know yet', { cached: 'first', stored: 'second' }, ['read']],
  ['was recreated', { cached: 'third', stored: 'third' }, ['read', 'remove', 'create for third']],
  ['is gone', { cached: undefined, stored: undefined }, ['read', 'remove']],
  ['is missing only in the cache', { cached: undefined, stored: 'second' }, ['read']],
] as const)
  test(`a child whose workload ${what} leads to these actions: ${expected.join(', ') || 'none'}`, async () =>
    assert.deepEqual(await rollOut(cached, stored), expected));
