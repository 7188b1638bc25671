import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { KubeClient } from '../../../src/service/kube/client.ts';
import { rewriteAll, type RewriteCounts } from '../../../src/conversion/crd/rewrite-objects.ts';
import { type Exchange, type FakeApiServer, startFakeApiServer } from '../../service/kube/fake-api-server.ts';

const listPath = '/apis/example.com/v1/widgets';
const pathOf = (namespace: string, name: string) => `/apis/example.com/v1/namespaces/${namespace}/widgets/${name}`;

let server: FakeApiServer;
let client: KubeClient;
before(async () => {
  server = await startFakeApiServer();
  client = server.client();
});
after(() => server.stop());

/** Objects of a small API server that stores a write as the next resourceVersion; `faults` are answered first. */
interface World {
  readonly objects: Map<string, { resourceVersion: number; isOld: boolean }>;
  /** By "METHOD name": what is answered instead, in order; `undefined` is the usual answer. */
  readonly faults: Map<string, (((exchange: Exchange) => void) | undefined)[]>;
  readonly writes: string[];
}

let world: World;
beforeEach(() => {
  world = { objects: new Map(), faults: new Map(), writes: [] };
  for (const name of ['a', 'b', 'c', 'd', 'e']) world.objects.set(name, { resourceVersion: 10, isOld: true });
  server.handle(answer);
});

function answer(exchange: Exchange): void {
  const { method, path, query, body } = exchange;
  const name = path === listPath ? '' : (path.split('/').at(-1) ?? '');
  const fault = world.faults.get(`${method} ${name}`)?.shift();
  if (fault) return fault(exchange);
  if (name === '') return list(exchange, Number(query.get('limit')), query.get('continue'));
  const object = world.objects.get(name);
  if (!object) return refuse(404)(exchange);
  if (method === 'PATCH') {
    const { metadata } = JSON.parse(body) as { metadata: { resourceVersion: string } };
    if (metadata.resourceVersion !== String(object.resourceVersion)) return refuse(409)(exchange);
    if (object.isOld) {
      object.isOld = false;
      object.resourceVersion += 1;
      world.writes.push(name);
    }
  }
  exchange.json(200, toObject(name, object));
}

function list(exchange: Exchange, limit: number, token: string | null): void {
  const names = [...world.objects.keys()].toSorted().filter((name) => token === null || name > token);
  const page = names.slice(0, limit);
  const rest = names.length - page.length;
  const items = page.map((name) => toObject(name, world.objects.get(name) ?? { resourceVersion: 0 }));
  exchange.json(200, { metadata: { resourceVersion: '99', ...(rest > 0 && { continue: page.at(-1), remainingItemCount: rest }) }, items });
}

const toObject = (name: string, { resourceVersion }: { resourceVersion: number }) => ({
  metadata: { namespace: 'shop', name, uid: `uid-${name}`, resourceVersion: String(resourceVersion) },
});

const refuse =
  (code: number, message = `status ${code}`, headers: Record<string, string> = {}) =>
  (exchange: Exchange) =>
    exchange.json(code, { kind: 'Status', code, message }, headers);

/** Somebody else writes the object just before. */
const writtenByOthers = (name: string) => (exchange: Exchange) => {
  world.objects.set(name, { resourceVersion: 50, isOld: false });
  answer(exchange);
};

interface Run {
  counts: RewriteCounts;
  progress: string[];
}

async function run(known = new Map<string, string>()): Promise<Run> {
  const progress: string[] = [];
  const onProgress = ({ total, rewritten, unchanged, gone, refused }: RewriteCounts) =>
    void progress.push(`${rewritten + unchanged + gone + refused.length}/${total}`);
  const counts = await rewriteAll(client, { listPath, pathOf, known, concurrency: 2, pageSize: 2, random: () => 0, onProgress });
  return { counts, progress };
}

const totals = ({ rewritten, unchanged, gone, refused }: RewriteCounts) => [rewritten, unchanged, gone, refused.length];

