/** Thousands of objects, written where the API server keeps them: many times as fast as asking it. */
import { randomUUID } from 'node:crypto';
import { Agent, request } from 'undici';
import { inParallel } from '../../src/async/in-parallel.ts';
import { deployment, policy } from './applications.ts';
import type { BenchWorld } from './world.ts';

const repositoryCount = 2_000;
/** One write for each object: a transaction would give all of its objects the same resourceVersion, and a watch that goes on from there misses some. */
const concurrency = 128;
const at = '2026-01-01T00:00:00Z';

/** Adds Deployments number `from` to `to`, with a policy each that has been looked at; every 2,000th has the same repository. */
export async function fillCluster({ cluster, registry }: BenchWorld, namespace: string, from: number, to: number): Promise<void> {
  const dispatcher = new Agent({ connections: concurrency });
  const puts: object[] = [];
  for (let index = from; index < to; index++) {
    const name = `bulk-${index}`;
    const image = `${registry.host}/bulk/web-${index % repositoryCount}`;
    const metadata = () => ({ name, namespace, uid: randomUUID(), creationTimestamp: at, generation: 1, managedFields: managedFields() });
    const workload = deployment(name, `${image}:1.0.0`) as { metadata: object };
    puts.push(put(`/registry/deployments/${namespace}/${name}`, { ...workload, metadata: { ...workload.metadata, ...metadata() } }));
    const path = `/registry/operator.technomad.dev/imagepolicies/${namespace}/${name}`;
    puts.push(put(path, { ...policy(name, image), metadata: metadata(), status: status(namespace, name, image) }));
  }
  const results = await inParallel(puts, concurrency, async (body) => {
    const answer = await request(`${cluster.etcd.url}/v3/kv/put`, { method: 'POST', body: JSON.stringify(body), dispatcher });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`etcd: ${answer.statusCode} ${text}`);
  });
  await dispatcher.close();
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

function put(key: string, value: object): object {
  const encode = (text: string) => Buffer.from(text).toString('base64');
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
