/** A HelmRepository decides what the HelmReleases that refer to it install: when it changes, the policies of these are reconciled, and no others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkFields } from '../../../src/core/model/field-rules.ts';
import type { ImagePolicy } from '../../../src/core/model/image-policy.ts';
import { workloadKey, type Workload, type WorkloadField } from '../../../src/core/model/workload.ts';
import { createSourceListener } from '../../../src/service/reconcile/enqueue/enqueue-for-sources.ts';
import { createConsentListener, type WorkloadChange } from '../../../src/service/reconcile/enqueue/enqueue-new-targets.ts';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { noAliases, policyOf, specOf, stalledStatus, workloadOf } from '../../core/model/samples.ts';
import { contextOf, createWorld, neededReconcile, startTime, withPorts, type World } from './world.ts';

const now = new Date(startTime);
const texts = (values: Record<string, string>): Record<string, WorkloadField> =>
  Object.fromEntries(Object.entries(values).map(([path, value]) => [path, { value }]));
const release = { apiVersion: 'helm.toolkit.fluxcd.io/v2', kind: 'HelmRelease', namespace: 'shop' };
const source = { apiVersion: 'source.toolkit.fluxcd.io/v1', kind: 'HelmRepository', namespace: 'shop' };

const releaseOf = (name: string, repository: string, namespace?: string): Workload => {
  const chart = 'spec.chart.spec';
  const ref = { kind: 'HelmRepository', name: repository, ...(namespace !== undefined && { namespace }) };
  const fields = { [`${chart}.chart`]: 'web', [`${chart}.version`]: '1.2.3' };
  const refs = Object.entries(ref).map(([field, value]) => [`${chart}.sourceRef.${field}`, value]);
  const unset = namespace === undefined ? { [`${chart}.sourceRef.namespace`]: { value: null } } : {};
  return workloadOf(
    {},
    { ...release, name, uid: `uid of ${name}`, fields: { ...texts({ ...fields, ...Object.fromEntries(refs) }), ...unset } },
  );
};
const sourceOf = (name: string, more: Partial<Workload> = {}, folder = 'shop'): Workload =>
  workloadOf(
    {},
    {
      ...source,
      name,
      uid: `uid of ${name}`,
      fields: texts({ 'spec.url': `oci://registry.example.com/${folder}`, 'spec.type': 'oci' }),
      ...more,
    },
  );
const policyFor = (name: string, policy: Partial<ImagePolicy> = {}): ImagePolicy => {
  const checked = checkFields(
    release,
    { tag: 'spec.chart.spec.version' },
    { artifact: 'Chart' },
    { customTargets: [], aliases: noAliases },
  );
  assert.ok('fields' in checked);
  return policyOf({ name, spec: specOf({ targets: [{ ...release, name, fields: checked.fields }] }), ...policy });
};
const uncertain = (name: string) => policyFor(name, { status: stalledStatus('ContainerNotFound') });

/** Three policies: of a HelmRelease with the HelmRepository `charts`, of one with another, and of one with a HelmRepository of the namespace `flux`. */
function start(policies: readonly ImagePolicy[] = ['own', 'other', 'foreign'].map(uncertain)) {
  const world = createWorld();
  world.policies.clear();
  world.put(...policies);
  const put = (workload: Workload) => world.workloads.set(workloadKey(workload), workload);
  for (const one of [releaseOf('own', 'charts'), releaseOf('other', 'elsewhere'), releaseOf('foreign', 'charts', 'flux')]) put(one);
  const considered: string[] = [];
  let isListed = true;
  const enqueuer = {
    consider: ({ name }: ImagePolicy) => void considered.push(name),
    considerNewTarget: () => assert.fail('no target is new'),
    async visitAll(visit: (policy: ImagePolicy) => void) {
      for (const policy of world.policies.values()) visit(policy);
    },
  };
  const { cluster } = world.ports;
  const workloads = { state: () => (isListed ? { since: 0 } : ('starting' as const)) };
  const onSource = createSourceListener({ ...cluster, workloads }, cluster, enqueuer);
  return {
    world,
    put,
    considered,
    onSource,
    onConsent: createConsentListener(cluster, cluster, enqueuer),
    relist: () => (isListed = false),
  };
}

