/** Containers of a policy's image that may be meant for another policy: a first change does not take them over. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asSeenBy } from '../../../src/core/plan/consent.ts';
import type { PolicyTarget } from '../../../src/core/model/image-policy.ts';
import { neededReconciles } from '../../../src/service/reconcile/enqueue/needs-reconcile.ts';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { digestOf, latestSpec, policyOf, specOf, webDeployment } from '../../core/model/samples.ts';
import { filterTags } from '../../../src/core/select/filter-tags.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import { contextOf, createWorld, image, setWorkload, startTime, withPorts, type World } from './world.ts';

const [one, other] = [digestOf('1'), digestOf('2')];

/** Runs what each policy needs, with all of them known to each other. */
async function reconcileAll(world: World): Promise<void> {
  const ports = withPorts(world.ports, { cluster: { policiesOf: () => [...world.policies.values()] } });
  for (const policy of Array.from(world.policies.values()))
    for (const job of neededReconciles(policy, asSeenBy(policy, ports.cluster), { now: new Date(startTime), withNew: false }))
      await processTask(job, contextOf(), ports);
}

const say = (world: World, name = 'web') => {
  const { conditions = [], running, targets = [] } = world.statusOf(name);
  const ready = conditions.find(({ type }) => type === 'Ready');
  return { ready: `${ready?.status} ${ready?.reason}`, running, states: targets.map(({ container, state }) => `${container} ${state}`) };
};

for (const [what, target, expected] of [
  ['stays where the policy names no containers', {}, [`${image}:1.3.0`, `${image}:1.2.3-alpine`]],
  ['is changed where the policy names it', { containers: ['web', 'alpine'] }, [`${image}:1.3.0`, `${image}:1.3.0`]],
  ['is changed with takeOver', { takeOver: true }, [`${image}:1.3.0`, `${image}:1.3.0`]],
] satisfies [string, Partial<PolicyTarget>, string[]][])
  test(`a container that runs another variant of the image ${what}`, async () => {
    const world = createWorld();
    world.put(policyOf({ spec: specOf({ targets: [{ ...webDeployment, ...target }] }) }));
    setWorkload(world, { web: `${image}:1.2.3`, alpine: `${image}:1.2.3-alpine` });
    await reconcileAll(world);
    assert.deepEqual(world.images(), expected);
  });

test('a container of another track is shown with the reason, and the policy is Ready', async () => {
  const world = createWorld();
  setWorkload(world, { web: `${image}:1.3.0`, alpine: `${image}:1.2.3-alpine` });
  await reconcileAll(world);
  assert.match(
    world.statusOf('web').targets?.[1]?.message ?? '',
    /runs 1\.2\.3-alpine, which is of another track than 1\.3\.0: .*takeOver: true/,
  );
  assert.deepEqual(say(world), { ready: 'True UpToDate', running: '1.3.0,+1', states: ['web UpToDate', 'alpine Kept'] });
});

test('the reason of a container of another track names the policy that selects that track', async () => {
  const world = createWorld();
  const strategy = filterTags(strategies.semver({}), { allow: '^([0-9.]+)-alpine$', extract: '$1' });
  world.put(policyOf({ name: 'alpine', spec: specOf({ strategy, targets: [{ ...webDeployment, containers: ['alpine'] }] }) }));
  setWorkload(world, { web: `${image}:1.3.0`, alpine: `${image}:1.2.3-alpine`, other: `${image}:1.2.3-alpine` });
  await reconcileAll(world);
  const messages = world.statusOf('web').targets?.map(({ message = '' }) => message.split(': ')[0]);
  const elsewhere = 'runs 1.2.3-alpine, which is of another track than 1.3.0';
  assert.deepEqual(messages?.slice(1), [`alpine ${elsewhere}, that of ImagePolicy shop/alpine`, `other ${elsewhere}`]);
});

test('a running tag without an order stays with the policy that selects it', async () => {
  for (const running of ['3f2a1bc', '1234', 'feature_a']) {
    const world = createWorld();
    const strategy = filterTags(strategies.alphabetical(), { allow: '^[0-9a-z_]+$' });
    setWorkload(world, { web: `${image}:1.2.3`, other: `${image}:${running}` });
    world.tags.set(running, digestOf('9'));
    world.put(policyOf({ name: 'other', spec: specOf({ strategy, targets: [{ ...webDeployment, containers: ['other'] }] }) }));
    await reconcileAll(world);
    assert.deepEqual(world.images(), [`${image}:1.3.0`, `${image}:${running}`]);
    assert.match(world.statusOf('web').targets?.[0]?.message ?? '', /which ImagePolicy shop\/other selects: .*takeOver: true/);
  }
});

test('a container that was taken over once stays with the policy, whatever image somebody sets', async () => {
  const world = createWorld();
  world.put(policyOf({ spec: specOf({ targets: [{ ...webDeployment, takeOver: true }] }) }));
  setWorkload(world, { web: `${image}:1.2.3-alpine` });
  await reconcileAll(world);
  assert.deepEqual(world.images(), [`${image}:1.3.0`]);
  const policy = world.policies.get('shop/web') ?? assert.fail();
  world.put({ ...policy, generation: 2, spec: specOf({ strategy: strategies.semver({ range: '>=1.2' }) }) });
  world.tags.set('1.4.0', digestOf('d'));
  const web = world.workloads.get('Deployment/shop/web')?.containers[0] ?? assert.fail();
  setWorkload(world, { web: { ...web, image: `${image}:1.2.3-alpine` } });
  await reconcileAll(world);
  assert.deepEqual(world.images(), [`${image}:1.4.0`]);
});

test('of two policies that follow different tags in one workload, neither takes the container of the other', async () => {
  for (const [first, second] of [
    ['develop', 'develop-chromium'],
    ['main', 'develop'],
  ] as const) {
    const world = createWorld({ registry: { headManifest: async (_, tag) => ({ digest: tag === first ? one : other }) } });
    world.put(policyOf({ spec: latestSpec({ strategy: strategies.digest({ tag: first }), targets: [webDeployment] }) }));
    world.put(policyOf({ name: 'second', spec: latestSpec({ strategy: strategies.digest({ tag: second }), targets: [webDeployment] }) }));
    setWorkload(world, { a: `${image}:${first}`, b: `${image}:${second}` });
    await reconcileAll(world);
    assert.deepEqual(world.images(), [`${image}:${first}@${one}`, `${image}:${second}@${other}`]);
  }
});
