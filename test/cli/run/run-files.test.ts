/** `image-watcher run --once -f` on a real cluster that does not have the definition, with a real registry. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parse, stringify } from 'yaml';
import { borrowControlPlane, type ControlPlane } from '../../harness/control-plane.ts';
import { tempFolder } from '../../harness/temp-folder.ts';
import { withNamespace } from '../cluster-world.ts';
import { resultsIn, type RunWorld, startRunWorld, type Printed } from './run-world.ts';

let cluster: ControlPlane;
let namespace: string;
let world: RunWorld;
let folder: string;

before(async () => {
  cluster = await borrowControlPlane();
  namespace = await cluster.namespace('shop');
  world = await startRunWorld(cluster, namespace, withNamespace(cluster.kubeconfigPath, namespace));
  folder = join(tempFolder('policies'), 'policies');
  mkdirSync(folder);
  await world.push('shop/web', '1.0.0', '1.1.0');
  await world.push('shop/api', '2.0.0');
});
after(() => Promise.all([world.stop(), cluster.stop()]));

function write(name: string, ...policies: object[]): string {
  const file = join(folder, name);
  writeFileSync(file, policies.map((policy) => stringify(policy)).join('---\n'));
  return file;
}

const policyOf = (name: string, image: string, spec: object = {}) => ({
  apiVersion: 'operator.technomad.dev/v1',
  kind: 'ImagePolicy',
  metadata: { name },
  spec: { image: world.image(image), select: { semver: {} }, targets: [{ kind: 'Deployment', name }], ...spec },
});

test('run -f changes a workload and records it, changes nothing when repeated, and nothing with --dry-run', async () => {
  await world.deploy('web', 'shop/web:1.0.0');
  await world.deploy('api', 'shop/api:2.0.0');
  write('web.yaml', policyOf('web', 'shop/web'), policyOf('api', 'shop/api'));
  const before = await world.read('web');

  const dry = await world.run('-f', folder, '--dry-run');
  assert.equal(dry.code, 0, dry.err);
  assert.match(
    dry.out,
    new RegExp(`^${namespace}/web: would be changed\n  Deployment ${namespace}/web: c0 from \\S+:1\\.0\\.0 to \\S+:1\\.1\\.0\n`, 'm'),
  );
  assert.match(dry.out, /^2 policies: 1 would be changed, 1 unchanged\n/m);
  assert.deepEqual(await world.read('web'), before);

  const done = await world.run('-f', folder, '-o', 'json');
  assert.equal(done.code, 0, done.err);
  const { web, api } = resultsIn(done);
  assert.deepEqual([web?.result, web?.tag, web?.changes], ['changed', '1.1.0', [changeOf('web', 'shop/web:1.0.0', 'shop/web:1.1.0')]]);
  assert.deepEqual(web?.left, ['the rollout is left to the service, if it runs: --wait waits for it here']);
  assert.deepEqual([api?.result, api?.reason, api?.changes, api?.left], ['unchanged', 'UpToDate', [], []]);
  assert.equal(await world.imageOf('web'), world.image('shop/web:1.1.0'));
  const record = await world.recordOf('web');
  assert.deepEqual([record?.trigger, record?.from, record?.to], ['Request', world.image('shop/web:1.0.0'), world.image('shop/web:1.1.0')]);
  const { metadata } = await world.read('web');
  assert.equal(metadata.annotations?.['kubernetes.io/change-cause'], `image-watcher: ImagePolicy ${namespace}/web selected 1.1.0`);

  const again = await world.run('-f', folder, '-o', 'json');
  assert.equal(again.code, 0);
  assert.deepEqual([resultsIn(again)['web']?.result, resultsIn(again)['web']?.reason], ['unchanged', 'UpToDate']);
  assert.equal((await world.read('web')).metadata.resourceVersion, metadata.resourceVersion);
});

function changeOf(name: string, from: string, to: string): object {
  return { target: { kind: 'Deployment', namespace, name }, container: 'c0', from: world.image(from), to: world.image(to) };
}

test('run -f holds a manual change, because it recognizes its own changes', async () => {
  await world.deploy('held', 'shop/web:1.0.0');
  const file = write('held.yaml', policyOf('held', 'shop/web'));
  assert.equal((await world.run('-f', file)).code, 0);
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments/held`;
  const containers = [{ name: 'c0', image: world.image('shop/web:1.0.0') }];
  await cluster.request('PATCH', `${path}?fieldManager=kubectl-set`, { spec: { template: { spec: { containers } } } });
  const held = await world.run('-f', file, '-o', 'json');
  assert.equal(held.code, 1);
  assert.deepEqual([resultsIn(held)['held']?.result, resultsIn(held)['held']?.reason], ['blocked', 'Held']);
  assert.equal(await world.imageOf('held'), world.image('shop/web:1.0.0'));
});

test('run -f blocks an update that waits for an approval, with the reason, also with --dry-run', async () => {
  await world.deploy('asked', 'shop/web:1.0.0');
  const file = write('asked.yaml', policyOf('asked', 'shop/web', { update: { mode: 'Approval' } }));
  for (const args of [[], ['--dry-run']]) {
    const { code, out } = await world.run('-f', file, ...args);
    assert.equal(code, 1);
    assert.match(out, new RegExp(`^${namespace}/asked: blocked: ApprovalRequired: 1\\.1\\.0 waits for approval`, 'm'));
    assert.match(out, /^see \S+approvalrequired/im);
  }
  assert.equal(await world.imageOf('asked'), world.image('shop/web:1.0.0'));
});

test('run -f ends with 2 if one policy fails, and still processes the others', async () => {
  await world.deploy('good', 'shop/web:1.0.0');
  const file = write('bad.yaml', policyOf('good', 'shop/web'), {
    ...policyOf('bad', 'shop/web'),
    spec: { image: '127.0.0.1:1/shop/web', select: { semver: {} }, targets: [{ kind: 'Deployment', name: 'good' }] },
  });
  const { code, out } = await world.run('-f', file, '-o', 'json');
  assert.equal(code, 2);
  const { policies, dryRun } = JSON.parse(out) as Printed;
  assert.deepEqual([dryRun, ...policies.map(({ result }) => result)], [false, 'changed', 'failed']);
  assert.match(policies[1]?.message ?? '', /127\.0\.0\.1:1/);
});

test('run -f reports an invalid file with the position, and changes nothing', async () => {
  await world.deploy('first', 'shop/web:1.0.0');
  const file = write('invalid.yaml', policyOf('first', 'shop/web'), policyOf('second', 'shop/web', { select: {} }));
  const { code, out, err } = await world.run('-f', file);
  assert.deepEqual([code, out], [2, '']);
  assert.match(err, /invalid\.yaml:[0-9]+:[0-9]+ second spec\.select: /);
  assert.equal(await world.imageOf('first'), world.image('shop/web:1.0.0'));
});

test('run -f chooses policies of files by name, and reports objects of other kinds that it leaves out', async () => {
  await world.deploy('chosen', 'shop/web:1.0.0');
  await world.deploy('other', 'shop/web:1.0.0');
  const base = parse(readFileSync(join(import.meta.dirname, '../../../crd/samples/base-report.yaml'), 'utf8')) as object;
  const file = write('several.yaml', policyOf('chosen', 'shop/web'), policyOf('other', 'shop/web'), base);
  const { code, out, err } = await world.run('-f', file, 'chosen');
  assert.equal(code, 0, err);
  assert.match(out, /^1 policy: 1 changed$/m);
  assert.match(err, /^1 document of other kinds than ImagePolicy left out: only the service handles them$/m);
  assert.equal(await world.imageOf('other'), world.image('shop/web:1.0.0'));
  await assert.rejects(world.run('-f', file, 'nobody'), /the files have no ImagePolicy shop-\S+\/nobody/);
});
