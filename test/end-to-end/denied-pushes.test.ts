/** A registry that refuses all credentials for a while: its token service restarts, or the Secret is wrong. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pushImage } from '../harness/push-image.ts';
import { fakeImage, startFakeRegistry, type FakeRegistry } from '../harness/fake-registry.ts';
import { startRegistry, type Registry } from '../harness/registry.ts';
import { startTokenServer, type TokenServer } from '../harness/token-server.ts';
import { waitFor } from '../harness/wait-for.ts';
import { deliver, harborBody, startWorld, type Service, type World } from './world.ts';

const robot = { user: 'robot', password: 'geheim-1' };

describe('a push that the registry refuses', () => {
  let world: World;
  let service: Service;
  let tokens: TokenServer;
  let registry: Registry;
  let fake: FakeRegistry;

  before(async () => {
    tokens = await startTokenServer(robot);
    [world, registry, fake] = await Promise.all([startWorld(), startRegistry({ token: tokens.auth }), startFakeRegistry()]);
    service = await world.start({ registryHosts: [registry.host, fake.host] });
  });
  after(async () => {
    await world.stop();
    await Promise.all([tokens, registry, fake].map((server) => server.stop()));
  });

  const dockerConfig = (password: string) => ({
    '.dockerconfigjson': JSON.stringify({ auths: { [registry.host]: { username: robot.user, password } } }),
  });
  const secretsPath = () => `/api/v1/namespaces/${world.namespace}/secrets`;
  const createSecret = (name: string, password: string) =>
    world.cluster.request('POST', secretsPath(), {
      metadata: { name },
      type: 'kubernetes.io/dockerconfigjson',
      stringData: dockerConfig(password),
    });
  const push = async (name: string, tag: string) => {
    const auth = { token: await tokens.issue(`shop/${name}`, ['pull', 'push']) };
    await pushImage({ host: registry.host, repository: `shop/${name}`, tag, auth, content: `${name} ${tag}` });
  };
  const watch = async (name: string, secret: string) => {
    await push(name, '1.0.0');
    await world.createDeployment(name, `${registry.host}/shop/${name}:1.0.0`);
    await world.createPolicy(name, `${registry.host}/shop/${name}`, { strategy: 'SemVer' }, { pullSecrets: [{ name: secret }] });
  };
  const announce = async (host: string, name: string, tag: string) => {
    assert.equal((await deliver(service, harborBody(host, `shop/${name}`, [{ tag }]))).status, 202);
  };
  /** How many reconciles for this cause were refused. */
  const refusals = async (source: string): Promise<number> => {
    const text = await (await fetch(`${service.operationsUrl}/metrics`)).text();
    const labels = /^image_watcher_reconciles_total\{(.*)\} (\d+)$/gm;
    const found = [...text.matchAll(labels)].filter(([, label = '']) =>
      [`source="${source}"`, 'reason="RegistryDenied"'].every((part) => label.includes(part)),
    );
    return found.reduce((sum, [, , count]) => sum + Number(count), 0);
  };

  it('because its token service restarts takes effect by itself, even after kill -9', async () => {
    await createSecret('right', robot.password);
    await watch('outage', 'right');
    await world.waitForCondition('outage', 'Ready', 'UpToDate');
    await push('outage', '1.0.1');
    tokens.isRefusing = true;
    // Tokens that were given out before would do.
    await service.kill9();
    await service.restart();
    await announce(registry.host, 'outage', '1.0.1');
    await world.waitForCondition('outage', 'Ready', 'RegistryDenied');
    // It might have been this that finds it in the end.
    await waitFor('the credentials to be tried on account of the denial', async () => (await refusals('SecretChange')) > 0);
    await waitFor('the push to be refused again', async () => (await refusals('Webhook')) > 1);
    assert.equal((await world.condition('outage', 'Ready'))?.reason, 'RegistryDenied');
    await service.kill9();
    tokens.isRefusing = false;
    await service.restart();
    await world.waitForImage('outage', `${registry.host}/shop/outage:1.0.1`);
    await world.waitForCondition('outage', 'Ready', 'UpToDate');
    // A look for the Secret that the kill interrupted comes again as well, and may be first. A poll is far away.
    assert.match((await world.readStatus('outage')).trigger?.source ?? '', /^(?:Webhook|SecretChange)$/);
  });

  it('because of a wrong password takes effect as soon as the Secret has the right one', async () => {
    await createSecret('wrong', 'no-good');
    await watch('wrong', 'wrong');
    await world.waitForCondition('wrong', 'Ready', 'RegistryDenied');
    await push('wrong', '1.0.1');
    const before = await refusals('Webhook');
    await announce(registry.host, 'wrong', '1.0.1');
    // Each time the pause is longer than what passed until then.
    await waitFor('the push to be refused three times', async () => (await refusals('Webhook')) - before > 2);
    await world.cluster.request('PATCH', `${secretsPath()}/wrong`, { stringData: dockerConfig(robot.password) });
    await world.waitForImage('wrong', `${registry.host}/shop/wrong:1.0.1`);
    await world.waitForCondition('wrong', 'Ready', 'UpToDate');
    assert.equal((await world.readStatus('wrong')).trigger?.source, 'SecretChange');
  });

  it('with a thousand others of its policy costs few requests, and does not delay other policies', async () => {
    for (const name of ['flooded', 'healthy']) {
      fake.setTag(`shop/${name}`, '1.0.0', fakeImage('1'));
      await world.createDeployment(name, `${fake.host}/shop/${name}:1.0.0`);
      await world.createPolicy(name, `${fake.host}/shop/${name}`, { strategy: 'SemVer' });
      await world.waitForFirstLook(name);
    }
    fake.answerNext({ status: 403 }, { path: /^\/v2\/shop\/flooded\//, times: 1_000_000 });
    fake.setTag('shop/healthy', '1.0.1', fakeImage('2'));
    const before = await refusals('Webhook');
    const from = fake.requests.length;
    for (let index = 0; index < 1_000; index += 50) {
      const batch = Array.from({ length: 50 }, (_, offset) => ({ tag: `1.1.${index + offset}`, digest: fakeImage('3') }));
      assert.equal((await deliver(service, harborBody(fake.host, 'shop/flooded', batch))).status, 202);
    }
    await announce(fake.host, 'healthy', '1.0.1');
    await world.waitForImage('healthy', `${fake.host}/shop/healthy:1.0.1`);
    await waitFor('all to be refused', async () => (await refusals('Webhook')) - before >= 1_000);
    const requests = fake.requests.slice(from).filter(({ path }) => path.includes('flooded')).length;
    assert.ok(requests < 500, `${requests} requests`);
  });
});
