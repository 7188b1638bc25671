/**
 * A service in clusters of growing size, with a Deployment for each policy and a repository for five of them:
 * `npm run bench -- hundred-thousand [--sizes 1000,10000,100000] [--simulate 1000000] [--output FILE]`.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { startFakeRegistry } from '../test/harness/fake-registry.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { each } from './world/applications.ts';
import { fillEtcd } from './world/fill-cluster.ts';
import { startSide } from './world/sides.ts';
import { round } from './world/statistics.ts';
import { type BenchWorld, startBenchWorld } from './world/world.ts';
import {
  measureContents,
  measureLatency,
  measureResync,
  measureRest,
  measureStart,
  measureUnwatched,
  measureWatched,
  type Subject,
} from './hundred-thousand/measure-size.ts';
import { countWarnings } from './hundred-thousand/observe.ts';
import { describeMachine } from './report/machine.ts';

const perNamespace = 200;
const perRepository = 5;
const applications = 10;

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '1000,10000,100000' },
    simulate: { type: 'string' },
    output: { type: 'string' },
    quick: { type: 'boolean', default: false },
    profile: { type: 'string' },
    'node-options': { type: 'string', default: '' },
  },
});
const result =
  values.simulate === undefined ? await measureSizes(values.sizes.split(',').map(Number)) : await simulateSize(Number(values.simulate));
const text = JSON.stringify(result, undefined, 2);
if (values.output === undefined) console.log(text);
else writeFileSync(values.output, `${text}\n`);

async function simulateSize(count: number): Promise<unknown> {
  const { simulate } = await import('./hundred-thousand/simulate.ts');
  return simulate(count);
}

async function measureSizes(sizes: readonly number[]): Promise<unknown> {
  const largest = Math.max(...sizes);
  const world = await startBenchWorld({ profile: values.profile, nodeOptions: values['node-options'].split(' ').filter(Boolean) });
  const registry = await startRegistryOfOneTag();
  const results: Record<string, unknown> = {};
  try {
    const namespaces = Array.from({ length: Math.ceil(largest / perNamespace) }, (_, index) => `team-${index}`);
    await each(namespaces, (name) => world.cluster.request('POST', '/api/v1/namespaces', { metadata: { name } }));
    const product = await world.startProduct({ registryHosts: [registry.host], untilReady: false });
    const subject: Subject = { world, product, redis: new Redis(world.redis.url), restMs: values.quick ? 1_000 : 60_000 };
    const sides = [
      await startSide(world, 'floor', { count: applications }),
      await startSide(world, 'product', { count: applications }, product),
    ];
    const [, side] = sides;
    if (side === undefined) throw new Error('unreachable');
    log(0, 'latency', (results['0'] = await measureLatency(sides)));
    let [size, starts] = [0, 1];
    for (const next of sizes) {
      await product.stop();
      const fill = { namespaces, perNamespace, host: registry.host, repositories: largest / perRepository, pollInterval: '1h' };
      const begin = performance.now();
      await fillEtcd(world.cluster.etcd.url, fill, size, next);
      const fillSeconds = round((performance.now() - begin) / 1_000, 1);
      size = next;
      await untilServed(world);
      const wanted = { policies: size + applications, deployments: size + 2 * applications };
      const start = log(size, 'start', await measureStart(subject, wanted, starts++));
      const rest = log(size, 'rest', await measureRest(subject));
      const latency = log(size, 'latency', await measureLatency(sides));
      const watched = log(size, 'watched', await measureWatched(subject, side));
      const unwatched = log(size, 'unwatched', await measureUnwatched(subject));
      const contents = log(size, 'contents', await measureContents(subject));
      const last = size - 1;
      size--;
      const bulk = { namespace: namespaces[Math.floor(last / perNamespace)] ?? '', name: `bulk-${last}` };
      const resync = log(next, 'resync', await measureResync(subject, bulk));
      const warnings = log(next, 'warnings', countWarnings(product));
      results[next] = { fillSeconds, start, rest, latency, watched, unwatched, contents, resync, warnings };
    }
    subject.redis.disconnect();
  } finally {
    await world.stop();
    await registry.stop();
  }
  return { date: new Date().toISOString().slice(0, 10), ...(await describeMachine()), sizes: results };
}

/** The API server learns later what was written to etcd; until then it answers lists with 504. */
async function untilServed({ cluster }: BenchWorld): Promise<void> {
  for (const path of ['/apis/operator.technomad.dev/v1/imagepolicies', '/apis/apps/v1/deployments'])
    await waitFor('the API server to know all objects', () => cluster.request('GET', `${path}?limit=1`), { timeoutMs: 300_000 });
}

/** Each repository of it has one tag, 1.0.0: polls find nothing new. */
async function startRegistryOfOneTag(): Promise<Awaited<ReturnType<typeof startFakeRegistry>>> {
  const registry = await startFakeRegistry();
  const answer = { headers: { 'content-type': 'application/json' }, body: '{"name":"any","tags":["1.0.0"]}' };
  registry.answerNext(answer, { path: /\/tags\/list/, times: Infinity });
  return registry;
}

function log<T>(size: number, what: string, measured: T): T {
  console.error(`${new Date().toISOString().slice(11, 19)} ${size} ${what} ${JSON.stringify(measured)}`);
  return measured;
}
