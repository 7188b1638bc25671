/** From a cluster of before v1, with more policies than a page lists, which people go on editing, to v1. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { convertReview } from '../../src/conversion/convert-review.ts';
import { crdName } from '../../src/service/resources/group.ts';
import { openKubeClient } from '../../src/service/kube/client.ts';
import { retireVersion } from '../../src/conversion/crd/retire-version.ts';
import { oldCrd } from '../service/resources/old-crd.ts';
import { runCrd } from '../cli/run-command.ts';
import { borrowControlPlane, type ControlPlane } from '../harness/control-plane.ts';
import { type ConversionEndpoint, startConversionEndpoint } from '../harness/conversion-endpoint.ts';
import { readStoredObjects } from '../harness/etcd-objects.ts';
import { startProcess } from '../harness/process.ts';
import { mainProgram } from '../harness/program.ts';
import { waitFor } from '../harness/wait-for.ts';

/** Two pages. */
const count = 600;
const crdPath = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crdName}`;
const policyPath = (version: string, name = '') =>
  `/apis/operator.technomad.dev/${version}/namespaces/shop/imagepolicies${name && `/${name}`}`;

interface Policy {
  metadata: { name: string; generation: number; labels?: Record<string, string>; managedFields?: { manager: string }[] };
  spec?: Record<string, unknown>;
  status?: Record<string, unknown>;
}

let cluster: ControlPlane;
let endpoint: ConversionEndpoint;
before(async () => {
  [cluster, endpoint] = await Promise.all([borrowControlPlane(), startConversionEndpoint(convertReview)]);
});
after(() => Promise.all([cluster.stop(), endpoint.stop()]));

const crd = (action: string, ...args: string[]) => runCrd(cluster.kubeconfigPath, action, ...args);
const nameOf = (index: number) => `policy-${String(index).padStart(4, '0')}`;

const target = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const usual = {
  repository: 'library/nginx',
  tagPolicy: { strategy: 'SemVer', pattern: '>=1.2 <2' },
  updateTarget: target,
  pollIntervalMinutes: 5,
};
/** What clusters hold: nobody has ever checked it. */
const specs: (Record<string, unknown> | undefined)[] = [
  usual,
  { ...usual, tagPolicy: { strategy: 'SemVer' } },
  { ...usual, tagPolicy: { strategy: 'Latest', pattern: 'unused' } },
  { ...usual, tagPolicy: { strategy: 'Regex', pattern: '^release-.*' } },
  { ...usual, pollIntervalMinutes: -3 },
  { ...usual, tagPolicy: { strategy: 'Regex', pattern: '(' } },
  { ...usual, repository: '' },
  { ...usual, repository: `https://registry.example.com:5000/${'long/'.repeat(100)}x:1.2` },
  { ...usual, updateTarget: { kind: 'StatefulSet', name: '', namespace: 'elsewhere' } },
  undefined,
];
const specOf = (index: number) => specs[index % specs.length];
/** An interval that was never one has no words in v1: it comes back as the default, which is what it always meant. */
const viewOf = (index: number) => {
  const spec = specOf(index);
  return (
    spec && { ...spec, pollIntervalMinutes: Math.max(0, Number(spec['pollIntervalMinutes'])) === 0 ? 60 : spec['pollIntervalMinutes'] }
  );
};
/** Policies that editors change; their specs are usual ones. */
const edited = Array.from({ length: count }, (_, index) => index).filter((index) => index % specs.length < 2);

async function inParallel<T>(items: Iterable<T>, run: (item: T) => Promise<unknown>): Promise<void> {
  const left = items[Symbol.iterator]();
  const work = async () => {
    for (let next = left.next(); !next.done; next = left.next()) await run(next.value);
  };
  await Promise.all(Array.from({ length: 20 }, work));
}

async function readAll(version: string): Promise<Map<string, Policy>> {
  const { items } = await cluster.request<{ items: Policy[] }>('GET', policyPath(version));
  return new Map(items.map((item) => [item.metadata.name, item]));
}

async function storedVersionCounts(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { value } of await readStoredObjects(cluster.etcd.url, '/registry/operator.technomad.dev/imagepolicies/')) {
    const version = value.apiVersion.replace(/^.*\//, '');
    counts[version] = (counts[version] ?? 0) + 1;
  }
  return counts;
}

const storedVersions = async () => (await cluster.request<{ status: { storedVersions: string[] } }>('GET', crdPath)).status.storedVersions;

