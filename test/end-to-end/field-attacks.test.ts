/** What whoever may write an ImagePolicy tries with `fields`: each attack against the real API server, by a service that may patch all of these kinds. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Spec } from '../../src/service/resources/v1.ts';
import { pushImage } from '../harness/push-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { installKind, known, pathOf, type CustomKind } from '../service/kube/targets/custom-definition.ts';
import { startWorld, type Service, type World } from './world.ts';

/** Kinds with something worth writing that is no image. */
const secretStore: CustomKind = { group: 'external-secrets.io', version: 'v1', kind: 'SecretStore', plural: 'secretstores' };
const gateway: CustomKind = { group: 'gateway.networking.k8s.io', version: 'v1', kind: 'Gateway', plural: 'gateways' };
const app: CustomKind = { group: 'apps.example.com', version: 'v1', kind: 'App', plural: 'apps' };
const chart: CustomKind = { group: 'apps.example.com', version: 'v1', kind: 'Chart', plural: 'charts' };
const roleBinding: CustomKind = { group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'RoleBinding', plural: 'rolebindings' };
const own: CustomKind = { group: 'operator.technomad.dev', version: 'v1', kind: 'ImagePolicy', plural: 'imagepolicies' };
const installed: readonly CustomKind[] = [known.rollout, known.application, known.helmRelease, secretStore, gateway, app, chart];

interface Attack {
  readonly what: string;
  readonly kind: CustomKind;
  /** The rest of the object. */
  readonly object: object;
  /** Each of these is tried by a policy of its own; IMAGE stands for the attacker's repository. */
  readonly fields: readonly NonNullable<Spec['targets'][number]['fields']>[];
  readonly reason?: string;
  readonly message: RegExp;
}

