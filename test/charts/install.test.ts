/** The chart's whole life on a real API server, by Helm itself: the service runs with what the chart made, as the account that it made. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { crdName } from '../../src/service/resources/group.ts';
import { policiesPath } from '../service/resources/install-crd.ts';
import { olderPolicy } from '../end-to-end/conversion-world.ts';
import { lacksHelm } from '../harness/binaries.ts';
import { startControlPlane, type OwnControlPlane } from '../harness/control-plane.ts';
import { readStoredObjects } from '../harness/etcd-objects.ts';
import { chartFolder, helm, type Manifest, type Values } from '../harness/helm.ts';
import { pushImage } from '../harness/push-image.ts';
import { startRedis, type Redis } from '../harness/redis.ts';
import { startRegistry, type Registry } from '../harness/registry.ts';
import { kubeconfigOf } from '../harness/service-account.ts';
import { startService, type Service } from '../harness/service.ts';
import { waitFor } from '../harness/wait-for.ts';
import { podTemplatesOf } from './manifests.ts';
import { playKubelet } from './play-kubelet.ts';

const namespace = 'image-watcher';
const crdPath = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crdName}`;
const secret = 'a-secret-of-the-chart';

const columnsOf = (definition: { spec: { versions: { additionalPrinterColumns?: object[] }[] } }) =>
  definition.spec.versions.map(({ additionalPrinterColumns }) => additionalPrinterColumns);

describe('an installation', { skip: (await lacksHelm()) ?? false }, () => {
  let cluster: OwnControlPlane;
  let redis: Redis;
  let registry: Registry;
  let kubelet: ReturnType<typeof playKubelet>;
  /** Of each Deployment, when the last Job ran. */
  let replicasAtJob: unknown;
  const services: Service[] = [];
  let converting: Service | undefined;
  before(async () => {
    [cluster, redis, registry] = await Promise.all([startControlPlane({ audit: true }), startRedis(), startRegistry()]);
    await cluster.request('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
    // No Service leads anywhere here: the webhook is asked by its URL.
    kubelet = playKubelet(cluster, namespace, async (args) => {
      if (args[0] !== 'crd') return args;
      const { items } = await cluster.request<{ items: Manifest[] }>('GET', deploymentsPath);
      replicasAtJob = items.map(({ metadata, spec }) => [metadata.name, (spec as { replicas: number }).replicas]);
      const { conversionUrl } = await waitFor('the conversion webhook', () => converting);
      return args.flatMap((arg) => {
        if (arg === '--conversion-service') return ['--conversion-url'];
        return arg === `${namespace}/image-watcher-conversion` ? [conversionUrl, '--ca-secret', arg] : [arg];
      });
    });
  });
  after(async () => {
    await kubelet.stop();
    await Promise.all(services.map((service) => service.stop()));
    await Promise.all([cluster.stop(), redis.stop(), registry.stop()]);
  });

  const values = (): Values => ({
    config: {
      receivers: [{ name: 'registry', provider: 'distribution', secrets: [{ env: 'SECRET' }] }],
      registries: [{ host: registry.host, insecure: true }],
    },
    envFrom: [{ secretRef: { name: 'receivers' } }],
  });
  const runHelm = (verb: 'install' | 'upgrade', more: Values = {}) =>
    helm([verb, 'image-watcher', chartFolder, '--namespace', namespace, '--timeout', '4m'], {
      kubeconfig: cluster.kubeconfigPath,
      values: { ...values(), ...more },
    });
  const exists = (path: string) =>
    cluster.request('GET', path).then(
      () => true,
      () => false,
    );
  const deploymentsPath = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  let password = '';
  const readPassword = async () => {
    const { data } = await cluster.request<{ data: { password: string } }>(
      'GET',
      `/api/v1/namespaces/${namespace}/secrets/image-watcher-redis`,
    );
    return Buffer.from(data.password, 'base64').toString();
  };
  const policyNames = async (version: string) =>
    (await cluster.request<{ items: Manifest[] }>('GET', policiesPath('default', version))).items.map(({ metadata }) => metadata.name);

  /** What the kubelet would start of a Deployment, with a token only where one is mounted; ports and Redis are those of this machine. */
  const startPod = async (name: string): Promise<Service> => {
    const path = `${deploymentsPath}/${name}`;
    const deployment = await waitFor('the Deployment', () => cluster.request<Manifest>('GET', path));
    const [pod] = podTemplatesOf([deployment]);
    const { automountServiceAccountToken: hasToken, serviceAccountName = '', containers } = pod?.spec ?? { containers: [] };
    const { args = [] } = containers[0] ?? {};
    assert.deepEqual([args[0], args[1], args[3]], ['serve', '--roles', '--config']);
    const { data } = await cluster.request<{ data: Record<string, string> }>(
      'GET',
      `/api/v1/namespaces/${namespace}/configmaps/image-watcher`,
    );
    const file = args[4]?.replace('/etc/image-watcher/', '') ?? '';
    const { listen: _listen, operations: _operations, redis: _redis, ...config } = parse(data[file] ?? '') as Record<string, unknown>;
    const service = await startService({
      redisUrl: redis.url,
      kubeconfig: hasToken === true ? await kubeconfigOf(cluster, { namespace, name: serviceAccountName }) : '/nonexistent',
      roles: args[2] ?? '',
      config,
      env: { SECRET: secret },
      // Without the definition there is nothing to list yet.
      untilReady: false,
    });
    services.push(service);
    return service;
  };

  const image = (tag: string) => `${registry.host}/shop/web:${tag}`;
  const push = (tag: string) => pushImage({ host: registry.host, repository: 'shop/web', tag, content: tag });
  const workload = '/apis/apps/v1/namespaces/default/deployments';
  const untilItRuns = (tag: string) =>
    waitFor(`${tag} to run`, async () => JSON.stringify(await cluster.request('GET', `${workload}/web`)).includes(image(tag)));
  const announceTo = ({ publicUrl }: Service) =>
    registry.notify({ url: `${publicUrl}/webhooks/registry`, headers: { Authorization: `Bearer ${secret}` } });

  it('with one Deployment creates the definition, and a push reaches a workload', async () => {
    const installing = runHelm('install', { mode: 'together' });
    const starting = startPod('image-watcher').then((service) => (converting = service));
    const [service] = await Promise.all([starting, installing]);
    assert.match(await installing, /not reachable\nfrom outside the cluster yet/);
    assert.match(await installing, /The Secret receivers of `envFrom` does not exist yet/);
    assert.deepEqual(
      kubelet.ran.map(({ name, code, err }) => [name, code, code === 0 ? '' : err]),
      [
        ['image-watcher-redis-password', 0, ''],
        ['image-watcher-definition', 0, ''],
      ],
    );
    password = await readPassword();
    assert.match(password, /^[0-9a-f]{64}$/);
    const definition = await cluster.request('GET', crdPath);
    assert.equal(definition.spec.conversion.strategy, 'Webhook');

    await push('1.0.0');
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: image('1.0.0') }] } };
    await cluster.request('POST', workload, {
      metadata: { name: 'web' },
      spec: { selector: { matchLabels: { app: 'web' } }, template },
    });
    const olderWebPolicy = olderPolicy('web') as { spec: object };
    const updateTarget = { kind: 'Deployment', name: 'web', namespace: 'default' };
    await cluster.request('POST', policiesPath('default', 'v1alpha1'), {
      ...olderWebPolicy,
      spec: { ...olderWebPolicy.spec, repository: `${registry.host}/shop/web`, tagPolicy: { strategy: 'SemVer' }, updateTarget },
    });
    await waitFor(
      'the first look',
      async () => (await cluster.request('GET', `${policiesPath('default', 'v1')}/web`)).status?.observedGeneration,
    );
    await announceTo(service);
    await push('1.1.0');
    await untilItRuns('1.1.0');
  });

  it('is upgraded to three Deployments, of which the receiver has no credentials, and a push reaches a workload', async () => {
    await runHelm('upgrade');
    assert.equal(await exists(`${deploymentsPath}/image-watcher`), false);
    assert.equal(await exists(`/api/v1/namespaces/${namespace}/serviceaccounts/image-watcher`), false);
    await Promise.all(services.map((service) => service.stop()));
    const [receiving, , convert] = await Promise.all(['receive', 'work', 'convert'].map((role) => startPod(`image-watcher-${role}`)));
    assert.ok(receiving && convert);
    converting = convert;
    // Here no Service leads to the webhook.
    const definition = await cluster.request('GET', crdPath);
    const { webhook } = definition.spec.conversion;
    const clientConfig = { ...webhook.clientConfig, url: convert.conversionUrl };
    await cluster.request('PUT', crdPath, {
      ...definition,
      spec: { ...definition.spec, conversion: { strategy: 'Webhook', webhook: { ...webhook, clientConfig } } },
    });
    await announceTo(receiving);
    await push('1.2.0');
    await untilItRuns('1.2.0');
  });

  it('leaves no permission of its jobs behind', async () => {
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    const { items } = await cluster.request<{ items: Manifest[] }>('GET', `${rbac}/clusterroles`);
    assert.deepEqual(
      items.filter(({ metadata }) => metadata.name.includes('definition')),
      [],
    );
    for (const job of ['definition', 'redis-password'])
      assert.equal(await exists(`/api/v1/namespaces/${namespace}/serviceaccounts/image-watcher-${job}`), false);
    const roles = await cluster.request<{ items: Manifest[] }>('GET', `${rbac}/namespaces/${namespace}/roles`);
    assert.deepEqual(
      roles.items.map(({ metadata }) => metadata.name),
      ['image-watcher-convert'],
    );
  });

  it('never gets a 403 from the API server', () => {
    for (const role of ['receive', 'work', 'convert']) {
      const requests = cluster.audit?.requestsOf({ namespace, name: `image-watcher-${role}` }) ?? [];
      assert.equal(requests.length > 0, role !== 'receive', role);
      assert.deepEqual(
        requests.filter(({ isForbidden }) => isForbidden),
        [],
      );
    }
  });

  it('upgrades the definition before the program', async () => {
    const old = await cluster.request('GET', crdPath);
    const versions = old.spec.versions.map((version: object) => ({ ...version, additionalPrinterColumns: [] }));
    await cluster.request('PUT', crdPath, { ...old, spec: { ...old.spec, versions } });
    kubelet.ran.length = 0;
    await runHelm('upgrade', { work: { replicas: 3, resources: {} } });
    assert.deepEqual(
      kubelet.ran.map(({ name, code, out }) => [name, code, name.endsWith('password') ? out : '']),
      [
        ['image-watcher-definition', 0, ''],
        ['image-watcher-redis-password', 0, `Secret ${namespace}/image-watcher-redis: unchanged\n`],
      ],
    );
    assert.equal(await readPassword(), password);
    assert.deepEqual(replicasAtJob, [
      ['image-watcher-convert', 2],
      ['image-watcher-receive', 2],
      ['image-watcher-work', 2],
    ]);
    assert.equal((await cluster.request('GET', `${deploymentsPath}/image-watcher-work`)).spec.replicas, 3);
    assert.deepEqual(columnsOf(await cluster.request('GET', crdPath)), columnsOf(old));
  });

  it('leaves the definition and the policies behind when uninstalled, in a form that needs no webhook', async () => {
    // What an installation of long ago has stored.
    const definition = await cluster.request('GET', crdPath);
    const storedAs = (storage: string) =>
      definition.spec.versions.map((version: { name: string }) => ({ ...version, storage: version.name === storage }));
    for (const storage of ['v1alpha1', 'v1']) {
      const current = await cluster.request('GET', crdPath);
      await cluster.request('PUT', crdPath, { ...current, spec: { ...current.spec, versions: storedAs(storage) } });
      if (storage === 'v1alpha1') {
        await waitFor('a policy of long ago', async () => {
          await cluster.request('PATCH', `${policiesPath('default', 'v1')}/web`, { metadata: { labels: { at: String(Math.random()) } } });
          return (await storedVersions()).includes('operator.technomad.dev/v1alpha1');
        });
      }
    }
    kubelet.ran.length = 0;
    await helm(['uninstall', 'image-watcher', '--namespace', namespace, '--timeout', '4m'], { kubeconfig: cluster.kubeconfigPath });
    assert.deepEqual(
      kubelet.ran.map(({ name, code, err }) => [name, code, code === 0 ? '' : err]),
      [['image-watcher-definition-migrate', 0, '']],
    );
    assert.equal(await readPassword(), password, 'the volume of Redis stays as well');
    await Promise.all(services.map((service) => service.stop()));
    assert.deepEqual((await cluster.request<{ items: object[] }>('GET', deploymentsPath)).items, []);
    assert.equal(await exists(`/api/v1/namespaces/${namespace}/serviceaccounts/image-watcher-definition`), false);
    assert.deepEqual(await storedVersions(), ['operator.technomad.dev/v1']);
    assert.deepEqual(await policyNames('v1'), ['web']);
    await cluster.request('DELETE', `${policiesPath('default', 'v1')}/web`);
    assert.deepEqual(await policyNames('v1'), []);
  });

  const storedVersions = async () => [
    ...new Set((await readStoredObjects(cluster.etcd.url, '/registry/operator.technomad.dev/')).map(({ value }) => value.apiVersion)),
  ];
});
