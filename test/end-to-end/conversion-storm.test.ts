/** Strangers flood the conversion listener with whatever costs most, while an API server needs it: a process with the memory that the chart gives it. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { after, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { fieldsOf, textOrEmpty } from '../../src/core/model/untyped.ts';
import { hostileReviews } from '../conversion/hostile-reviews.ts';
import { borrowControlPlane, type ControlPlane } from '../harness/control-plane.ts';
import { mainProgram } from '../harness/program.ts';
import { startService, type Service } from '../harness/service.ts';
import { kubeconfigAsShipped } from '../harness/shipped-permissions.ts';
import { waitFor } from '../harness/wait-for.ts';
import { conversionCluster, nowhere, olderPolicy } from './conversion-world.ts';

/** The limit that the chart gives to `convert`. */
const chartLimitMiB = limitInChart();
/** As in the Dockerfile, with the share of that limit which the heap may take. */
const nodeOptions = [
  '--max-semi-space-size=16',
  '--heap-growing-percent=30',
  '--expose-gc',
  `--max-old-space-size=${Math.floor(chartLimitMiB * 0.7)}`,
];
const strangers = 100;
const reviews = Object.values(hostileReviews(4_194_304));

/** Posts one body after the other, without end, whatever becomes of them; on connections of its own each time. */
function flood(url: string, index: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const sendReview = (count: number) => {
    if (signal.aborted) return resolve();
    const headers = { 'content-type': 'application/json' };
    const call = httpsRequest(url, { method: 'POST', agent: false, rejectUnauthorized: false, localAddress: '127.0.0.2', headers, signal });
    call.on('response', (response) => response.resume());
    call.on('error', () => undefined).once('close', () => sendReview(count + 1));
    call.end(reviews[(index + count) % reviews.length]);
    return undefined;
  };
  sendReview(0);
  return promise;
}

describe('a conversion listener that serves an API server and a hundred strangers who send the largest possible reviews', () => {
  let cluster: ControlPlane;
  let service: Service;
  let world: ReturnType<typeof conversionCluster>;
  before(async () => {
    cluster = await borrowControlPlane();
    world = conversionCluster(cluster);
    const main = await mainProgram();
    const program = { command: process.execPath, args: () => [...nodeOptions, main] };
    const kubeconfig = await kubeconfigAsShipped(cluster);
    const env = { LOG_LEVEL: 'warn', MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072' };
    service = await startService({ redisUrl: nowhere.redisUrl, roles: 'convert', kubeconfig, program, env });
  });
  after(async () => {
    await service.stop();
    await cluster.stop();
  });

  it(
    'lets hundreds of policies be listed, some as large as etcd accepts, within the memory limit even during the flood',
    { timeout: 480_000 },
    async () => {
      const namespace = await cluster.namespace('storm');
      const count = 303;
      await world.storeOlder(service.conversionUrl, namespace, count - 3);
      // What the API server lets users fill an object with: finalizers have no bound of their own, and managedFields repeats them.
      const finalizers = Array.from({ length: 14_000 }, (_, index) => `example.com/f-${index}`);
      for (const name of ['huge-1', 'huge-2', 'huge-3']) {
        const policy = olderPolicy(name) as { metadata: object };
        const metadata = { ...policy.metadata, finalizers, annotations: { filler: 'x<'.repeat(60_000) } };
        await cluster.request('POST', world.listPath('v1alpha1', namespace), { ...policy, metadata });
      }
      for (const version of ['v1', 'v1alpha1']) {
        const policies = await waitFor(`the list of ${version}`, () => world.list(version, namespace));
        assert.equal(policies.length, count);
      }

      const stop = new AbortController();
      const floods = Array.from({ length: strangers }, (_, index) => flood(service.conversionUrl, index, stop.signal));
      const { pid } = service;
      try {
        // A page at a time: the strangers' handshakes alone take most of a busy machine.
        for (const version of ['v1', 'v1alpha1', 'v1', 'v1alpha1']) {
          // An API server that shares the machine with the flood gives up after 30 s, and clients ask again.
          const { items } = await waitFor('a page', () =>
            cluster.request<{ items: unknown[] }>('GET', `${world.listPath(version, namespace)}?limit=10`),
          );
          assert.equal(items.length, 10);
        }
        assert.equal((await fetch(`${service.operationsUrl}/livez`)).status, 200);
      } finally {
        stop.abort();
        await Promise.all(floods);
      }
      assert.equal((await waitFor('the list after the flood', () => world.list('v1', namespace))).length, count);
      const peak = peakMiB(pid);
      assert.ok(peak === undefined || peak < chartLimitMiB, `${peak} MiB`);
    },
  );
});

/** The most memory that a process ever had, without the files that it maps, which a container may drop; undefined where the system does not tell. */
function peakMiB(pid: number): number | undefined {
  const file = `/proc/${pid}/status`;
  if (!existsSync(file)) return undefined;
  const text = readFileSync(file, 'utf8');
  const [peak, files] = [/VmHWM:\s+(\d+) kB/, /RssFile:\s+(\d+) kB/].map((line) => Number(line.exec(text)?.[1]) / 1_024);
  return Math.round((peak ?? NaN) - (files ?? NaN));
}

function limitInChart(): number {
  const values: unknown = parse(readFileSync(new URL('../../charts/image-watcher/values.yaml', import.meta.url), 'utf8'));
  const limit = textOrEmpty(fieldsOf(fieldsOf(fieldsOf(fieldsOf(values)['convert'])['resources'])['limits'])['memory']);
  const [, mebibytes] = /^(\d+)Mi$/.exec(limit) ?? assert.fail(`the limit of convert is "${limit}"`);
  return Number(mebibytes);
}