/** Two people who edit the same policies, each in another version and another field, until they are stopped. */
function startEditors() {
  const stop = new AbortController();
  const minutes = new Map<number, number>();
  const hours = new Map<number, number>();
  const edit = async (order: readonly number[], change: (index: number, round: number) => Promise<void>) => {
    for (let round = 1; !stop.signal.aborted; round++) {
      for (const index of order) {
        if (stop.signal.aborted) return;
        await change(index, round);
      }
    }
  };
  const editThroughV1alpha1 = edit(edited, async (index, round) => {
    await cluster.request('PATCH', policyPath('v1alpha1', nameOf(index)), {
      metadata: { labels: { minutes: `${round}` } },
      spec: { pollIntervalMinutes: 100 + round },
    });
    minutes.set(index, 100 + round);
  });
  const newer = edit(edited.toReversed(), async (index, round) => {
    await cluster.request('PATCH', policyPath('v1', nameOf(index)), {
      metadata: { labels: { hours: `${round}` } },
      spec: { minAge: `${round}h` },
    });
    hours.set(index, round);
  });
  return {
    minutes,
    hours,
    async stop() {
      stop.abort();
      await Promise.all([editThroughV1alpha1, newer]);
    },
  };
}

function assertNoEditLost(
  policies: Map<string, Policy>,
  { minutes, hours }: Pick<ReturnType<typeof startEditors>, 'minutes' | 'hours'>,
): void {
  assert.ok(minutes.size > 0 && hours.size > 0, 'the editors did something');
  for (const [index, minute] of minutes) {
    assert.deepEqual(policies.get(nameOf(index))?.spec?.['poll'], { interval: `${minute}m` }, nameOf(index));
  }
  for (const [index, hour] of hours) assert.equal(policies.get(nameOf(index))?.spec?.['minAge'], `${hour}h`, nameOf(index));
}

let editors: ReturnType<typeof startEditors> | undefined;
after(() => editors?.stop());

test('a cluster from before v1 has policies', async () => {
  await cluster.request('POST', '/api/v1/namespaces', { metadata: { name: 'shop' } });
  await cluster.request('POST', crdPath.replace(/\/[^/]+$/, ''), oldCrd);
  await waitFor('the older definition to be served', () => cluster.request('GET', policyPath('v1alpha1')).then(() => true));
  await inParallel(Array(count).keys(), (index) => {
    const spec = specOf(index);
    const status = { lastAppliedTag: `1.${index}.0`, lastCheckedTime: '2026-11-01T10:00:00Z' };
    const body = {
      apiVersion: 'operator.technomad.dev/v1alpha1',
      kind: 'ImagePolicy',
      metadata: { name: nameOf(index) },
      status,
      ...(spec && { spec }),
    };
    return cluster.request('POST', policyPath('v1alpha1'), body);
  });
  assert.deepEqual(await storedVersionCounts(), { v1alpha1: count });
});

test('crd apply serves all policies in both versions', async () => {
  const { code, err } = await crd('apply', '--conversion-url', endpoint.url, '--ca-file', endpoint.caFile);
  assert.equal(code, 0, err);
  assert.match(err, /converts all 600 objects/);
  assert.deepEqual([await storedVersions(), await storedVersionCounts()], [['v1alpha1', 'v1'], { v1alpha1: count }]);
  const [editThroughV1alpha1, newer] = await waitFor('the lists', () => Promise.all([readAll('v1alpha1'), readAll('v1')]));
  assert.deepEqual([editThroughV1alpha1.size, newer.size], [count, count]);
});

test('retiring v1alpha1 is refused before the migration', async () => {
  const client = await openKubeClient({ kubeconfig: cluster.kubeconfigPath, requestTimeoutMs: 60_000 });
  try {
    await assert.rejects(
      retireVersion(client, { name: crdName, version: 'v1alpha1', since: new Date() }),
      /may still be stored as v1alpha1: migrate/,
    );
  } finally {
    await client.close();
  }
});

