import assert from 'node:assert/strict';
import { test } from 'node:test';
import { projectWorkload } from '../../../src/service/kube/project-workload.ts';
import { deployment } from '../../../src/service/kube/targets.ts';

const owns = (manager: string, time: string, options: { subresource?: string; container?: string; field?: string } = {}) => ({
  manager,
  time,
  ...(options.subresource && { subresource: options.subresource }),
  fieldsV1: {
    'f:spec': {
      'f:template': {
        'f:spec': { 'f:containers': { [`k:{"name":"${options.container ?? 'web'}"}`]: { [options.field ?? 'f:image']: {} } } },
      },
    },
  },
});
const raw = (metadata: object = {}, containers: unknown = [{ name: 'web', image: 'shop/web:1' }]) => ({
  metadata: { name: 'web', namespace: 'shop', uid: 'u', generation: 3, resourceVersion: '42', ...metadata },
  spec: { template: { spec: { containers } } },
});

test('a Deployment is projected to a Workload', () => {
  const managedFields = [owns('kubectl', '2026-01-01T00:00:00Z')];
  assert.deepEqual(projectWorkload(deployment, raw({ managedFields, annotations: {} })), {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    namespace: 'shop',
    name: 'web',
    uid: 'u',
    generation: 3,
    resourceVersion: '42',
    containersPath: '/spec/template/spec/containers',
    containers: [{ name: 'web', image: 'shop/web:1', imageOwner: 'kubectl', imageSetAt: '2026-01-01T00:00:00Z' }],
    hasAnnotations: true,
    rollout: { observedGeneration: 0, wanted: 1, toUpdate: 1, updated: 0, available: 0, outdated: 0, wasComplete: false },
  });
});

const owners = [
  { name: 'nobody is recorded', managedFields: undefined, owner: undefined },
  { name: 'another container', managedFields: [owns('kubectl', '2026-01-01T00:00:00Z', { container: 'proxy' })], owner: undefined },
  { name: 'another field', managedFields: [owns('kubectl', '2026-01-01T00:00:00Z', { field: 'f:env' })], owner: undefined },
  {
    name: 'subresources own no image',
    managedFields: [owns('helm', '2026-01-01T00:00:00Z'), owns('scaler', '2026-01-02T00:00:00Z', { subresource: 'scale' })],
    owner: 'helm',
  },
  { name: 'the last by time', managedFields: [owns('new', '2026-01-02T00:00:00Z'), owns('old', '2026-01-01T00:00:00Z')], owner: 'new' },
  {
    name: 'at the same time the last in the list',
    managedFields: [owns('a', '2026-01-01T00:00:00Z'), owns('b', '2026-01-01T00:00:00Z')],
    owner: 'b',
  },
  { name: 'odd entries', managedFields: [null, 7, { manager: 'x' }, { manager: 'y', fieldsV1: 'z' }], owner: undefined },
];

for (const { name, managedFields, owner } of owners) {
  test(`the owner of the image is determined in the case "${name}"`, () => {
    assert.equal(projectWorkload(deployment, raw({ managedFields })).containers[0]?.imageOwner, owner);
  });
}

test('the consent of the owners is read from an annotation of the workload', () => {
  const consentOf = (value: unknown) =>
    projectWorkload(deployment, raw({ annotations: { 'operator.technomad.dev/allow-policies-from': value, other: 'x' } }))
      .allowPoliciesFrom;
  assert.deepEqual([consentOf('shop,ops'), consentOf(''), consentOf(7), consentOf(undefined)], ['shop,ops', '', undefined, undefined]);
});

test('the record of our last change is read from an annotation for each container', () => {
  const update = { policy: 'uid', at: '2026-01-01T00:00:00Z', trigger: 'Webhook', from: 'shop/web:1', to: 'shop/web:2' };
  const updateOf = (container: string, value: unknown) =>
    projectWorkload(deployment, raw({ annotations: { [`last-update.operator.technomad.dev/${container}`]: value } })).containers[0]
      ?.lastUpdate;
  assert.deepEqual(updateOf('web', JSON.stringify(update)), update);
  for (const none of [updateOf('proxy', JSON.stringify(update)), updateOf('web', 'x'), updateOf('web', 7)]) assert.equal(none, undefined);
});

test('the record of our last change of a field is read from the annotation with the displayed name of the field', () => {
  const update = { policy: 'uid', at: '2026-01-01T00:00:00Z', trigger: 'Webhook', from: 'shop/web:1', to: 'shop/web:2' };
  const value = JSON.stringify(update);
  const prefix = 'last-update.operator.technomad.dev/';
  const release = {
    ...deployment,
    apiVersion: 'example.com/v1',
    kind: 'Release',
    fields: [{ path: 'spec.list[0].image' }, { path: 'spec.tag' }],
  };
  const updatesOf = (annotations: object) => projectWorkload(release, { metadata: { name: 'web', annotations }, spec: {} }).fieldUpdates;
  assert.deepEqual(
    updatesOf({ [`${prefix}spec.list.0..image`]: value, [`${prefix}spec.tag`]: 'x', [`${prefix}spec.other`]: value }),
    new Map([['spec.list[0].image', update]]),
  );
  assert.equal(updatesOf({}), undefined);
});

