/** The doctor against a real installation, whose faults are real: Redis, permissions, definition, certificates, policies, registries, clocks. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { customResourceDefinition } from '../../src/conversion/definition.ts';
import { crdName } from '../../src/service/resources/group.ts';
import { issueCertificate, makeAuthority } from '../../src/conversion/certificates/make-certificate.ts';
import { runCommand } from '../cli/run-command.ts';
import { freePort } from '../harness/free-port.ts';
import { pushImage } from '../harness/push-image.ts';
import { addedDefinition, addedDefinitions } from '../harness/resource-group.ts';
import { askRedis } from '../harness/redis.ts';
import { createAccount, kubeconfigOf, tokenOf } from '../harness/service-account.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { waitFor } from '../harness/wait-for.ts';
import { installKind } from '../service/kube/targets/custom-definition.ts';
import { conversionCluster } from './conversion-world.ts';
import { assertHas, examine, waitForLines } from './doctor-report.ts';
import { deliver, harborBody, startWorld, type Service, type World } from './world.ts';

const crdPath = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crdName}`;
const rolePath = '/apis/rbac.authorization.k8s.io/v1/clusterroles/default-image-watcher';

describe('doctor, for an installation with v1 alone,', () => {
  let world: World;
  let service: Service;
  let admin: string;
  const setRedis = async (...settings: string[]) => {
    for (const setting of settings) assert.match(await askRedis(world.redis.port, `CONFIG SET ${setting}`), /OK/);
  };

  before(async () => {
    world = await startWorld({ crd: customResourceDefinition({ v1Only: true }), fsync: true });
    admin = world.cluster.kubeconfigPath;
    await setRedis('maxmemory 512mb');
    service = await world.start();
    const { host } = world.quiet;
    await pushImage({ host, repository: 'shop/web', tag: '1.0.0', content: 'old' });
    await world.createDeployment('web', `${host}/shop/web:1.0.0`);
    await world.createPolicy('web', `${host}/shop/web`, { strategy: 'SemVer' });
    await world.waitForFirstLook('web');
    await pushImage({ host, repository: 'shop/web', tag: '1.1.0', content: 'new' });
    await deliver(service, harborBody(host, 'shop/web', [{ tag: '1.1.0' }]));
    await world.waitForImage('web', `${host}/shop/web:1.1.0`);
    const refused = await fetch(`${service.publicUrl}/webhooks/registry`, { method: 'POST', body: '{}' });
    assert.equal(refused.status, 401);
    await waitFor('the answers to be noted', async () => {
      const noted = await askRedis(world.redis.port, 'HKEYS {image-watcher}:deliveries');
      return noted.includes('harbor 202') && noted.includes('registry 401');
    });
  });
  after(() => world.stop());

  it('reports no failure if the installation is healthy', async () => {
    const { host } = world.quiet;
    const report = await waitForLines(() => examine(service, admin), [['policies/matching', 'ok', /the policy can match/]]);
    assert.deepEqual(
      report.findings.filter(({ level }) => level === 'failed'),
      [],
    );
    assert.deepEqual([report.ok, (await examine(service, admin)).code], [true, 0]);
    for (const line of ['appendonly', 'appendfsync', 'maxmemory-policy', 'memory', 'persistence', 'replicas'])
      assertHas(report, `redis/${line}`, 'ok', /./);
    for (const line of ['redis', 'api-server', 'registry', 'local']) assertHas(report, `clock/${line}`, 'ok', /agree/);
    for (const file of [
      'work',
      'work-bases',
      'work-notifications',
      'work-status',
      'work-secrets',
      'work-secret-watches',
      'work-namespaces',
      'work-definitions',
      'work-reviews',
    ])
      assertHas(report, `permissions/${file}`, 'ok', /has all permissions/);
    assertHas(report, 'permissions/work-rebase', 'skipped', /may not create imagepolicies/);
    assertHas(report, 'definition/current', 'ok', /./);
    assertHas(report, 'definition/readable', 'ok', /as v1/);
    for (const { kind } of addedDefinitions)
      assertHas(report, 'definition/added-kinds', 'ok', new RegExp(` of ${kind} is the one of this program$`));
    assertHas(report, 'service/version', 'ok', /same version/);
    assertHas(report, 'webhooks/received', 'ok', /^harbor \(harbor\): the last push was accepted/);
    assertHas(report, 'webhooks/received', 'warning', /^registry .* refused as not authentic \(401\); no push was ever accepted/);
    assertHas(report, 'webhooks/announced', 'ok', new RegExp(`^${host}`));
    assertHas(report, 'registries/reachable', 'ok', /shop\/web is read anonymously/);
  });

  it('knows the receivers of another process, as the chart installs it', async () => {
    const worker = await world.start({ roles: 'work', config: { receivers: [] } });
    const report = await examine(worker, admin);
    assertHas(report, 'webhooks/receivers', 'ok', /^2 receivers are configured/);
    assertHas(report, 'webhooks/received', 'ok', /^harbor \(harbor\): the last push was accepted/);
    await worker.stop();
  });

  it('prints the findings as text', async () => {
    const { code, out } = await runCommand('doctor', ['--server', service.operationsUrl, '--insecure', '--kubeconfig', admin]);
    assert.equal(code, 0);
    assert.match(out, /^✓ redis\/appendonly +appendonly is on/m);
    assert.match(out, /^! webhooks\/received .*\n {4}→ compare the secret/m);
    assert.match(out, /\n✓ \d+ {2}✗ 0 {2}! \d+ {2}– \d+ {2}\(https:.*doctor\.md\)\n$/);
  });

  it('reports nothing of the service to those who may not list all policies', async () => {
    const account = { name: 'one-namespace', namespace: world.namespace };
    const rules = [{ apiGroups: ['operator.technomad.dev'], resources: ['imagepolicies'], verbs: ['get', 'list', 'update'] }];
    await createAccount(world.cluster, account, [{ namespace: world.namespace, rules }]);
    const response = await fetch(`${service.operationsUrl}/api/v1/doctor`, {
      headers: { authorization: `Bearer ${await tokenOf(world.cluster, account)}` },
    });
    assert.equal(response.status, 403);
    const { code, detail } = (await response.json()) as { code: string; detail: string };
    assert.deepEqual([code, detail], ['Forbidden', 'a report on the installation needs the right to list imagepolicies in all namespaces']);
    const report = await examine(service, await kubeconfigOf(world.cluster, account));
    assertHas(report, 'service/api', 'skipped', /403/);
    assertHas(report, 'definition/installed', 'skipped', /forbidden/);
    assert.ok(!report.findings.some(({ line }) => /^(?:redis|registries|webhooks|policies)\//.test(line)));
  });

  it('finds a clock that is an hour ahead, and skips settings of a Redis that forbids CONFIG', async () => {
    const clock = pathToFileURL(join(import.meta.dirname, '../harness/skewed-clock.mjs')).href;
    const env = { NODE_OPTIONS: `--import=${clock}`, CLOCK_SKEW_MS: '3600000', WEBHOOK_SECRET: 'end-to-end-secret' };
    await askRedis(world.redis.port, 'ACL SETUSER default -config');
    const skewed = await world.start({ env });
    try {
      const report = await waitForLines(
        () => examine(skewed, admin),
        [
          ['clock/redis', 'failed', /60 min behind that of the worker/],
          ['clock/api-server', 'failed', /60 min behind/],
          ['clock/registry', 'failed', /60 min behind/],
          ['clock/local', 'ok', /agree/],
          ['redis/appendfsync', 'skipped', /forbids CONFIG/],
          ['redis/appendonly', 'ok', /./],
        ],
      );
      assert.equal(report.ok, false);
    } finally {
      await askRedis(world.redis.port, 'ACL SETUSER default +config');
      await skewed.stop();
    }
  });

  it('finds faults of Redis, permissions, policies, registries and webhooks', async () => {
    const { host } = world.quiet;
    const closed = `127.0.0.1:${await freePort()}`;
    await setRedis('appendonly no', 'maxmemory-policy allkeys-lru');
    const role = await world.cluster.request<{ rules: { resources: string[]; verbs: string[] }[] }>('GET', rolePath);
    const rules = role.rules.map((rule) =>
      rule.resources.includes('deployments') ? { ...rule, verbs: rule.verbs.filter((verb) => verb !== 'patch') } : rule,
    );
    await world.cluster.request('PUT', rolePath, { ...role, rules });
    await world.createPolicy('no-target', `${host}/shop/web`, { strategy: 'SemVer' });
    await world.createPolicy(
      'no-match',
      `${host}/shop/web`,
      { strategy: 'SemVer' },
      { targets: [{ kind: 'Deployment', selector: { matchLabels: { app: 'nothing' } } }] },
    );
    await world.createPolicy('no-tag', `${host}/shop/web`, { strategy: 'SemVer', pattern: '>=9' }, { target: 'web' });
    await world.createPolicy('no-registry', `${closed}/shop/web`, { strategy: 'SemVer' }, { target: 'web' });
    const update = { pin: 'Digest' as const, after: { policies: [{ name: 'web' }] } };
    await world.createPolicy('no-proof', `${host}/shop/web`, { strategy: 'SemVer' }, { target: 'web', update });
    const report = await waitForLines(
      () => examine(service, admin),
      [
        ['policies/following', 'failed', /no-proof follows \S+\/web, .*: its rollouts are not watched: write/],
        ['redis/appendonly', 'failed', /off/],
        ['redis/maxmemory-policy', 'failed', /allkeys-lru/],
        ['permissions/work', 'failed', /may not patch deployments\.apps, /],
        ['policies/matching', 'failed', /no-target: TargetNotFound: .*does not exist/],
        ['policies/matching', 'failed', /no-match: TargetNotFound: no Deployment in .* matches app=nothing/],
        ['policies/matching', 'failed', /no-tag: NoMatchingTag/],
        ['registries/reachable', 'failed', new RegExp(`^${closed}: `)],
        ['webhooks/announced', 'warning', new RegExp(`^${closed} \\(1 policy\\): no webhook`)],
      ],
    );
    assert.equal(report.ok, false);
    assert.equal((await examine(service, admin)).code, 1);
  });

  it('finds a definition with an older schema', async () => {
    const crd = await world.cluster.request<{ spec: { versions: { schema: { openAPIV3Schema: OpenApi } }[] } }>('GET', crdPath);
    delete crd.spec.versions[0]?.schema.openAPIV3Schema.properties['spec']?.properties?.['platforms'];
    await world.cluster.request('PUT', crdPath, crd);
    assertHas(await examine(service, admin), 'definition/current', 'failed', /schema of v1/);
  });

  it('finds a missing definition, without which base images have no records', async () => {
    await world.cluster.request('DELETE', crdPath.replace(crdName, addedDefinition('BaseImageRecord').name));
    const report = await waitForLines(
      () => examine(service, admin),
      [['definition/added-kinds', 'failed', /BaseImageRecord is not installed: .*no BaseImagePolicy is reconciled/]],
    );
    assert.equal(report.ok, false);
  });

  it('finds that Redis does not answer', async () => {
    await world.redis.kill9();
    await waitForLines(() => examine(service, admin), [['redis/answers', 'failed', /does not answer/]]);
  });

  it('finds that the service does not answer, and still checks the cluster', async () => {
    await service.kill9();
    const report = await examine(service, admin);
    assertHas(report, 'service/api', 'failed', /cannot be reached/);
    assertHas(report, 'definition/installed', 'ok', /./);
    assert.equal(report.code, 1);
  });
});

interface OpenApi {
  properties: Record<string, { properties?: Record<string, unknown> } | undefined>;
}

describe('doctor, for an installation with a conversion webhook,', () => {
  let world: World;
  let service: Service;
  let ca: Awaited<ReturnType<typeof makeAuthority>>;
  before(async () => {
    world = await startWorld();
    ca = await makeAuthority(new Date());
    const file = join(tempFolder('ca'), 'ca.pem');
    writeFileSync(file, ca.certificate);
    // The Deployment of the chart, and its Ingress.
    const labels = { 'app.kubernetes.io/name': 'image-watcher', 'app.kubernetes.io/component': 'together' };
    const template = { metadata: { labels }, spec: { serviceAccountName: 'image-watcher', containers: [{ name: 'a', image: 'a' }] } };
    await world.cluster.request('POST', '/apis/apps/v1/namespaces/default/deployments', {
      metadata: { name: 'image-watcher', labels },
      spec: { selector: { matchLabels: labels }, template },
    });
    const { certificate, key } = await issueCertificate(ca, ['hooks.example.com'], new Date());
    const encode = (text: string) => Buffer.from(text).toString('base64');
    await world.cluster.request('POST', '/api/v1/namespaces/default/secrets', {
      metadata: { name: 'hooks-tls' },
      type: 'kubernetes.io/tls',
      data: { 'tls.crt': encode(certificate + ca.certificate), 'tls.key': encode(key) },
    });
    const backend = { service: { name: 'image-watcher', port: { number: 80 } } };
    await world.cluster.request('POST', '/apis/networking.k8s.io/v1/namespaces/default/ingresses', {
      metadata: { name: 'image-watcher', labels },
      spec: { tls: [{ hosts: ['hooks.example.com'], secretName: 'hooks-tls' }], defaultBackend: backend },
    });
    // The HTTPRoute of the chart, below a Gateway of others.
    const group = 'gateway.networking.k8s.io';
    await installKind(world.cluster, { group, version: 'v1', kind: 'HTTPRoute', plural: 'httproutes' });
    await installKind(world.cluster, { group, version: 'v1', kind: 'Gateway', plural: 'gateways' });
    const gateways = await world.cluster.namespace('gateways');
    const createAt = (namespace: string, plural: string, kind: string, name: string, spec: object) =>
      world.cluster.request('POST', `/apis/${group}/v1/namespaces/${namespace}/${plural}`, {
        apiVersion: `${group}/v1`,
        kind,
        metadata: { name, labels: kind === 'HTTPRoute' ? labels : {} },
        spec,
      });
    const ofListener = await issueCertificate(ca, ['route.example.com'], new Date());
    await world.cluster.request('POST', `/api/v1/namespaces/${gateways}/secrets`, {
      metadata: { name: 'route-tls' },
      type: 'kubernetes.io/tls',
      data: { 'tls.crt': encode(ofListener.certificate), 'tls.key': encode(ofListener.key) },
    });
    const listenerOf = (name: string, secret: string) => ({ name, tls: { certificateRefs: [{ name: secret }] } });
    await createAt(gateways, 'gateways', 'Gateway', 'public', {
      listeners: [listenerOf('https', 'route-tls'), listenerOf('other', 'of-others'), { name: 'http' }],
    });
    await createAt('default', 'httproutes', 'HTTPRoute', 'image-watcher', {
      parentRefs: [
        { name: 'public', namespace: gateways, sectionName: 'https' },
        { name: 'missing', namespace: gateways },
      ],
    });
    service = await world.start({ config: { registries: [{ host: 'registry.example.com', caFile: file }] } });
    const conversion = conversionCluster(world.cluster);
    await conversion.applyCrd(service.conversionUrl, 'v1', await conversion.waitForAuthority());
    await world.createPolicy('web', 'registry.example.com/shop/web', { strategy: 'SemVer' });
  });
  after(() => world.stop());

  const examineAsAdmin = (...more: string[]) => examine(service, world.cluster.kubeconfigPath, ...more);

  it('reports valid certificates, and warns of those that end soon', async () => {
    const report = await waitForLines(
      () => examineAsAdmin(),
      [
        ['certificates/conversion-trust', 'ok', /trusts/],
        ['definition/readable', 'ok', /as v1alpha1/],
      ],
    );
    assertHas(report, 'certificates/conversion-end', 'ok', /valid for 90 days/);
    assertHas(report, 'certificates/ingress', 'ok', /default\/hooks-tls is valid for 90 days/);
    assertHas(report, 'certificates/gateway', 'ok', /gateways-\S+\/route-tls is valid for 90 days/);
    assertHas(report, 'certificates/gateway', 'skipped', /^Gateway gateways-\S+\/missing could not be read: it does not exist/);
    assert.ok(!report.findings.some(({ message }) => message.includes('of-others')), 'a listener that the route does not use');
    assertHas(report, 'certificates/registry-ca', 'ok', /registry\.example\.com/);
    assertHas(report, 'definition/conversion', 'ok', /Webhook/);
    assertHas(report, 'permissions/convert-crd', 'ok', /system:serviceaccount:default:image-watcher/);
    assertHas(report, 'permissions/convert-secret', 'ok', /in default/);
    const early = await examineAsAdmin('--certificate-days', '100');
    assertHas(early, 'certificates/conversion-end', 'warning', /ends in 90 days/);
    assertHas(early, 'certificates/ingress', 'warning', /ends in 90 days/);
  });

  it('finds a caBundle that does not match the webhook, and a definition without a conversion webhook', async () => {
    const conversion = conversionCluster(world.cluster);
    // Under this name the service does not take the definition for its own, and leaves its bundle alone.
    const elsewhere = service.conversionUrl.replace('127.0.0.1', 'localhost');
    await conversion.applyCrd(elsewhere, 'v1', ca.certificate);
    await waitForLines(
      () => examineAsAdmin(),
      [
        ['certificates/conversion-trust', 'failed', /does not trust/],
        ['definition/readable', 'failed', /as v1alpha1: .*x509|as v1alpha1: .*certificate/],
      ],
    );
    const crd = await world.cluster.request<{ spec: object }>('GET', crdPath);
    await world.cluster.request('PUT', crdPath, { ...crd, spec: { ...crd.spec, conversion: { strategy: 'None' } } });
    assertHas(await examineAsAdmin(), 'definition/conversion', 'failed', /without a conversion webhook/);
  });
});
