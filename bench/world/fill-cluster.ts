/** Thousands of objects, written where the API server keeps them: many times as fast as asking it. */
import { randomUUID } from 'node:crypto';
import { Agent, request } from 'undici';
import { encode, etcdCall } from '../../test/harness/etcd-objects.ts';
import { inParallel } from '../../src/core/async/in-parallel.ts';
import { deployment, policy } from './applications.ts';
import type { BenchWorld } from './world.ts';

/** One write for each object: a transaction would give all of its objects the same resourceVersion, and a watch that goes on from there misses some. */
const concurrency = 128;
const at = '2026-01-01T00:00:00Z';

/** Where the objects are, and what they run. */
export interface FillOptions {
  /** One or several, in turns of `perNamespace`. */
  readonly namespaces: readonly string[];
  readonly perNamespace?: number;
  /** The registry of their images. */
  readonly host: string;
  readonly repositories?: number;
  readonly pollInterval?: string;
}

/** A Deployment, and its policy. */
export interface BulkPair {
  readonly namespace: string;
  readonly name: string;
  readonly workload: object;
  readonly policy: object;
}

/** Adds Deployments number `from` to `to`, with a policy each that has been looked at; every 2,000th has the same repository. */
export async function fillCluster({ cluster, registry }: BenchWorld, namespace: string, from: number, to: number): Promise<void> {
  await fillEtcd(cluster.etcd.url, { namespaces: [namespace], host: registry.host }, from, to);
}

/** The same with options. */
export async function fillEtcd(etcdUrl: string, options: FillOptions, from: number, to: number): Promise<void> {
  const dispatcher = new Agent({ connections: concurrency });
  const indexes = Array.from({ length: to - from }, (_, index) => from + index);
  const results = await inParallel(indexes, concurrency / 2, async (index) => {
    const { namespace, name, workload, policy } = bulkPair(index, options);
    const [workloadKey, policyKey] = keysOf(namespace, name);
    const puts = [put(workloadKey, workload), put(policyKey, policy)];
    await Promise.all(
      puts.map(async (body) => {
        const answer = await request(`${etcdUrl}/v3/kv/put`, { method: 'POST', body: JSON.stringify(body), dispatcher });
        const text = await answer.body.text();
        if (answer.statusCode !== 200) throw new Error(`etcd: ${answer.statusCode} ${text}`);
      }),
    );
  });
  await dispatcher.close();
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

/** Removes a Deployment and its policy, unknown to the API server unless it watches. */
export async function removeFromEtcd(etcdUrl: string, { namespace, name }: Pick<BulkPair, 'namespace' | 'name'>): Promise<void> {
  for (const key of keysOf(namespace, name)) await etcdCall(etcdUrl, 'deleterange', { key: encode(key) });
}

function keysOf(namespace: string, name: string): [workload: string, policy: string] {
  return [`/registry/deployments/${namespace}/${name}`, `/registry/operator.technomad.dev/imagepolicies/${namespace}/${name}`];
}

/** A Deployment, and its policy that has been looked at, as the API server stores them. */
export function bulkPair(
  index: number,
  { namespaces, perNamespace = Infinity, host, repositories = 2_000, pollInterval }: FillOptions,
): BulkPair {
  const name = `bulk-${index}`;
  const namespace = namespaces[Math.floor(index / perNamespace) % namespaces.length] ?? 'default';
  const image = `${host}/bulk/web-${index % repositories}`;
  const metadata = () => ({ name, namespace, uid: randomUUID(), creationTimestamp: at, generation: 1, managedFields: managedFields() });
  const workload = deployment(name, `${image}:1.0.0`) as { metadata: object };
  return {
    namespace,
    name,
    workload: { ...workload, metadata: { ...workload.metadata, ...metadata() } },
    policy: {
      ...policy(name, image, pollInterval === undefined ? {} : { pollInterval }),
      metadata: metadata(),
      status: status(namespace, name, image),
    },
  };
}

function put(key: string, value: object): object {
  return { key: encode(key), value: encode(JSON.stringify(value)) };
}

/** As large as those of real objects. */
function managedFields(): object[] {
  const fields = Object.fromEntries(
    Array.from({ length: 20 }, (_, index) => [`f:field-${index}`, { '.': {}, 'f:name': {}, 'f:value': {} }]),
  );
  return [
    { manager: 'kubectl', operation: 'Update', apiVersion: 'apps/v1', time: at, fieldsType: 'FieldsV1', fieldsV1: { 'f:spec': fields } },
  ];
}

function status(namespace: string, name: string, image: string): object {
  const condition = { status: 'True', reason: 'UpToDate', message: `runs ${image}:1.0.0`, lastTransitionTime: at, observedGeneration: 1 };
  return {
    observedGeneration: 1,
    conditions: [{ type: 'Ready', ...condition }],
    latest: { tag: '1.0.0', selectedAt: at },
    lastCheckTime: at,
    targets: [{ kind: 'Deployment', namespace, name, container: 'web', image: `${image}:1.0.0`, state: 'UpToDate' }],
    targetCounts: { total: 1, upToDate: 1, problems: 0 },
  };
}
