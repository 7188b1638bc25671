/** What somebody who may write ImagePolicies in one namespace can do to, and learn of, another one: nothing without the consent of its owners. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { PolicyStatus } from '../../src/core/model/policy-status.ts';
import { runCommand } from '../cli/run-command.ts';
import { pushImage } from '../harness/push-image.ts';
import { kubeconfigWithGrants } from '../harness/service-account.ts';
import { waitFor } from '../harness/wait-for.ts';
import { installKind, known } from '../service/kube/targets/custom-definition.ts';
import { deliver, harborBody, startWorld, type Service, type World } from './world.ts';

const consentAnnotation = 'operator.technomad.dev/allow-policies-from';
const originAnnotation = 'operator.technomad.dev/v1alpha1';
const policiesPath = (namespace: string) => `/apis/operator.technomad.dev/v1/namespaces/${namespace}/imagepolicies`;

interface Raw {
  readonly metadata: { readonly generation: number; readonly resourceVersion: string; readonly annotations?: Record<string, string> };
  readonly spec: unknown;
  readonly status?: PolicyStatus;
}

/** An operator who allows more than he should. */
const customTargets = [{ apiVersion: 'helm.toolkit.fluxcd.io/v2', kind: 'HelmRelease', fields: [{ path: 'spec.values.db.password' }] }];

