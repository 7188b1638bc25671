/**
 * The floor: what the job physically needs, and nothing else. POST → one durable write to Redis → 202 → blocking pop → HEAD of the manifest → JSON Patch over a
 * kept-alive connection. It checks nothing, repeats nothing, and loses what it was doing when it is killed. Argument: its configuration, as JSON.
 */
import { createServer, type IncomingMessage } from 'node:http';
import { Redis } from 'ioredis';
import { Agent, request } from 'undici';

export interface FloorConfig {
  readonly port: number;
  readonly redisUrl: string;
  readonly registry: string;
  readonly server: string;
  readonly token: string;
  readonly caPem: string;
  readonly key: string;
}

/** What is sent to `/targets` before anything is pushed: paths of Deployments by repository. */
export type FloorTargets = Readonly<Record<string, readonly string[]>>;
/** What may be sent to `/policies`: paths of ImagePolicies by repository, whose status is to say what was applied. */
export type FloorPolicies = Readonly<Record<string, string>>;

interface Push {
  readonly repository: string;
  readonly tag: string;
}

const { port, redisUrl, registry, server, token, caPem, key } = JSON.parse(process.argv[2] ?? '') as FloorConfig;
const targets = new Map<string, readonly string[]>();
const policies = new Map<string, string>();
const writing = new Redis(redisUrl);
const popping = new Redis(redisUrl);
const images = new Agent({ connections: 32 });
const cluster = new Agent({ connections: 32, connect: { ca: caPem }, keepAliveTimeout: 50_000 });
const patchHeaders = { authorization: `Bearer ${token}`, 'content-type': 'application/json-patch+json' };
const accept = 'application/vnd.oci.image.manifest.v1+json';

async function update({ repository, tag }: Push): Promise<void> {
  const url = `http://${registry}/v2/${repository}/manifests/${tag}`;
  const head = await request(url, { method: 'HEAD', headers: { accept }, dispatcher: images, reset: false });
  await head.body.dump();
  if (head.statusCode !== 200) throw new Error(`HEAD ${url}: ${head.statusCode}`);
  const value = `${registry}/${repository}:${tag}`;
  const body = JSON.stringify([{ op: 'replace', path: '/spec/template/spec/containers/0/image', value }]);
  const patch = async (path: string) => {
    const answer = await request(`${server}${path}`, { method: 'PATCH', headers: patchHeaders, body, dispatcher: cluster });
    await answer.body.dump();
    if (answer.statusCode !== 200) throw new Error(`PATCH ${path}: ${answer.statusCode}`);
  };
  await Promise.all((targets.get(repository) ?? []).map(patch));
  const policy = policies.get(repository);
  if (policy !== undefined) await tell(policy, tag);
}

/** Less than this nobody would call a status. */
async function tell(policy: string, lastAppliedTag: string): Promise<void> {
  const headers = { ...patchHeaders, 'content-type': 'application/merge-patch+json' };
  const body = JSON.stringify({ status: { lastAppliedTag } });
  const answer = await request(`${server}${policy}/status`, { method: 'PATCH', headers, body, dispatcher: cluster });
  await answer.body.dump();
  if (answer.statusCode !== 200) throw new Error(`PATCH ${policy}/status: ${answer.statusCode}`);
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

const listener = createServer((incoming, response) => {
  void (async () => {
    const body = await readBody(incoming);
    if (incoming.url === '/targets') {
      for (const [repository, paths] of Object.entries(JSON.parse(body) as FloorTargets)) targets.set(repository, paths);
    } else if (incoming.url === '/policies') {
      for (const [repository, path] of Object.entries(JSON.parse(body) as FloorPolicies)) policies.set(repository, path);
    } else if (incoming.method === 'POST') await writing.lpush(key, body);
    response.writeHead(202).end();
  })();
});
listener.listen(port, '127.0.0.1');
for (;;) {
  const popped = await popping.brpop(key, 0);
  if (popped) void update(JSON.parse(popped[1]) as Push);
}
