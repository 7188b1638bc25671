/** `npm run kind`: the plan is data; what these machines have is run: the real kubectl, Helm, chart and API server. Neither Docker, kind nor k3d. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { configSchema } from '../../src/service/config/schema.ts';
import { installCrd } from '../service/resources/install-crd.ts';
import { findKubectl, findShellcheck, lacksHelm, lacksKubectl, lacksShellcheck } from '../harness/binaries.ts';
import { borrowControlPlane, type ControlPlane } from '../harness/control-plane.ts';
import { renderChart, type Values } from '../harness/helm.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { chartValues, namespaces, pullHost, pushHost } from './objects.ts';
import { type Options, planInstallation, planRemoval, type Step, toolsOf, type Where, wrongOptions } from './plan.ts';
import { checkTools, PlanError, runPlan } from './run-plan.ts';
import { toScript } from './script.ts';

// All that is waited for comes before the first test.
const [withoutHelm, skip] = [(await lacksHelm()) ?? false, (await lacksKubectl()) ?? false];
const withoutShellcheck = (await lacksShellcheck()) ?? false;
const root = join(import.meta.dirname, '../..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const optionsOf = (where: Where, image?: string): Options => ({
  where,
  kubeconfig: '/home/user/kubeconfig',
  secret: 'a-secret',
  readme,
  ...(image !== undefined && { image }),
});

const prod = optionsOf({ context: 'prod' }, 'registry.example.com/me/image-watcher:try');
const scripts: Readonly<Record<string, readonly Step[]>> = {
  kind: planInstallation(optionsOf('kind')),
  k3d: planInstallation(optionsOf('k3d')),
  context: planInstallation(prod),
  'kind-delete': planRemoval(optionsOf('kind')),
  'k3d-delete': planRemoval(optionsOf('k3d')),
  'context-delete': planRemoval(prod),
};

for (const [name, steps] of Object.entries(scripts)) {
  test(`the commands of ${name} are those of golden/${name}.sh (--test-update-snapshots writes it)`, (t) => {
    const script = toScript(steps);
    t.assert.fileSnapshot(script, join(import.meta.dirname, 'golden', `${name}.sh`), { serializers: [String] });
    execFileSync('bash', ['-n'], { input: script });
  });
}

test('ShellCheck finds nothing in any of the commands', { skip: withoutShellcheck }, async () => {
  const shellcheck = await findShellcheck();
  for (const [name, steps] of Object.entries(scripts)) {
    const { status, stdout } = spawnSync(shellcheck, ['--shell=bash', '-'], { input: toScript(steps), encoding: 'utf8' });
    assert.equal(status, 0, `${name}: ${stdout}`);
  }
});

test('every kind of cluster gets the same policy, registry and secret', () => {
  for (const steps of [scripts['kind'], scripts['k3d'], scripts['context']]) {
    const inputs = (steps ?? []).flatMap(({ commands = [] }) => commands.flatMap(({ input = '' }) => input)).join('\n');
    assert.ok(
      inputs.includes(`image: ${pullHost}/shop/web\n`) &&
        inputs.includes('Bearer a-secret') &&
        inputs.includes('rollout: {onFailure: Rollback}'),
    );
    assert.ok(inputs.includes('REGISTRY_SECRET: a-secret'));
  }
});

const loads: readonly (readonly [context: string, command: string])[] = [
  ['kind-dev', 'kind load docker-image image-watcher:try --name dev'],
  ['k3d-dev', 'k3d image import image-watcher:try --cluster dev'],
  ['minikube', 'minikube image load image-watcher:try'],
];
for (const [context, command] of loads) {
  test(`the nodes of ${context} get the image by "${command}"`, () => {
    const options = optionsOf({ context });
    assert.ok(toScript(planInstallation(options)).includes(`\n${command}\n`));
    assert.ok(toolsOf(options).some(({ program }) => command.startsWith(`${program} `)));
  });
}

test('a cluster that pulls from a registry needs --image, and other clusters do not', () => {
  assert.match(wrongOptions({ where: { context: 'prod' } }) ?? '', /name it with --image/);
  assert.match(wrongOptions({ where: 'kind', image: 'without-a-tag' }) ?? '', /REPOSITORY:TAG/);
  for (const image of ['a:1', 'localhost:5000/a:1', 'registry.example.com/a/b:try'])
    assert.equal(wrongOptions({ where: { context: 'prod' }, image }), undefined);
  for (const where of ['kind', 'k3d', { context: 'docker-desktop' }] as const) assert.equal(wrongOptions({ where }), undefined);
});

test('the chart renders with the values of npm run kind, and the service accepts the settings', { skip: withoutHelm }, async () => {
  const values = chartValues('registry.example.com:5000/me/image-watcher:try') as Values;
  const images = (await renderChart(values)).flatMap((object) =>
    [...JSON.stringify(object).matchAll(/"image":"([^"]+)"/g)].map(([, image]) => image),
  );
  assert.ok(images.includes('registry.example.com:5000/me/image-watcher:try'), images.join(', '));
  const { registries } = configSchema.parse(values['config']);
  assert.deepEqual(registries[0], { host: pushHost, aliases: [pullHost], insecure: true });
});

/** A machine with these programs, which write down how they were called. */
function machineWith(programs: Readonly<Record<string, string>>) {
  const folder = tempFolder('machine');
  const log = join(folder, 'log');
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(folder, name), `#!/bin/sh\necho "${name} $*" >> '${log}'\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  const said: string[] = [];
  return {
    surroundings: { cwd: root, env: { PATH: `${folder}:/usr/bin:/bin`, HOME: folder }, say: (line: string) => void said.push(line) },
    calls: () => (existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : []),
    said,
  };
}

const isPlanError = (pattern: RegExp) => (error: unknown) => error instanceof PlanError && pattern.test(error.message);

test('all missing programs are named, with the pages that say how to install them', async () => {
  const { surroundings } = machineWith({ docker: '' });
  const alone = { ...surroundings, env: { ...surroundings.env, PATH: surroundings.env.HOME } };
  await assert.rejects(
    checkTools(toolsOf(optionsOf('kind')), alone),
    isPlanError(/kind: https:\S+\n {2}kubectl: https:\S+\n {2}helm: https:\S+$/),
  );
});

test('a Docker that does not answer is reported', async () => {
  const { surroundings } = machineWith({ docker: 'exit 1', k3d: '', kubectl: '', helm: '' });
  await assert.rejects(checkTools(toolsOf(optionsOf('k3d')), surroundings), isPlanError(/^Docker does not answer/));
});

test('an existing cluster with the name of the new one is not touched', async () => {
  const { surroundings, calls } = machineWith({ kind: 'echo other; echo image-watcher', docker: '' });
  await assert.rejects(runPlan(scripts['kind'] ?? [], surroundings), isPlanError(/^there is a cluster image-watcher already/));
  assert.deepEqual(calls(), ['kind get clusters']);
});

test('only a cluster that an earlier run has created is deleted', async () => {
  const others = machineWith({ kind: 'echo image-watcher', kubectl: '' });
  await assert.rejects(
    runPlan(scripts['kind-delete'] ?? [], others.surroundings),
    isPlanError(/^npm run kind has not created the cluster/),
  );
  assert.equal(others.calls().length, 2);
  const own = machineWith({ kind: 'echo image-watcher', kubectl: 'echo node/image-watcher-control-plane' });
  await runPlan(scripts['kind-delete'] ?? [], own.surroundings);
  assert.equal(own.calls().at(-1), 'kind delete cluster --name image-watcher --kubeconfig /home/user/kubeconfig');
  const none = machineWith({ k3d: 'echo other', kubectl: '' });
  await assert.rejects(runPlan(scripts['k3d-delete'] ?? [], none.surroundings), isPlanError(/^there is no cluster/));
});

test('all commands of a plan run with arguments and inputs, each step prints its title, and a failure ends the plan', async () => {
  const programs = {
    kind: '[ "$1 $2" = "create cluster" ] && grep -q created-by || true',
    docker: '',
    kubectl: '',
    helm: 'grep -q REGISTRY_SECRET',
  };
  const machine = machineWith(programs);
  const steps = scripts['kind'] ?? [];
  await runPlan(steps, machine.surroundings);
  const commands = steps.flatMap(({ checks = [], commands: of = [] }) => [...checks, ...of]);
  assert.deepEqual(
    machine.calls(),
    commands.map(({ program, args }) => [program, ...args].join(' ')),
  );
  for (const { title } of steps) assert.ok(machine.said.some((line) => line.includes(title)));
  const broken = machineWith({ ...programs, docker: 'exit 3' });
  await assert.rejects(runPlan(steps, broken.surroundings), isPlanError(/^docker ended with 3: the step "Build the image/));
  assert.match(broken.calls().at(-1) ?? '', /^docker build/);
});

test('a dry run starts nothing, and prints the commands', () => {
  const machine = machineWith({ kind: '', docker: '', kubectl: '', helm: '' });
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [join(import.meta.dirname, 'kind.ts'), ...args], { env: machine.surroundings.env, encoding: 'utf8' });
  const { status, stdout } = run('--dry-run');
  assert.deepEqual([status, machine.calls()], [0, []]);
  assert.match(stdout, /^docker build --tag image-watcher:try \.$/m);
  assert.equal(run('--k3d', '--context', 'a').status, 2);
});

describe('the objects of npm run kind, with kubectl and a real API server', { skip }, () => {
  let cluster: ControlPlane;
  let surroundings: Parameters<typeof runPlan>[1];
  const here = optionsOf({ context: 'test' }, 'registry.example.com/me/image-watcher:try');
  /** What needs neither nodes nor controllers nor Helm. */
  const runnable = (steps: readonly Step[], wanted: RegExp, more: readonly string[] = []): Step[] =>
    steps.map(({ commands = [], ...step }) => ({
      ...step,
      commands: commands
        .filter(({ args }) => args.some((arg) => wanted.test(arg)))
        .map((one) => ({ ...one, args: [...one.args, ...more] })),
    }));

  before(async () => {
    cluster = await borrowControlPlane();
    const kubectl = await findKubectl();
    const env = { PATH: `${dirname(kubectl)}:/usr/bin:/bin`, HOME: tempFolder('home'), KUBECONFIG: cluster.kubeconfigPath };
    surroundings = { cwd: root, env, say: () => {} };
    const contexts = execFileSync(kubectl, ['config', 'get-contexts', '--output', 'name'], { env, encoding: 'utf8' });
    execFileSync(kubectl, ['config', 'rename-context', contexts.trim(), 'test'], { env });
  });
  after(() => cluster.stop());

  test('are accepted; then a second run is refused, and a removal would delete only the marked namespaces', async () => {
    const [first, ...rest] = planInstallation(here);
    assert.ok(first);
    await runPlan([first], surroundings);
    await installCrd(cluster, ['v1']);
    await runPlan(runnable(rest, /^apply$/), surroundings);
    const { spec } = await cluster.request<{ spec: { image: string; targets: object[] } }>(
      'GET',
      '/apis/operator.technomad.dev/v1/namespaces/shop/imagepolicies/web',
    );
    assert.equal(spec.image, `${pullHost}/shop/web`);
    await assert.rejects(
      runPlan([first], surroundings),
      isPlanError(new RegExp(`^the cluster has ${namespaces.map((name) => `namespace/${name}`).join(', ')}`)),
    );
    await cluster.request('PATCH', '/api/v1/namespaces/shop', { metadata: { labels: { 'created-by': null } } });
    await runPlan(runnable(planRemoval(here), /^delete$/, ['--wait=false']), surroundings);
    const { items } = await cluster.request<{ items: { metadata: { name: string; deletionTimestamp?: string } }[] }>(
      'GET',
      '/api/v1/namespaces',
    );
    const deleted = items.filter(({ metadata }) => metadata.deletionTimestamp !== undefined).map(({ metadata }) => metadata.name);
    assert.deepEqual(deleted.toSorted(), ['image-watcher', 'image-watcher-registry']);
  });
});
