/** What the chart makes of values, in the eyes of a real API server. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it, test } from 'node:test';
import { documentation } from '../../src/core/model/reasons.ts';
import { loadSettings } from '../../src/service/config/settings.ts';
import { createMetrics } from '../../src/service/telemetry/metrics.ts';
import { lacksHelm } from '../harness/binaries.ts';
import { borrowControlPlane, type ControlPlane } from '../harness/control-plane.ts';
import { chartFolder, helm, renderChart, type Manifest } from '../harness/helm.ts';
import { shippedGrants, type Grantee } from '../harness/shipped-permissions.ts';
import type { Grant } from '../harness/service-account.ts';
import { installKind } from '../service/kube/targets/custom-definition.ts';
import { configOf, podTemplatesOf, resourceOf } from './manifests.ts';
import { valueSets, wrongValues } from './values.ts';

const skip = (await lacksHelm()) ?? false;

/** What others install in clusters, and the chart makes objects of on request. */
const otherKinds = [
  { group: 'monitoring.coreos.com', version: 'v1', kind: 'ServiceMonitor', plural: 'servicemonitors' },
  { group: 'monitoring.coreos.com', version: 'v1', kind: 'PrometheusRule', plural: 'prometheusrules' },
  { group: 'keda.sh', version: 'v1alpha1', kind: 'ScaledObject', plural: 'scaledobjects' },
  { group: 'keda.sh', version: 'v1alpha1', kind: 'TriggerAuthentication', plural: 'triggerauthentications' },
  { group: 'cert-manager.io', version: 'v1', kind: 'Certificate', plural: 'certificates' },
  { group: 'gateway.networking.k8s.io', version: 'v1', kind: 'HTTPRoute', plural: 'httproutes' },
];

