/** For clusters with many namespaces: which of them are considered, by label, and what policies there leave to defaults; both without a restart. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { Spec } from '../../src/service/resources/v1.ts';
import type { BaseStatus } from '../../src/core/model/base-status.ts';
import type { PolicyStatus } from '../../src/core/model/policy-status.ts';
import { runCommand } from '../cli/run-command.ts';
import { pushImage } from '../harness/push-image.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { waitFor } from '../harness/wait-for.ts';
import { deliver, harborBody, startWorld, type Deployment, type Service, type World } from './world.ts';

interface EventView {
  readonly outcome?: string;
  readonly policies: readonly {
    readonly namespace: string;
    readonly outcome?: string;
    readonly reason?: string;
    readonly message?: string;
  }[];
}

describe('many namespaces', () => {
  let world: World;
  let service: Service;
  let host: string;
  before(async () => {
    world = await startWorld();
    ({ host } = world.quiet);
  });
  after(() => world.stop());
  afterEach(() => service.stop());

  const label = (namespace: string, labels: Record<string, string | null>) =>
    world.cluster.request('PATCH', `/api/v1/namespaces/${namespace}`, { metadata: { labels } }, 'application/merge-patch+json');
  const consent = (namespace: string, from: string) =>
    world.annotate(`/api/v1/namespaces/${namespace}`, { 'operator.technomad.dev/allow-policies-from': from });
  const image = (name: string, tag: string) => `${host}/shop/${name}:${tag}`;
  const push = async (name: string, tag: string) => {
    await pushImage({ host, repository: `shop/${name}`, tag, content: `${name} ${tag}` });
    const { accepted } = await deliver(service, harborBody(host, 'shop/' + name, [{ tag }]));
    return accepted[0]?.id ?? '';
  };
  const deploymentsOf = (namespace: string) => `/apis/apps/v1/namespaces/${namespace}/deployments`;
  const policiesOf = (namespace: string) => `/apis/operator.technomad.dev/v1/namespaces/${namespace}/imagepolicies`;
  const createDeployment = async (namespace: string, name: string) => {
    const labels = { app: name };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c0', image: image(name, '1.0.0') }] } };
    const spec = { selector: { matchLabels: labels }, template };
    await world.cluster.request('POST', deploymentsOf(namespace), { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name }, spec });
  };
  const createPolicy = async (namespace: string, name: string, more: Partial<Spec> = {}) => {
    const spec: Partial<Spec> = {
      image: `${host}/shop/${name}`,
      select: { semver: {} },
      targets: [{ kind: 'Deployment', name }],
      poll: { interval: '8000h' },
      rollout: { watch: false },
      ...more,
    };
    const object = { apiVersion: 'operator.technomad.dev/v1', kind: 'ImagePolicy', metadata: { name }, spec };
    await world.cluster.request('POST', policiesOf(namespace), object);
  };
  const create = async (namespace: string, name: string, more: Partial<Spec> = {}) => {
    await pushImage({ host, repository: `shop/${name}`, tag: '1.0.0', content: `${name} 1.0.0` });
    await createDeployment(namespace, name);
    await createPolicy(namespace, name, more);
  };
  const imageOf = async (namespace: string, name: string) =>
    (await world.cluster.request<Deployment>('GET', `${deploymentsOf(namespace)}/${name}`)).spec.template.spec.containers[0]?.image;
  const waitForImage = (namespace: string, name: string, tag: string) =>
    waitFor(`${namespace}/${name} to run ${tag}`, async () => (await imageOf(namespace, name)) === image(name, tag));
  const statusOf = async (namespace: string, name: string) =>
    (await world.cluster.request<{ status?: PolicyStatus }>('GET', `${policiesOf(namespace)}/${name}`)).status;
  const waitForReason = (namespace: string, name: string, type: string, reason: string) =>
    waitFor(`${type} of ${namespace}/${name} to be ${reason}`, async () =>
      (await statusOf(namespace, name))?.conditions?.find((one) => one.type === type && one.reason === reason),
    );
  const waitForWait = (namespace: string, name: string, reason: string) =>
    waitFor(`${namespace}/${name} to wait: ${reason}`, async () => (await statusOf(namespace, name))?.waiting?.reason === reason);
  const eventWith = (id: string, outcome: string) =>
    waitFor(`event ${id} to be ${outcome}`, async () => {
      const headers = { authorization: `Bearer ${world.cluster.token}` };
      const response = await fetch(`${service.operationsUrl}/api/v1/events/${id}`, { headers });
      const event = response.ok ? ((await response.json()) as EventView) : undefined;
      return event?.policies.some((policy) => policy.outcome === outcome) && event;
    });
  const configFile = (config: object) => {
    const file = join(tempFolder('config'), 'config.yaml');
    writeFileSync(file, JSON.stringify(config));
    return file;
  };
  const explain = (policy: string, config: object, ...args: string[]) =>
    runCommand('explain', [policy, '--kubeconfig', world.cluster.kubeconfigPath, '--config', configFile(config), ...args]);

  const selecting = { watch: { namespaceSelector: { matchLabels: { 'image-watcher': 'yes' } } } };

  it('policies are served while their namespace is selected by its labels, and miss no push from before', async () => {
    service = await world.start({ config: selecting });
    const namespace = await world.cluster.namespace('tenant');
    await create(namespace, 'coming');
    const id = await push('coming', '1.1.0');
    const { policies } = await eventWith(id, 'ignored');
    assert.deepEqual([policies[0]?.namespace, policies[0]?.reason], [namespace, 'NamespaceNotSelected']);
    assert.match(policies[0]?.message ?? '', /is not selected by watch\.namespaceSelector/);
    assert.equal(await statusOf(namespace, 'coming'), undefined);
    assert.equal(await imageOf(namespace, 'coming'), image('coming', '1.0.0'));
    const explained = await explain(`${namespace}/coming`, selecting);
    assert.equal(explained.code, 1);
    assert.match(explained.out, /^NamespaceNotSelected: namespace tenant-\S+ is not selected by watch\.namespaceSelector/);

    const check = (...more: string[]) =>
      runCommand('check', [
        `${namespace}/coming`,
        '--kubeconfig',
        world.cluster.kubeconfigPath,
        '--server',
        service.operationsUrl,
        '--insecure',
        ...more,
      ]);
    for (const more of [['--wait', '--timeout', '30s'], ['--no-wait']]) {
      const { code, out, err } = await check(...more);
      assert.deepEqual([code, out], [1, '']);
      assert.match(
        err,
        /^NamespaceNotSelected: namespace tenant-\S+ is not selected by watch\.namespaceSelector .*: label the Namespace .*\nsee .*#namespacenotselected\n$/,
      );
    }

    await label(namespace, { 'image-watcher': 'yes' });
    await waitForImage(namespace, 'coming', '1.1.0');
    assert.equal((await check('--timeout', '10m')).code, 0);
    await label(namespace, { 'image-watcher': null });
    const during = await push('coming', '1.2.0');
    await eventWith(during, 'ignored');
    assert.equal(await imageOf(namespace, 'coming'), image('coming', '1.1.0'));
    // The generation was observed long ago: only that the namespace is selected again leads to a reconcile.
    await label(namespace, { 'image-watcher': 'yes' });
    await waitForImage(namespace, 'coming', '1.2.0');
  });

  it('a push that several policies select is applied in selected namespaces only, and its record names the others', async () => {
    service = await world.start({ config: selecting });
    const [inside, outside] = await Promise.all([world.cluster.namespace('inside'), world.cluster.namespace('outside')]);
    await label(inside, { 'image-watcher': 'yes' });
    for (const namespace of [inside, outside]) await create(namespace, 'shared');
    await waitFor('the first reconcile', async () => (await statusOf(inside, 'shared'))?.observedGeneration);
    const id = await push('shared', '1.1.0');
    const { policies } = await eventWith(id, 'updated');
    const outcomes = new Map(policies.map(({ namespace, outcome }) => [namespace, outcome]));
    assert.deepEqual([outcomes.get(inside), outcomes.get(outside)], ['updated', 'ignored']);
    assert.equal(await imageOf(outside, 'shared'), image('shared', '1.0.0'));
    assert.equal(await statusOf(outside, 'shared'), undefined);
  });

  it('a target in a namespace is not changed, in spite of consent, until its namespace is selected', async () => {
    service = await world.start({ config: selecting });
    const [own, other] = await Promise.all([world.cluster.namespace('own'), world.cluster.namespace('other')]);
    await label(own, { 'image-watcher': 'yes' });
    await consent(other, own);
    await pushImage({ host, repository: 'shop/far', tag: '1.0.0', content: 'far 1.0.0' });
    await pushImage({ host, repository: 'shop/far', tag: '1.1.0', content: 'far 1.1.0' });
    await createDeployment(other, 'far');
    await createPolicy(own, 'far', { targets: [{ kind: 'Deployment', name: 'far', namespace: other }] });
    await createPolicy(own, 'denied', { image: `${host}/shop/far`, targets: [{ kind: 'Deployment', name: 'far', namespace: 'missing' }] });
    const stalled = await waitForReason(own, 'far', 'Stalled', 'NamespaceNotSelected');
    assert.match(stalled.message, /namespace other-\S+ is not selected/);
    await waitForReason(own, 'denied', 'Stalled', 'NoConsent');
    assert.equal(await imageOf(other, 'far'), image('far', '1.0.0'));
    await label(other, { 'image-watcher': 'yes' });
    await waitForImage(other, 'far', '1.1.0');
    await label(other, { 'image-watcher': null });
    await waitForReason(own, 'far', 'Stalled', 'NamespaceNotSelected');
    await label(other, { 'image-watcher': 'yes' });
    await waitForReason(own, 'far', 'Ready', 'UpToDate');
  });

  it('defaults follow the labels of the namespace, and a waiting policy is reconciled when its default ends', async () => {
    const defaults = {
      policyDefaults: {
        minAge: '2s',
        namespaces: [{ selector: { matchLabels: { pace: 'slow' } }, minAge: '8h', poll: { interval: '3h' } }],
      },
    };
    service = await world.start({ config: defaults });
    const namespace = await world.cluster.namespace('tenant');
    await label(namespace, { pace: 'slow' });
    await create(namespace, 'slow');
    await waitFor('the first reconcile', async () => (await statusOf(namespace, 'slow'))?.observedGeneration);
    await push('slow', '1.1.0');
    await waitForWait(namespace, 'slow', 'MinAge');
    const bases = `/apis/operator.technomad.dev/v1/namespaces/${namespace}/baseimagepolicies`;
    const base = { image: `${host}/shop/slow`, select: { semver: {} }, poll: { interval: '8000h' } };
    const object = { apiVersion: 'operator.technomad.dev/v1', kind: 'BaseImagePolicy', metadata: { name: 'base' }, spec: base };
    await world.cluster.request('POST', bases, object);
    const baseStatus = async () => (await world.cluster.request<{ status?: BaseStatus }>('GET', `${bases}/base`)).status;
    await waitFor('the base to wait for its minimum age', async () => (await baseStatus())?.waiting?.reason === 'MinAge');
    const { out } = await explain(`${namespace}/slow`, defaults, '--push', image('slow', '1.1.0'));
    assert.match(out, /^ {2}… minAge +MinAge: 8h: .* \(default of the namespace\)$/m);
    assert.match(out, /^ {2}· poll +every 8000h \(policy\)$/m);
    assert.match(out, /^ {2}· windows +always open \(built-in\)$/m);
    assert.match(out, /^ {2}· rollout +not watched \(policy\)$/m);
    const json = JSON.parse((await explain(`${namespace}/slow`, {}, '--output', 'json')).out) as { settings: unknown };
    assert.deepEqual(json.settings, {
      poll: { value: '8000h', from: 'policy' },
      minAge: { value: null, from: 'built-in' },
      windows: { value: [], from: 'built-in' },
      rollout: { value: { watch: false }, from: 'policy' },
    });
    await label(namespace, { pace: null });
    await waitForImage(namespace, 'slow', '1.1.0');
    await waitFor('the base to be selected', async () => (await baseStatus())?.latest?.tag === '1.1.0');
  });

  it('a scrape shows the state of each policy of selected namespaces, as far as the bound allows', async () => {
    // A label of its own: the namespaces of the other tests have policies as well.
    const watch = { namespaceSelector: { matchLabels: { measured: 'yes' } } };
    service = await world.start({ config: { watch, metrics: { policies: 2 } } });
    const [inside, outside] = await Promise.all([world.cluster.namespace('inside'), world.cluster.namespace('outside')]);
    await label(inside, { measured: 'yes' });
    await create(inside, 'measured');
    await createPolicy(inside, 'lost', { image: `${host}/shop/measured`, targets: [{ kind: 'Deployment', name: 'missing' }] });
    await createPolicy(outside, 'unmeasured', { image: `${host}/shop/measured` });
    const scrape = async () => {
      const text = await (await fetch(`${service.operationsUrl}/metrics`)).text();
      return text
        .split('\n')
        .filter((line) => /^image_watcher_(?:policy_ready|policies_without_metric)\b/.test(line))
        .sort();
    };
    const of = (name: string, reason: string, value: number) =>
      `image_watcher_policy_ready{namespace="${inside}",name="${name}",reason="${reason}"} ${value}`;
    const two = [of('lost', 'TargetNotFound', 0), of('measured', 'UpToDate', 1)];
    await waitFor('both policies in the scrape', async () =>
      isDeepStrictEqual(await scrape(), ['image_watcher_policies_without_metric 0', ...two]),
    );
    await createPolicy(inside, 'beyond', { image: `${host}/shop/measured`, targets: [{ kind: 'Deployment', name: 'missing' }] });
    const bounded = ['image_watcher_policies_without_metric 1', of('beyond', 'TargetNotFound', 0), of('lost', 'TargetNotFound', 0)];
    await waitFor('the policies that are not Ready first', async () => isDeepStrictEqual(await scrape(), bounded));
  });

  it('a default of the cluster that is removed from the configuration delays no policy after the restart', async () => {
    const hour = new Date().getUTCHours();
    const at = (later: number) => `${String((hour + later) % 24).padStart(2, '0')}:00`;
    const windows = [{ from: at(11), to: at(12) }];
    service = await world.start({ config: { policyDefaults: { windows } } });
    const namespace = await world.cluster.namespace('tenant');
    for (const name of ['closed', 'own']) await create(namespace, name, name === 'own' ? { update: { windows: [] } } : {});
    for (const name of ['closed', 'own']) {
      await waitFor('the first reconcile', async () => (await statusOf(namespace, name))?.observedGeneration);
      await push(name, '1.1.0');
    }
    await waitForImage(namespace, 'own', '1.1.0');
    await waitForWait(namespace, 'closed', 'Window');
    assert.equal(await imageOf(namespace, 'closed'), image('closed', '1.0.0'));
    await service.stop();
    service = await world.start();
    await waitForImage(namespace, 'closed', '1.1.0');
  });
});
