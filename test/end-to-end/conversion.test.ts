import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { issueCertificate, makeAuthority } from '../../src/conversion/certificates/make-certificate.ts';
import { startControlPlane, type OwnControlPlane } from '../harness/control-plane.ts';
import { kubeconfigWithRules } from '../harness/service-account.ts';
import { startService, type Service, type ServiceOptions } from '../harness/service.ts';
import { kubeconfigAsShipped } from '../harness/shipped-permissions.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { waitFor } from '../harness/wait-for.ts';
import { writeKubeconfig } from '../service/kube/fake-api-server.ts';
import { conversionCluster, convertedIn, nowhere, post, reviewOf } from './conversion-world.ts';

const provisional = 'image-watcher conversion (provisional)';
const services: Service[] = [];
const start = async (options: Partial<ServiceOptions>): Promise<Service> => {
  const service = await startService({ redisUrl: nowhere.redisUrl, roles: 'convert', ...options });
  services.push(service);
  return service;
};
const stopAll = () => Promise.all(services.splice(0).map((service) => service.stop()));
const readyz = async ({ operationsUrl }: Service) => (await fetch(`${operationsUrl}/readyz?verbose`)).text();
const metricsOf = async ({ operationsUrl }: Service) => (await fetch(`${operationsUrl}/metrics`)).text();

describe('the role convert, alone', () => {
  let service: Service;
  before(async () => {
    service = await start({ kubeconfig: writeKubeconfig(nowhere.server, { token: 'x' }) });
  });
  after(stopAll);

  it('is ready and answers while Redis, registry and API server are down', async () => {
    const answer = await post(service.conversionUrl, reviewOf(3));
    assert.equal(convertedIn(answer), 3);
    assert.equal(answer.certificate.subject, provisional);
    const { status, text } = await post(service.conversionUrl, '', { path: '/livez' });
    assert.deepEqual([status, text.includes('not found')], [404, true], 'only GET');
    assert.match(await readyz(service), /^\[\+\]conversion listener ok\n\[!\]conversion certificate failed: provisional.*\nok\n$/);
    const metrics = await metricsOf(service);
    assert.match(metrics, /^image_watcher_conversions_total\{to="v1",result="converted"\} 3$/m);
    assert.doesNotMatch(metrics, /^image_watcher_redis_reachable/m);
    await waitFor('the reason in the log', () => /conversion certificate failed, will be retried/.test(service.logTail(200)));
  });

  it('survives garbage in bodies and below HTTP', async () => {
    for (const body of ['', '{', 'null', '[]', '{"request":{"objects":[null,1,"x",[]]}}', Buffer.alloc(1_000, 255)]) {
      assert.equal((await post(service.conversionUrl, body)).status, 400);
    }
    await assert.rejects(fetch(service.conversionUrl.replace('https', 'http')));
    const full = JSON.parse(reviewOf(1)) as { request: { objects: unknown[] } };
    for (const objects of [
      [null],
      [7],
      [{ spec: null }],
      [{ apiVersion: 'operator.technomad.dev/v1alpha1', kind: 'ImagePolicy', spec: 'x' }],
    ]) {
      const { status } = await post(service.conversionUrl, JSON.stringify({ ...full, request: { ...full.request, objects } }));
      assert.equal(status, 200);
    }
    assert.equal(convertedIn(await post(service.conversionUrl, reviewOf(2))), 2);
  });

  it('accepts a review of 1,000 policies, although an API server sends one', async () => {
    assert.equal(convertedIn(await post(service.conversionUrl, reviewOf(1_000))), 1_000);
  });
});