describe('targets in another namespace', () => {
  let world: World;
  let service: Service;
  let repository: string;
  before(async () => {
    const { group, plural } = known.helmRelease;
    world = await startWorld({ extraRules: [{ apiGroups: [group], resources: [plural], verbs: ['get', 'list', 'watch', 'patch'] }] });
    await installKind(world.cluster, known.helmRelease);
    repository = `${world.quiet.host}/shop/web`;
    for (const tag of ['1.0.0', '1.1.0']) await pushImage({ host: world.quiet.host, repository: 'shop/web', tag, content: tag });
    service = await world.start({ config: { customTargets } });
  });
  after(() => world.stop());

  const create = (path: string, object: object) => world.cluster.request<Raw>('POST', path, object);
  const labels = { uses: 'web' };
  const template = (image: string) => ({ metadata: { labels }, spec: { containers: [{ name: 'web', image }] } });
  const selector = { matchLabels: labels };
  const kinds = ['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'CronJob'] as const;
  const pathOf = (kind: string, namespace: string) =>
    `/apis/${kind === 'CronJob' ? 'batch' : 'apps'}/v1/namespaces/${namespace}/${kind.toLowerCase()}s`;
  const createWorkload = (kind: string, namespace: string, name: string, image: string, annotations: Record<string, string> = {}) => {
    const { spec } = template(image);
    const workloadSpec =
      kind === 'CronJob'
        ? { schedule: '0 3 * * *', jobTemplate: { spec: { template: { spec: { ...spec, restartPolicy: 'Never' } } } } }
        : { selector, template: template(image), ...(kind === 'StatefulSet' && { serviceName: name }) };
    const apiVersion = kind === 'CronJob' ? 'batch/v1' : 'apps/v1';
    return create(pathOf(kind, namespace), { apiVersion, kind, metadata: { name, labels, annotations }, spec: workloadSpec });
  };
  const createPolicy = (name: string, targets: readonly object[], spec: object = {}, annotations: Record<string, string> = {}) =>
    create(policiesPath(world.namespace), {
      apiVersion: 'operator.technomad.dev/v1',
      kind: 'ImagePolicy',
      metadata: { name, annotations },
      spec: { image: repository, select: { semver: {} }, targets, poll: { interval: '480000m' }, ...spec },
    });
  const readPolicy = (name: string) => world.cluster.request<Raw>('GET', `${policiesPath(world.namespace)}/${name}`);
  const stalledBy = async (name: string): Promise<string | undefined> =>
    (await readPolicy(name)).status?.conditions?.find(({ type }) => type === 'Stalled')?.reason;
  const waitForStall = (name: string, reason = 'NoConsent') =>
    waitFor(`policy ${name} to be ${reason}`, async () => (await stalledBy(name)) === reason);
  /** Everything that is said of a policy where its author can read it, without what tells one moment from another. */
  const saidOf = async (name: string) => {
    const { status = {} } = await readPolicy(name);
    const { lastCheckTime: _, lastHandledRequest: __, ...rest } = status;
    return JSON.stringify(rest, (key, value: unknown) =>
      key === 'lastTransitionTime' || key === 'selectedAt' || key.endsWith('dAt') ? '' : value,
    );
  };
  const eventsOf = async (name: string) => {
    const { items } = await world.cluster.request<{ items: { involvedObject: { name: string }; message: string }[] }>(
      'GET',
      `/api/v1/namespaces/${world.namespace}/events`,
    );
    return items.filter(({ involvedObject: about }) => about.name === name).map(({ message }) => message);
  };
  /** Makes the service look at a policy once more, at all tags, and waits until it has. */
  const lookAgain = async (name: string) => {
    const asked = `again ${Math.random()}`;
    await world.annotate(`${policiesPath(world.namespace)}/${name}`, { 'operator.technomad.dev/requested-at': asked });
    await waitFor(`policy ${name} to be looked at`, async () => (await readPolicy(name)).status?.lastHandledRequest === asked);
  };

  it('are not changed by an annotation on the policy instead of the target, whatever their kind and selector', async () => {
    const kitchen = await world.cluster.namespace('kitchen');
    const origin = { [originAnnotation]: JSON.stringify({ targetNamespace: kitchen }) };
    const attacks: [name: string, targets: object[], spec?: object][] = [
      ['by-name', [{ kind: 'Deployment', name: 'web', namespace: kitchen }]],
      ['closed', [{ kind: 'Deployment', name: 'closed', namespace: kitchen }]],
      ['every-kind', kinds.map((kind) => ({ kind, name: 'web', namespace: kitchen }))],
      ['by-selector', kinds.map((kind) => ({ kind, selector, namespace: kitchen }))],
      [
        'downgrade',
        [{ kind: 'Deployment', name: 'web', namespace: kitchen }],
        { select: { alphabetical: {} }, tags: { allow: '1\\.0\\..*' }, update: { allowDowngrade: true } },
      ],
    ];
    for (const kind of kinds) await createWorkload(kind, kitchen, 'web', `${repository}:1.1.0`);
    await createWorkload('Deployment', kitchen, 'closed', `${repository}:1.1.0`, { [consentAnnotation]: 'nobody' });
    for (const [name, targets, spec] of attacks) await createPolicy(name, targets, spec, origin);
    for (const [name] of attacks) await waitForStall(name);
    await pushImage({ host: world.quiet.host, repository: 'shop/web', tag: '1.2.0', content: '1.2.0' });
    await deliver(service, harborBody(world.quiet.host, 'shop/web', [{ tag: '1.2.0' }]));
    for (const [name] of attacks) await lookAgain(name);
    for (const kind of kinds) {
      const { items } = await world.cluster.request<{ items: Raw[] }>('GET', pathOf(kind, kitchen));
      for (const { metadata, spec } of items) {
        assert.equal(metadata.generation, 1, kind);
        assert.match(JSON.stringify(spec), /shop\/web:1\.1\.0"/, kind);
      }
    }
  });

  for (const crossNamespace of ['consent', 'deny'] as const) {
    it(`reveal nothing to a policy without consent with ${crossNamespace}: the answers are the same whether they exist or not`, async () => {
      await service.stop();
      service = await world.start({ config: { crossNamespace, customTargets } });
      const pantry = await world.cluster.namespace('pantry');
      const release = { apiVersion: 'helm.toolkit.fluxcd.io/v2', kind: 'HelmRelease', name: 'db', namespace: pantry };
      const policies: [name: string, targets: object[]][] = [
        [`${crossNamespace}-named`, [{ kind: 'Deployment', name: 'web', namespace: pantry }]],
        [`${crossNamespace}-other`, [{ kind: 'Deployment', name: 'other', namespace: pantry, containers: ['app'] }]],
        [`${crossNamespace}-selected`, [{ kind: 'Deployment', selector, namespace: pantry }]],
        [`${crossNamespace}-field`, [{ ...release, fields: { image: 'spec.values.db.password' } }]],
      ];
      const reason = crossNamespace === 'deny' ? 'CrossNamespaceDenied' : 'NoConsent';
      for (const [name, targets] of policies) await createPolicy(name, targets, { rollout: { watch: true } });
      for (const [name] of policies) {
        await waitForStall(name, reason);
        await lookAgain(name);
      }
      const saidBefore = await Promise.all(policies.map(([name]) => saidOf(name)));
      const versions = await Promise.all(policies.map(async ([name]) => (await readPolicy(name)).metadata.resourceVersion));

      await createWorkload('Deployment', pantry, 'web', `${repository}:1.0.0`);
      await createWorkload('Deployment', pantry, 'other', 'private.example.com/secret-project:7.7.7');
      await createWorkload('Deployment', pantry, 'third', `${repository}:branch-nobody-knows`);
      const { group, version, kind, plural } = known.helmRelease;
      const helmPath = `/apis/${group}/${version}/namespaces/${pantry}/${plural}`;
      await create(helmPath, {
        apiVersion: `${group}/${version}`,
        kind,
        metadata: { name: 'db' },
        spec: { values: { db: { password: 'hunter2' } } },
      });
      // A policy that may see what happens there has seen it: so has whoever may not.
      await world.annotate(`${pathOf('Deployment', pantry)}/web`, { 'example.com/touched': 'yes' });
      await createWorkload('Deployment', world.namespace, `${crossNamespace}-own`, `${repository}:1.0.0`);
      await createPolicy(`${crossNamespace}-last`, [{ kind: 'Deployment', name: `${crossNamespace}-own` }]);
      await waitFor('a later policy to be done', async () => (await readPolicy(`${crossNamespace}-last`)).status?.history?.length === 1);
      const versionsNow = await Promise.all(policies.map(async ([name]) => (await readPolicy(name)).metadata.resourceVersion));
      assert.deepEqual(versionsNow, versions, 'no status was written because of what happened there');

      for (const [index, [name]] of policies.entries()) {
        await lookAgain(name);
        const said = await saidOf(name);
        assert.equal(said, saidBefore[index], name);
        const all = `${said} ${(await eventsOf(name)).join(' ')}`;
        assert.doesNotMatch(all, /hunter2|7\.7\.7|secret-project|branch-nobody|third|1\.0\.0|TargetNotFound|ContainerNotFound/, name);
      }
      const foreign = await world.cluster.request<{ items: unknown[] }>('GET', `/api/v1/namespaces/${pantry}/events`);
      assert.deepEqual(foreign.items, [], 'nothing is recorded in the other namespace');
    });
  }

  it('are visible and changed as soon as their Namespace consents, and no longer when it withdraws', async () => {
    await service.stop();
    service = await world.start({ config: { customTargets } });
    const garden = await world.cluster.namespace('garden');
    const namespacePath = `/api/v1/namespaces/${garden}`;
    await createWorkload('Deployment', garden, 'web', `${repository}:1.0.0`);
    await createWorkload('Deployment', garden, 'closed', `${repository}:1.0.0`, { [consentAnnotation]: 'nobody' });
    await createPolicy('guest', [{ kind: 'Deployment', selector, namespace: garden }]);
    await waitForStall('guest');
    await world.annotate(namespacePath, { [consentAnnotation]: world.namespace });
    const newest = `${repository}:1.2.0`;
    const imageOf = async (name: string) =>
      JSON.stringify((await world.cluster.request<Raw>('GET', `${pathOf('Deployment', garden)}/${name}`)).spec);
    await waitFor('the consenting one to be updated', async () => (await imageOf('web')).includes(newest));
    await waitFor('the policy to be well', async () => (await stalledBy('guest')) === undefined);
    assert.ok((await imageOf('closed')).includes(`${repository}:1.0.0`));
    assert.doesNotMatch(await saidOf('guest'), /closed/);

    await world.annotate(namespacePath, { [consentAnnotation]: null });
    await world.cluster.request(
      'PATCH',
      `${pathOf('Deployment', garden)}/web`,
      {
        spec: { template: { spec: { containers: [{ name: 'web', image: `${repository}:9.9.9-private` }] } } },
      },
      'application/strategic-merge-patch+json',
    );
    await lookAgain('guest');
    await waitForStall('guest');
    assert.doesNotMatch(await saidOf('guest'), /9\.9\.9/);

    await world.annotate(namespacePath, { [consentAnnotation]: world.namespace });
    await waitFor('the policy to see it again', async () => (await stalledBy('guest')) !== 'NoConsent');
  });

  it('found by a selector are changed one by one as each consents, by itself or through its Namespace', async () => {
    const shed = await world.cluster.namespace('shed');
    const newest = `${repository}:1.2.0`;
    const runsNewest = async (name: string) =>
      JSON.stringify(await world.cluster.request<Raw>('GET', `${pathOf('Deployment', shed)}/${name}`)).includes(newest);
    for (const name of ['first', 'second', 'third'])
      await createWorkload(
        'Deployment',
        shed,
        name,
        `${repository}:1.0.0`,
        name === 'first' ? { [consentAnnotation]: world.namespace } : {},
      );
    await createPolicy('follower', [{ kind: 'Deployment', selector, namespace: shed }]);
    await waitFor('the first to be updated', () => runsNewest('first'));
    await waitFor('the policy to be well', async () => (await readPolicy('follower')).status?.targetCounts?.upToDate === 1);
    assert.doesNotMatch(await saidOf('follower'), /second|third/);
    await world.annotate(`${pathOf('Deployment', shed)}/second`, { [consentAnnotation]: world.namespace });
    await waitFor('the second to be updated', () => runsNewest('second'));
    assert.ok(!(await runsNewest('third')));
    await world.annotate(`/api/v1/namespaces/${shed}`, { [consentAnnotation]: world.namespace });
    await waitFor('the third to be updated', () => runsNewest('third'));
  });

  it("are explained as the service sees them, using only the caller's permissions", async () => {
    const cellar = await world.cluster.namespace('cellar');
    await createWorkload('Deployment', cellar, 'web', `${repository}:1.0.0`);
    await createPolicy('asked', [
      { kind: 'Deployment', name: 'web', namespace: cellar },
      { kind: 'Deployment', selector, namespace: cellar },
    ]);
    await waitForStall('asked');
    const rules = [
      { apiGroups: ['operator.technomad.dev'], resources: ['imagepolicies'], verbs: ['get'] },
      { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get', 'list'] },
    ];
    const account = { namespace: world.namespace, name: 'author' };
    const author = await kubeconfigWithGrants(world.cluster, account, [{ namespace: world.namespace, rules }]);
    const explain = (kubeconfig: string) => runCommand('explain', [`${world.namespace}/asked`, '--kubeconfig', kubeconfig]);
    const [own, everything] = [await explain(author), await explain(world.cluster.kubeconfigPath)];
    assert.deepEqual(own, everything);
    assert.equal(own.code, 1);
    assert.match(
      own.out,
      /Deployment \S+\/web\n {4}✗ target +NoConsent: Deployment \S+\/web is in another namespace, and either does not exist or/,
    );
    assert.doesNotMatch(own.out, /1\.0\.0/);
  });

  it("reveal no value of a custom resource in the policy's own namespace either", async () => {
    const { group, version, kind, plural } = known.helmRelease;
    await create(`/apis/${group}/${version}/namespaces/${world.namespace}/${plural}`, {
      apiVersion: `${group}/${version}`,
      kind,
      metadata: { name: 'db' },
      spec: { values: { db: { password: 'hunter2' } } },
    });
    const release = { apiVersion: `${group}/${version}`, kind, name: 'db' };
    await createPolicy('curious', [{ ...release, fields: { image: 'spec.values.db.password' } }]);
    await waitForStall('curious', 'ContainerNotFound');
    const said = await saidOf('curious');
    assert.doesNotMatch(`${said} ${(await eventsOf('curious')).join(' ')}`, /hunter2/);
    assert.match(said, /what HelmRelease .*\/db holds in spec\.values\.db\.password is no image of .*shop\/web/);
  });

  it('stay available to a v1alpha1 policy with legacy where nobody answered, which is reported at each start and by a condition', async () => {
    await service.stop();
    service = await world.start({ config: { crossNamespace: 'legacy' } });
    assert.match(service.logTail(1_000_000), /crossNamespace: legacy lets policies/);
    const attic = await world.cluster.namespace('attic');
    await createWorkload('Deployment', attic, 'web', `${repository}:1.0.0`);
    await createWorkload('Deployment', attic, 'closed', `${repository}:1.0.0`, { [consentAnnotation]: 'nobody' });
    const web = { kind: 'Deployment', name: 'web', namespace: attic };
    await createPolicy('legacy-closed', [{ ...web, name: 'closed' }]);
    await createPolicy('legacy-selector', [{ kind: 'Deployment', selector, namespace: attic }]);
    await createPolicy('legacy-containers', [{ ...web, containers: ['web'] }]);
    await createPolicy('legacy-downgrade', [web], { update: { allowDowngrade: true } });
    for (const name of ['closed', 'selector', 'containers', 'downgrade']) {
      await waitForStall(`legacy-${name}`);
      await lookAgain(`legacy-${name}`);
    }
    const { items } = await world.cluster.request<{ items: Raw[] }>('GET', pathOf('Deployment', attic));
    for (const { metadata } of items) assert.equal(metadata.generation, 1);
    await createPolicy('legacy', [web]);
    const condition = await world.waitForCondition('legacy', 'CrossNamespace', 'NoConsent');
    assert.match(condition.message, /crossNamespace: legacy: Deployment .*\/web\. .*allow-policies-from/);
    assert.equal((await readPolicy('legacy')).status?.history?.[0]?.to, `${repository}:1.2.0`);
  });
});