const values = {
  image: { repository: 'registry.example.com/shop/web', tag: 'a' },
  serviceAccountName: 'a',
  web: { repository: 'IMAGE', tag: 'a' },
};
const mayNot = /may not be written.*customTargets/;
const attacks: readonly Attack[] = [
  {
    what: 'a service account',
    kind: app,
    object: { spec: { serviceAccountName: 'a', image: { repository: 'IMAGE', tag: 'a' } } },
    fields: [
      { tag: 'spec.serviceAccountName' },
      { tag: 'spec.serviceAccountName', repository: 'spec.image.repository' },
      { image: 'spec.serviceAccountName' },
    ],
    message: mayNot,
  },
  {
    what: 'the Secret that is read',
    kind: secretStore,
    object: { spec: { provider: { auth: { secretKeyRef: { name: 'a' } } } } },
    fields: [{ tag: 'spec.provider.auth.secretKeyRef.name' }],
    message: mayNot,
  },
  {
    what: 'the project of an Application',
    kind: known.application,
    object: { spec: { project: 'a', source: { targetRevision: 'a', helm: { parameters: [{ name: 'image.tag', value: 'a' }] } } } },
    fields: [{ tag: 'spec.project' }, { tag: 'spec.source.helm.parameters[0].value' }],
    message: mayNot,
  },
  {
    what: 'the version of a chart, by a policy for images',
    kind: known.application,
    object: { spec: { project: 'a', source: { repoURL: 'https://git.example.com/a', targetRevision: 'a' } } },
    fields: [{ tag: 'spec.source.targetRevision' }],
    message: /write spec\.artifact: Chart/,
  },
  {
    what: 'who is bound to a role',
    kind: roleBinding,
    object: {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'ServiceAccount', name: 'a' }],
    },
    fields: [{ tag: 'subjects[0].name' }],
    message: /belongs to Kubernetes itself/,
  },
  {
    what: 'a kind of a group of Kubernetes',
    kind: gateway,
    object: { spec: { gatewayClassName: 'a', image: { repository: 'IMAGE', tag: 'a' } } },
    fields: [{ tag: 'spec.gatewayClassName' }, { tag: 'spec.image.tag', repository: 'spec.image.repository' }],
    message: /belongs to Kubernetes itself/,
  },
  {
    what: 'another policy',
    kind: own,
    object: { spec: { image: 'IMAGE', select: { semver: {} }, suspend: true, targets: [{ kind: 'Deployment', name: 'none' }] } },
    fields: [{ image: 'spec.image' }, { tag: 'spec.targets[0].name' }],
    message: /are not written by policies/,
  },
  {
    what: 'the pod template of a Rollout',
    kind: known.rollout,
    object: {
      spec: { template: { spec: { serviceAccountName: 'a', containers: [{ name: 'web', image: 'registry.example.com/shop/web:a' }] } } },
    },
    fields: [{ tag: 'spec.template.spec.serviceAccountName' }, { image: 'spec.template.spec.containers[0].image' }],
    message: /may not be written/,
  },
  {
    what: 'a place beside the allowed one, and paths that mean something else to whoever reads them',
    kind: known.helmRelease,
    object: { spec: { serviceAccountName: 'a', targetNamespace: 'a', chart: { spec: { version: 'a' } }, values } },
    fields: [
      { tag: 'spec.serviceAccountName' },
      { tag: 'spec.targetNamespace', repository: 'spec.values.web.repository' },
      { tag: 'spec.values.serviceAccountName', repository: 'spec.values.web.repository' },
      { tag: 'spec.values.image.tag', repository: 'spec.values.web.repository' },
      { tag: 'spec.values.__proto__.tag' },
      { tag: 'spec.constructor.prototype.tag' },
      { tag: 'spec.values.image[0]' },
    ],
    message: mayNot,
  },
  {
    what: 'an image block of another image, and what is no image block',
    kind: known.helmRelease,
    object: { spec: { values } },
    fields: [{ tag: 'spec.values.image.tag' }, { tag: 'spec.values.image.tag', repository: 'spec.values.image.repository' }],
    reason: 'ContainerNotFound',
    message: /is no image of/,
  },
  {
    what: 'inherited names inside an allowed path',
    kind: known.helmRelease,
    object: { spec: { values } },
    fields: [{ tag: 'spec.values.__proto__.image.tag' }, { tag: 'spec.values.constructor.image.tag' }],
    reason: 'FieldPathMissing',
    message: /there is no spec\.values\.(__proto__|constructor)\.image/,
  },
  {
    what: 'a field whose repository the operator fixed to another one',
    kind: chart,
    object: { spec: { version: 'a' } },
    fields: [{ tag: 'spec.version' }, { image: 'spec.version' }],
    message: /of registry\.example\.com\/shop\/fixed only/,
  },
];

const fixed = { path: 'spec.version', image: 'registry.example.com/shop/fixed' };
const allowing = ({ group, version, kind }: CustomKind, ...fields: unknown[]) => ({ apiVersion: `${group}/${version}`, kind, fields });

