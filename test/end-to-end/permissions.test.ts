/** The permissions that the chart ships are enough, and none of them is idle: what the API server writes down is compared with the rules. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openKubeClient } from '../../src/service/kube/client.ts';
import { patchStatus } from '../../src/service/kube/patch-status.ts';
import { rewriteObject } from '../../src/conversion/crd/rewrite-objects.ts';
import { readStatus } from '../../src/core/model/stored-status.ts';
import { crdName } from '../../src/service/resources/group.ts';
import { installDefinition } from '../service/kube/targets/real-definition.ts';
import { plainPath, policiesPath } from '../service/resources/install-crd.ts';
import { runCommand, runCrd } from '../cli/run-command.ts';
import { isUseOf, rightsOf, type AuditLog, type Right } from '../harness/audit-log.ts';
import { startControlPlane } from '../harness/control-plane.ts';
import { pushImage } from '../harness/push-image.ts';
import { giveGrants, kubeconfigWithGrants, type Grant } from '../harness/service-account.ts';
import { shippedGrants, shippedRules, type Grantee, type Installation } from '../harness/shipped-permissions.ts';
import { waitFor } from '../harness/wait-for.ts';
import { conversionCluster, olderPolicy } from './conversion-world.ts';
import { playKubelet } from './pods.ts';
import { deliver, harborBody, startWorld, type Service, type World } from './world.ts';

const accountOf = (grantee: string) => ({ namespace: 'default', name: `only-${grantee}` });
const crdPath = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crdName}`;

describe('the permissions of the chart', () => {
  let world: World;
  let audit: AuditLog;
  before(async () => {
    const cluster = await startControlPlane({ controllerManager: true, fsync: false, audit: true });
    world = await startWorld({ cluster, controllers: true });
    assert.ok(cluster.audit);
    audit = cluster.audit;
  });
  after(() => world.stop());

  const image = (name: string, tag: string) => `${world.quiet.host}/shop/${name}:${tag}`;
  const push = (name: string, tag: string) =>
    pushImage({ host: world.quiet.host, repository: `shop/${name}`, tag, content: `${name} ${tag}` });
  const announce = async (service: Service, name: string, tag: string) => {
    assert.equal((await deliver(service, harborBody(world.quiet.host, `shop/${name}`, [{ tag }]))).status, 202);
  };
  const grant = (grantee: Grantee, account: string, installation?: Installation) =>
    kubeconfigWithGrants(world.cluster, accountOf(account), shippedGrants(grantee, installation));
  const format = ({ verb, group, resource, name }: Right) =>
    `${verb} ${resource}${group && `.${group}`}${name === undefined ? '' : ` ${name}`}`;
  const unusedOf = (grants: readonly Grant[], account: string) => {
    const requests = audit.requestsOf(accountOf(account));
    const rights = rightsOf(grants.flatMap(({ rules }) => rules));
    return rights.filter((right) => !requests.some((request) => isUseOf(right, request))).map(format);
  };
  const assertAllUsed = async (grantee: Grantee) => {
    // BaseImagePolicies are not reconciled here, so nothing is recorded of their bases.
    const unused = () => unusedOf(shippedGrants(grantee), grantee).filter((right) => !/ baseimage/.test(right));
    const allUsed = waitFor(`every right of ${grantee} to be used`, () => unused().length === 0);
    await allUsed.catch((cause: unknown) => assert.deepEqual(unused(), [], String(cause)));
  };
  const assertNothingForbidden = (account: string) => {
    const forbidden = audit.requestsOf(accountOf(account)).filter(({ isForbidden }) => isForbidden);
    assert.deepEqual(
      forbidden.map(({ namespace, ...right }) => `${format(right)} in ${namespace}`),
      [],
    );
  };

  /** One workload of each kind of Kubernetes itself that runs the image; returns the policy's targets. */
  const createWorkloads = async (namespace: string, running: string) => {
    const labels = { app: 'all' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c0', image: running }] } };
    const selector = { matchLabels: labels };
    const jobTemplate = { spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } } };
    const specs = {
      'apps/v1 Deployment': { selector, template },
      'apps/v1 StatefulSet': { selector, template, serviceName: 'all' },
      'apps/v1 DaemonSet': { selector, template },
      'apps/v1 ReplicaSet': { selector, template },
      'batch/v1 CronJob': { schedule: '0 3 * * *', jobTemplate },
    };
    for (const [type, spec] of Object.entries(specs)) {
      const [apiVersion = '', kind = ''] = type.split(' ');
      const path = `/apis/${apiVersion}/namespaces/${namespace}/${kind.toLowerCase()}s`;
      await world.cluster.request('POST', path, { apiVersion, kind, metadata: { name: 'all' }, spec });
    }
    return Object.keys(specs).map((type) => ({ kind: type.split(' ')[1] ?? '', name: 'all', namespace }));
  };
  const createConsentingNamespace = async () => {
    const name = await world.cluster.namespace('apps');
    await world.annotate(`/api/v1/namespaces/${name}`, { 'operator.technomad.dev/allow-policies-from': world.namespace });
    return name;
  };
  const waitForPatches = (namespace: string, kinds: readonly string[], wanted: string) =>
    waitFor(`${kinds.join(', ')} to run ${wanted}`, async () => {
      const paths = kinds.map(
        (kind) => `/apis/${kind === 'CronJob' ? 'batch' : 'apps'}/v1/namespaces/${namespace}/${kind.toLowerCase()}s/all`,
      );
      const specs = await Promise.all(paths.map(async (path) => JSON.stringify((await world.cluster.request('GET', path)).spec)));
      return specs.every((spec) => spec.includes(wanted));
    });

  it('are enough for the role work, and all of them are used', async () => {
    const kubeconfig = await grant('work', 'work');
    const service = await world.start({ kubeconfig, roles: 'receive,work' });
    const namespace = await createConsentingNamespace();
    await push('all', '1.0.0');
    const targets = await createWorkloads(namespace, image('all', '1.0.0'));
    // Its Secret does not exist: it is looked for all the same.
    await world.createPolicy(
      'all',
      `${world.quiet.host}/shop/all`,
      { strategy: 'SemVer' },
      { targets, pullSecrets: [{ name: 'none' }], rollout: { watch: true } },
    );
    await world.waitForFirstLook('all');
    await push('all', '1.1.0');
    await announce(service, 'all', '1.1.0');
    await waitForPatches(
      namespace,
      targets.map(({ kind }) => kind),
      image('all', '1.1.0'),
    );
    const headers = { authorization: `Bearer ${world.cluster.token}` };
    await waitFor('the events', async () => (await fetch(`${service.operationsUrl}/api/v1/events`, { headers })).ok);
    // Only where two write at the same moment is a policy read again.
    const client = await openKubeClient({ kubeconfig, requestTimeoutMs: 60_000 });
    const path = `${policiesPath(world.namespace, 'v1')}/all`;
    await patchStatus({
      client,
      path,
      current: { resourceVersion: '1', status: {} },
      update: (status) => ({ ...readStatus(status), lastCheckTime: '2026-01-01T00:00:00Z' }),
    });
    // The same for a NotificationTarget, whose Secret does not exist either.
    const own = plainPath('NotificationTarget', world.namespace);
    const spec = { type: 'slack', urlSecretRef: { name: 'none', key: 'url' } };
    const created = { apiVersion: 'operator.technomad.dev/v1', kind: 'NotificationTarget', metadata: { name: 'chat' }, spec };
    await world.cluster.request('POST', own, created);
    await waitFor('the target to be checked', async () => (await world.cluster.request('GET', `${own}/chat`)).status !== undefined);
    await patchStatus({
      client,
      path: `${own}/chat`,
      current: { resourceVersion: '1', status: {} },
      update: (status) => ({ ...(status as object), observedGeneration: 2 }),
    });
    await client.close();
    await playKubelet(world.cluster, namespace).cannotPull('all', image('all', '1.1.0'), 'not found');
    await assertAllUsed('work');
    assertNothingForbidden('work');
    await service.stop();
    // Others may not see its targets.
    await world.cluster.request('DELETE', path);
  });

  it('are enough for the role work in the namespaces that it watches, with nothing cluster-wide', async () => {
    const namespace = await createConsentingNamespace();
    const watched = [world.namespace, namespace];
    const kubeconfig = await grant('work', 'namespaced', { watched });
    const config = { watch: { namespaces: watched }, credentials: { secret: { name: 'fallback', namespace: world.namespace } } };
    const service = await world.start({ kubeconfig, roles: 'receive,work', config });
    await push('few', '1.0.0');
    const targets = await createWorkloads(namespace, image('few', '1.0.0'));
    await world.createPolicy('few', `${world.quiet.host}/shop/few`, { strategy: 'SemVer' }, { targets });
    await world.waitForFirstLook('few');
    await push('few', '1.1.0');
    await announce(service, 'few', '1.1.0');
    await waitForPatches(
      namespace,
      targets.map(({ kind }) => kind),
      image('few', '1.1.0'),
    );
    await world.waitForEvents('ImagePolicy', 'few');
    assertNothingForbidden('namespaced');
    // Whose token this is only the whole cluster knows.
    assert.equal((await fetch(`${service.operationsUrl}/api/v1/events`, { headers: { authorization: 'Bearer x' } })).status, 503);
    await service.stop();
  });

  it('let other watched namespaces work while one of them is forbidden, and that one as soon as it is allowed', async () => {
    const late = await world.cluster.namespace('late');
    const watched = [world.namespace, late];
    const kubeconfig = await grant('work', 'partly', { watched: [world.namespace] });
    const service = await world.start({ kubeconfig, roles: 'receive,work', config: { watch: { namespaces: watched } }, untilReady: false });
    const readText = async (path: string) => (await fetch(`${service.operationsUrl}${path}`)).text();
    await Promise.all(['allowed', 'late'].map((name) => push(name, '1.0.0')));
    await world.createDeployment('allowed', image('allowed', '1.0.0'));
    await world.createPolicy('allowed', `${world.quiet.host}/shop/allowed`, { strategy: 'SemVer' });
    const targets = await createWorkloads(late, image('late', '1.0.0'));
    const spec = { image: `${world.quiet.host}/shop/late`, select: { semver: {} }, targets };
    const policy = { apiVersion: 'operator.technomad.dev/v1', kind: 'ImagePolicy', metadata: { name: 'late' }, spec };
    await world.cluster.request('POST', policiesPath(late, 'v1'), policy);
    await world.waitForFirstLook('allowed');
    await Promise.all(['allowed', 'late'].map((name) => push(name, '1.1.0')));
    await announce(service, 'allowed', '1.1.0');
    await announce(service, 'unwanted', '1.1.0');
    await world.waitForImage('allowed', image('allowed', '1.1.0'));
    const unwatched = async () => /^image_watcher_unwatched_pushes_total [1-9]/m.test(await readText('/metrics'));
    await waitFor('the unwanted push to be over', unwatched);
    assert.match(await readText('/readyz?verbose'), new RegExp(`kubernetes policies in ${late} failed: .* 403 `));
    await giveGrants(world.cluster, accountOf('partly'), shippedGrants('work', { watched: [late] }));
    await waitForPatches(late, ['Deployment'], image('late', '1.1.0'));
    await service.stop();
  });

  it('are enough for checks by Jobs and AnalysisRuns, and all additional permissions for these are used', async () => {
    const kubeconfig = await grant('work', 'checks', { checkJobs: true, analysis: true });
    const service = await world.start({ kubeconfig, roles: 'receive,work', config: { checks: { jobs: true, analysis: true } } });
    for (const name of ['analysistemplate', 'analysisrun']) await installDefinition(world.cluster, name);
    const consent = { 'operator.technomad.dev/check': 'allow' };
    const createIn = (group: string, resource: string, object: object) =>
      world.cluster.request('POST', `/apis/${group}/namespaces/${world.namespace}/${resource}`, { apiVersion: group, ...object });
    const pods = { spec: { restartPolicy: 'Never', containers: [{ name: 'job', image: 'job:1' }] } };
    await createIn('batch/v1', 'cronjobs', {
      kind: 'CronJob',
      metadata: { name: 'smoke', annotations: consent },
      spec: { suspend: true, schedule: '0 0 1 1 *', jobTemplate: { spec: { template: pods } } },
    });
    await createIn('argoproj.io/v1alpha1', 'analysistemplates', {
      kind: 'AnalysisTemplate',
      metadata: { name: 'success', annotations: consent },
      spec: { metrics: [{ name: 'success', provider: { web: { url: 'http://metrics.example.com' } } }] },
    });
    await push('checked', '1.0.0');
    await world.createDeployment('checked', image('checked', '1.0.0'));
    const common = { phase: 'before', every: '1s', timeout: '10m', retries: 0 } as const;
    const checks = [
      { ...common, name: 'job', job: { cronJob: 'smoke' } },
      { ...common, name: 'run', analysis: { template: 'success' } },
    ];
    await world.createPolicy('checked', `${world.quiet.host}/shop/checked`, { strategy: 'SemVer' }, { rollout: { checks } });
    await world.waitForFirstLook('checked');
    await push('checked', '1.1.0');
    await announce(service, 'checked', '1.1.0');
    await waitFor('both checks to run', async () => {
      const { checks: asked = [] } = await world.readStatus('checked');
      return asked.length === 2 && asked.every(({ job }) => job !== undefined);
    });
    assert.deepEqual(unusedOf([{ rules: ['work-checks', 'work-analysis'].flatMap(shippedRules) }], 'checks'), []);
    assertNothingForbidden('checks');
    await service.stop();
  });

  it('do not let the service create Jobs and AnalysisRuns without the permissions for checks', async () => {
    const kubeconfig = await grant('work', 'unasked');
    const client = await openKubeClient({ kubeconfig, requestTimeoutMs: 60_000 });
    for (const path of ['/apis/batch/v1', '/apis/argoproj.io/v1alpha1'].map((group) => `${group}/namespaces/${world.namespace}`)) {
      const [resource, kind] = path.includes('batch') ? ['jobs', 'Job'] : ['analysisruns', 'AnalysisRun'];
      const body = { kind, metadata: { name: 'x' }, spec: {} };
      await assert.rejects(client.request({ method: 'POST', path: `${path}/${resource}`, body }), /403 Forbidden/);
    }
    await client.close();
  });

  it('are enough for the role convert and the commands for the definition, and all of them are used', async () => {
    const { cluster } = world;
    const kubeconfig = await grant('convert', 'convert');
    const service = await world.start({ kubeconfig, roles: 'convert' });
    const conversion = conversionCluster(cluster);
    await conversion.waitForAuthority();

    const definition = await grant('definition', 'definition');
    const crd = (action: string, ...args: string[]) => runCrd(definition, action, ...args);
    await cluster.request('DELETE', crdPath);
    await waitFor('the definition to be gone', () =>
      cluster.request('GET', crdPath).then(
        () => false,
        () => true,
      ),
    );
    const asked = await crd('apply', '--conversion-service', 'default/image-watcher-conversion');
    assert.match(asked.err, /Service default\/image-watcher-conversion\) does not answer/);
    const endpoint = ['--conversion-url', service.conversionUrl, '--ca-secret', 'default/image-watcher-conversion'];
    for (const args of [['--storage', 'v1alpha1'], []]) {
      if (args.length === 0) await cluster.request('POST', policiesPath('default', 'v1alpha1'), olderPolicy('web'));
      const { code, err } = await crd('apply', ...endpoint, ...args);
      assert.equal(code, 0, err);
      assert.doesNotMatch(err, /could not try/);
    }
    const migrated = await crd('migrate');
    assert.equal(migrated.code, 0, migrated.err);
    // Only where somebody writes a policy at the same moment is it read again.
    const client = await openKubeClient({ kubeconfig: definition, requestTimeoutMs: 60_000 });
    await rewriteObject(client, { path: `${policiesPath('default', 'v1')}/web`, resourceVersion: '1', random: Math.random });
    await client.close();
    await assertAllUsed('definition');
    assertNothingForbidden('definition');

    await conversion.applyCrd(service.conversionUrl, 'v1', cluster.caPem);
    await service.stop();
    const renamed = await world.start({
      kubeconfig,
      roles: 'convert',
      config: { conversion: { names: ['127.0.0.1', 'renamed.example.com'] } },
    });
    await assertAllUsed('convert');
    assertNothingForbidden('convert');
    await renamed.stop();
  });

  it('let the job generate the password of Redis once, and all of them are used', async () => {
    const kubeconfig = await grant('redis-password', 'redis-password');
    const run = () => runCommand('generate-password', ['--secret', 'default/image-watcher-redis', '--kubeconfig', kubeconfig]);
    const outputs = [await run(), await run()].map(({ code, out, err }) => [code, out, err]);
    assert.deepEqual(outputs, [
      [0, 'Secret default/image-watcher-redis: created\n', ''],
      [0, 'Secret default/image-watcher-redis: unchanged\n', ''],
    ]);
    await assertAllUsed('redis-password');
    assertNothingForbidden('redis-password');
  });
});
