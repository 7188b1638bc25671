/** Every built-in field of custom resources, on a real API server with the real definitions, or definitions of their shapes: it is found, read, guarded by its repository and written. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { builtInTargets } from '../../../../src/core/model/built-in-targets.ts';
import { matchesPattern, parseFieldPath } from '../../../../src/core/model/field-path.ts';
import { checkFields, registryPathsOf, type CustomTarget } from '../../../../src/core/model/field-rules.ts';
import type { TargetFields } from '../../../../src/core/model/image-policy.ts';
import { planUpdate } from '../../../../src/core/plan/plan-update.ts';
import type { Workload } from '../../../../src/core/model/workload.ts';
import { openKubeClient, type KubeClient } from '../../../../src/service/kube/client.ts';
import { createDiscovery } from '../../../../src/service/kube/discovery.ts';
import { patchImages } from '../../../../src/service/kube/patch-images.ts';
import { readWorkload } from '../../../../src/service/kube/read-workload.ts';
import { allKnown, digestOf, noAliases, specOf } from '../../../core/model/samples.ts';
import { borrowControlPlane, type ControlPlane } from '../../../harness/control-plane.ts';
import { waitFor } from '../../../harness/wait-for.ts';
import { after1, helmRepository, repository, samples, type Sample } from './built-in-samples.ts';
import { installDefinition } from './real-definition.ts';

const groupOf = ({ apiVersion }: CustomTarget) => apiVersion.split('/')[0] ?? '';
const versionOf = ({ apiVersion }: CustomTarget) => apiVersion.split('/')[1] ?? '';
const keyOf = (target: CustomTarget) => `${groupOf(target)}/${target.kind}`;
const sampleOf = (target: CustomTarget): Sample => {
  const sample = samples[keyOf(target)];
  assert.ok(sample, `no sample of ${keyOf(target)}`);
  return sample;
};

/** A structural schema of exactly this shape, as those of the real definitions are; Helm values are whatever a chart takes. */
function schemaOf(value: unknown, name = ''): object {
  if (name === 'values' || name === 'valuesObject') return { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  if (Array.isArray(value)) {
    const merged = value.every((item) => typeof item === 'object') ? Object.assign({}, ...value) : value[0];
    return { type: 'array', items: schemaOf(merged) };
  }
  if (typeof value !== 'object' || value === null) return { type: typeof value === 'number' ? 'integer' : 'string' };
  return { type: 'object', properties: Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, schemaOf(inner, key)])) };
}

interface Raw {
  readonly spec: object;
  readonly metadata: { readonly generation: number };
}