describe('the role convert in a cluster', () => {
  let cluster: OwnControlPlane;
  let world: ReturnType<typeof conversionCluster>;
  let shipped = '';
  before(async () => {
    cluster = await startControlPlane({ fsync: false });
    world = conversionCluster(cluster);
    shipped = await kubeconfigAsShipped(cluster);
  });
  after(async () => {
    await stopAll();
    await cluster.stop();
  });
  afterEach(stopAll);

  const startInCluster = (options: Partial<ServiceOptions> = {}) => start({ kubeconfig: shipped, ...options });
  const deleteSecret = () =>
    cluster.request('DELETE', '/api/v1/namespaces/default/secrets/image-watcher-conversion').catch(() => undefined);
  const waitUntilTrusted = (service: Service, ca: string) =>
    waitFor('a certificate that is trusted', async () => convertedIn(await post(service.conversionUrl, reviewOf(1), { ca })) === 1);

  it('lets two replicas that start simultaneously agree on one authority', async () => {
    await deleteSecret();
    const [one, two] = await Promise.all([startInCluster(), startInCluster()]);
    const ca = await world.waitForAuthority();
    await Promise.all([waitUntilTrusted(one, ca), waitUntilTrusted(two, ca)]);
    const certificates = await Promise.all(
      [one, two].map(async ({ conversionUrl }) => (await post(conversionUrl, '', { ca })).certificate),
    );
    assert.deepEqual(certificates[0], certificates[1]);
    assert.match(await readyz(one), /\[\+\]conversion certificate ok: from secret, ends in (?:89|90) days/);
    assert.match(await metricsOf(one), /^image_watcher_conversion_certificate_days\{source="secret"\} (?:89\.9|90)/m);
  });

  it('uses a provisional certificate while the API server is down, and the real one afterwards', async () => {
    await cluster.apiServer.kill9();
    const service = await startInCluster();
    assert.equal((await post(service.conversionUrl, reviewOf(1))).certificate.subject, provisional);
    await cluster.apiServer.restart();
    await waitUntilTrusted(service, await world.waitForAuthority());
  });

  it('keeps the caBundle in sync with its authority', async () => {
    const service = await startInCluster();
    const ca = await world.waitForAuthority();
    await world.applyCrd(service.conversionUrl, 'v1', cluster.caPem);
    await service.restart();
    await waitFor('the caBundle to be ours', async () => (await world.readCaBundle()) === ca);

    await deleteSecret();
    await service.restart();
    const renewedAuthority = await world.waitForAuthority();
    assert.notEqual(renewedAuthority, ca);
    await waitFor('the caBundle to be the new one', async () => (await world.readCaBundle()) === renewedAuthority);
    await waitUntilTrusted(service, renewedAuthority);
    await waitFor('policies to be listed', () => cluster.request('GET', world.listPath('v1', 'default')));
  });

  it('reports missing permissions, and continues', async () => {
    const kubeconfig = await kubeconfigWithRules(cluster, 'default', 'nobody', []);
    const service = await startInCluster({ kubeconfig });
    const reason =
      /"level":"warn".*403 Forbidden: secrets \\"image-watcher-conversion\\" is forbidden.*"msg":"conversion certificate failed, will be retried"/;
    await waitFor('the reason in the log', () => reason.test(service.logTail(200)));
    assert.equal(convertedIn(await post(service.conversionUrl, reviewOf(1))), 1);
  });

  it('uses a certificate from files, reloads them without a restart, and sets the caBundle', async () => {
    const folder = tempFolder('certificate');
    const files = { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key'), caFile: join(folder, 'ca.crt') };
    const write = async () => {
      const authority = await makeAuthority(new Date());
      const { certificate, key } = await issueCertificate(authority, ['127.0.0.1'], new Date());
      writeFileSync(files.caFile, authority.certificate);
      writeFileSync(files.keyFile, key);
      writeFileSync(files.certFile, certificate);
      return authority.certificate;
    };
    const first = await write();
    await deleteSecret();
    const service = await startInCluster({ config: { conversion: files } });
    assert.equal(convertedIn(await post(service.conversionUrl, reviewOf(1), { ca: first })), 1, 'from the first request on');
    await world.applyCrd(service.conversionUrl, 'v1', first);
    const second = await write();
    await waitUntilTrusted(service, second);
    await waitFor('the caBundle to follow', async () => (await world.readCaBundle()) === second);
    await assert.rejects(post(service.conversionUrl, reviewOf(1), { ca: first }));

    writeFileSync(files.certFile, second.slice(0, 100));
    await waitFor('the problem in the log', () => /the files cannot be used as they are/.test(service.logTail(200)));
    assert.equal(convertedIn(await post(service.conversionUrl, reviewOf(1), { ca: second })), 1);
    const secrets = await cluster.request('GET', '/api/v1/namespaces/default/secrets');
    assert.deepEqual(secrets.items, [], 'nothing is kept in a Secret');
  });

  for (const first of ['the API server', 'the webhook'] as const) {
    it(`lets an API server with older objects start cold while both are down, when ${first} starts first`, async () => {
      const namespace = await cluster.namespace('cold');
      const service = await startInCluster({ roles: 'work,convert', untilReady: false });
      const names = await world.storeOlder(service.conversionUrl, namespace, 20);

      await service.kill9();
      if (first === 'the API server') {
        await cluster.apiServer.restart();
        await assert.rejects(world.list('v1', namespace), /storage is \(re\)initializing|conversion webhook/);
        await service.restart();
      } else {
        await cluster.apiServer.kill9();
        await service.restart();
        assert.equal((await post(service.conversionUrl, reviewOf(1))).certificate.subject, provisional);
        await cluster.apiServer.restart();
      }
      for (const version of ['v1', 'v1alpha1']) {
        const items = await waitFor(`the list of ${version}`, () => world.list(version, namespace));
        assert.deepEqual(items.map(({ metadata }) => metadata.name).sort(), names.toSorted());
        const field = version === 'v1' ? 'image' : 'repository';
        assert.ok(
          items.every(({ metadata, spec }) => spec[field] === `harbor.example.com/shop/${metadata.name}`),
          version,
        );
      }
    });
  }

  it('converts a list of 2,000 stored policies', async (t) => {
    const namespace = await cluster.namespace('many');
    const service = await startInCluster();
    await world.storeOlder(service.conversionUrl, namespace, 2_000);
    const began = performance.now();
    const items = await waitFor('the list', () => world.list('v1', namespace));
    t.diagnostic(`listed within ${Math.round(performance.now() - began)} ms`);
    assert.equal(items.length, 2_000);
    assert.ok(items.every(({ metadata, spec }) => spec['image'] === `harbor.example.com/shop/${metadata.name}`));
    const counted = (await metricsOf(service)).match(/^image_watcher_conversion\w+_(?:total|sum)\{to="v1".*$/gm);
    for (const line of counted ?? []) t.diagnostic(line);
  });
});
