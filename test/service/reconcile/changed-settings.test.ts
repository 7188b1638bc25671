/** Which policies need a reconcile because of what the configuration or the labels of a namespace say, without an edit of the policy. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ImagePolicy } from '../../../src/core/model/image-policy.ts';
import type { TargetState } from '../../../src/core/plan/plan-update.ts';
import type { NeedsView } from '../../../src/service/reconcile/enqueue/needs-reconcile.ts';
import { policyOf, specOf, stalledStatus, webDeployment } from '../../core/model/samples.ts';
import { neededReconcile } from './world.ts';

const now = new Date('2026-03-01T12:00:00Z');
const view: NeedsView = {
  findWorkload: () => undefined,
  listWorkloads: () => [],
  targetState: () => ({ since: 5 }),
  crossNamespace: 'consent',
  namespaceConsent: () => null,
};
const settled = { observedGeneration: 1 };

const waiting = { tag: '1.3.0', since: '2026-03-01T11:00:00Z', until: '2026-03-01T13:00:00Z' };
const open = [{ from: '00:00', to: '23:59', timeZone: 'UTC' }];
const later = [{ from: '20:00', to: '21:00', timeZone: 'UTC' }];
const never = [{ from: '09:00', to: '10:00', timeZone: 'UTC', days: [] }];
const waits: [name: string, reason: string, spec: Parameters<typeof specOf>[0], cause: string | undefined][] = [
  ['for the minimum age that it has', 'MinAge', { minAgeMs: 7_200_000 }, undefined],
  ['for a longer one than it has now', 'MinAge', { minAgeMs: 3_900_000 }, 'waits:1:2026-03-01T13:00:00Z:2026-03-01T12:05:00.000Z'],
  ['for a minimum age that it has no more', 'MinAge', {}, 'waits:1:2026-03-01T13:00:00Z:no more'],
  ['for the window that it has', 'Window', { windows: [{ from: '13:00', to: '14:00', timeZone: 'UTC' }] }, undefined],
  ['for another window', 'Window', { windows: later }, 'waits:1:2026-03-01T13:00:00Z:2026-03-01T20:00:00.000Z'],
  ['for a window, and one is open', 'Window', { windows: open }, 'waits:1:2026-03-01T13:00:00Z:no more'],
  ['for a window that never opens: the horizon moves with the clock', 'Window', { windows: never }, undefined],
  ['for a release', 'Held', {}, undefined],
  ['for the registry', 'RegistryThrottled', {}, undefined],
  ['and is suspended', 'MinAge', { suspended: true }, undefined],
];

for (const [name, reason, spec, cause] of waits) {
  test(`a policy that waits ${name} gets ${cause === undefined ? 'no job' : `the job ${cause}`}`, () => {
    const policy = policyOf({ spec: specOf(spec), status: { ...settled, waiting: { ...waiting, reason } } });
    assert.equal(neededReconcile(policy, view, now)?.cause, cause);
    const over = { ...policy, status: { ...policy.status, waiting: { ...waiting, reason, until: '2026-03-01T11:59:00Z' } } };
    assert.equal(neededReconcile(over, view, now)?.cause, undefined, 'a wait that is over has a job of its own');
  });
}

test('a target whose namespace is not selected causes one job for each version of its Namespace', () => {
  const notSelected: TargetState = { problem: { reason: 'NamespaceNotSelected', message: '' } };
  const causeWith = (status: ImagePolicy['status'], state: TargetState, version: string) => {
    const seen: NeedsView = { ...view, targetState: () => state, namespaceVersion: () => version };
    return neededReconcile(policyOf({ status }), seen, now)?.cause;
  };
  const condition = { type: 'Ready', status: 'True' as const, reason: 'UpToDate', message: '', lastTransitionTime: 't' };
  const ready = { ...settled, conditions: [condition] };
  assert.equal(causeWith(ready, notSelected, '7'), 'namespaces:7:1:t:2026-03-01T12:00');
  assert.equal(causeWith(ready, { since: 5 }, '7'), undefined);
  assert.equal(causeWith(stalledStatus('NamespaceNotSelected'), notSelected, '7'), undefined);
  assert.equal(causeWith(stalledStatus('NamespaceNotSelected'), { since: 5 }, '8'), 'kinds:1:5:8');
});

const elsewhere = specOf({ targets: [{ ...webDeployment, namespace: 'ops' }] });
const keyless = specOf({ verification: { keys: [], signers: [] } });
const configured: [
  name: string,
  stalled: string | undefined,
  spec: ReturnType<typeof specOf>,
  view: Partial<NeedsView>,
  cause: string | undefined,
][] = [
  ['crossNamespace is not deny any more', 'CrossNamespaceDenied', elsewhere, { crossNamespace: 'allow' }, 'permitted'],
  ['crossNamespace is still deny', 'CrossNamespaceDenied', elsewhere, { crossNamespace: 'deny' }, undefined],
  ['crossNamespace is deny now', undefined, elsewhere, { crossNamespace: 'deny' }, 'forbidden'],
  ['crossNamespace is deny now, where consent was missing', 'NoConsent', elsewhere, { crossNamespace: 'deny' }, 'forbidden'],
  ['crossNamespace is deny, and all targets are its own', undefined, specOf(), { crossNamespace: 'deny' }, undefined],
  ['the registry is allowed now', 'RegistryRefused', specOf(), { mayUseRegistry: () => true }, 'permitted'],
  ['the registry is still not allowed', 'RegistryRefused', specOf(), { mayUseRegistry: () => false }, undefined],
  [
    'the registry is not allowed any more',
    undefined,
    specOf(),
    { mayUseRegistry: (registry) => registry !== 'registry.example.com' },
    'forbidden',
  ],
  ['there is a trust root now', 'TrustRootMissing', keyless, { hasTrustRoot: true }, 'permitted'],
  ['there is still no trust root', 'TrustRootMissing', keyless, { hasTrustRoot: false }, undefined],
];

for (const [name, stalled, spec, more, cause] of configured) {
  test(`a restart with another configuration causes ${cause ?? 'no job'} in the case "${name}"`, () => {
    const condition = { status: 'True' as const, message: '', lastTransitionTime: 't' };
    const conditions =
      stalled === undefined
        ? [{ ...condition, type: 'Ready', reason: 'UpToDate' }]
        : [
            { ...condition, type: 'Ready', status: 'False' as const, reason: stalled },
            { ...condition, type: 'Stalled', reason: stalled },
          ];
    const found = neededReconcile(policyOf({ spec, status: { ...settled, conditions } }), { ...view, ...more }, now);
    assert.equal(found?.cause, cause && `${cause}:1:t:2026-03-01T12:00`);
  });
}

test('while the configuration is replaced, the job is repeated each minute, because a replica may still have the old one', () => {
  const ready = { status: 'True' as const, message: '', lastTransitionTime: 't', type: 'Ready', reason: 'UpToDate' };
  const policy = policyOf({ spec: elsewhere, status: { ...settled, conditions: [ready] } });
  const causeAt = (ms: number) => neededReconcile(policy, { ...view, crossNamespace: 'deny' }, new Date(now.getTime() + ms))?.cause;
  assert.equal(causeAt(59_000), causeAt(0));
  assert.notEqual(causeAt(60_000), causeAt(0));
});