describe('built-in fields', () => {
  let cluster: ControlPlane;
  let client: KubeClient;
  let namespace: string;
  let source: Workload | undefined;
  before(async () => {
    cluster = await borrowControlPlane();
    client = await openKubeClient({ kubeconfig: cluster.kubeconfigPath, requestTimeoutMs: 60_000 });
    namespace = await cluster.namespace();
    await installDefinition(cluster, 'helmrepository');
    const charts = { interval: '5m', type: 'oci', url: 'oci://registry.example.com/shop' };
    await cluster.request('POST', `/apis/${helmRepository.apiVersion}/namespaces/${namespace}/helmrepositories`, {
      ...helmRepository,
      metadata: { name: 'charts' },
      spec: charts,
    });
    const kind = await createDiscovery(client, []).find(helmRepository);
    source = await readWorkload(client, { ...helmRepository, namespace, name: 'charts' }, { target: kind });
    for (const key of new Set(builtInTargets.map(keyOf))) await install(builtInTargets.filter((target) => keyOf(target) === key));
  });
  after(async () => {
    await client.close();
    await cluster.stop();
  });

  const install = async (versions: readonly CustomTarget[]) => {
    const [first] = versions;
    assert.ok(first);
    const { plural, spec, definition } = sampleOf(first);
    if (definition !== undefined) return installDefinition(cluster, definition, versions.map(versionOf));
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec: schemaOf(spec) } } };
    await cluster.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${groupOf(first)}` },
      spec: {
        group: groupOf(first),
        scope: 'Namespaced',
        names: { plural, kind: first.kind },
        versions: versions.map((target, index) => ({ name: versionOf(target), served: true, storage: index === 0, schema })),
      },
    });
    for (const { apiVersion } of versions)
      await waitFor(`${apiVersion} to be served`, () => cluster.request('GET', `/apis/${apiVersion}/${plural}`));
  };

  for (const target of builtInTargets) {
    const { apiVersion, kind, fields: rules } = target;
    it(`of ${kind} of ${apiVersion} are written, and nothing else`, async () => {
      const { plural, spec: ofAll, fields: samplesOfFields, more = [] } = sampleOf(target);
      const all = [...samplesOfFields.map((fields) => ({ spec: ofAll, fields })), ...more];
      const found = await createDiscovery(client, []).find({ apiVersion, kind });
      assert.deepEqual([found.resource, found.fields], [plural, rules]);
      for (const [index, { spec: posted, fields: written }] of all.entries()) {
        const name = `${kind}-${versionOf(target)}-${index}`.toLowerCase();
        const path = `/apis/${apiVersion}/namespaces/${namespace}/${plural}`;
        // Real definitions have defaults.
        const { spec } = await cluster.request<Raw>('POST', path, { apiVersion, kind, metadata: { name }, spec: posted });
        const result = checkFields({ apiVersion, kind }, written, { artifact: 'Any' }, { customTargets: [], aliases: noAliases });
        assert.ok('fields' in result, JSON.stringify(result));
        const read = () => readWorkload(client, { apiVersion, kind, namespace, name }, { target: found });
        const workload = (await read()) ?? assert.fail(`${name} is gone`);
        const pin = written.digest === undefined ? 'Tag' : 'Digest';
        const policy = { ...specOf({ pin }), targets: [{ apiVersion, kind, namespace, name, fields: result.fields }] };
        const candidate = { tag: after1, digest: digestOf('b') };
        const plan = planUpdate({
          spec: policy,
          candidate,
          hasApplied: true,
          aliases: noAliases,
          ...allKnown,
          findWorkload: (ref) => (ref.kind === helmRepository.kind ? source : workload),
        });
        assert.equal(plan.targets[0]?.problem, undefined, JSON.stringify(plan.targets[0]?.problem));
        const changes = plan.targets[0]?.changes ?? [];
        assert.equal(changes.length, 1);
        // Somebody points the block at another image just before: the same patch changes nothing then, nor when it points where it did before.
        for (const [field, value] of othersOf(result.fields)) {
          const changedObject = await write(`${path}/${name}`, field, value);
          assert.deepEqual(
            await patchImages(client, workload, changes, { changeCause: 'test', target: found }),
            { kind: 'conflict' },
            field,
          );
          assert.deepEqual((await cluster.request<Raw>('GET', `${path}/${name}`)).spec, changedObject.spec);
          await write(`${path}/${name}`, 'spec', spec);
        }
        const asBefore = (await read()) ?? assert.fail(`${name} is gone`);
        assert.equal((await patchImages(client, asBefore, changes, { changeCause: 'test', target: found })).kind, 'patched');
        const { spec: patched } = await cluster.request<Raw>('GET', `${path}/${name}`);
        assert.deepEqual(patched, expected(spec, result.fields), `${kind} ${JSON.stringify(written)}`);
      }
    });
  }

  /** Writes one field, as its owner would. */
  const write = (path: string, field: string, value: unknown): Promise<Raw> => {
    const patch = [{ op: 'add', path: `/${parseFieldPath(field).join('/')}`, value }];
    return cluster.request<Raw>('PATCH', path, patch, 'application/json-patch+json');
  };

  it('have a sample for every path', () => {
    for (const target of builtInTargets) {
      const { fields, more = [] } = sampleOf(target);
      const all = [...fields, ...more.map((one) => one.fields)];
      const paths = all.flatMap((one) => Object.values(one).map((path: string) => parseFieldPath(path)));
      for (const rule of target.fields)
        assert.ok(
          paths.some((path) => matchesPattern(parseFieldPath(rule.path), path)),
          `${keyOf(target)}: ${rule.path}`,
        );
    }
    assert.deepEqual(Object.keys(samples).toSorted(), [...new Set(builtInTargets.map(keyOf))].toSorted());
  });
});

/** What makes another image of a block: its repository, its registry, and the one of all images. */
function othersOf({ repository: path, chart }: TargetFields): [field: string, value: unknown][] {
  if (path === undefined) return [];
  if (chart?.source !== undefined)
    return [
      [path, 'other'],
      [chart.name ?? '', 'other'],
      [chart.source.kindField, 'GitRepository'],
      [chart.source.namespaceField, 'other'],
    ];
  if (chart !== undefined)
    return [
      [path, chart.name === undefined ? 'oci://registry.example.com/shop/other' : 'registry.example.com/other'],
      ...(chart.name === undefined ? [] : [[chart.name, 'other'] as [string, string]]),
      ...(chart.overruledBy ?? []).map((other): [string, string] => [other, other.endsWith('digest') ? digestOf('c') : '>=1.0.0']),
    ];
  const { registry, global } = registryPathsOf(path);
  assert.ok(registry !== undefined && global !== undefined, path);
  return [
    [path, 'registry.example.com/shop/other'],
    [registry, 'harbor.example.com'],
    [global, { imageRegistry: 'harbor.example.com' }],
  ];
}

/** The spec with the fields as they should be written. */
function expected(spec: object, { image: wholeImage, tag, digest, version }: TargetFields): object {
  // Through text, because a structured clone keeps two blocks that are one object.
  const copy = JSON.parse(JSON.stringify(spec)) as object;
  const put = (path: string | undefined, value: string) => {
    if (path === undefined) return;
    const steps = parseFieldPath(path).slice(1);
    let parent = copy as Record<string | number, unknown>;
    for (const step of steps.slice(0, -1)) parent = parent[step] as Record<string | number, unknown>;
    parent[steps.at(-1) ?? ''] = value;
  };
  put(wholeImage, `${repository}:${after1}`);
  put(tag, after1);
  put(digest, digestOf('b'));
  // Where it is set, in the form that it has.
  const named = 'version' in spec ? String(spec.version) : undefined;
  if (named !== undefined) put(version, named.startsWith('v') ? `v${after1}` : after1);
  return copy;
}