test('crd migrate can be killed in the middle while users edit policies', async () => {
  editors = startEditors();
  const main = await mainProgram();
  const migration = await startProcess(process.execPath, [main, 'crd', 'migrate', '--concurrency', '2'], {
    name: 'migrate',
    env: { PATH: process.env['PATH'] ?? '', KUBECONFIG: cluster.kubeconfigPath },
  });
  // More than the editors could have written by themselves.
  const isPartMigrated = async () => ((await storedVersionCounts())['v1'] ?? 0) > edited.length + 100;
  await waitFor('a part to be migrated', isPartMigrated, { intervalMs: 25 });
  migration.kill('SIGKILL');
  await migration.exited;
  const counts = await storedVersionCounts();
  assert.ok((counts['v1alpha1'] ?? 0) > 0, `killed too late: ${JSON.stringify(counts)}`);
  assert.deepEqual(await storedVersions(), ['v1alpha1', 'v1']);
});

test('crd migrate, when run again, completes, loses no edit and stores all policies as v1', async (t) => {
  assert.ok(editors);
  const started = performance.now();
  const { code, out, err } = await crd('migrate', '-o', 'json');
  t.diagnostic(`the second run, while people edit: ${Math.round(performance.now() - started)} ms`);
  assert.equal(code, 0, `${out}${err}`);
  const result = JSON.parse(out) as { rewritten: number; total: number };
  assert.ok(result.total === count && result.rewritten < count && result.rewritten > 0, out);
  await editors.stop();
  assert.deepEqual([await storedVersions(), await storedVersionCounts()], [['v1'], { v1: count }]);
  assertNoEditLost(await readAll('v1'), editors);
  for (const { value } of await readStoredObjects(cluster.etcd.url, '/registry/operator.technomad.dev/imagepolicies/'))
    assert.equal(value.apiVersion, 'operator.technomad.dev/v1');
});

test('each policy still says in v1alpha1 what its author wrote', async () => {
  const [editThroughV1alpha1, newer] = await Promise.all([readAll('v1alpha1'), readAll('v1')]);
  const different: unknown[] = [];
  for (let index = 0; index < count; index++) {
    const name = nameOf(index);
    if (!edited.includes(index) && !isDeepStrictEqual(editThroughV1alpha1.get(name)?.spec, viewOf(index)))
      different.push([name, viewOf(index), editThroughV1alpha1.get(name)?.spec]);
    assert.equal(editThroughV1alpha1.get(name)?.status?.['lastAppliedTag'], `1.${index}.0`);
  }
  assert.deepEqual(different.slice(0, 3), [], `${different.length} policies`);
  const untouched = [...newer.values()].filter((_, index) => !edited.includes(index));
  assert.deepEqual(
    untouched
      .filter(({ metadata }) => metadata.generation !== 1)
      .map(({ metadata }) => metadata.name)
      .slice(0, 3),
    [],
    'no new generation',
  );
  const owned = untouched.filter(({ metadata }) => metadata.managedFields?.some(({ manager }) => manager === 'image-watcher'));
  assert.deepEqual(owned.map(({ metadata }) => metadata.name).slice(0, 3), [], 'the migration owns no field');
});

test('crd migrate has nothing to do after a complete migration', async () => {
  const { code, out } = await crd('migrate');
  assert.equal(code, 0);
  assert.match(out, /^status.storedVersions is \[v1\]: nothing is stored in another version/);
});

test('crd migrate --retire is refused while somebody writes v1alpha1, then succeeds, is kept by crd apply, and can be reverted', async () => {
  const refused = await crd('migrate', '--retire', 'v1alpha1');
  assert.equal(refused.code, 1);
  assert.match(refused.out, /not retired, it is still needed:\n {2}shop\/policy-0000: .* wrote it through that version at/);
  const retired = await crd('migrate', '--retire', 'v1alpha1', '--unused-for', '0s');
  assert.equal(retired.code, 0, retired.out);
  await waitFor('v1alpha1 to be gone', () =>
    cluster.request('GET', policyPath('v1alpha1')).then(
      () => false,
      (error: { status: number }) => error.status === 404,
    ),
  );
  assert.equal((await waitFor('the list', () => readAll('v1'))).size, count);
  await cluster.request(
    'PATCH',
    `${policyPath('v1', nameOf(0))}?fieldManager=somebody&force=true`,
    { apiVersion: 'operator.technomad.dev/v1', kind: 'ImagePolicy', metadata: { name: nameOf(0), labels: { applied: 'yes' } } },
    'application/apply-patch+yaml',
  );
  assert.equal((await crd('apply')).code, 0);
  await assert.rejects(cluster.request('GET', policyPath('v1alpha1')), { status: 404 });
  assert.equal((await crd('apply', '--serve', 'v1alpha1')).code, 0);
  await waitFor('v1alpha1 to be back', () => readAll('v1alpha1').then(({ size }) => size === count));
});