describe('the chart', { skip }, () => {
  let cluster: ControlPlane;
  before(async () => {
    cluster = await borrowControlPlane();
    for (const name of ['image-watcher', 'shop', 'ops']) await cluster.request('POST', '/api/v1/namespaces', { metadata: { name } });
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    await cluster.request('POST', '/api/v1/namespaces', { metadata: { name: 'restricted', labels } });
    for (const kind of otherKinds) await installKind(cluster, kind);
  });
  after(() => cluster.stop());

  /** Nothing is written, and a field that does not exist is an error. */
  const tryCreate = (object: object, path: string) => cluster.request('POST', `${path}?dryRun=All&fieldValidation=Strict`, object);

  for (const [about, values] of Object.entries(valueSets)) {
    it(`renders what a cluster accepts with ${about}`, async () => {
      const objects = await renderChart(values);
      for (const object of objects) await tryCreate(object, resourceOf(object, 'image-watcher'));
      const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`);
      assert.deepEqual([...new Set(names)], names, 'no object is made twice');
      for (const { name, spec, labels } of podTemplatesOf(objects)) {
        await tryCreate({ metadata: { name, labels }, spec }, '/api/v1/namespaces/restricted/pods');
      }
      for (const config of configOf(objects))
        loadSettings({ file: config, env: { HARBOR_SECRET: 'x'.repeat(32) }, namespaceFile: '/nonexistent' });
    });
  }
});

describe('the chart, without a cluster', { skip }, () => {
  for (const [about, values, message] of wrongValues) {
    it(`refuses ${about}`, () => assert.rejects(renderChart(values), message));
  }

  it('passes helm lint', async () => {
    for (const values of Object.values(valueSets)) await helm(['lint', '--strict', chartFolder], { values });
  });
});

describe('the permissions of the chart', { skip }, () => {
  /** What the account may do, in the form of a grant. */
  const grantsOf = (objects: readonly Manifest[], account: string): Grant[] =>
    objects
      .filter(({ kind, subjects }) => kind.endsWith('RoleBinding') && (subjects as { name: string }[])[0]?.name === account)
      .map(({ kind, metadata: { name, namespace } }) => {
        const role = objects.find(
          (one) => one.kind === kind.replace('Binding', '') && one.metadata.name === name && one.metadata.namespace === namespace,
        );
        return { ...(namespace !== undefined && { namespace }), rules: role?.['rules'] as Grant['rules'] };
      });
  const sorted = (grants: readonly Grant[]) =>
    grants
      .map((grant) =>
        JSON.stringify(grant, Object.keys({ namespace: 0, rules: 0, apiGroups: 0, resources: 0, resourceNames: 0, verbs: 0 })),
      )
      .toSorted();
  const assertGranted = (objects: readonly Manifest[], account: string, ...grantees: Grantee[]) =>
    assert.deepEqual(
      sorted(grantsOf(objects, account)),
      sorted(grantees.flatMap((grantee) => shippedGrants(grantee, { namespace: 'image-watcher' }))),
    );

  test('are those that the end-to-end tests use', async () => {
    const together = await renderChart({ mode: 'together' });
    assertGranted(together, 'image-watcher', 'work', 'convert');
    assertGranted(together, 'image-watcher-definition', 'definition');
    assertGranted(together, 'image-watcher-redis-password', 'redis-password');
    const separate = await renderChart({});
    assertGranted(separate, 'image-watcher-work', 'work');
    assertGranted(separate, 'image-watcher-convert', 'convert');
    assertGranted(separate, 'image-watcher-receive');
  });

  test('are Roles in the watched namespaces only, with nothing cluster-wide', async () => {
    const objects = await renderChart(valueSets['some namespaces, without a ClusterRole'] ?? {});
    assert.deepEqual(
      objects.filter(({ kind }) => kind.startsWith('Cluster') || kind.startsWith('ValidatingAdmissionPolicy')),
      [],
    );
    const fallback = { apiGroups: [''], resources: ['secrets'], resourceNames: ['oci-registry-creds'], verbs: ['get', 'list', 'watch'] };
    const wanted = [...shippedGrants('work', { watched: ['shop', 'ops'] }), { namespace: 'image-watcher', rules: [fallback] }];
    assert.deepEqual(sorted(grantsOf(objects, 'image-watcher-work')), sorted(wanted));
  });

  test('include writing ImagePolicies only where rebased images are rolled out', async () => {
    const writes = (objects: readonly Manifest[]) =>
      grantsOf(objects, 'image-watcher-work')
        .flatMap(({ rules }) => rules)
        .filter(({ resources }) => resources.includes('imagepolicies'))
        .flatMap(({ verbs }) => verbs);
    assert.deepEqual(writes(await renderChart({})), ['get', 'list', 'watch']);
    assert.deepEqual(writes(await renderChart({ config: { consents: [{ policiesFrom: 'ops', namespaces: ['shop'] }] } })), [
      'get',
      'list',
      'watch',
    ]);
    const consents = [{ policiesFrom: 'platform', push: ['harbor.example.com/shop/*'] }];
    for (const values of [{ permissions: { rebase: true } }, { config: { consents } }]) {
      const objects = await renderChart(values);
      assert.deepEqual(sorted(grantsOf(objects, 'image-watcher-work')), sorted(shippedGrants('work', { rebase: true })));
      assert.deepEqual(writes(objects).slice(3), ['create', 'update', 'patch', 'delete', 'rollback']);
    }
  });

  test('include listing VulnerabilityReports only where policies may ask Trivy Operator', async () => {
    const ofReports = (objects: readonly Manifest[]) =>
      grantsOf(objects, 'image-watcher-work')
        .flatMap(({ rules }) => rules)
        .filter(({ resources }) => resources.includes('vulnerabilityreports'))
        .map(({ apiGroups, verbs }) => [...apiGroups, ...verbs]);
    assert.deepEqual(ofReports(await renderChart({})), []);
    const objects = await renderChart({ permissions: { vulnerabilityReports: true } });
    assert.deepEqual(ofReports(objects), [['aquasecurity.github.io', 'list']]);
    assert.deepEqual(sorted(grantsOf(objects, 'image-watcher-work')), sorted(shippedGrants('work', { vulnerabilityReports: true })));
  });

  test('include creating Jobs and AnalysisRuns only where checks may make them', async () => {
    const made = ['jobs', 'analysisruns', 'analysistemplates'];
    const ofMade = (objects: readonly Manifest[]) =>
      grantsOf(objects, 'image-watcher-work')
        .flatMap(({ rules }) => rules)
        .filter(({ resources }) => resources.some((one) => made.includes(one)))
        .map(({ resources, verbs }) => `${verbs.join(' ')} ${resources.join(' ')}`);
    for (const values of [{}, { config: { checks: { jobs: false, analysis: false } } }])
      assert.deepEqual(ofMade(await renderChart(values)), []);
    const jobs = await renderChart(valueSets['checks that run Jobs'] ?? {});
    assert.deepEqual(sorted(grantsOf(jobs, 'image-watcher-work')), sorted(shippedGrants('work', { checkJobs: true })));
    assert.deepEqual(ofMade(jobs), ['get create jobs']);
    const analysis = await renderChart(valueSets['checks that make AnalysisRuns'] ?? {});
    assert.deepEqual(sorted(grantsOf(analysis, 'image-watcher-work')), sorted(shippedGrants('work', { analysis: true })));
    assert.deepEqual(ofMade(analysis), ['get analysistemplates', 'get create analysisruns']);
  });

  test('include the ConfigMaps that the configuration names, and no others', async () => {
    const configMap = (namespace: string, name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name, fields: [] });
    const customTargets = [configMap('shop', 'a'), configMap('ops', 'c'), configMap('shop', 'b'), configMap('shop', 'a')];
    const found = grantsOf(await renderChart({ config: { customTargets } }), 'image-watcher-work').filter(({ rules }) =>
      rules.some(({ resources }) => resources.includes('configmaps')),
    );
    const rule = { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch', 'patch'] };
    assert.deepEqual(
      found.map(({ namespace, rules }) => [namespace, rules]),
      [
        ['ops', [{ ...rule, resourceNames: ['c'] }]],
        ['shop', [{ ...rule, resourceNames: ['a', 'b'] }]],
      ],
    );
  });

  test('include those that the user adds, and exclude Secrets where they are turned off', async () => {
    const rule = { apiGroups: ['argoproj.io'], resources: ['rollouts'], verbs: ['get', 'list', 'watch', 'patch'] };
    const [grant] = grantsOf(await renderChart({ permissions: { extraRules: [rule], secrets: 'none' } }), 'image-watcher-work');
    assert.deepEqual(grant?.rules.at(-1), rule);
    assert.ok(!JSON.stringify(grant).includes('secrets'));
  });
});

test('only /webhooks/ is reachable from outside', { skip }, async () => {
  const objects = await renderChart(valueSets['everything on'] ?? {});
  const paths = objects
    .filter(({ kind }) => ['Ingress', 'HTTPRoute'].includes(kind))
    .map(({ spec }) => JSON.stringify(spec).match(/"(?:path|value)":"[^"]*"/g));
  assert.deepEqual(new Set(paths.flat()), new Set(['"path":"/webhooks/"', '"value":"/webhooks/"']));
});

test("senders' secrets are mounted only where webhooks are received", { skip }, async () => {
  const templates = podTemplatesOf(await renderChart(valueSets['a Deployment for each role'] ?? {}));
  const knowing = templates.filter(({ spec }) => JSON.stringify(spec).includes('"envFrom"')).map(({ name }) => name);
  assert.deepEqual(knowing, ['image-watcher-receive']);
});

test('the dashboard of Grafana marks changes, and links to the pages at their public address', { skip }, async () => {
  for (const [config, address] of [
    [{}, 'https://image-watcher.example.com'],
    [{ dashboard: { publicUrl: 'https://images.example.com' } }, 'https://images.example.com'],
  ] as const) {
    const objects = await renderChart({ dashboard: { enabled: true }, config });
    const { data } = objects.find(({ metadata }) => metadata.name === 'image-watcher-dashboard') as unknown as {
      data: Record<string, string>;
    };
    const { templating, annotations, links } = JSON.parse(data['image-watcher.json'] ?? '') as {
      templating: { list: { name: string; query: string }[] };
      annotations: { list: { expr: string }[] };
      links: { url: string }[];
    };
    assert.equal(templating.list.find(({ name }) => name === 'dashboard')?.query, address);
    assert.deepEqual(
      annotations.list.map(({ expr }) => /image_watcher_\w+/.exec(expr)?.[0]),
      ['image_watcher_workload_changes_total', 'image_watcher_rollouts_total'],
    );
    assert.deepEqual(
      links.map(({ url }) => url),
      ['${dashboard:raw}/', `${documentation}/alerts.md`],
    );
  }
});

test('alerts and dashboard use only metrics that exist', async () => {
  const types = new Map((await createMetrics().registry.getMetricsAsJSON()).map(({ name, type }) => [name, type]));
  for (const file of ['alerts.yaml', 'dashboard.json']) {
    const text = readFileSync(join(chartFolder, 'files', file), 'utf8');
    const names = [...text.matchAll(/\bimage_watcher_\w+/g)].map(([name]) => name);
    assert.ok(names.length > 10);
    const unknown = names.filter((name) => !types.has(name) && types.get(name.replace(/_(?:bucket|sum|count)$/, '')) !== 'histogram');
    assert.deepEqual(unknown, [], file);
  }
});
