/** `npm run demo`: everything that the program needs, on this machine, and a push that reaches a Deployment. */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { announce, startWorld, type Service, type World } from '../end-to-end/world.ts';
import { prepareServers } from '../harness/prepare.ts';
import { pushImage } from '../harness/push-image.ts';
import { reportLongWaits, waitFor } from '../harness/wait-for.ts';
import type { Repetition } from '../../src/core/async/repeat.ts';
import { shippedRules } from '../harness/shipped-permissions.ts';
import { runJavaPods, tellBaseStory } from './base.ts';
import { inviteToDashboard } from './dashboard.ts';
import { createSteps } from './steps.ts';

const usage = `Usage: npm run demo [-- [SCENARIO] [--once]]

Starts Redis, etcd, kube-apiserver, a registry and image-watcher on loopback ports, and shows what happens. Stays up until Ctrl-C.

  push     a Deployment and an ImagePolicy: a pushed version is rolled out (the default)
  base     applications on one base, and a BaseImagePolicy: a patched base reaches all of them, one through a framework in between, and none on
           another variant; a bad base is stopped at the canary

  --once   end with the story: exit code 0; or 1, with a reason
`;

const steps = createSteps(process.stdout);
const repository = 'shop/web';

process.exitCode = await main();

async function main(): Promise<number> {
  const options = { once: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const;
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const [scenario = 'push', ...others] = positionals;
  if (values.help) {
    process.stdout.write(usage);
    return 0;
  }
  if ((scenario !== 'push' && scenario !== 'base') || others.length > 0) {
    process.stderr.write(`there is no scenario "${positionals.join(' ')}"\n\n${usage}`);
    return 2;
  }
  const isBase = scenario === 'base';
  let world: World | undefined;
  let pods: Repetition | undefined;
  reportLongWaits((what, waitedMs) => steps.note(`waiting for ${what} … ${Math.round(waitedMs / 1_000)} s`));
  try {
    steps.heading('Setting up (the first time, servers may have to be built: some minutes, then never again)');
    // Not a step: what has to be fetched or built tells its own progress.
    for (const path of await prepareServers({ controllerManager: isBase })) steps.note(path);
    world = await steps.step(
      `Redis (AOF always), etcd, kube-apiserver, ${isBase ? 'its controllers, ' : ''}registry`,
      () => startWorld(isBase ? { controllers: true, extraRules: shippedRules('work-rebase') } : {}),
      (up) => up.cluster.server,
    );
    const service = await startProgram(world);
    if (isBase) {
      pods = runJavaPods(world, world.namespace);
      await tellBaseStory(world, steps);
      if (values.once) return 0;
      await inviteToDashboard(world, service, steps);
      await stayUpForBase(world);
      return 0;
    }
    await tellStory(world);
    await showTraces(world, service);
    if (values.once) return 0;
    await inviteToDashboard(world, service, steps);
    await stayUp(world, service);
    return 0;
  } catch (error) {
    process.stderr.write(`\nThe demo failed: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  } finally {
    await pods?.stop();
    await world?.stop();
  }
}

async function startProgram(world: World): Promise<Service> {
  const service = await steps.step(
    'image-watcher serve',
    () => world.start({ config: { operations: { actions: true } } }),
    (up) => up.publicUrl,
  );
  await steps.step(
    'registry announces pushes to image-watcher',
    () => announce(world.registry, service),
    () => `${service.publicUrl}/webhooks/registry`,
  );
  return service;
}

async function tellStory(world: World): Promise<void> {
  const image = `${world.registry.host}/${repository}`;
  steps.heading('What a push does');
  await steps.step(
    `push ${repository}:1.0.0`,
    () => push(world, '1.0.0'),
    ({ digest }) => digest,
  );
  await steps.step('create the Deployment "web", running 1.0.0', () => world.createDeployment('web', `${image}:1.0.0`));
  await steps.step(
    'create the ImagePolicy "web": highest version',
    () => world.createPolicy('web', image, { strategy: 'SemVer' }),
    () => 'kube-apiserver lets a new kind settle for 2 s',
  );
  await steps.step(
    'the policy is Ready',
    () => world.waitForCondition('web', 'Ready', 'UpToDate'),
    ({ message }) => message,
  );
  await steps.step(
    `push ${repository}:1.0.1`,
    () => push(world, '1.0.1'),
    ({ digest }) => digest,
  );
  await steps.step(
    'the Deployment runs 1.0.1',
    () => world.waitForImage('web', `${image}:1.0.1`),
    () => 'after the push had ended',
  );
}

async function showTraces(world: World, service: Service): Promise<void> {
  steps.heading('What is left to see of it');
  const last = await waitFor('the status', async () => (await world.readStatus('web')).history?.[0]);
  steps.note(`ImagePolicy status   ${last.from} → ${last.to}, ${last.result} at ${last.at}, by ${last.trigger}`);
  // The policy has an Event where its condition changes; here it was Ready before, and is Ready again.
  for (const { reason, message } of await world.waitForEvents('Deployment', 'web'))
    steps.note(`Event of Deployment  ${reason}: ${message}`);
  const metrics = await (await fetch(`${service.operationsUrl}/metrics`)).text();
  const [count] = /^image_watcher_workload_changes_total.*$/m.exec(metrics) ?? [];
  if (count !== undefined) steps.note(`metric               ${count}`);
}

async function stayUpForBase(world: World): Promise<void> {
  steps.heading('It stays up. Try:');
  const kubectl = `KUBECONFIG=${world.cluster.kubeconfigPath} kubectl -n ${world.namespace}`;
  steps.note(`${kubectl} get bipol,ipol,deploy -o wide`);
  steps.note(`${kubectl} get bipol java framework -o yaml`);
  steps.note('Ctrl-C                   ends everything\n');
  await untilSignalled(Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]));
}

/** Without a terminal the input may have ended long before, and a signal alone keeps no process alive. */
async function untilSignalled(signalled: Promise<unknown>): Promise<void> {
  const alive = setInterval(() => undefined, 60_000);
  await signalled;
  clearInterval(alive);
}

async function stayUp(world: World, service: Service): Promise<void> {
  steps.heading('It stays up. Try:');
  steps.note('1.0.2 and Enter          pushes that version here; latest, main or 0.9.0 change nothing');
  steps.note(`curl '${service.operationsUrl}/readyz?verbose'`);
  steps.note(`curl -s ${service.operationsUrl}/metrics | grep ^image_watcher`);
  steps.note(`KUBECONFIG=${world.cluster.kubeconfigPath} kubectl -n ${world.namespace} get ipol,deploy -o wide`);
  steps.note(`skopeo copy --dest-tls-verify=false docker://… docker://${world.registry.host}/${repository}:1.0.3`);
  steps.note('Ctrl-C                   ends everything\n');
  const input = createInterface({ input: process.stdin });
  const signalled = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  void signalled.then(() => input.close());
  for await (const line of input) {
    const tag = line.trim();
    if (tag !== '') await pushAndWatch(world, tag);
    const deployment = await world.readDeployment('web');
    steps.note(`Deployment web runs ${deployment.spec.template.spec.containers[0]?.image}`);
  }
  await untilSignalled(signalled);
}

/** A person who looks on: what has not happened after a second does not happen by a push. */
async function pushAndWatch(world: World, tag: string): Promise<void> {
  try {
    await steps.step(
      `push ${repository}:${tag}`,
      () => push(world, tag),
      ({ digest }) => digest,
    );
    const image = `${world.registry.host}/${repository}:${tag}`;
    const runs = async () => (await world.readDeployment('web')).spec.template.spec.containers[0]?.image === image;
    await waitFor(`web to run ${image}`, runs, { timeoutMs: 1_000 }).catch(() => undefined);
  } catch (error) {
    steps.note(error instanceof Error ? error.message : String(error));
  }
}

function push(world: World, tag: string) {
  return pushImage({ host: world.registry.host, repository, tag, content: `web ${tag}` });
}
