/** Every kind of workload, by name and by label, against the real API server. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Spec } from '../../src/service/resources/v1.ts';
import { pushImage } from '../harness/push-image.ts';
import { kubeconfigWithRules } from '../harness/service-account.ts';
import { waitFor } from '../harness/wait-for.ts';
import { installKind, known, pathOf, removeKind, type CustomKind } from '../service/kube/targets/custom-definition.ts';
import { eachOf } from './fleet.ts';
import { announce, assertPatchedTimes, deliver, harborBody, startWorld, type Service, type World } from './world.ts';

const any = { strategy: 'SemVer' } as const;
const apps = (plural: string) => ({ group: 'apps', version: 'v1', plural });

/** A kind that is installed later than a policy names it. */
const machine: CustomKind = { group: 'example.com', version: 'v1', kind: 'Machine', plural: 'machinery' };

interface Raw {
  metadata: { name: string; generation: number };
  spec: Record<string, unknown>;
}

describe('targets of every kind', () => {
  let world: World;
  let service: Service;
  before(async () => {
    const kinds: readonly CustomKind[] = [known.rollout, known.application, known.knativeService, known.helmRelease, machine];
    const extraRules = kinds.map(({ group, plural }) => ({
      apiGroups: [group],
      resources: [plural],
      verbs: ['get', 'list', 'watch', 'patch'],
    }));
    world = await startWorld({ extraRules });
    const operatorFields = [
      {
        ...known.application,
        fields: [{ path: 'spec.source.helm.parameters[1].value', repository: 'spec.source.helm.parameters[0].value' }],
      },
      { ...machine, fields: ['spec.image.tag'] },
    ];
    const customTargets = operatorFields.map(({ group, version, kind, fields }) => ({ apiVersion: `${group}/${version}`, kind, fields }));
    service = await world.start({ config: { customTargets } });
    await announce(world.registry, service);
    for (const kind of [known.rollout, known.application, known.knativeService, known.helmRelease]) await installKind(world.cluster, kind);
  });
  after(() => world.stop());

  const repository = (name: string) => `${world.registry.host}/shop/${name}`;
  const push = (name: string, tag: string) =>
    pushImage({ host: world.registry.host, repository: `shop/${name}`, tag, content: `${name} ${tag}` });
  const path = ({ group, version, plural }: Omit<CustomKind, 'kind'>) => pathOf({ group, version, plural, kind: '' }, world.namespace);
  const create = (where: Omit<CustomKind, 'kind'> & { kind?: string }, name: string, spec: object, labels = {}) =>
    world.cluster.request('POST', path(where), {
      apiVersion: `${where.group}/${where.version}`,
      kind: where.kind,
      metadata: { name, labels },
      spec,
    });
  const template = (image: string, more: object = {}) => ({
    metadata: { labels: { app: 'all' } },
    spec: { initContainers: [{ name: 'migrate', image }], containers: [{ name: 'web', image }], ...more },
  });
  const read = (where: Omit<CustomKind, 'kind'>, name: string) => world.cluster.request<Raw>('GET', `${path(where)}/${name}`);
  /** Waits until the object says this tag, wherever it does, and none of the others. */
  const waitForTag = (where: Omit<CustomKind, 'kind'>, name: string, tag: string) =>
    waitFor(`${where.plural} ${name} to run ${tag}`, async () => {
      const raw = await read(where, name);
      return JSON.stringify(raw.spec).includes(tag) && raw;
    });

  it('are changed by one push: pod templates, job templates and fields', async () => {
    await push('all', '1.0.0');
    const image = `${repository('all')}:1.0.0`;
    const selector = { matchLabels: { app: 'all' } };
    const cronjobs = { group: 'batch', version: 'v1', plural: 'cronjobs' };
    await create(apps('statefulsets'), 'all', { serviceName: 'all', selector, template: template(image) });
    await create(apps('daemonsets'), 'all', { selector, template: template(image) });
    await create(apps('replicasets'), 'all', { selector, template: template(image) });
    const jobTemplate = { spec: { template: template(image, { restartPolicy: 'Never' }) } };
    await create(cronjobs, 'all', { schedule: '0 3 * * *', jobTemplate });
    await create(known.rollout, 'all', { template: template(image) });
    await create(known.knativeService, 'all', { template: template(image) });
    await create(known.helmRelease, 'all', { values: { image: { repository: repository('all'), tag: 1.0 }, other: { tag: '1.0.0' } } });
    const parameters = [
      { name: 'image.repository', value: repository('all') },
      { name: 'image.tag', value: '1.0.0' },
    ];
    await create(known.application, 'all', { project: 'default', source: { helm: { parameters } } });
    const custom = ({ group, version, kind }: CustomKind) => ({ apiVersion: `${group}/${version}`, kind, name: 'all' });
    const targets: Spec['targets'] = [
      { kind: 'StatefulSet', name: 'all', initContainers: true },
      { kind: 'DaemonSet', name: 'all' },
      { kind: 'ReplicaSet', name: 'all' },
      { kind: 'CronJob', name: 'all' },
      custom(known.rollout),
      custom(known.knativeService),
      { ...custom(known.helmRelease), fields: { repository: 'spec.values.image.repository', tag: 'spec.values.image.tag' } },
      { ...custom(known.application), fields: { tag: 'spec.source.helm.parameters[1].value' } },
    ];
    await world.createPolicy('all', repository('all'), any, { targets });
    await world.waitForFirstLook('all');
    await push('all', '1.0.1');
    const stateful = await waitForTag(apps('statefulsets'), 'all', '1.0.1');
    assert.doesNotMatch(JSON.stringify(stateful.spec), /1\.0\.0/);
    assert.equal(stateful.metadata.generation, 2);
    for (const collectionPath of [apps('daemonsets'), apps('replicasets'), cronjobs, known.rollout, known.knativeService]) {
      const { spec, metadata } = await waitForTag(collectionPath, 'all', '1.0.1');
      // The init container stays: nobody asked for it.
      assert.equal(JSON.stringify(spec).split(image).length, 2, collectionPath.plural);
      assert.equal(metadata.generation, 2, collectionPath.plural);
    }
    const { spec: release } = await waitForTag(known.helmRelease, 'all', '1.0.1');
    assert.deepEqual(release, { values: { image: { repository: repository('all'), tag: '1.0.1' }, other: { tag: '1.0.0' } } });
    const { spec: application } = await waitForTag(known.application, 'all', '1.0.1');
    assert.deepEqual(application, {
      project: 'default',
      source: { helm: { parameters: [parameters[0], { name: 'image.tag', value: '1.0.1' }] } },
    });
    const status = await waitFor('the status to tell of all', async () => {
      const found = await world.readStatus('all');
      return found.latest?.tag === '1.0.1' && found.targetCounts?.upToDate === 9 && found;
    });
    // Before it there is only the number that became a text.
    assert.ok(status.history?.slice(0, 9).every(({ to }) => to === `${repository('all')}:1.0.1`));
  });

  it('that are one custom resource may have different fields for each policy, even one that was not read before', async () => {
    await create(known.helmRelease, 'two', {
      values: { front: { image: { repository: repository('front'), tag: '1.0.0' } }, back: { image: `${repository('back')}:1.0.0` } },
    });
    const release = { apiVersion: 'helm.toolkit.fluxcd.io/v2', kind: 'HelmRelease', name: 'two' };
    for (const [name, fields] of [
      ['front', { tag: 'spec.values.front.image.tag' }],
      ['back', { image: 'spec.values.back.image' }],
    ] as const) {
      await push(name, '1.0.0');
      await world.createPolicy(name, repository(name), any, { targets: [{ ...release, fields }] });
      await world.waitForFirstLook(name);
      await push(name, '1.1.0');
      await waitFor(
        `${name} to be updated`,
        async () => JSON.stringify((await read(known.helmRelease, 'two')).spec).split('1.1.0').length > (name === 'front' ? 1 : 2),
      );
    }
    assert.deepEqual((await read(known.helmRelease, 'two')).spec, {
      values: { front: { image: { repository: repository('front'), tag: '1.1.0' } }, back: { image: `${repository('back')}:1.1.0` } },
    });
  });

  it('are found by their labels, and a workload that begins to match is updated', async () => {
    await push('base', '1.0.0');
    const [old, next] = [`${repository('base')}:1.0.0`, `${repository('base')}:1.1.0`];
    const names = Array.from({ length: 30 }, (_, index) => `base-${index}`);
    const deployment = (name: string, labels: object, image = old) =>
      create(
        apps('deployments'),
        name,
        {
          selector: { matchLabels: { app: name } },
          template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c0', image }] } },
        },
        labels,
      );
    await eachOf(names, (name) => deployment(name, { uses: 'base' }).then(() => undefined));
    await deployment('unrelated', { uses: 'other' });
    await world.createPolicy('base', repository('base'), any, {
      targets: [
        {
          kind: 'Deployment',
          selector: { matchLabels: { uses: 'base' }, matchExpressions: [{ key: 'frozen', operator: 'DoesNotExist' }] },
        },
      ],
    });
    await world.waitForFirstLook('base');
    await push('base', '1.1.0');
    for (const name of names) assertPatchedTimes(await world.waitForImage(name, next), 1);
    const status = await waitFor('the status to count all', async () => {
      const found = await world.readStatus('base');
      return found.latest?.tag === '1.1.0' && found.targetCounts?.upToDate === 30 && found;
    });
    assert.deepEqual([status.targets?.length, status.history?.length], [20, 10]);
    const [stored] = (await world.listPolicies()).filter(({ metadata }) => metadata.name === 'base');
    const { history, earlierChanges } = (stored?.status ?? {}) as { history?: unknown[]; earlierChanges?: string[] };
    assert.deepEqual([history?.length, earlierChanges?.length], [3, 7]);

    await deployment('late', { uses: 'base' });
    await world.waitForImage('late', next);
    assertPatchedTimes(await world.readDeployment('unrelated'), 0);
    await world.cluster.request('PATCH', world.deploymentPath('unrelated'), { metadata: { labels: { uses: 'base' } } });
    await world.waitForImage('unrelated', next);
  });

  it('are reported as not matching until something matches', async () => {
    await push('nobody', '1.0.0');
    await push('nobody', '1.1.0');
    const selector = { matchLabels: { uses: 'nobody' } };
    await world.createPolicy('nobody', repository('nobody'), any, { targets: [{ kind: 'StatefulSet', selector }] });
    const stalled = await world.waitForCondition('nobody', 'Stalled', 'TargetNotFound');
    assert.match(stalled.message, /no StatefulSet in .* matches uses=nobody/);
    const image = `${repository('nobody')}:1.0.0`;
    const spec = { serviceName: 'x', selector: { matchLabels: { app: 'all' } }, template: template(image) };
    await create(apps('statefulsets'), 'somebody', spec, selector.matchLabels);
    await waitForTag(apps('statefulsets'), 'somebody', '1.1.0');
    await world.waitForCondition('nobody', 'Ready', 'UpToDate');
  });

  it('of a kind that is not installed wait for it, and fields without a parent are reported', async () => {
    await push('late-kind', '1.0.0');
    await push('late-kind', '1.1.0');
    await world.createPolicy('late-kind', repository('late-kind'), any, {
      targets: [{ apiVersion: 'example.com/v1', kind: 'Machine', name: 'one', fields: { tag: 'spec.image.tag' } }],
    });
    const stalled = await world.waitForCondition('late-kind', 'Stalled', 'TargetKindUnknown');
    assert.match(stalled.message, /Machine of example\.com\/v1.*CustomResourceDefinition/);
    await installKind(world.cluster, machine);
    await world.waitForCondition('late-kind', 'Stalled', 'TargetNotFound');
    await create(machine, 'one', { size: 3 });
    const missing = await world.waitForCondition('late-kind', 'Stalled', 'FieldPathMissing');
    assert.match(missing.message, /there is no spec\.image to hold it/);
    await world.cluster.request('PATCH', `${path(machine)}/one`, {
      spec: { image: { repository: repository('late-kind'), tag: '1.0.0' } },
    });
    await waitForTag(machine, 'one', '1.1.0');
    await world.waitForCondition('late-kind', 'Ready', 'UpToDate');
    await removeKind(world.cluster, machine);
  });

  it('shared by two policies get both images, each in one change, over 200 rounds of simultaneous pushes', async () => {
    const { host } = world.quiet;
    const names = ['left', 'right'];
    const image = (name: string, round: number) => `${host}/pair/${name}:1.${round}.0`;
    const pushRound = (round: number) =>
      Promise.all(names.map((name) => pushImage({ host, repository: `pair/${name}`, tag: `1.${round}.0`, content: name })));
    await pushRound(0);
    await world.createDeployment('pair', ...names.map((name) => image(name, 0)));
    for (const name of names) await world.createPolicy(name, `${host}/pair/${name}`, any, { target: 'pair' });
    for (const name of names) await world.waitForFirstLook(name);
    for (let round = 1; round <= 200; round++) {
      await pushRound(round);
      await Promise.all(names.map((name) => deliver(service, harborBody(host, `pair/${name}`, [{ tag: `1.${round}.0` }]))));
      await waitFor(`both images of round ${round}`, async () => {
        const { containers } = (await world.readDeployment('pair')).spec.template.spec;
        return containers.every((container, index) => container.image === image(names[index] ?? '', round));
      });
    }
    assertPatchedTimes(await world.readDeployment('pair'), 400);
  });
});

