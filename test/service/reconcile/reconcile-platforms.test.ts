/** platforms: an image counts when it has all of them; one that has not is passed over, and may have them later. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processPush } from '../../../src/service/reconcile/process-push.ts';
import { reconcilePolicy } from '../../../src/service/reconcile/reconcile-policy.ts';
import type { ReconcileRequest } from '../../../src/service/reconcile/attempt.ts';
import { digestOf, policyOf, specOf, webDeployment } from '../../core/model/samples.ts';
import { rememberAnswer } from './remember-answer.ts';
import { contextOf, createWorld, image, pushOf, setWorkload, startTime, type World, withPorts, type PortOverrides } from './world.ts';

const signal = new AbortController().signal;
const { namespace, name, uid } = policyOf();
const both = ['linux/amd64', 'linux/arm64'];

/** Of 1.2.3 (which runs) and 1.3.0 there are both platforms, of others only linux/amd64. */
function start(): World {
  const world = createWorld();
  world.put(policyOf({ spec: specOf({ platforms: both }) }));
  for (const digest of world.tags.values()) world.facts.set(digest, { platforms: both });
  return world;
}

const reconcile = (world: World, request: Partial<ReconcileRequest> = {}, ports: PortOverrides = {}) =>
  reconcilePolicy({ policy: { namespace, name, uid }, announced: false, ...request }, withPorts(world.ports, ports), signal);

test('a push of an image with all platforms costs one HEAD and one read of the image', async () => {
  const world = start();
  const outcome = await reconcile(world, { hint: { tag: '1.3.0', digest: digestOf('b') }, announced: true });
  assert.equal(outcome.kind, 'updated');
  assert.deepEqual(world.requests, ['HEAD 1.3.0', 'READ b', 'PATCH web']);
});

test('a push of an image that lacks a platform is ignored, and the result says which platforms it has', async () => {
  const world = start();
  world.tags.set('1.4.0', digestOf('c'));
  const outcome = await reconcile(world, { hint: { tag: '1.4.0', digest: digestOf('c') }, announced: true });
  assert.deepEqual([outcome.kind, outcome.reason], ['ignored', 'PlatformMissing']);
  assert.equal(outcome.message, '1.4.0 has linux/amd64, not linux/arm64');
  assert.deepEqual(world.images(), [`${image}:1.2.3`]);
});

test('if images of single platforms are pushed before their index, the push of the index is applied', async () => {
  const world = start();
  world.tags.set('1.4.0', digestOf('c'));
  await processPush(pushOf({ id: 'first', tag: '1.4.0', digest: digestOf('c') }), contextOf(), world.ports);
  assert.equal(world.results.get('first shop/web')?.reason, 'PlatformMissing');
  world.tags.set('1.4.0', digestOf('d'));
  world.facts.set(digestOf('d'), { platforms: both });
  await processPush(pushOf({ id: 'second', tag: '1.4.0', digest: digestOf('d') }), contextOf(), world.ports);
  assert.deepEqual(world.images(), [`${image}:1.4.0`]);
});

test('a push without a digest is checked again while its index may still be pushed', async () => {
  let at = startTime;
  const world = start();
  world.tags.set('1.4.0', digestOf('c'));
  world.facts.set(digestOf('d'), { platforms: both });
  let heads = 0;
  const headManifest = async () => ({ digest: digestOf(++heads < 3 ? 'c' : 'd') });
  const outcome = await reconcile(
    world,
    { hint: { tag: '1.4.0' }, announced: true },
    { registry: { headManifest }, cluster: { now: () => at } },
  );
  assert.deepEqual([outcome.kind, heads, world.images()], ['updated', 3, [`${image}:1.4.0`]]);
  const never = async () => {
    at += 10_000;
    return { digest: digestOf('c') };
  };
  const given = await reconcile(
    start(),
    { hint: { tag: '1.4.0' }, announced: true },
    { registry: { headManifest: never }, cluster: { now: () => at } },
  );
  assert.equal(given.reason, 'PlatformMissing');
});

test('an answer for several policies is requested again by a policy that needs platforms', async () => {
  const world = start();
  world.tags.set('1.4.0', digestOf('d'));
  world.facts.set(digestOf('d'), { platforms: both });
  await rememberAnswer(world, 'push:1', { tag: '1.4.0', digest: digestOf('c') });
  const outcome = await reconcile(world, { hint: { tag: '1.4.0' }, announced: true, answeredFor: 'push:1' });
  assert.deepEqual([outcome.kind, outcome.digest], ['updated', digestOf('d')]);
});

test('a reconcile of all tags selects the best image with all platforms, and says what was skipped', async () => {
  const world = start();
  world.tags.set('1.5.0', digestOf('c'));
  const outcome = await reconcile(world);
  assert.deepEqual([outcome.kind, outcome.tag], ['updated', '1.3.0']);
  assert.match(outcome.message, /passed over: 1\.5\.0 has linux\/amd64, not linux\/arm64/);
  assert.match(outcome.running ?? '', /runs .*1\.3\.0; passed over: 1\.5\.0/);
  assert.deepEqual(world.requests, ['LIST shop/web', 'HEAD 1.5.0', 'READ c', 'HEAD 1.3.0', 'READ b', 'PATCH web']);
});

test('the running image is never replaced by an older one, and needs no platform to stay', async () => {
  const world = start();
  setWorkload(world, { web: `${image}:1.4.0` });
  world.tags.set('1.4.0', digestOf('c'));
  world.tags.set('1.5.0', digestOf('c'));
  const outcome = await reconcile(world);
  assert.deepEqual([outcome.kind, outcome.tag, world.images()], ['unchanged', '1.4.0', [`${image}:1.4.0`]]);
});

test('a policy is stalled after a bounded number of requests if no image has the platforms', async () => {
  const world = start();
  world.put(policyOf({ spec: specOf({ platforms: ['linux/s390x'] }) }));
  setWorkload(world, { web: `${image}:0.1.0` });
  for (let minor = 4; minor < 100; minor++) world.tags.set(`1.${minor}.0`, digestOf('c'));
  const outcome = await reconcile(world);
  assert.deepEqual([outcome.kind, outcome.reason], ['stalled', 'PlatformMissing']);
  assert.match(outcome.message, /^1\.99\.0 has linux\/amd64, not linux\/s390x, and none of the next 9 can be used$/);
  assert.equal(world.requests.filter((request) => request.startsWith('HEAD')).length, 10);
});

test('a policy without platforms requests no platforms of an image', async () => {
  const world = start();
  world.put(policyOf({ spec: specOf({ targets: [webDeployment] }) }));
  await reconcile(world, { hint: { tag: '1.3.0', digest: digestOf('b') }, announced: true });
  assert.deepEqual(world.requests, ['HEAD 1.3.0', 'PATCH web']);
});

test('if the selected image lacks a platform and a target was changed, another image is selected', async () => {
  const world = start();
  world.tags.set('1.4.0', digestOf('c'));
  const hint = { tag: '1.4.0', digest: digestOf('c') };
  const outcome = await reconcile(world, { hint, isAboutTargets: true });
  assert.deepEqual([outcome.kind, outcome.tag, world.images()], ['updated', '1.3.0', [`${image}:1.3.0`]]);
});