test('image volumes are projected with their indexes and the records of their last changes', () => {
  const update = { policy: 'uid', at: '2026-01-01T00:00:00Z', trigger: 'Webhook', from: 'shop/models:1', to: 'shop/models:2' };
  const volumes = [
    { name: 'tmp', emptyDir: {} },
    null,
    { name: 'web', image: { reference: 'shop/models:2', pullPolicy: 'Always' } },
    { name: 'later', image: {} },
    { name: 'odd', image: { reference: 7 } },
  ];
  const fields = { [`k:{"name":"web"}`]: { 'f:image': { '.': {}, 'f:reference': {} } } };
  const workload = projectWorkload(deployment, {
    metadata: {
      name: 'web',
      annotations: { 'volumes.last-update.operator.technomad.dev/web': JSON.stringify(update) },
      managedFields: [
        { manager: 'helm', time: update.at, fieldsV1: { 'f:spec': { 'f:template': { 'f:spec': { 'f:volumes': fields } } } } },
      ],
    },
    spec: { template: { spec: { containers: [{ name: 'web', image: 'shop/web:1' }], volumes } } },
  });
  assert.deepEqual(workload.containers, [{ name: 'web', image: 'shop/web:1' }]);
  assert.deepEqual(workload.volumes, [
    { name: 'volumes/web', image: 'shop/models:2', index: 2, imageOwner: 'helm', imageSetAt: update.at, lastUpdate: update },
  ]);
  for (const odd of [[], {}, 'x', [{ name: 'tmp', emptyDir: {} }]])
    assert.equal(
      projectWorkload(deployment, { metadata: { name: 'web' }, spec: { template: { spec: { volumes: odd } } } }).volumes,
      undefined,
    );
});

test('the imagePullSecrets and the service account of the pods of a workload are projected, where they are set', () => {
  const accessOf = (podSpec: object) => {
    const { pullSecrets, serviceAccount } = projectWorkload(deployment, {
      metadata: { name: 'web' },
      spec: { template: { spec: podSpec } },
    });
    return [pullSecrets, serviceAccount];
  };
  assert.deepEqual(accessOf({ imagePullSecrets: [{ name: 'a' }, {}, null, { name: '' }, { name: 'b' }], serviceAccountName: 'robot' }), [
    ['a', 'b'],
    'robot',
  ]);
  for (const none of [{}, { imagePullSecrets: [], serviceAccountName: '' }, { imagePullSecrets: 'a', serviceAccountName: 7 }]) {
    assert.deepEqual(accessOf(none), [undefined, undefined]);
  }
});

test('malformed containers keep their index, because patches address containers by index', () => {
  const { containers } = projectWorkload(deployment, raw({}, [null, { name: 'a' }, 7, { name: 'web', image: 'shop/web:1' }]));
  assert.deepEqual(containers, [
    { name: '', image: '' },
    { name: 'a', image: '' },
    { name: '', image: '' },
    { name: 'web', image: 'shop/web:1' },
  ]);
});

for (const odd of [
  { metadata: { name: 'web' } },
  { metadata: { name: 'web' }, spec: null },
  raw({ annotations: null }, 'none'),
  raw({ generation: 'x' }),
]) {
  test(`projecting a named object never throws, even for ${JSON.stringify(odd)}`, () => {
    const workload = projectWorkload(deployment, odd);
    assert.equal(workload.name, 'web');
    assert.equal(workload.hasAnnotations, false);
  });
}

for (const nameless of [undefined, null, 'text', {}, { metadata: {} }, { metadata: { name: 7 } }]) {
  test(`projecting throws without a name, as for ${JSON.stringify(nameless)}`, () => {
    assert.throws(() => projectWorkload(deployment, nameless), /a Deployment without a name/);
  });
}

test('of more containers than any pod has, only the first ones are projected', () => {
  const many = Array.from({ length: 10_000 }, (_, index) => ({ name: `web-${index}`, image: 'shop/web:1' }));
  const { containers } = projectWorkload(deployment, raw({}, many));
  assert.deepEqual([containers.length, containers.at(-1)?.name], [100, 'web-99']);
});

test('of more field managers than any object has, only the latest are searched for the owner of an image', () => {
  const time = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();
  const others = Array.from({ length: 6_000 }, (_, index) => owns(`other-${index}`, time(index), { field: 'f:command' }));
  const ownerAt = (minute: number) =>
    projectWorkload(deployment, raw({ managedFields: [owns('flux', time(minute)), ...others] })).containers[0]?.imageOwner;
  assert.deepEqual([ownerAt(5_950), ownerAt(10)], ['flux', undefined]);
});

test('a workload that is being deleted is projected as such', () => {
  const isDeleted = (metadata: object) => projectWorkload(deployment, raw(metadata)).isDeleted;
  assert.deepEqual([isDeleted({ deletionTimestamp: '2026-01-01T00:00:00Z' }), isDeleted({})], [true, undefined]);
});