test('the migration rewrites every object of every page once, and reports the remaining number', async () => {
  const { counts, progress } = await run();
  assert.deepEqual([counts.total, totals(counts), world.writes.toSorted()], [5, [5, 0, 0, 0], ['a', 'b', 'c', 'd', 'e']]);
  assert.deepEqual(progress, ['1/5', '2/5', '3/5', '4/5', '5/5']);
});

test('the migration does not write an object in the right version, and does not request an object that it knows', async () => {
  world.objects.set('b', { resourceVersion: 7, isOld: false });
  const known = new Map([['uid-c', '10']]);
  assert.deepEqual(totals((await run(known)).counts), [3, 1, 0, 0]);
  const requests = server.exchanges.length;
  world.objects.set('d', { resourceVersion: 60, isOld: true });
  assert.deepEqual(totals((await run(known)).counts), [1, 0, 0, 0], 'only what has changed since');
  assert.equal(server.exchanges.length - requests, 4, 'three pages and one patch');
});

test('after a conflict the object is read again, and not written if the other writer migrated it', async () => {
  world.faults.set('PATCH b', [writtenByOthers('b')]);
  world.faults.set('PATCH c', [refuse(409), refuse(409)]);
  assert.deepEqual(totals((await run()).counts), [4, 1, 0, 0]);
});

test('the migration counts an object that others write constantly as stored by these writes', async () => {
  world.faults.set('PATCH b', Array<() => void>(20).fill(refuse(409) as () => void));
  assert.deepEqual(totals((await run()).counts), [4, 1, 0, 0]);
});

test('the migration skips an object that is deleted before the patch or after a conflict', async () => {
  world.faults.set('PATCH b', [refuse(404)]);
  world.faults.set('PATCH c', [refuse(409)]);
  world.faults.set('GET c', [refuse(404)]);
  assert.deepEqual(totals((await run()).counts), [3, 0, 2, 0]);
});

test('the migration retries requests that fail, are throttled or lose their connection', async () => {
  world.faults.set('PATCH a', [refuse(429, 'too many', { 'retry-after': '0' }), refuse(500), ({ reset }) => reset()]);
  world.faults.set('GET ', [refuse(429), undefined, refuse(503)]);
  assert.deepEqual(totals((await run()).counts), [5, 0, 0, 0]);
});

test('an object that the API server refuses does not stop the migration of others', async () => {
  world.faults.set('PATCH b', [refuse(422, 'b is invalid')]);
  world.faults.set('PATCH d', [refuse(403, 'd is forbidden')]);
  const { counts } = await run();
  assert.deepEqual(totals(counts), [3, 0, 0, 2]);
  assert.deepEqual(counts.refused.map(({ namespace, name, message }) => `${namespace}/${name}: ${message}`).toSorted(), [
    'shop/b: b is invalid',
    'shop/d: d is forbidden',
  ]);
});

test('the migration starts an expired list again, without the objects that are done', async () => {
  world.faults.set('GET ', [undefined, undefined, refuse(410, 'expired')]);
  const before = server.exchanges.length;
  assert.deepEqual(totals((await run()).counts), [5, 0, 0, 0]);
  const patches = server.exchanges.slice(before).filter(({ method }) => method === 'PATCH');
  assert.equal(patches.length, 5);
});

test('the migration gives up when no list succeeds or everything fails', async () => {
  world.faults.set('GET ', Array<() => void>(20).fill(refuse(410, 'expired for ever') as () => void));
  await assert.rejects(run(), { status: 410 });
  world.faults.clear();
  world.objects.clear();
  for (let i = 0; i < 60; i++) {
    world.objects.set(`x${i}`, { resourceVersion: 1, isOld: true });
    world.faults.set(`PATCH x${i}`, Array<() => void>(20).fill(refuse(500, 'broken') as () => void));
  }
  const known = new Map<string, string>();
  const failing = rewriteAll(client, {
    listPath,
    pathOf,
    known,
    concurrency: 30,
    pageSize: 500,
    random: () => 0,
    onProgress: () => undefined,
  });
  await assert.rejects(failing, /failed for \d+ objects in a row/);
});
