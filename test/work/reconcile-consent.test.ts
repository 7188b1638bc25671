/** Targets in other namespaces: whose owners are asked, when, and what becomes of the policy. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PermanentError } from '../../src/core/errors.ts';
import type { ImagePolicy } from '../../src/core/image-policy.ts';
import { reconcilePolicy, type ReconcilePorts } from '../../src/work/reconcile-policy.ts';
import { digestOf, latestSpec, policyOf, specOf, webDeployment } from '../core/samples.ts';
import { createWorld, image, runs, type World } from './world.ts';

const signal = new AbortController().signal;
const target = { ...webDeployment, namespace: 'ops' };
const { namespace, name, uid } = policyOf();

/** Policy shop/web for Deployment ops/web, which runs 1.2.3. */
function start({ onTarget, onNamespace, ...policy }: { onTarget?: string; onNamespace?: string } & Partial<ImagePolicy> = {}): World {
  const world = createWorld();
  world.workloads.clear();
  world.put(policyOf({ spec: specOf({ targets: [target] }), ...policy }));
  runs(world, { web: `${image}:1.2.3` }, { namespace: 'ops', ...(onTarget !== undefined && { allowPoliciesFrom: onTarget }) });
  if (onNamespace !== undefined) world.namespaces.set('ops', onNamespace);
  return world;
}

const reconcile = (world: World, ports: Partial<ReconcilePorts> = {}) =>
  reconcilePolicy({ policy: { namespace, name, uid }, announced: false, hint: { tag: '1.3.0' } }, { ...world.ports, ...ports }, signal);
const running = (world: World) => world.workloads.get('Deployment/ops/web')?.containers[0]?.image;

test('the target lets it: asked before the patch, and its Namespace is not', async () => {
  const world = start({ onTarget: 'shop' });
  const outcome = await reconcile(world);
  assert.deepEqual([outcome.kind, outcome.tolerated, running(world)], ['updated', [], `${image}:1.3.0`]);
  assert.deepEqual(world.requests, ['HEAD 1.3.0', 'GET web', 'PATCH web']);
});

test('the Namespace lets it', async () => {
  const world = start({ onNamespace: '*' });
  assert.equal((await reconcile(world)).kind, 'updated');
  assert.deepEqual(world.requests, ['HEAD 1.3.0', 'GET web', 'GET namespace ops', 'PATCH web']);
});

test('nobody lets it: stalled, nothing is changed, and the message says what to do', async () => {
  for (const world of [start(), start({ onTarget: 'web' }), start({ onTarget: '', onNamespace: '*' }), start({ onNamespace: 'web' })]) {
    const outcome = await reconcile(world);
    assert.deepEqual([outcome.kind, outcome.reason, running(world)], ['stalled', 'NoConsent', `${image}:1.2.3`]);
    assert.match(outcome.message, /Deployment ops\/web .*annotate it with operator\.technomad\.dev\/allow-policies-from: "shop"/);
  }
});

test('a consent that was withdrawn counts, although the cache still has it', async () => {
  const world = start({ onTarget: 'shop' });
  const cached = world.workloads.get('Deployment/ops/web');
  runs(world, { web: `${image}:1.2.3` }, { namespace: 'ops' });
  const outcome = await reconcile(world, { findWorkload: () => cached });
  assert.deepEqual([outcome.reason, running(world)], ['NoConsent', `${image}:1.2.3`]);
});

test('what is up to date needs no consent, and costs no request', async () => {
  const world = start();
  runs(world, { web: `${image}:1.3.0` }, { namespace: 'ops' });
  assert.equal((await reconcile(world)).kind, 'unchanged');
  assert.deepEqual(world.requests, []);
});

test('a Namespace that may not be read is a missing consent, with the permission that is missing', async () => {
  const denied = new PermanentError('NoConsent', 'grant the verb "get" on "namespaces"');
  const outcome = await reconcile(start(), { readNamespaceConsent: () => Promise.reject(denied) });
  assert.equal(outcome.reason, 'NoConsent');
  assert.match(outcome.message, /grant the verb "get"/);
  const away = new Error('ECONNRESET');
  await assert.rejects(reconcile(start(), { readNamespaceConsent: () => Promise.reject(away) }), away);
});

test('what was updated as v1alpha1 goes on without consent, with a warning', async () => {
  const world = start({ formerNamespace: 'ops' });
  const outcome = await reconcile(world);
  assert.deepEqual([outcome.kind, outcome.tolerated, running(world)], ['updated', [target], `${image}:1.3.0`]);
  const consenting = start({ formerNamespace: 'ops', onNamespace: 'shop' });
  assert.deepEqual((await reconcile(consenting)).tolerated, []);
  const another = start({ formerNamespace: 'web' });
  assert.equal((await reconcile(another)).reason, 'NoConsent');
});

test('the configuration decides before the owners', async () => {
  const denied = start({ onTarget: '*', formerNamespace: 'ops' });
  assert.equal((await reconcile(denied, { crossNamespace: 'deny' })).reason, 'CrossNamespaceDenied');
  const allowed = start();
  assert.equal((await reconcile(allowed, { crossNamespace: 'allow' })).kind, 'updated');
  for (const world of [denied, allowed]) assert.ok(!world.requests.includes('GET namespace ops'));
});

test('one refusal does not hold up the other targets', async () => {
  const world = start({ spec: specOf({ targets: [target, webDeployment] }) });
  runs(world, { web: `${image}:1.2.3` });
  const outcome = await reconcile(world);
  assert.deepEqual([outcome.reason, outcome.changes?.length], ['NoConsent', 1]);
  assert.deepEqual([running(world), world.images()], [`${image}:1.2.3`, [`${image}:1.3.0`]]);
});

test('what is read for the consent shows that another replica was faster: the registry is asked again', async () => {
  const world = start({ onTarget: '*', spec: latestSpec({ targets: [target] }) });
  const cached = world.workloads.get('Deployment/ops/web');
  runs(world, { web: `${image}:latest@${digestOf('e')}` }, { namespace: 'ops', allowPoliciesFrom: '*' });
  const answers = [digestOf('d'), digestOf('e')];
  const headManifest = async () => ({ digest: answers.shift() ?? digestOf('e') });
  const request = { policy: { namespace, name, uid }, announced: false, hint: { tag: 'latest' } };
  const outcome = await reconcilePolicy(request, { ...world.ports, findWorkload: () => cached, headManifest }, signal);
  assert.deepEqual([outcome.kind, outcome.digest, running(world)], ['unchanged', digestOf('e'), `${image}:latest@${digestOf('e')}`]);
});
