/**
 * From the version that carried the v1 status in an annotation to this one: policies that it stored, in both shapes, with what somebody could forge. They are read safely,
 * and go on working.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import { convertReview } from '../../src/conversion/convert-review.ts';
import { customResourceDefinition } from '../../src/conversion/definition.ts';
import { crdName } from '../../src/service/resources/group.ts';
import type { HistoryEntry, PolicyStatus } from '../../src/core/model/policy-status.ts';
import { runCommand, runCrd } from '../cli/run-command.ts';
import { type ConversionEndpoint, startConversionEndpoint } from '../harness/conversion-endpoint.ts';
import { readStoredObjects, writeStoredText } from '../harness/etcd-objects.ts';
import { pushImage } from '../harness/push-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { conversionCluster } from './conversion-world.ts';
import { assertPatchedTimes, deliver, harborBody, startWorld, type Service, type World } from './world.ts';

const savedAnnotation = 'operator.technomad.dev/v1';
const evil = 'attacker.example/miner:1';
const at = '2026-11-01T10:00:00Z';

interface Policy {
  readonly metadata: { readonly name: string; readonly generation: number; readonly annotations?: Record<string, string> };
  readonly spec: Record<string, unknown>;
  readonly status?: PolicyStatus & Record<string, unknown>;
}

/** The definition of then: v1alpha1 had no field for the v1 status. */
function formerDefinition() {
  const definition = structuredClone(JSON.parse(JSON.stringify(customResourceDefinition()))) as {
    spec: {
      versions: { name: string; schema: { openAPIV3Schema: { properties: { status: { properties: Record<string, unknown> } } } } }[];
    };
  };
  for (const { name, schema } of definition.spec.versions) {
    if (name === 'v1alpha1') delete schema.openAPIV3Schema.properties.status.properties['v1'];
  }
  return definition;
}

/** How the former version stored a policy: in v1; in v1alpha1 as a view with the annotation, plain or packed; and in v1alpha1 as its author wrote it. */
const shapes = ['v1', 'view', 'packed-view', 'plain-v1alpha1'] as const;

