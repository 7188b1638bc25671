import { decode, encode, etcdCall } from './etcd-objects.ts';
import { waitFor } from './wait-for.ts';

/** What etcd held at one moment; keys and values in base64. */
export type Snapshot = Map<string, { readonly value: string; revision: string }>;

type KeyValue = { key: string; value?: string; mod_revision: string };

/** Keys that the API server writes for itself, over and over. */
const serversOwn = /^\/registry\/(leases|masterleases|peerserverleases)\//;
/** What the API server removes itself, once it has noticed that the CustomResourceDefinition is gone. */
const derived = /^\/registry\/apiregistration\.k8s\.io\//;
/** etcd refuses transactions of more operations. */
const transactionSize = 128;

/** Remembers all that the API server has stored. */
export async function takeSnapshot(etcdUrl: string): Promise<Snapshot> {
  const found = await list(etcdUrl, {});
  return new Map(found.map(({ key, value = '', mod_revision }) => [key, { value, revision: mod_revision }]));
}

/** Removes what was stored since, and restores what was changed or removed; resolves when the API server has followed. */
export async function restoreEtcd(etcdUrl: string, snapshot: Snapshot): Promise<void> {
  await waitFor('the control plane to be empty again', async () => (await restoreOnce(etcdUrl, snapshot)) === 0);
}

/** The number of keys that were not as they are to be. */
async function restoreOnce(etcdUrl: string, snapshot: Snapshot): Promise<number> {
  const found = await list(etcdUrl, { keys_only: true });
  const revisions = new Map(found.map(({ key, mod_revision }) => [key, mod_revision]));
  const extra = [...revisions.keys()].filter((key) => !snapshot.has(key));
  const changed = [...snapshot].filter(([key, { revision }]) => revisions.get(key) !== revision && !derived.test(decode(key)));
  const operations = [
    ...extra.filter((key) => !derived.test(decode(key))).map((key) => ({ requestDeleteRange: { key } })),
    ...changed.map(([key, { value }]) => ({ requestPut: { key, value } })),
  ];
  for (let start = 0; start < operations.length; start += transactionSize) {
    const success = operations.slice(start, start + transactionSize);
    const { header } = await etcdCall<{ header: { revision: string } }>(etcdUrl, 'txn', { success });
    for (const operation of success) {
      const restored = 'requestPut' in operation && snapshot.get(operation.requestPut.key);
      if (restored) restored.revision = header.revision;
    }
  }
  return extra.length + changed.length;
}

async function list(etcdUrl: string, options: object): Promise<KeyValue[]> {
  const all = { key: encode('/registry/'), range_end: encode('/registry0') };
  const { kvs = [] } = await etcdCall<{ kvs?: KeyValue[] }>(etcdUrl, 'range', { ...all, ...options });
  return kvs.filter(({ key }) => !serversOwn.test(decode(key)));
}
