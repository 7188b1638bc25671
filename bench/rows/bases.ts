import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { harborBody } from '../../test/end-to-end/world.ts';
import { waitFor } from '../../test/harness/wait-for.ts';
import { deployment, deploymentsIn, each } from '../world/applications.ts';
import {
  applicationName,
  baseName,
  type Bases,
  createBasePolicy,
  defineBases,
  deployApplications,
  pushBases,
  pushOnBases,
  untilExamined,
} from '../world/base-applications.ts';
import { countRegistryRequests, difference, readRss } from '../world/counters.ts';
import { round } from '../world/statistics.ts';
import { type BenchWorld, type Product, secret } from '../world/world.ts';
import { limited, type Figure, type Row } from './row.ts';

const quietMs = 2_000;
/** How long the service rests before its memory counts: after a minute without work it collects its garbage (operations/heap.ts). */
const restMs = 90_000;

/** What it costs to know which images are built on which bases, and how soon the first of them is brought forward. */
export const bases: Row = {
  id: 'bases',
  title:
    'Base images: 1,000 images on 20 bases, each in a Deployment, with a BaseImagePolicy for each base that examines all of them; then 100 policies for 300 of these images; then a push of a base on which 300 images are built, with the action rebase. Half of the images name their base; for the others, this registry is asked twice for attestations, because it has no list of referrers.',
  async run(world, quick) {
    await defineBases(world);
    const product = await world.startProduct();
    const size = quick ? { images: 6, bases: 2, shared: 3, policies: 4 } : { images: 1_000, bases: 20, shared: 300, policies: 100 };
    const all = await createBases(world, size.bases);
    await pushOnBases(world, all, size.images);
    const first = await measureFirstSight(world, product, all, { images: size.images, quick });
    const changed = await measureChange(world, product, all, size);
    const push = await measurePush(world, product, size.shared);
    return {
      figures: [...first.figures, ...changed.figures, ...push.figures],
      raw: { first: first.raw, changed: changed.raw, push: push.raw },
    };
  },
};

async function createBases(world: BenchWorld, count: number): Promise<Bases> {
  const room = `room-${randomUUID().slice(0, 8)}`;
  return { room, count, digests: await pushBases(world, { room, count }, '21.0.1') };
}

interface Part {
  readonly figures: readonly Figure[];
  readonly raw: unknown;
}

async function measureFirstSight(
  world: BenchWorld,
  product: Product,
  all: Bases,
  { images, quick }: { readonly images: number; readonly quick: boolean },
): Promise<Part> {
  const namespace = await deployApplications(world, all, images);
  if (!quick) await delay(restMs);
  const before = { requests: await countRegistryRequests(product), rss: readRss(product.pid) };
  await each(
    Array.from({ length: all.count }, (_, index) => baseName(index)),
    (base) => createBasePolicy(world, namespace, { room: all.room, name: base, base }),
  );
  await untilExamined(world, namespace, images);
  await untilQuiet(product);
  const after = await countRegistryRequests(product);
  const raw = difference(before.requests, after);
  const working = readRss(product.pid);
  if (!quick) await delay(restMs);
  const resting = readRss(product.pid);
  await changeOne(world, namespace, 0, { labels: { touched: 'yes' } });
  await delay(quietMs);
  await untilQuiet(product);
  const again = difference(after, await countRegistryRequests(product));
  return {
    figures: [
      limited(
        { name: 'requests to the registry for each image at first sight', product: round(sumOf(raw) / images, 2), unit: '' },
        { atMost: 4 },
      ),
      limited({ name: 'requests after a workload has changed, but not its image', product: sumOf(again), unit: '' }, { exactly: 0 }),
      limited({ name: 'lists of tags for each base', product: round((raw['tags'] ?? 0) / all.count, 2), unit: '' }, { exactly: 1 }),
      limited({ name: 'memory (RSS) for these images, at rest', product: resting - before.rss, unit: 'MB' }, { atMost: 100 }),
      { name: 'memory (RSS) right after they were examined, with the garbage of that', product: working - before.rss, unit: 'MB' },
    ],
    raw: { first: raw, again },
  };
}