describe('an upgrade from the version that kept the v1 status in an annotation', () => {
  let world: World;
  let endpoint: ConversionEndpoint;
  let service: Service;
  before(async () => {
    [world, endpoint] = await Promise.all([startWorld({ crd: formerDefinition() }), startConversionEndpoint(convertReview)]);
  });
  after(() => Promise.all([world.stop(), endpoint.stop()]));

  const image = (name: string, tag = '1.0.0') => `${world.quiet.host}/shop/${name}:${tag}`;
  const specOf = (name: string) => ({
    image: `${world.quiet.host}/shop/${name}`,
    select: { semver: { range: '1.x', prereleases: false } },
    targets: [{ kind: 'Deployment', name, initContainers: false }],
    rollout: { watch: true, timeout: '10m', onFailure: 'Rollback', maxParallel: 10 },
    poll: { interval: '480000m' },
    suspend: false,
  });
  const viewOf = (name: string) => ({
    repository: `${world.quiet.host}/shop/${name}`,
    tagPolicy: { strategy: 'SemVer', pattern: '1.x' },
    updateTarget: { kind: 'Deployment', name, namespace: world.namespace },
    pollIntervalMinutes: 480_000,
  });
  /** What the former version believed: to be rolled back from, to an image of the attacker. */
  const forgedOf = (name: string): HistoryEntry => ({
    kind: 'Deployment',
    namespace: world.namespace,
    name,
    container: 'c0',
    from: evil,
    to: image(name),
    tag: '1.0.0',
    trigger: 'Webhook',
    at,
    result: 'Failed',
  });
  const statusOf = (name: string) => ({
    lastAppliedTag: '1.0.0',
    lastCheckTime: at,
    latest: { tag: '1.0.0', selectedAt: at },
    history: [forgedOf(name)],
  });
  const shown = { lastAppliedTag: '1.0.0', lastCheckedTime: at };
  const pathOf = (version: string, name: string) => `${conversionCluster(world.cluster).listPath(version, world.namespace)}/${name}`;
  const read = (version: string, name: string) => world.cluster.request<Policy>('GET', pathOf(version, name));

  /** The object as the former version left it in etcd. */
  const storedOf = (name: string, shape: (typeof shapes)[number], metadata: object) => {
    const saved = JSON.stringify({ spec: specOf(name), status: statusOf(name) });
    const text = shape === 'packed-view' ? `deflate:${deflateRawSync(saved).toString('base64')}` : saved;
    const annotations = { team: 'web', ...((shape === 'view' || shape === 'packed-view') && { [savedAnnotation]: text }) };
    const object = { kind: 'ImagePolicy', metadata: { ...metadata, annotations } };
    return shape === 'v1'
      ? { apiVersion: 'operator.technomad.dev/v1', ...object, spec: specOf(name), status: statusOf(name) }
      : { apiVersion: 'operator.technomad.dev/v1alpha1', ...object, spec: viewOf(name), status: shown };
  };

  it('begins with the former definition and policies of all shapes in etcd', async () => {
    for (const shape of shapes) {
      await pushImage({ host: world.quiet.host, repository: `shop/${shape}`, tag: '1.0.0', content: shape });
      await world.createDeployment(shape, image(shape));
      await world.cluster.request('POST', conversionCluster(world.cluster).listPath('v1', world.namespace), {
        apiVersion: 'operator.technomad.dev/v1',
        kind: 'ImagePolicy',
        metadata: { name: shape },
        spec: specOf(shape),
      });
    }
    const prefix = `/registry/operator.technomad.dev/imagepolicies/${world.namespace}/`;
    for (const { key, value } of await readStoredObjects(world.cluster.etcd.url, prefix)) {
      const shape = shapes.find((one) => one === value.metadata.name);
      assert.ok(shape);
      await writeStoredText(world.cluster.etcd.url, key, JSON.stringify(storedOf(shape, shape, value.metadata)));
    }
    const status = { storedVersions: ['v1', 'v1alpha1'] };
    await world.cluster.request('PATCH', `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crdName}/status`, { status });
  });

  it('keeps with crd apply all specs, and only those statuses that were written through /status', async () => {
    const endpointArgs = ['--conversion-url', endpoint.url, '--ca-file', endpoint.caFile];
    const { code, err } = await runCrd(world.cluster.kubeconfigPath, 'apply', ...endpointArgs);
    assert.equal(code, 0, err);
    for (const shape of shapes) {
      const policy = await waitFor(`policy ${shape}`, () => read('v1', shape));
      const { rollout: _, ...plain } = specOf(shape);
      assert.deepEqual(policy.spec, shape === 'plain-v1alpha1' ? plain : specOf(shape), shape);
      assert.equal(policy.metadata.generation, 1);
      assert.deepEqual(policy.metadata.annotations, { team: 'web' });
      const { lastAppliedTag, lastCheckTime } = statusOf(shape);
      assert.deepEqual(policy.status, shape === 'v1' ? statusOf(shape) : { lastAppliedTag, lastCheckTime }, shape);
      const view = await read('v1alpha1', shape);
      assert.deepEqual(view.spec, viewOf(shape), shape);
      // What is stored as v1alpha1 is shown as it is stored.
      assert.deepEqual(view.status, { ...shown, ...(shape === 'v1' && { v1: policy.status }) }, shape);
    }
  });

  it('restores no status from a manifest with the former annotation that is applied again', async () => {
    for (const shape of shapes) {
      const before = (await read('v1', shape)).status;
      const { metadata } = storedOf(shape, 'view', {});
      await world.cluster.request('PATCH', pathOf('v1alpha1', shape), { metadata, spec: viewOf(shape) });
      const { spec, status } = await read('v1', shape);
      assert.deepEqual([spec, status], [specOf(shape), before], shape);
    }
  });

  it('stores all policies as v1 with crd migrate, unchanged', async () => {
    const statuses = await Promise.all(shapes.map(async (shape) => (await read('v1', shape)).status));
    const { code, out, err } = await runCommand('crd', ['migrate', '--kubeconfig', world.cluster.kubeconfigPath]);
    assert.equal(code, 0, `${out}${err}`);
    const stored = await readStoredObjects(world.cluster.etcd.url, '/registry/operator.technomad.dev/imagepolicies/');
    for (const { value } of stored) assert.equal(value.apiVersion, 'operator.technomad.dev/v1');
    assert.deepEqual(await Promise.all(shapes.map(async (shape) => (await read('v1', shape)).status)), statuses);
  });

  it('deploys no image of a forged status, reports the forged status that was stored, and continues', async () => {
    service = await world.start({ roles: 'receive,work' });
    const refusal = await waitFor(
      'the forged history to be refused',
      async () => (await world.readStatus('v1')).history?.[0]?.rollbackRefused,
    );
    assert.match(refusal.message, /attacker\.example\/miner:1" is no image of/);
    for (const shape of shapes) {
      await world.waitForFirstLook(shape);
      const { digest } = await pushImage({ host: world.quiet.host, repository: `shop/${shape}`, tag: '1.1.0', content: `${shape} 1.1.0` });
      assert.equal((await deliver(service, harborBody(world.quiet.host, `shop/${shape}`, [{ tag: '1.1.0', digest }]))).status, 202);
      assertPatchedTimes(await world.waitForImage(shape, image(shape, '1.1.0')), 1);
      const status = await waitFor('the status', async () => {
        const found = await world.readStatus(shape);
        return found.history?.[0]?.to === image(shape, '1.1.0') && found;
      });
      assert.equal(status.history?.[0]?.from, image(shape));
      const { status: view } = await read('v1alpha1', shape);
      assert.deepEqual([view?.lastAppliedTag, view?.['v1']], ['1.1.0', status], shape);
    }
  });
});
