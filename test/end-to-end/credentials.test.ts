/** Private images, with each source of credentials that can be had here; and Secrets that change. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Spec } from '../../src/service/resources/v1.ts';
import { pushImage } from '../harness/push-image.ts';
import { startRegistry, type Registry } from '../harness/registry.ts';
import { kubeconfigWithRules } from '../harness/service-account.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { startTokenServer, type TokenServer } from '../harness/token-server.ts';
import { deliver, harborBody, startWorld, type Service, type World } from './world.ts';

const robot = { user: 'robot', password: 'geheim-1' };
const any = { strategy: 'SemVer' } as const;
const dockerConfig = (host: string, { user, password } = robot) => JSON.stringify({ auths: { [host]: { username: user, password } } });

const secretsPath = (namespace: string) => `/api/v1/namespaces/${namespace}/secrets`;
const accountsPath = (namespace: string) => `/api/v1/namespaces/${namespace}/serviceaccounts`;

/** A Secret of type kubernetes.io/dockerconfigjson. */
async function createSecret(world: World, name: string, host: string, { namespace = world.namespace, password = robot.password } = {}) {
  await world.cluster.request('POST', secretsPath(namespace), {
    metadata: { name },
    type: 'kubernetes.io/dockerconfigjson',
    stringData: { '.dockerconfigjson': dockerConfig(host, { ...robot, password }) },
  });
}

async function changeSecret(world: World, name: string, host: string, namespace = world.namespace) {
  await world.cluster.request('PATCH', `${secretsPath(namespace)}/${name}`, { stringData: { '.dockerconfigjson': dockerConfig(host) } });
}

/** Pushes to a private registry, without its telling anybody. */
async function push(registry: Registry, name: string, tag: string, tokens?: TokenServer): Promise<void> {
  const repository = `shop/${name}`;
  const auth = tokens === undefined ? robot : { token: await tokens.issue(repository, ['pull', 'push']) };
  await pushImage({ host: registry.host, repository, tag, auth, content: `${name} ${tag}` });
}

/** A Deployment that runs 1.0.0 with this in its pod template, and a policy for it. */
async function watch(
  world: World,
  registry: Registry,
  name: string,
  { pod = {}, tokens, ...spec }: Partial<Spec> & { pod?: object; tokens?: TokenServer },
) {
  await push(registry, name, '1.0.0', tokens);
  await world.createDeployment(name, `${registry.host}/shop/${name}:1.0.0`);
  await world.cluster.request('PATCH', world.deploymentPath(name), { spec: { template: { spec: pod } } });
  await world.createPolicy(name, `${registry.host}/shop/${name}`, any, spec);
}

async function announce(service: Service, registry: Registry, name: string, tag: string): Promise<void> {
  assert.equal((await deliver(service, harborBody(registry.host, `shop/${name}`, [{ tag }]))).status, 202);
}

/** How many requests a registry was sent: `{manifest: 3, token: 1}`. */
async function requestsTo(service: Service, { host }: Registry): Promise<Record<string, number>> {
  const text = await (await fetch(`${service.operationsUrl}/metrics`)).text();
  const counts: Record<string, number> = {};
  for (const [, labels = '', value] of text.matchAll(/^image_watcher_registry_requests_total\{(.*)\} (\d+)$/gm)) {
    const kind = /kind="(\w+)"/.exec(labels)?.[1] ?? '';
    if (labels.includes(`host="${host}"`)) counts[kind] = (counts[kind] ?? 0) + Number(value);
  }
  return counts;
}