const charts = sourceOf('charts');
const changes: Record<string, WorkloadChange> = {
  'is created': { type: 'added', object: charts },
  'is deleted': { type: 'deleted', object: charts },
  'has another spec': { type: 'updated', object: sourceOf('charts', { generation: 2 }), previous: charts },
  'is created again under its name': { type: 'updated', object: sourceOf('charts', { uid: 'another' }), previous: charts },
  'is about to be deleted': { type: 'updated', object: sourceOf('charts', { isDeleted: true }), previous: charts },
  'consents to other policies': { type: 'updated', object: sourceOf('charts', { allowPoliciesFrom: 'ops' }), previous: charts },
};
for (const [name, change] of Object.entries(changes))
  test(`the policies of a HelmRepository that ${name} are considered`, () => {
    const { onSource, considered } = start();
    onSource(change);
    assert.deepEqual(considered, ['own']);
  });

test('a HelmRepository of another namespace concerns the HelmReleases that refer to it, not those with one of the same name', () => {
  const { onSource, considered } = start();
  onSource({ type: 'added', object: sourceOf('charts', { namespace: 'flux' }) });
  assert.deepEqual(considered, ['foreign']);
});

test('a changed status, another kind and the first list of HelmRepositories cause no reconcile', () => {
  const { onSource, considered, relist } = start();
  onSource({ type: 'updated', object: sourceOf('charts', { resourceVersion: '2' }), previous: charts });
  onSource({ type: 'added', object: workloadOf({}, { name: 'charts' }) });
  relist();
  onSource({ type: 'added', object: charts });
  assert.deepEqual(considered, []);
});

test('a consent of a Namespace causes a reconcile of the policies whose HelmRepositories are in it', () => {
  const { onConsent, considered } = start();
  onConsent('flux');
  assert.deepEqual(considered, ['foreign']);
});

/** The cause of the job of the policy `foreign` while its HelmRepository is like this. */
const causeWith = ({ world, put }: ReturnType<typeof start>, found: Workload) => {
  put(found);
  return neededReconcile(uncertain('foreign'), { ...world.ports.cluster, crossNamespace: 'consent', namespaceConsent: () => null }, now)
    ?.cause;
};

test('each state of a HelmRepository that a stalled policy may see causes one job, and a state that it may not see none', () => {
  const started = start();
  const flux = { namespace: 'flux' };
  const unseen = causeWith(started, sourceOf('charts', flux));
  assert.equal(causeWith(started, sourceOf('charts', { ...flux, generation: 2 })), unseen);
  const seen = causeWith(started, sourceOf('charts', { ...flux, generation: 2, allowPoliciesFrom: 'shop' }));
  const changed = causeWith(started, sourceOf('charts', { ...flux, generation: 3, allowPoliciesFrom: 'shop' }));
  assert.equal(new Set([unseen, seen, changed]).size, 3);
  assert.equal(causeWith(started, sourceOf('charts', { ...flux, generation: 3, allowPoliciesFrom: 'shop' })), changed);
});

/** The requests of a replica whose watch shows `cached`, for a job of one that sees `current`. */
async function requestsWith(cached: Workload, current: Workload): Promise<readonly string[]> {
  const { world, put } = start([uncertain('own')]);
  put(current);
  const job = neededReconcile(uncertain('own'), world.ports.cluster, now);
  assert.ok(job);
  await processTask(job, contextOf(), behind(world, cached));
  return world.requests.filter((request) => request.startsWith('GET') || request.startsWith('PATCH'));
}

/** The ports of a replica whose watch of HelmRepositories lags. */
function behind(world: World, cached: Workload): World['ports'] {
  const { findWorkload } = world.ports.cluster;
  return withPorts(world.ports, {
    cluster: { findWorkload: (ref) => (ref.kind === 'HelmRepository' ? cached : findWorkload(ref)) },
  });
}

test('a replica whose watch shows a former state of a HelmRepository reads it before it plans', async () => {
  const current = sourceOf('charts', { generation: 2, resourceVersion: '2' });
  const requests = await requestsWith(sourceOf('charts', {}, 'elsewhere'), current);
  assert.deepEqual(requests, ['GET own', 'GET charts', 'GET charts', 'PATCH own']);
});

test('a replica whose watch of HelmRepositories is current reads one only before the patch', async () => {
  assert.deepEqual(await requestsWith(charts, charts), ['GET charts', 'PATCH own']);
});