describe('a service without permission to list a kind', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
    const all = ['get', 'list', 'watch', 'patch'];
    const rules = [
      { apiGroups: ['operator.technomad.dev'], resources: ['imagepolicies', 'imagepolicies/status'], verbs: all },
      { apiGroups: ['apps'], resources: ['deployments'], verbs: all },
      { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create'] },
      { apiGroups: [''], resources: ['secrets', 'namespaces'], verbs: ['get'] },
    ];
    const kubeconfig = await kubeconfigWithRules(world.cluster, world.namespace, 'narrow', rules);
    await announce(world.registry, await world.start({ kubeconfig, roles: 'receive,work' }));
  });
  after(() => world.stop());

  it('reports the missing permission in the policies that need it, updates other policies, and continues when it is granted', async () => {
    const { host } = world.registry;
    const push = (tag: string) => pushImage({ host, repository: 'shop/narrow', tag, content: tag });
    await push('1.0.0');
    await world.createPolicy('needs-more', `${host}/shop/narrow`, any, { targets: [{ kind: 'StatefulSet', name: 'narrow' }] });
    const stalled = await world.waitForCondition('needs-more', 'Stalled', 'TargetKindForbidden');
    assert.match(stalled.message, /"list" and "watch" on "statefulsets" in API group "apps"/);
    await world.createDeployment('narrow', `${host}/shop/narrow:1.0.0`);
    await world.createPolicy('narrow', `${host}/shop/narrow`, any);
    await world.waitForFirstLook('narrow');
    await push('1.1.0');
    await world.waitForImage('narrow', `${host}/shop/narrow:1.1.0`);
    await world.cluster.request('PATCH', `/apis/rbac.authorization.k8s.io/v1/clusterroles/${world.namespace}-narrow`, {
      rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
    });
    await world.waitForCondition('needs-more', 'Stalled', 'TargetNotFound');
  });
});
