/** Who may import whom (src/README.md): the walls between core, service and the wings, and the arrows between the rooms within them. Types count, too. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeImport, files, imports, isIn, resolve } from './sources.ts';

const wings = ['activity', 'bases', 'conversion', 'notify', 'dashboard'];
const walls: Readonly<Record<string, readonly string[]>> = {
  core: [],
  service: ['core'],
  ...Object.fromEntries(wings.map((wing) => [wing, ['core', 'service']])),
};

test('every folder of src is core, service, cli or a wing', () => {
  const folders = new Set(files.map((file) => file.split('/')).flatMap(([, folder = '', ...rest]) => (rest.length > 0 ? [folder] : [])));
  assert.deepEqual([...folders].sort(), [...Object.keys(walls), 'cli'].sort());
});

test('core imports nothing outside of core, service only core, and a wing only these two', () => {
  const through = Object.entries(walls).flatMap(([folder, below]) =>
    imports
      .filter((one) => isIn(one.file, [folder]) && one.from.startsWith('.'))
      .filter((one) => !isIn(resolve(one), [folder, ...below]) && resolve(one) !== 'package.json')
      .map((one) => `${one.file} → ${resolve(one)}`),
  );
  assert.deepEqual(through, []);
});

test('only the list of wings imports wings, and from each only its wing.ts', () => {
  const outside = imports.filter((one) => isIn(resolve(one), wings) && !isIn(one.file, wings));
  assert.deepEqual(
    outside.map((one) => `${one.file} → ${resolve(one)}`).sort(),
    wings.map((wing) => `src/wings.ts → src/${wing}/wing.ts`).sort(),
  );
});

/** Which rooms a room of core or service may import. Only compose puts all of them together. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  'core/model': [],
  'core/async': ['core/model'],
  'core/select': ['core/model', 'core/async'],
  'core/plan': ['core/model', 'core/select'],
  'core/rollout': ['core/model', 'core/plan'],
  'core/status': ['core/model', 'core/select', 'core/plan', 'core/rollout'],
  'service/doctor': ['core/model', 'core/async'],
  'service/doctor-facts': [
    'core/model',
    'core/async',
    'core/plan',
    'service/checks',
    'service/doctor',
    'service/config',
    'service/kube',
    'service/queue',
    'service/registry',
    'service/proxy',
    'service/receive',
  ],
  'service/telemetry': ['core/model', 'core/async'],
  'service/config': ['core/model', 'service/receive', 'service/resources', 'service/registry'],
  'service/resources': ['core/model', 'core/async', 'core/select'],
  'service/receive': ['core/model', 'core/async', 'service/telemetry'],
  'service/proxy': ['core/model', 'core/async'],
  'service/registry': ['core/model', 'core/select', 'core/async', 'service/proxy', 'service/telemetry'],
  'service/verify': ['core/model', 'core/async', 'service/telemetry'],
  'service/kube': ['core/model', 'core/plan', 'core/rollout', 'core/async', 'service/telemetry'],
  'service/cluster': ['core/model', 'core/plan', 'core/async', 'service/kube', 'service/telemetry', 'service/resources'],
  'service/queue': ['core/model', 'core/plan', 'core/async', 'service/registry', 'service/telemetry'],
  'service/causes': ['core/model', 'core/async', 'service/doctor'],
  'service/explain': ['core/model', 'core/select', 'core/plan', 'core/rollout', 'service/reconcile', 'core/async'],
  'service/api': [
    'core/model',
    'core/async',
    'core/rollout',
    'service/queue',
    'service/telemetry',
    'service/doctor',
    'service/causes',
    'service/explain',
    'service/reconcile',
  ],
  'service/api-cluster': ['core/model', 'core/async', 'service/api', 'service/kube', 'service/queue', 'service/resources'],
  'service/checks': ['core/model', 'service/kube', 'service/proxy', 'service/reconcile'],
  'service/vulnerabilities': ['core/model', 'core/async', 'service/verify', 'service/kube', 'service/telemetry'],
  'service/operations': ['core/async', 'service/telemetry', 'service/api'],
  'service/reconcile': ['core', 'service/queue', 'service/telemetry'],
  'service/poll': ['core', 'service/queue', 'service/telemetry', 'service/reconcile'],
  'service/command-line': [
    'core/model',
    'core/select',
    'service/proxy',
    'service/kube',
    'service/resources',
    'service/config',
    'service/registry',
  ],
};

test('every room of core and service is in the table', () => {
  const found = files.flatMap((file) => /^src\/((?:core|service)\/[^/]+)\//.exec(file)?.[1] ?? []);
  assert.deepEqual([...new Set(found)].sort(), [...Object.keys(rooms), 'service/compose'].sort());
});

for (const [room, below] of Object.entries(rooms)) {
  test(`${room} imports ${below.length === 0 ? 'no other room' : below.join(', ')} only`, () => {
    const own = imports.filter((one) => isIn(one.file, [room]) && one.from.startsWith('.'));
    assert.ok(own.length > 0);
    const isAllowed = (path: string) => isIn(path, [room, ...below]) || path === 'package.json';
    assert.deepEqual(own.filter((one) => !isAllowed(resolve(one))).map(describeImport), []);
  });
}