/** One workload gets another image, which many policies examine. */
async function measureChange(
  world: BenchWorld,
  product: Product,
  all: Bases,
  { shared, policies }: { readonly shared: number; readonly policies: number },
): Promise<Part> {
  const namespace = await deployApplications(world, all, shared);
  await each(
    Array.from({ length: policies }, (_, index) => index),
    (index) => createBasePolicy(world, namespace, { room: all.room, name: `policy-${index}`, base: baseName(index % all.count) }),
  );
  await untilExamined(world, namespace, shared);
  await untilQuiet(product);
  await pushOnBases(world, all, 1, '1.0.1');
  const before = await countRegistryRequests(product);
  const start = performance.now();
  await changeOne(world, namespace, 0, { tag: '1.0.1', room: all.room });
  await waitFor('the new image to be read', async () => sumOf(difference(before, await countRegistryRequests(product))) > 0);
  await untilQuiet(product);
  const raw = difference(before, await countRegistryRequests(product));
  return {
    figures: [
      limited({ name: `requests for one new image that ${policies} policies examine`, product: sumOf(raw), unit: '' }, { atMost: 4 }),
      { name: 'until all of them are reconciled', product: round((performance.now() - start - quietMs) / 1_000, 1), unit: 's' },
    ],
    raw,
  };
}

/** A push of a base with the action rebase: until the first workload runs the rebased image. */
async function measurePush(world: BenchWorld, product: Product, count: number): Promise<Part> {
  const one = await createBases(world, 1);
  await pushOnBases(world, one, count);
  const namespace = await deployApplications(world, one, count);
  const { host } = world.registry;
  await world.cluster.request('POST', `/api/v1/namespaces/${namespace}/secrets`, {
    metadata: { name: 'rebaser' },
    type: 'kubernetes.io/dockerconfigjson',
    data: { '.dockerconfigjson': Buffer.from(JSON.stringify({ auths: { [host]: { username: 'x', password: 'y' } } })).toString('base64') },
  });
  const spec = { onNewBase: [{ rebase: { pushSecret: { name: 'rebaser' } } }] };
  await createBasePolicy(world, namespace, { ...one, name: 'java', base: baseName(0), spec });
  await untilExamined(world, namespace, count);
  await untilQuiet(product);
  await pushBases(world, one, '21.0.2');
  const before = await countRegistryRequests(product);
  const start = performance.now();
  const body = harborBody(host, `${one.room}/${baseName(0)}`, [{ tag: '21.0.2' }]);
  const headers = { 'content-type': 'application/json', authorization: secret };
  await waitFor('the push to be accepted', async () => {
    const { status } = await fetch(`${product.publicUrl}/webhooks/harbor`, { method: 'POST', headers, body });
    return status === 202;
  });
  await waitFor('the first workload to run a rebased image', async () => (await imageOf(world, namespace, 0)).includes('-base.'), {
    intervalMs: 10,
    timeoutMs: 120_000,
  });
  const seconds = (performance.now() - start) / 1_000;
  const raw = difference(before, await countRegistryRequests(product));
  return {
    figures: [
      limited(
        { name: `from the push of a base until the first of ${count} workloads is changed`, product: round(seconds, 2), unit: 's' },
        { atMost: 5 },
      ),
      { name: 'requests to the registry until then', product: sumOf(raw), unit: '' },
    ],
    raw,
  };
}

async function changeOne(
  { cluster, registry }: BenchWorld,
  namespace: string,
  index: number,
  { labels = {}, tag = '1.0.0', room }: { readonly labels?: object; readonly tag?: string; readonly room?: string },
): Promise<void> {
  const name = applicationName(index);
  const spec = room === undefined ? {} : deployment(name, `${registry.host}/${room}/${name}:${tag}`);
  await cluster.request('PATCH', `${deploymentsIn(namespace)}/${name}`, {
    ...('spec' in spec && { spec: spec.spec }),
    metadata: { labels },
  });
}

async function imageOf({ cluster }: BenchWorld, namespace: string, index: number): Promise<string> {
  const { spec } = await cluster.request<{ spec: { template: { spec: { containers: { image: string }[] } } } }>(
    'GET',
    `${deploymentsIn(namespace)}/${applicationName(index)}`,
  );
  return spec.template.spec.containers[0]?.image ?? '';
}

/** Until no request to a registry was sent for a while. */
async function untilQuiet(product: Product): Promise<void> {
  for (let before = -1; ;) {
    const now = sumOf(Object.fromEntries(await countRegistryRequests(product)));
    if (now === before) return;
    before = now;
    await delay(quietMs);
  }
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