describe('a private image', () => {
  let world: World;
  let service: Service;
  let tokens: TokenServer;
  let registries: { own: Registry; fallback: Registry; file: Registry; token: Registry };
  const file = join(tempFolder('docker-config'), 'config.json');

  before(async () => {
    tokens = await startTokenServer(robot);
    const [started, own, fallback, fromFile, token] = await Promise.all([
      startWorld(),
      startRegistry({ htpasswd: robot }),
      startRegistry({ htpasswd: robot }),
      startRegistry({ htpasswd: robot }),
      startRegistry({ token: tokens.auth }),
    ]);
    world = started;
    registries = { own, fallback, file: fromFile, token };
    writeFileSync(file, dockerConfig(registries.file.host));
    const operators = await world.cluster.namespace('operators');
    await createSecret(world, 'fallback', registries.fallback.host, { namespace: operators });
    service = await world.start({
      registryHosts: Object.values(registries).map(({ host }) => host),
      config: { credentials: { secret: { name: 'fallback', namespace: operators }, dockerConfigFile: file, cloud: [] } },
    });
  });
  after(async () => {
    await world.stop();
    await Promise.all([tokens, ...Object.values(registries)].map((server) => server.stop()));
  });

  /** Two pushes that arrive: the second one costs one HEAD. */
  const follows = async (registry: Registry, name: string, tokens?: TokenServer) => {
    // Where the policy was seen before the account of its target, the first look is refused.
    await world.waitForCondition(name, 'Ready', 'UpToDate');
    await push(registry, name, '1.0.1', tokens);
    await announce(service, registry, name, '1.0.1');
    await world.waitForImage(name, `${registry.host}/shop/${name}:1.0.1`);
    const before = await requestsTo(service, registry);
    await push(registry, name, '1.0.2', tokens);
    await announce(service, registry, name, '1.0.2');
    await world.waitForImage(name, `${registry.host}/shop/${name}:1.0.2`);
    assert.deepEqual(await requestsTo(service, registry), { ...before, manifest: (before['manifest'] ?? 0) + 1 });
  };

  it("is read with the policy's pullSecrets", async () => {
    await createSecret(world, 'policys', registries.own.host);
    await watch(world, registries.own, 'policy', { pullSecrets: [{ name: 'policys' }] });
    await follows(registries.own, 'policy');
  });

  it("is read with the target's own imagePullSecrets", async () => {
    await createSecret(world, 'targets', registries.own.host);
    await watch(world, registries.own, 'target', { pod: { imagePullSecrets: [{ name: 'targets' }] } });
    await follows(registries.own, 'target');
  });

  it("is read with the imagePullSecrets of the target's service account", async () => {
    await createSecret(world, 'accounts', registries.own.host);
    await world.cluster.request('POST', accountsPath(world.namespace), {
      metadata: { name: 'runner' },
      imagePullSecrets: [{ name: 'accounts' }],
    });
    await watch(world, registries.own, 'account', { pod: { serviceAccountName: 'runner' } });
    await follows(registries.own, 'account');
  });

  it('is read with the fallback Secret', async () => {
    await watch(world, registries.fallback, 'fallback', {});
    await follows(registries.fallback, 'fallback');
  });

  it('is read with a Docker config file', async () => {
    await watch(world, registries.file, 'file', {});
    await follows(registries.file, 'file');
  });

  it('is read with a token, which is not requested again', async () => {
    await createSecret(world, 'tokens', registries.token.host);
    await watch(world, registries.token, 'token', { pullSecrets: [{ name: 'tokens' }], tokens });
    await follows(registries.token, 'token', tokens);
  });

  it('is read with the second Secret where the registry refuses the first', async () => {
    await createSecret(world, 'outdated', registries.own.host, { password: 'outdated' });
    await createSecret(world, 'current', registries.own.host);
    await watch(world, registries.own, 'second', { pullSecrets: [{ name: 'outdated' }, { name: 'current' }] });
    await follows(registries.own, 'second');
  });

  const denied = async (name: string) => (await world.waitForCondition(name, 'Stalled', 'RegistryDenied')).message;
  /** Nobody pushes anything: what changed was the Secret. */
  const heals = async (registry: Registry, name: string) => {
    await world.waitForImage(name, `${registry.host}/shop/${name}:1.0.1`);
    await world.waitForCondition(name, 'Ready', 'UpToDate');
    assert.equal((await world.readStatus(name)).trigger?.source, 'SecretChange');
    assert.equal(await world.condition(name, 'Stalled'), undefined);
  };

  it('is denied with a wrong password, and updated as soon as the Secret has the right one', async () => {
    await push(registries.own, 'healed', '1.0.1');
    await createSecret(world, 'wrong', registries.own.host, { password: 'no-good' });
    await watch(world, registries.own, 'healed', { pullSecrets: [{ name: 'wrong' }, { name: 'absent' }] });
    const message = await denied('healed');
    assert.match(message, /gives no access: Secret world-\w+\/wrong \(user robot\) was refused with 401/);
    assert.match(message, /Secret world-\w+\/absent does not exist; Secret operators-\w+\/fallback has none for it/);
    assert.match(message, /the Docker config file .* has none for it; anonymous access was refused with 401/);
    assert.doesNotMatch(message, /no-good/);
    await changeSecret(world, 'wrong', registries.own.host);
    await heals(registries.own, 'healed');
  });

  it('is denied without a Secret, and updated as soon as there is one', async () => {
    await push(registries.own, 'created', '1.0.1');
    await watch(world, registries.own, 'created', { pullSecrets: [{ name: 'later' }] });
    assert.match(await denied('created'), /later does not exist/);
    await createSecret(world, 'later', registries.own.host);
    await heals(registries.own, 'created');
  });

  it('is updated as soon as its service account names a Secret', async () => {
    await push(registries.own, 'named', '1.0.1');
    await createSecret(world, 'unnamed', registries.own.host);
    await world.cluster.request('POST', accountsPath(world.namespace), { metadata: { name: 'bare' } });
    await watch(world, registries.own, 'named', { pod: { serviceAccountName: 'bare' } });
    await denied('named');
    await world.cluster.request('PATCH', `${accountsPath(world.namespace)}/bare`, { imagePullSecrets: [{ name: 'unnamed' }] });
    await heals(registries.own, 'named');
  });

  it('is updated as soon as its target names a Secret', async () => {
    await push(registries.own, 'pods', '1.0.1');
    await createSecret(world, 'pods', registries.own.host);
    await watch(world, registries.own, 'pods', {});
    await denied('pods');
    await world.cluster.request('PATCH', world.deploymentPath('pods'), {
      spec: { template: { spec: { imagePullSecrets: [{ name: 'pods' }] } } },
    });
    await heals(registries.own, 'pods');
  });

  it('never shows a password in the log', () => {
    assert.doesNotMatch(service.logTail(100_000), /geheim-1|no-good|dockerconfigjson":/);
  });
});

describe('a service that watches only some namespaces and may not list Secrets', () => {
  let world: World;
  let service: Service;
  let operators: string;
  let registries: { own: Registry; fallback: Registry };

  before(async () => {
    const [started, own, fallback] = await Promise.all([
      startWorld(),
      startRegistry({ htpasswd: robot }),
      startRegistry({ htpasswd: robot }),
    ]);
    world = started;
    registries = { own, fallback };
    operators = await world.cluster.namespace('operators');
    await createSecret(world, 'fallback', registries.fallback.host, { namespace: operators, password: 'outdated' });
    const read = ['get', 'list', 'watch'];
    const kubeconfig = await kubeconfigWithRules(world.cluster, 'default', 'narrow', [
      { apiGroups: ['operator.technomad.dev'], resources: ['imagepolicies'], verbs: read },
      { apiGroups: ['operator.technomad.dev'], resources: ['imagepolicies/status'], verbs: ['patch'] },
      { apiGroups: ['apps'], resources: ['deployments'], verbs: [...read, 'patch'] },
      { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create'] },
      { apiGroups: [''], resources: ['secrets'], verbs: ['get'] },
      { apiGroups: [''], resources: ['secrets'], resourceNames: ['fallback'], verbs: read },
    ]);
    service = await world.start({
      kubeconfig,
      roles: 'receive,work',
      registryHosts: [own.host, fallback.host],
      config: { credentials: { secret: { name: 'fallback', namespace: operators }, cloud: [] }, watch: { namespaces: [world.namespace] } },
    });
  });
  after(async () => {
    await world.stop();
    await Promise.all(Object.values(registries).map((server) => server.stop()));
  });

  it('reports once that it reads Secrets every 30 s instead of watching them, and reads credentials from them', async () => {
    const lines = [...service.logTail(100_000).matchAll(/"watch":"([a-z]+) in world-[^\n]*an optional watch is forbidden/g)];
    assert.deepEqual([lines.length, new Set(lines.map(([, resource]) => resource))], [2, new Set(['secrets', 'serviceaccounts'])]);
    const ready = await (await fetch(`${service.operationsUrl}/readyz?verbose`)).text();
    assert.match(ready, /\[\+\]kubernetes secrets in world-\w+.*forbidden: contents of Secrets are read again every 30 s/);
    await createSecret(world, 'creds', registries.own.host);
    await watch(world, registries.own, 'narrow', { pullSecrets: [{ name: 'creds' }] });
    await world.waitForFirstLook('narrow');
    await push(registries.own, 'narrow', '1.0.1');
    await announce(service, registries.own, 'narrow', '1.0.1');
    await world.waitForImage('narrow', `${registries.own.host}/shop/narrow:1.0.1`);
  });

  it('notices a changed fallback Secret outside these namespaces', async () => {
    await push(registries.fallback, 'outside', '1.0.1');
    await watch(world, registries.fallback, 'outside', {});
    await world.waitForCondition('outside', 'Stalled', 'RegistryDenied');
    await changeSecret(world, 'fallback', registries.fallback.host, operators);
    await world.waitForImage('outside', `${registries.fallback.host}/shop/outside:1.0.1`);
    await world.waitForCondition('outside', 'Ready', 'UpToDate');
    assert.equal((await world.readStatus('outside')).trigger?.source, 'SecretChange');
  });
});
