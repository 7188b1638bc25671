import assert from 'node:assert/strict';
import { test } from 'node:test';
import { heldChanges, isRestartedFor, kindsOfRestarts, namedConfigMaps } from '../../../src/core/model/config-map-target.ts';
import { checkFields, type CustomTarget } from '../../../src/core/model/field-rules.ts';
import { fieldManager, type LastUpdate } from '../../../src/core/model/last-update.ts';
import { parseImageReference } from '../../../src/core/model/image-reference.ts';
import type { Workload, WorkloadField } from '../../../src/core/model/workload.ts';
import { noAliases, workloadOf } from './samples.ts';

const repository = 'quay.io/shop/bundle';
const at = '2026-11-01T10:00:00.000Z';

function mapWith(value: string, { owner = fieldManager, to = `${repository}:1.1.0` }: { owner?: string; to?: string } = {}): Workload {
  const update: LastUpdate = { policy: 'uid', at, trigger: 'Webhook', from: `${repository}:1.0.0`, to };
  const field: WorkloadField = { value, owner, setAt: at };
  return {
    ...workloadOf({}),
    kind: 'ConfigMap',
    name: 'images',
    fields: { 'data.key': field },
    fieldUpdates: new Map([['data.key', update]]),
  };
}

test('a change of a ConfigMap holds while the key has what was written, in the form in which it was written', () => {
  const digest = `sha256:${'a'.repeat(64)}`;
  for (const [value, to] of [
    [`${repository}:1.1.0`, `${repository}:1.1.0`],
    ['1.1.0', `${repository}:1.1.0`],
    [`1.1.0@${digest}`, `${repository}:1.1.0@${digest}`],
    [digest, `${repository}@${digest}`],
  ] as const)
    assert.deepEqual(heldChanges(mapWith(value, { to })), [{ key: 'images/data.key', what: `${to} ${at}`, writtenAt: at }], value);
  assert.deepEqual(heldChanges(mapWith('1.2.0')), []);
  assert.deepEqual(heldChanges(mapWith('1.1.0', { owner: 'kubectl-edit' })), []);
  assert.deepEqual(heldChanges(mapWith(`evil.example.com/other:1.1.0`)), []);
});

test('the same image written to a ConfigMap at another time is another change', () => {
  const [change] = heldChanges(mapWith('1.1.0'));
  assert.ok(change);
  assert.equal(isRestartedFor([change], { [change.key]: change.what }), true);
  assert.equal(isRestartedFor([{ ...change, what: change.what.replace('10:00', '10:01') }], { [change.key]: change.what }), false);
  assert.equal(isRestartedFor([{ ...change, key: 'toString' }], {}), false);
  assert.equal(isRestartedFor([], undefined), true);
});

const configured: readonly CustomTarget[] = [
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    namespace: 'shop',
    name: 'images',
    fields: [{ path: 'data.key', image: repository }],
    restarts: [{ kind: 'Deployment', name: 'web' }],
  },
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    namespace: 'shop',
    name: 'images',
    fields: [{ path: 'data.other', image: 'quay.io/shop/other' }],
    restarts: [
      { kind: 'Deployment', name: 'web' },
      { kind: 'DaemonSet', name: 'agent' },
    ],
  },
];

test('a ConfigMap that is configured twice is one target, with all the workloads that it restarts', () => {
  const named = namedConfigMaps(configured);
  assert.deepEqual(named, [
    {
      namespace: 'shop',
      name: 'images',
      restarts: [
        { kind: 'Deployment', name: 'web' },
        { kind: 'DaemonSet', name: 'agent' },
      ],
    },
  ]);
  assert.deepEqual(kindsOfRestarts(named), [{ kind: 'ConfigMap' }, { kind: 'Deployment' }, { kind: 'DaemonSet' }]);
  assert.deepEqual(kindsOfRestarts([]), []);
});

test('policies may write only the configured key of the configured ConfigMap, and only for its repository', () => {
  const check = (object: object, path: string, image = repository) =>
    'fields' in
    checkFields(
      { apiVersion: 'v1', kind: 'ConfigMap', ...object },
      { image: path },
      { repository: parseImageReference(image).repository },
      { customTargets: configured, aliases: noAliases },
    );
  assert.equal(check({ namespace: 'shop', name: 'images' }, 'data.key'), true);
  // lint may not know the namespace.
  assert.equal(check({ name: 'images' }, 'data.key'), true);
  for (const [object, path, image] of [
    [{ namespace: 'shop', name: 'images' }, 'data.more'],
    [{ namespace: 'shop', name: 'images' }, 'data.other'],
    [{ namespace: 'shop', name: 'images' }, 'data.key', 'quay.io/shop/else'],
    [{ namespace: 'shop', name: 'others' }, 'data.key'],
    [{ namespace: 'kube-system', name: 'images' }, 'data.key'],
    [{}, 'data.key'],
    [{ apiVersion: 'v2', namespace: 'shop', name: 'images' }, 'data.key'],
    [{ kind: 'Secret', namespace: 'shop', name: 'images' }, 'data.key'],
  ] as const)
    assert.equal(check(object, path, image), false, JSON.stringify([object, path, image]));
});