describe('fields of custom resources', () => {
  let world: World;
  let image: string;
  let service: Service;
  before(async () => {
    const extraRules = [...installed, roleBinding].map(({ group, plural }) => ({
      apiGroups: [group],
      resources: [plural],
      verbs: ['get', 'list', 'watch', 'patch', 'bind', 'escalate'],
    }));
    world = await startWorld({ extraRules });
    for (const kind of installed) await installKind(world.cluster, kind);
    service = await world.start({ config: { customTargets: [allowing(chart, fixed)] } });
    image = `${world.quiet.host}/evil/names`;
    for (const tag of ['a', 'cluster-admin']) await pushImage({ host: world.quiet.host, repository: 'evil/names', tag, content: tag });
  });
  after(() => world.stop());

  const nameOf = (attack: Attack, index: number) => `attack-${attacks.indexOf(attack)}-${index}`;
  const objectPath = ({ kind }: Attack, name: string) => `${pathOf(kind, world.namespace)}/${name}`;
  const begin = async (attack: Attack, index: number): Promise<object> => {
    const { kind, object, fields } = attack;
    const name = nameOf(attack, index);
    const text = JSON.stringify({ apiVersion: `${kind.group}/${kind.version}`, kind: kind.kind, metadata: { name }, ...object });
    const created = await world.cluster.request('POST', pathOf(kind, world.namespace), JSON.parse(text.replaceAll('IMAGE', image)));
    const target = { apiVersion: `${kind.group}/${kind.version}`, kind: kind.kind, name, fields: fields[index] ?? {} };
    await world.createPolicy(`of-${name}`, image, { strategy: 'Regex' }, { targets: [target] });
    return withoutMetadata(created);
  };

  for (const attack of attacks) {
    it(`cannot be used to write ${attack.what}`, async () => {
      const befores = await Promise.all(attack.fields.map((_, index) => begin(attack, index)));
      for (const [index, unchanged] of befores.entries()) {
        const name = nameOf(attack, index);
        const status = await waitFor(`policy of-${name} to be reconciled`, async () => {
          const found = await world.readStatus(`of-${name}`);
          return found.observedGeneration !== undefined && found.conditions?.every(({ type }) => type !== 'Reconciling') && found;
        });
        const objectAfter = withoutMetadata(await world.cluster.request('GET', objectPath(attack, name)));
        assert.deepEqual(objectAfter, unchanged, JSON.stringify(attack.fields[index]));
        const stalled = status.conditions?.find(({ type }) => type === 'Stalled');
        assert.equal(stalled?.reason, attack.reason ?? 'FieldNotAllowed', `${JSON.stringify(attack.fields[index])}: ${stalled?.message}`);
        assert.match(stalled?.message ?? '', attack.message);
      }
    });
  }

  it('are written from the start after the operator allows them, and no longer after the operator disallows them', async () => {
    const spec = { image: { repository: image, tag: 'a' }, components: { web: { name: image, version: 'a' } } };
    const object = { apiVersion: 'apps.example.com/v1', kind: 'App', metadata: { name: 'allowed' }, spec };
    const path = pathOf(app, world.namespace);
    await world.cluster.request('POST', path, object);
    const target = { apiVersion: object.apiVersion, kind: object.kind, name: 'allowed' };
    const targets = [
      { ...target, fields: { tag: 'spec.image.tag' } },
      { ...target, fields: { tag: 'spec.components.web.version' } },
    ];
    await world.createPolicy('allowed', image, { strategy: 'Regex' }, { targets });
    await world.waitForCondition('allowed', 'Stalled', 'FieldNotAllowed');
    await service.stop();
    const fields = ['spec.image.tag', { path: 'spec.components.*.version', repository: 'spec.components.*.name' }];
    service = await world.start({ config: { customTargets: [allowing(app, ...fields)] } });
    const written = await waitFor('both fields to be written', async () => {
      const { spec } = await world.cluster.request<{ spec: object }>('GET', `${path}/allowed`);
      return JSON.stringify(spec).split('cluster-admin').length === 3 && spec;
    });
    assert.deepEqual(written, {
      image: { repository: image, tag: 'cluster-admin' },
      components: { web: { name: image, version: 'cluster-admin' } },
    });
    await service.stop();
    service = await world.start();
    await world.waitForCondition('allowed', 'Stalled', 'FieldNotAllowed');
  });

  it('have names that cannot escape from a JSON pointer: the API server refuses the policy', async () => {
    for (const tag of [
      'spec/serviceAccountName',
      'spec.values~1image.tag',
      'spec.values.~0.tag',
      'spec..tag',
      'spec.a[-1]',
      'spec.a[*].tag',
      '',
    ]) {
      const target = { apiVersion: 'helm.toolkit.fluxcd.io/v2', kind: 'HelmRelease', name: 'x', fields: { tag } };
      await assert.rejects(
        world.createPolicy('escaping', image, { strategy: 'Regex' }, { targets: [target] }),
        /spec\.targets\[0\]\.fields\.tag/,
        tag,
      );
    }
  });
});

function withoutMetadata(object: object): object {
  return { ...object, metadata: undefined, status: undefined };
}
