/** The command blocks of README, quickstart and installation, as they stand there, in their order. */
import assert from 'node:assert/strict';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parse, stringify } from 'yaml';
import { lacksHelm, lacksKubectl } from '../harness/binaries.ts';
import { borrowControlPlane } from '../harness/control-plane.ts';
import { freePort } from '../harness/free-port.ts';
import { startProcess } from '../harness/process.ts';
import { pushImage } from '../harness/push-image.ts';
import { startRedis } from '../harness/redis.ts';
import { findOnPath } from '../harness/run-command.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { GiveUp, waitFor } from '../harness/wait-for.ts';
import { fencesOf, pages, root } from './markdown.ts';
import { startNewUser, type NewUser } from './new-user.ts';

const programs = ['bash', 'curl', 'openssl'].filter((name) => findOnPath([name]) === undefined);
const skip = programs.length > 0 ? `needs ${programs.join(', ')}` : ((await lacksHelm()) ?? (await lacksKubectl()) ?? false);

const fences = (path: string) => fencesOf(pages.find((page) => page.path === path)?.text ?? '');
const taken = new Set<string>();
const harborPush = 'test/fixtures/payloads/harbor/harbor-push-default-tag.json';
const secret = 'a-secret-of-a-new-user';

/** The block of a page whose first line begins like this; a yaml block as well. */
function take(path: string, start: string): string {
  const found = fences(path).filter(({ body }) => body.startsWith(start));
  assert.equal(found.length, 1, `${path}: ${start}`);
  const body = found[0]?.body ?? '';
  taken.add(body);
  return body;
}

describe('docs/quickstart.md', { skip }, () => {
  const page = 'docs/quickstart.md';
  const makeSecret = take(page, 'export SECRET');
  const values = take(page, '# values.yaml');
  const install = take(page, 'helm install');
  const create = take(page, 'kubectl create deployment');
  const announce = take(page, 'kubectl -n image-watcher port-forward');
  const read = take(page, 'kubectl -n image-watcher exec');
  let user: NewUser;
  before(async () => {
    user = await startNewUser();
    for (const tag of ['6.5.0', '6.7.0', '6.9.0', '7.0.0'])
      await pushImage({ host: user.registry.host, repository: 'stefanprodan/podinfo', tag, content: tag });
  });
  after(() => user.stop());

  test('the service is installed, and its Deployments are ready', async () => {
    await user.run(makeSecret);
    user.write('values.yaml', values);
    assert.match(await user.run(install), /STATUS: deployed/);
    assert.deepEqual(user.node.problems, []);
  });

  test('the Deployment runs the highest 6.x, and the policy is Ready', async () => {
    const output = await user.run(create);
    assert.match(output, /imagepolicy.*\/podinfo condition met/);
    assert.match(output, /podinfo:6\.9\.0$/);
  });

  test('an announced older image changes nothing, and its record says why', async () => {
    const { publicUrl } = await user.node.serviceOf('receive');
    assert.match(await user.run(announce, { replaced: { 'http://127.0.0.1:8080': publicUrl } }), /HTTP\/1\.1 202 /);
    await user.mountToken('image-watcher-work');
    const { operationsUrl: server } = await user.node.serviceOf('work');
    await waitFor('the record', async () => /OlderThanRunning/.test(await user.run(read, { server })));
  });
});

describe('README and docs/installation.md', { skip }, () => {
  const page = 'docs/installation.md';
  const applyAndWait = take(page, 'kubectl apply -f');
  const doctor = take(page, 'image-watcher doctor');
  const [receivers, config, values] = [take(page, '# receivers.yaml'), take(page, '# config.yaml: all'), take(page, '# values.yaml')];
  const settings = take(page, 'export SECRET=$(openssl rand -hex 24)   # also for the sender: the "Auth Header" of Harbor\nkubectl -n');
  const removal = take(page, 'image-watcher crd migrate');
  const readmeValues = take('README.md', '# values.yaml');
  const readmeHelm = take('README.md', 'export SECRET');
  const uninstall = take(page, 'helm uninstall');
  const helm = take(page, 'export SECRET=$(openssl rand -hex 24)   # also for the sender: the "Auth Header" of Harbor\nkubectl create');
  let user: NewUser;
  before(async () => (user = await startNewUser()));
  after(() => user.stop());

  const released = {
    'https://github.com/technomad/image-watcher/releases/latest/download/install.yaml': 'charts/install/base/install.yaml',
  };
  /** What Harbor sends, with the secret that the block has made. */
  const push = async () => {
    const { publicUrl } = await user.node.serviceOf('receive');
    const body = join(root, harborPush);
    const send = `curl -sS -o answer -w '%{http_code}' -H "Authorization: $SECRET" --data '@${body}' ${publicUrl}/webhooks/harbor-prod`;
    return waitFor('the push to be accepted', async () => (await user.run(send)).startsWith('202'));
  };

  test('the manifests are applied, and all Deployments become available', async () => {
    const output = await user.run(applyAndWait, { replaced: released });
    // Three Deployments, and the Jobs of the password and of the definition.
    assert.equal(output.match(/condition met/g)?.length, 5);
    // The Job of the definition may come before the webhook: it changes nothing then, and is repeated.
    const early = /the Secret image-watcher\/image-watcher-conversion does not exist: start the service with the role convert first/;
    assert.deepEqual(
      user.node.problems.filter((problem) => !early.test(problem)),
      [],
    );
  });

  test('doctor finds nothing wrong', async () => {
    const { operationsUrl: server } = await user.node.serviceOf('work');
    assert.match(await user.run(doctor, { server }), /✓ service\/api/);
  });

  test('settings are added, and a push is accepted', async () => {
    user.write('receivers.yaml', receivers);
    user.write('config.yaml', config);
    await user.run(settings);
    await push();
  });

  test('everything except the definitions is removed', async () => {
    await user.run(removal);
    const left = await user.run('kubectl get crd -o name; kubectl get clusterroles -l app.kubernetes.io/name=image-watcher -o name');
    assert.deepEqual(
      left.trim().split('\n').toSorted(),
      ['baseimagepolicies', 'baseimagerecords', 'imagepolicies', 'notificationtargets'].map(
        (name) => `customresourcedefinition.apiextensions.k8s.io/${name}.operator.technomad.dev`,
      ),
    );
  });

  test('the chart is installed as the README says, and a push is accepted', async () => {
    user.write('values.yaml', readmeValues);
    assert.match(await user.run(readmeHelm), /STATUS: deployed/);
    await push();
    await user.run(uninstall);
    await user.run('kubectl delete namespace image-watcher');
  });

  test('the chart is installed from a registry, and a push is accepted', async () => {
    const charts = `oci://${user.registry.host}/technomad/charts`;
    await user.run(`helm package ./charts/image-watcher --version 1.2.3 && helm push image-watcher-1.2.3.tgz ${charts} --plain-http`);
    user.write('values.yaml', values);
    const replaced = { 'oci://ghcr.io/technomad/charts/image-watcher': `${charts}/image-watcher --plain-http` };
    assert.match(await user.run(helm, { replaced }), /STATUS: deployed/);
    await push();
  });
});

