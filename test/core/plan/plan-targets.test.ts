/** Which workloads and which parts of them a target means; what becomes of their images is in plan-update.test.ts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outcomeOf } from '../../../src/core/plan/outcome.ts';
import type { PolicySpec } from '../../../src/core/model/image-policy.ts';
import { maxWorkloads, planUpdate } from '../../../src/core/plan/plan-update.ts';
import { workloadKey, type Workload } from '../../../src/core/model/workload.ts';
import { allKnown, noAliases, policyOf, specOf, webDeployment, workloadOf } from '../model/samples.ts';

const image = 'registry.example.com/shop/web';
const currentImage = `${image}:1.2.3`;

function plan(workloads: readonly Workload[], spec: Partial<PolicySpec>) {
  const byKey = new Map(workloads.map((workload) => [workloadKey(workload), workload]));
  return planUpdate({
    spec: specOf(spec),
    candidate: { tag: '1.3.0' },
    hasApplied: true,
    aliases: noAliases,
    ...allKnown,
    findWorkload: (ref) => byKey.get(workloadKey(ref)),
    listWorkloads: () => workloads,
  });
}

const workloadNamed = (name: string, labels?: Record<string, string>, runs = currentImage) =>
  workloadOf({ web: runs }, { name, ...(labels && { labels }) });
const selectorTarget = (matchLabels: Record<string, string>) => ({ kind: 'Deployment', namespace: 'shop', selector: { matchLabels } });

test('a selector selects all matching workloads in the order of their names', () => {
  const workloads = [
    workloadNamed('c', { uses: 'web' }),
    workloadNamed('a', { uses: 'web' }),
    workloadNamed('b', { uses: 'other' }),
    workloadNamed('d'),
  ];
  const { targets } = plan(workloads, { targets: [selectorTarget({ uses: 'web' })] });
  assert.deepEqual(
    targets.map(({ target, changes }) => [target, changes.map(({ to }) => to)]),
    ['a', 'c'].map((name) => [{ ...webDeployment, name }, [`${image}:1.3.0`]]),
  );
});

test('a policy that selects more workloads than it may have changes none of the target that selects too many', () => {
  const named = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, index) => workloadNamed(`${prefix}-${index}`, { uses: prefix }));
  const workloads = [...named('few', 2), ...named('many', maxWorkloads - 1)];
  const targets = ['few', 'many'].map((uses) => selectorTarget({ uses }));
  const { targets: planned } = plan(workloads, { targets });
  assert.deepEqual(
    planned.map(({ changes, problem }) => [changes.length, problem?.reason]),
    [
      [1, undefined],
      [1, undefined],
      [0, 'TooManyTargets'],
    ],
  );
  const all = plan(workloads.slice(1), { targets });
  assert.equal(all.targets.filter(({ changes }) => changes.length === 1).length, maxWorkloads);
});

test('a freshly read object counts instead of the cached one, including its labels', () => {
  const listed = [workloadNamed('a', { uses: 'web' }), workloadNamed('b', { uses: 'web' })];
  const { targets } = planUpdate({
    spec: specOf({ targets: [selectorTarget({ uses: 'web' })] }),
    candidate: { tag: '1.3.0' },
    hasApplied: true,
    aliases: noAliases,
    ...allKnown,
    listWorkloads: () => listed,
    findWorkload: ({ name }) => (name === 'a' ? workloadNamed('a', { uses: 'nothing' }) : undefined),
  });
  assert.deepEqual([targets.length, targets[0]?.problem?.reason], [1, 'TargetNotFound']);
});

test('a selector that finds nothing is reported', () => {
  const planned = plan([workloadNamed('a', { uses: 'other' })], { targets: [selectorTarget({ uses: 'web', tier: 'x' })] });
  const { kind, reason, message } = outcomeOf(planned, [], { uid: policyOf().uid, isSelection: true });
  assert.deepEqual([kind, reason, message], ['stalled', 'TargetNotFound', 'no Deployment in shop matches uses=web,tier=x']);
});

test('a workload that several targets select has one plan', () => {
  const { targets } = plan([workloadNamed('web', { uses: 'web' })], { targets: [webDeployment, selectorTarget({ uses: 'web' })] });
  assert.deepEqual([targets.length, targets[0]?.changes.length], [1, 1]);
});

test('init containers are included only where the target says so, and by name where it names some', () => {
  const initContainers = [
    { name: 'migrate', image: currentImage },
    { name: 'seed', image: currentImage },
  ];
  const workload = workloadOf({ web: currentImage }, { initContainers });
  const changed = (parts: object) =>
    plan([workload], { targets: [{ ...webDeployment, ...parts }] }).targets.flatMap(({ changes }) =>
      changes.map(({ container, index, list }) => `${list === undefined ? '' : 'init '}${container} ${index}`),
    );
  assert.deepEqual(changed({}), ['web 0']);
  assert.deepEqual(changed({ initContainers: true }), ['web 0', 'init migrate 0', 'init seed 1']);
  assert.deepEqual(changed({ initContainers: true, containers: ['seed'] }), ['init seed 1']);
});

const withVolume = (images: Record<string, string>, name = 'web') =>
  workloadOf(images, { volumes: [{ name: `volumes/${name}`, image: currentImage, index: 2 }] });

test('image volumes are included only where the target says so, whatever containers it names', () => {
  const changed = (parts: object) =>
    plan([withVolume({ web: currentImage, side: currentImage })], { targets: [{ ...webDeployment, ...parts }] }).targets.flatMap(
      ({ changes }) => changes.map(({ container, index, list }) => [container, index, list ?? 'containers']),
    );
  const [web, side, volume] = [
    ['web', 0, 'containers'],
    ['side', 1, 'containers'],
    ['volumes/web', 2, 'volumes'],
  ];
  assert.deepEqual(changed({}), [web, side]);
  assert.deepEqual(changed({ containers: ['web'] }), [web]);
  assert.deepEqual(changed({ volumes: true }), [web, side, volume]);
  assert.deepEqual(changed({ volumes: true, containers: ['web'] }), [web, volume]);
});

test('two targets that select a container and a volume of its name change both', () => {
  const { targets } = plan([withVolume({ web: currentImage })], { targets: [webDeployment, { ...webDeployment, volumes: true }] });
  assert.deepEqual(
    targets.map(({ changes }) => changes.map(({ container }) => container)),
    [['web', 'volumes/web']],
  );
});

test('a workload with only an image volume is up to date by it, and without volumes: true the message says what to write', () => {
  const only = [withVolume({ web: 'busybox:1' }, 'models')];
  assert.equal(plan(only, { targets: [{ ...webDeployment, volumes: true }] }).targets[0]?.problem, undefined);
  const problemOf = (workloads: Workload[], parts: object = {}) =>
    plan(workloads, { targets: [{ ...webDeployment, ...parts }] }).targets[0]?.problem?.message;
  const none = 'Deployment shop/web has no container that runs registry.example.com/shop/web';
  assert.equal(problemOf(only), `${none}; its volume "models" holds it: to update it, write volumes: true`);
  assert.equal(problemOf([workloadOf({ web: 'busybox:1' })]), none);
  assert.equal(problemOf([workloadOf({ web: 'busybox:1' })], { volumes: true }), `${none}, and no image volume of it`);
});

test('a message about hundreds of targets names the first ones', () => {
  const workloads = Array.from({ length: 300 }, (_, index) => workloadNamed(`w${index}`, { uses: 'web' }));
  const planned = plan(workloads, { targets: [selectorTarget({ uses: 'web' })] });
  const applied = planned.targets.flatMap(({ target, changes }) => changes.map((change) => ({ ...change, workload: target })));
  const { message, running, selection } = outcomeOf(planned, applied, { uid: policyOf().uid, isSelection: true });
  assert.match(message, /; and 290 more$/);
  assert.match(running ?? '', /; and 290 more$/);
  assert.equal(selection?.containers.length, 300);
});

test('the same kind in another API group is another workload', () => {
  const service = { apiVersion: 'serving.knative.dev/v1', kind: 'Deployment', namespace: 'shop', name: 'web' };
  const { targets } = plan([workloadNamed('web'), workloadOf({ web: `${image}:1.3.0` }, service)], { targets: [service, webDeployment] });
  assert.deepEqual(
    targets.map(({ target, changes, unchanged }) => [target.apiVersion, changes.length, unchanged.length]),
    [
      ['serving.knative.dev/v1', 0, 1],
      [undefined, 1, 0],
    ],
  );
});
