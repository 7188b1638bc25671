/** Policies of the older operator with targets in other namespaces: after the upgrade they need consent like all others, and one command writes it. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { oldCrd } from '../service/resources/old-crd.ts';
import { runCommand, runCrd } from '../cli/run-command.ts';
import { pushImage } from '../harness/push-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { deliver, harborBody, startWorld, type Service, type World } from './world.ts';

const consentAnnotation = 'operator.technomad.dev/allow-policies-from';
const originAnnotation = 'operator.technomad.dev/v1alpha1';

describe('policies of v1alpha1 with targets in another namespace', () => {
  let world: World;
  let service: Service;
  let kitchen: string;
  before(async () => {
    world = await startWorld({ crd: oldCrd });
    kitchen = await world.cluster.namespace('kitchen');
    for (const name of ['former', 'closed', 'today', 'legacy']) {
      await pushImage({ host: world.quiet.host, repository: `shop/${name}`, tag: '1.0.0', content: name });
      await createDeployment(name, name === 'closed' ? { [consentAnnotation]: 'nobody' } : {});
    }
    await createPolicy('former');
    await createPolicy('closed');
    const converter = await world.start({ roles: 'convert' });
    service = await world.start({ roles: 'receive,work', untilReady: false });
    const authority = ['--ca-secret', 'default/image-watcher-conversion'];
    const endpoint = ['--conversion-url', converter.conversionUrl, ...authority];
    const { code, err } = await runCrd(world.cluster.kubeconfigPath, 'apply', ...endpoint);
    assert.equal(code, 0, err);
  });
  after(() => world.stop());

  const image = (name: string, tag: string) => `${world.quiet.host}/shop/${name}:${tag}`;
  const deployments = () => `/apis/apps/v1/namespaces/${kitchen}/deployments`;
  const createDeployment = (name: string, annotations: Record<string, string>) => {
    const labels = { app: name };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c0', image: image(name, '1.0.0') }] } };
    return world.cluster.request('POST', deployments(), {
      metadata: { name, annotations },
      spec: { selector: { matchLabels: labels }, template },
    });
  };
  const createPolicy = (name: string) =>
    world.cluster.request('POST', `/apis/operator.technomad.dev/v1alpha1/namespaces/${world.namespace}/imagepolicies`, {
      apiVersion: 'operator.technomad.dev/v1alpha1',
      kind: 'ImagePolicy',
      metadata: { name },
      spec: {
        repository: `${world.quiet.host}/shop/${name}`,
        tagPolicy: { strategy: 'SemVer' },
        updateTarget: { kind: 'Deployment', name, namespace: kitchen },
        pollIntervalMinutes: 480_000,
      },
    });
  const push = async (name: string, tag: string) => {
    await pushImage({ host: world.quiet.host, repository: `shop/${name}`, tag, content: `${name} ${tag}` });
    assert.equal((await deliver(service, harborBody(world.quiet.host, `shop/${name}`, [{ tag }]))).status, 202);
  };
  const runs = async (name: string, tag: string) =>
    JSON.stringify(await world.cluster.request('GET', `${deployments()}/${name}`)).includes(`"${image(name, tag)}"`);
  const waitForStall = (name: string) => world.waitForCondition(name, 'Stalled', 'NoConsent');
  const consents = (...args: string[]) => runCommand('consents', [...args, '--kubeconfig', world.cluster.kubeconfigPath]);

  it('need consent after the upgrade, whenever they were written and whatever their annotations say', async () => {
    await createPolicy('today');
    await world.annotate(world.policyPath('today'), { [originAnnotation]: JSON.stringify({ targetNamespace: kitchen }) });
    for (const name of ['former', 'today', 'closed']) {
      await waitForStall(name);
      await push(name, '1.1.0');
      await world.annotate(world.policyPath(name), { 'operator.technomad.dev/requested-at': 'now' });
      await waitFor(`${name} to be looked at`, async () => (await world.readStatus(name)).lastHandledRequest === 'now');
      assert.ok(await runs(name, '1.0.0'));
      await waitForStall(name);
    }
  });

  it('continue with the consents that the command writes, except where owners have answered otherwise', async () => {
    const listed = await consents();
    assert.equal(listed.code, 1);
    assert.match(listed.out, /1 refused/);
    const applied = await consents('--apply', '--from', world.namespace);
    assert.equal(applied.code, 1, applied.err);
    for (const name of ['former', 'today']) await waitFor(`${name} to be updated`, () => runs(name, '1.1.0'));
    assert.ok(await runs('closed', '1.0.0'));
    await waitForStall('closed');
    assert.match((await consents()).out, /closed: its annotation says "nobody", which is left alone\n/);
  });

  it('continue without consent with crossNamespace: legacy, with a warning, except where owners have answered otherwise', async () => {
    await service.stop();
    service = await world.start({ config: { crossNamespace: 'legacy' }, roles: 'receive,work' });
    await createPolicy('legacy');
    const { message } = await world.waitForCondition('legacy', 'CrossNamespace', 'NoConsent');
    assert.match(message, /crossNamespace: legacy: Deployment .*\/legacy\. /);
    await push('legacy', '1.2.0');
    await waitFor('legacy to be updated', () => runs('legacy', '1.2.0'));
    await waitForStall('closed');
    assert.ok(await runs('closed', '1.0.0'));
  });
});
