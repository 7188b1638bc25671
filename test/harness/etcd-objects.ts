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
    const page = await range(etcdUrl, { key: start.toString('base64'), range_end: end.toString('base64'), limit: 500 });
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
  const body = JSON.stringify({ key: encode(key), value: encode(text) });
  const answer = await fetch(`${etcdUrl}/v3/kv/put`, { method: 'POST', body });
  if (!answer.ok) throw new Error(`etcd: ${answer.status} ${await answer.text()}`);
}

async function range(etcdUrl: string, request: object): Promise<Range> {
  const answer = await fetch(`${etcdUrl}/v3/kv/range`, { method: 'POST', body: JSON.stringify(request) });
  if (!answer.ok) throw new Error(`etcd: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Range;
}

function decode(base64: string): string {
  return Buffer.from(base64, 'base64').toString();
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64');
}
