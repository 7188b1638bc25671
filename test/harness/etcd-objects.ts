/** An object as etcd holds it. */
export type StoredJson = {
  key: string;
  value: { apiVersion: string; metadata: { name: string; namespace?: string } } & Record<string, unknown>;
};

type Range = { kvs?: { key: string; value: string }[]; more?: boolean };

/** Everything that etcd holds below a prefix and that is JSON, as custom resources are: what the API server stores, not what it answers. */
export async function readStoredObjects(etcdUrl: string, prefix: string): Promise<StoredJson[]> {
  const objects: StoredJson[] = [];
  const end = Buffer.from(prefix);
  end[end.length - 1] = (end.at(-1) ?? 0) + 1;
  for (let start = Buffer.from(prefix); ;) {
    const page = await etcdCall<Range>(etcdUrl, 'range', { key: start.toString('base64'), range_end: end.toString('base64'), limit: 500 });
    for (const { key, value } of page.kvs ?? []) {
      objects.push({ key: decode(key), value: JSON.parse(decode(value)) as StoredJson['value'] });
    }
    const last = page.kvs?.at(-1)?.key;
    if (!page.more || last === undefined) return objects;
    start = Buffer.concat([Buffer.from(last, 'base64'), Buffer.from([0])]);
  }
}

/** Writes any text where the API server keeps an object, past everything that it would refuse. */
export async function writeStoredText(etcdUrl: string, key: string, text: string): Promise<void> {
  await etcdCall(etcdUrl, 'put', { key: encode(key), value: encode(text) });
}

/** One call of etcd's key-value API as JSON; keys and values are in base64. */
export async function etcdCall<T>(etcdUrl: string, method: 'range' | 'put' | 'deleterange' | 'txn', request: object): Promise<T> {
  const answer = await fetch(`${etcdUrl}/v3/kv/${method}`, { method: 'POST', body: JSON.stringify(request) });
  if (!answer.ok) throw new Error(`etcd: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T;
}

/** Text of a key or value. */
export function decode(base64: string): string {
  return Buffer.from(base64, 'base64').toString();
}

/** A key or value of text. */
export function encode(text: string): string {
  return Buffer.from(text).toString('base64');
}
