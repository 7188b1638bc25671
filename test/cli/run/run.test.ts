/** `image-watcher run --once` with the policies of a real cluster, and a real registry. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { UsageError } from '../../../src/service/command-line/command.ts';
import type { PolicyStatus } from '../../../src/core/model/policy-status.ts';
import { freePort } from '../../harness/free-port.ts';
import { kubeconfigWithRules } from '../../harness/service-account.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { type CliWorld, startCliWorld, withNamespace } from '../cluster-world.ts';
import { runCommand } from '../run-command.ts';
import { resultsIn, type RunWorld, startRunWorld } from './run-world.ts';

let cli: CliWorld;
let world: RunWorld;

before(async () => {
  cli = await startCliWorld();
  world = await startRunWorld(cli.cluster, cli.namespace, cli.kubeconfig);
  await world.push('shop/web', '1.0.0', '1.1.0');
});
after(() => Promise.all([world.stop(), cli.stop()]));

const create = (name: string, spec: object = {}) => cli.create(name, { image: world.image('shop/web'), ...spec });
const statusOf = async (name: string) => (await cli.cluster.request<{ status?: PolicyStatus }>('GET', cli.pathOf(name))).status;
const versionOf = async (name: string) =>
  (await cli.cluster.request<{ metadata: { resourceVersion: string } }>('GET', cli.pathOf(name))).metadata.resourceVersion;

test('run changes the workload and writes the status, and run --dry-run writes nothing', async () => {
  await create('web');
  await world.deploy('web', 'shop/web:1.0.0');
  const before = [await versionOf('web'), await world.read('web')];
  const eventsBefore = await eventsOf('web');
  const dry = await world.run('web', '--dry-run', '-o', 'json');
  assert.deepEqual([dry.code, resultsIn(dry)['web']?.result], [0, 'changed']);
  assert.deepEqual([await versionOf('web'), await world.read('web')], before);
  assert.deepEqual(await eventsOf('web'), eventsBefore);

  const { code, out } = await world.run('web');
  assert.equal(code, 0);
  assert.match(out, /^\S+\/web: changed\n/);
  assert.equal(await world.imageOf('web'), world.image('shop/web:1.1.0'));
  const status = await statusOf('web');
  assert.equal(status?.latest?.tag, '1.1.0');
  assert.deepEqual([status?.history?.[0]?.to, status?.history?.[0]?.trigger], [world.image('shop/web:1.1.0'), 'Request']);
  await waitFor('the Event of the change', async () => (await eventsOf('web')).some(({ reason }) => reason === 'Updated'));

  const again = await world.run('web');
  assert.equal(again.code, 0);
  assert.match(again.out, /^\S+\/web: unchanged: UpToDate: /);
});

async function eventsOf(name: string): Promise<readonly { reason: string }[]> {
  const path = `/apis/events.k8s.io/v1/namespaces/${cli.namespace}/events`;
  const { items } = await cli.cluster.request<{ items: { reason: string; regarding: { name: string } }[] }>('GET', path);
  return items.filter(({ regarding }) => regarding.name === name);
}

test('run asks no checks: it applies no image before the service has a verdict, and leaves later checks to the service', async () => {
  const check = (name: string, phase: string) => ({ name, phase, job: { cronJob: 'any' } });
  await create('checked', { rollout: { checks: [check('gate', 'before'), check('smoke', 'after')] } });
  await world.deploy('checked', 'shop/web:1.0.0');
  for (const args of [['checked', '--dry-run'], ['checked'], ['checked']]) {
    const held = await world.run(...args, '-o', 'json');
    const { result, reason, left, changes } = resultsIn(held)['checked'] ?? assert.fail();
    assert.deepEqual([held.code, result, reason, changes], [1, 'blocked', 'CheckPending', []]);
    assert.deepEqual(left, ['left to the service, which alone asks checks: gate']);
    assert.equal(await world.imageOf('checked'), world.image('shop/web:1.0.0'));
  }
  const checks = ((await statusOf('checked'))?.checks ?? []).map((record) => ({ ...record, state: 'Passed' }));
  assert.equal(checks.length, 1, 'it has begun for the service, once');
  await cli.cluster.request('PATCH', `${cli.pathOf('checked')}/status`, { status: { checks } });
  const { code, out } = await world.run('checked');
  assert.equal(code, 0);
  assert.match(out, /left to the service, which alone asks checks: smoke/);
  assert.equal(await world.imageOf('checked'), world.image('shop/web:1.1.0'));
});

test('run applies an image that is approved in the cluster, and skips a suspended policy', async () => {
  await create('asked', { update: { mode: 'Approval' } });
  await create('asleep', { suspend: true });
  for (const name of ['asked', 'asleep']) await world.deploy(name, 'shop/web:1.0.0');
  const first = await world.run('asked', 'asleep', '-o', 'json');
  assert.equal(first.code, 1);
  assert.deepEqual([resultsIn(first)['asked']?.result, resultsIn(first)['asleep']?.result], ['blocked', 'skipped']);
  const pending = (await statusOf('asked'))?.pendingApproval;
  assert.equal(pending?.tag, '1.1.0');
  const annotations = { 'operator.technomad.dev/approve': `${pending?.tag}@${pending?.digest}` };
  await cli.cluster.request('PATCH', cli.pathOf('asked'), { metadata: { annotations } });
  const second = await world.run('asked', '-o', 'json');
  assert.deepEqual([second.code, resultsIn(second)['asked']?.result], [0, 'changed']);
  assert.equal(await world.imageOf('asleep'), world.image('shop/web:1.0.0'));
});

test('run says when a later run could apply an image that is too young', async () => {
  await create('young', { minAge: '1h' });
  await world.deploy('young', 'shop/web:1.0.0');
  const { code, out } = await world.run('young', '-o', 'json');
  const { young } = resultsIn({ code, out, err: '' });
  assert.deepEqual([code, young?.result, young?.reason], [1, 'blocked', 'MinAge']);
  assert.ok(Date.parse(young?.until ?? '') > Date.now());
  assert.equal(young?.left[0], `left to a run after ${young?.until}, or to the service`);
  assert.equal((await statusOf('young'))?.waiting?.until, young?.until);
});

test('run executes a requested rollback, and run --dry-run does not', async () => {
  await create('back');
  await world.deploy('back', 'shop/web:1.0.0');
  assert.equal((await world.run('back')).code, 0);
  await cli.cluster.request('PATCH', cli.pathOf('back'), {
    metadata: { annotations: { 'operator.technomad.dev/rollback-to': 'previous' } },
  });
  const dry = await world.run('back', '--dry-run', '-o', 'json');
  assert.deepEqual(
    resultsIn(dry)['back']?.changes.map(({ to }) => to),
    [world.image('shop/web:1.0.0')],
  );
  assert.equal(await world.imageOf('back'), world.image('shop/web:1.1.0'));
  await world.run('back');
  assert.equal(await world.imageOf('back'), world.image('shop/web:1.0.0'));
});

test('run --wait waits for the rollout, and reports a failed rollout without rolling back', async () => {
  const states = {
    done: { replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 },
    broken: { replicas: 1, updatedReplicas: 1, unavailableReplicas: 1 },
  };
  for (const [name, state] of Object.entries(states)) {
    await create(name);
    await world.deploy(name, 'shop/web:1.0.0');
    const running = world.run(name, '--wait', '-o', 'json');
    const path = `/apis/apps/v1/namespaces/${cli.namespace}/deployments/${name}`;
    await waitFor('the change', async () => (await world.imageOf(name)) === world.image('shop/web:1.1.0'));
    const { metadata } = await world.read(name);
    const at = new Date(Date.now() + 60_000).toISOString();
    const condition = {
      type: 'Progressing',
      status: 'False',
      reason: 'ProgressDeadlineExceeded',
      message: 'too late',
      lastUpdateTime: at,
      lastTransitionTime: at,
    };
    const status = { observedGeneration: metadata.generation, ...state, ...(name === 'broken' && { conditions: [condition] }) };
    await cli.cluster.request('PATCH', `${path}/status`, { status });
    const ran = await running;
    const isBroken = name === 'broken';
    const [rollout] = (resultsIn(ran)[name] as unknown as { rollouts: { result: string; message: string }[] }).rollouts;
    assert.deepEqual([ran.code, rollout?.result], [isBroken ? 1 : 0, isBroken ? 'failed' : 'done'], ran.out);
    assert.equal(await world.imageOf(name), world.image('shop/web:1.1.0'));
  }
});

test('run fails without the permission to patch the workload, but not without that to patch the status', async () => {
  await create('limited');
  await world.deploy('limited', 'shop/web:1.0.0');
  const policies = { apiGroups: ['operator.technomad.dev'], resources: ['imagepolicies'], verbs: ['get', 'list'] };
  const as = async (name: string, verbs: readonly string[]) => {
    const rules = [policies, { apiGroups: ['apps'], resources: ['deployments'], verbs }];
    const kubeconfig = withNamespace(await kubeconfigWithRules(cli.cluster, cli.namespace, name, rules), cli.namespace);
    return world.run('limited', '-o', 'json', '--kubeconfig', kubeconfig);
  };
  const reader = await as('reader', ['get', 'list']);
  const { limited } = resultsIn(reader);
  assert.deepEqual([reader.code, limited?.result, limited?.reason], [1, 'blocked', 'PatchRejected']);
  const writer = await as('writer', ['get', 'list', 'patch']);
  const written = resultsIn(writer)['limited'];
  assert.deepEqual([writer.code, written?.result], [0, 'changed'], writer.out);
  assert.match(written?.unwritten ?? '', /may not patch imagepolicies/);
  assert.equal(await world.imageOf('limited'), world.image('shop/web:1.1.0'));
});

test('run reports which policies the user may not list, and still changes the workload', async () => {
  await create('unseen');
  await world.deploy('unseen', 'shop/web:1.0.0');
  const rules = [
    { apiGroups: ['operator.technomad.dev'], resources: ['imagepolicies'], verbs: ['get'] },
    { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get', 'list', 'patch'] },
  ];
  const kubeconfig = withNamespace(await kubeconfigWithRules(cli.cluster, cli.namespace, 'blind', rules), cli.namespace);
  const { code, err } = await world.run('unseen', '--kubeconfig', kubeconfig);
  assert.equal(code, 0, err);
  assert.match(err, /^you may not list the ImagePolicies of all namespaces, so what others of them follow and demand is not known here$/m);
});

test('run shows the user why a registry at a private address does not answer, but does not write that into the status', async () => {
  const image = `127.0.0.1:${await freePort()}/shop/dark`;
  await create('dark', { image });
  await world.deploy('dark', 'shop/web:1.0.0');
  const dry = await world.run('dark', '--dry-run', '-o', 'json');
  assert.match(resultsIn(dry)['dark']?.message ?? '', /the connection was refused by/);
  const { out, err } = await world.run('dark', '-o', 'json');
  assert.match(resultsIn({ code: 2, out, err })['dark']?.message ?? '', /no details are shown here/);
  assert.match(err, /^registry failed, details: 127\.0\.0\.1:\d+: .*the connection was refused by/m);
  assert.doesNotMatch(JSON.stringify((await statusOf('dark')) ?? {}), /refused by/);
});

test('run fails for a policy that does not exist', async () => {
  const { code, err } = await world.run('nobody');
  assert.equal(code, 2);
  assert.match(err, /there is no ImagePolicy \S+\/nobody/);
});

for (const args of [['web'], ['--once', '-A', 'web'], ['--once', '-A', '-f', 'x.yaml'], ['--once', '--wait', '--dry-run']]) {
  test(`"run ${args.join(' ')}" is reported as wrong usage`, () => assert.rejects(runCommand('run', args), UsageError));
}