describe('the README outside of a cluster', { skip }, () => {
  const block = take('README.md', 'npm ci');

  test('a fresh checkout installs its packages and the definition, and starts the service', async (t) => {
    const [cluster, redis] = await Promise.all([borrowControlPlane(), startRedis()]);
    t.after(() => Promise.all([cluster.stop(), redis.stop()]));
    const checkout = tempFolder('checkout');
    const isFresh = (path: string) => !/\/(?:node_modules|\.git)(?:\/|$)/.test(path.slice(root.length));
    cpSync(root, checkout, { recursive: true, filter: isFresh });
    const [listen, operations, conversion] = await Promise.all([freePort(), freePort(), freePort()]);
    const { config } = parse(take('README.md', '# values.yaml')) as { config: object };
    // On this machine there are other programs on the usual ports.
    const ports = {
      listen: { port: listen },
      operations: { port: operations },
      conversion: { port: conversion },
      redis: { url: redis.url },
    };
    writeFileSync(join(checkout, 'config.yaml'), stringify({ ...config, ...ports }));
    const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter);
    // Where packages come by way of an authority of the network's own, npm needs it.
    const { HOME, NODE_EXTRA_CA_CERTS } = process.env;
    const env = { PATH, HOME, NODE_EXTRA_CA_CERTS, KUBECONFIG: cluster.kubeconfigPath, SECRET: secret, npm_config_prefer_offline: 'true' };
    const shell = await startProcess('bash', ['-ec', block], { name: 'checkout', cwd: checkout, env });
    t.after(() => shell.stop(60_000));
    const answer = await waitFor('a push to be accepted', async () => {
      if (shell.exit() !== undefined) throw new GiveUp(shell.logTail(40));
      const body = readFileSync(join(root, harborPush));
      const headers = { Authorization: secret };
      const { ok, status } = await fetch(`http://127.0.0.1:${listen}/webhooks/harbor-prod`, { method: 'POST', headers, body });
      return ok && status;
    });
    assert.equal(answer, 202);
    await waitFor('the service to be ready', async () => (await fetch(`http://127.0.0.1:${operations}/readyz`)).ok);
  });
});

/** Blocks that cannot run here, or that another test runs. */
const notRun: Readonly<Record<string, string>> = {
  'npm run demo': 'test/demo/commands.test.ts runs it, and the other commands of the demo',
  'npm run kind': 'needs a Docker engine; test/kind/plan.test.ts runs what needs none',
  'docker build': 'needs a Docker engine; npm run test:image builds and runs the image',
  'image-watcher get  ': 'test/docs/commands.test.ts runs each line',
  'registry ── webhook': 'is a drawing',
  'kind create cluster': 'needs a Docker engine; npm run test:image builds and runs the image',
  'kind delete cluster': 'needs a Docker engine',
  'kubectl apply -k .': 'needs GitHub; test/charts/install-manifests.test.ts builds what it names',
  'kubectl create -f https://github.com': 'test/end-to-end/v1-only.test.ts has a cluster with this definition',
  'npm ci': 'are the lines of the README, without a secret; test/docs/installation.test.ts runs the second one',
  'image-watcher crd apply --conversion-url': 'test/docs/installation.test.ts runs it',
};

test('each block of commands of README, quickstart and installation is run, or named with the reason why not', () => {
  const blocks = ['README.md', 'docs/quickstart.md', 'docs/installation.md']
    .flatMap(fences)
    .filter(({ language }) => /^(?:sh)?$/.test(language));
  assert.ok(blocks.length > 15, String(blocks.length));
  const left = blocks.map(({ body }) => body).filter((body) => !taken.has(body));
  const reasons = Object.keys(notRun);
  assert.deepEqual(
    left.filter((body) => !reasons.some((start) => body.startsWith(start))),
    [],
  );
  assert.deepEqual(
    reasons.filter((start) => !left.some((body) => body.startsWith(start))),
    [],
  );
});
