/** What others counted: the API server its requests, the product its own, Linux the process. */
import { readdirSync, readFileSync } from 'node:fs';
import type { ControlPlane } from '../../test/harness/control-plane.ts';
import type { Product } from './world.ts';

/** Numbers by name; what is not there is 0. */
export type Counts = ReadonlyMap<string, number>;

const ours = new Set(['deployments', 'imagepolicies', 'events', 'secrets', 'serviceaccounts', 'namespaces', 'pods', 'replicasets']);

/** Requests to the API server about what the product may touch, as `PATCH imagepolicies/status`. Watches are counted when they end. */
export async function countKubeRequests({ request }: ControlPlane): Promise<Counts> {
  const text = await request<string>('GET', '/metrics');
  return countBy(text, 'apiserver_request_total', ({ verb = '', resource = '', subresource = '' }) =>
    ours.has(resource) ? `${verb} ${[resource, subresource].filter(Boolean).join('/')}` : undefined,
  );
}

/** Requests to registries by kind. */
export async function countRegistryRequests(product: Product): Promise<Counts> {
  return countBy(await readMetrics(product), 'image_watcher_registry_requests_total', ({ kind }) => kind);
}

/** The value of a metric, of all its labels together. */
export async function readMetric(product: Product, name: string): Promise<number> {
  return countBy(await readMetrics(product), name, () => name).get(name) ?? 0;
}

/** What was counted in between, without what was not. */
export function difference(before: Counts, after: Counts): Record<string, number> {
  const entries = [...after].map(([name, count]): [string, number] => [name, count - (before.get(name) ?? 0)]);
  return Object.fromEntries(entries.filter(([, count]) => count !== 0).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Megabytes in memory. */
export function readRss(pid: number): number {
  const [, kilobytes = ''] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1_000;
}

/** Milliseconds of a core that the threads of a process have used so far, those that have ended excepted. */
export function readCpuMs(pid: number): number {
  // Nanoseconds, as the scheduler counts them; the times in /proc/PID/stat have a resolution of 10 ms.
  const times = readdirSync(`/proc/${pid}/task`).map((thread) => readIfThere(`/proc/${pid}/task/${thread}/schedstat`));
  return times.reduce((sum, time) => sum + Number(time.split(' ')[0]), 0) / 1_000_000;
}

/** A thread may end meanwhile. */
function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '0';
  }
}

async function readMetrics({ operationsUrl }: Product): Promise<string> {
  return (await fetch(`${operationsUrl}/metrics`)).text();
}

function countBy(text: string, metric: string, nameOf: (labels: Readonly<Record<string, string>>) => string | undefined): Counts {
  const counts = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, all = '', value] = /^[a-z_]+(?:\{(.*)\})? ([\d.e+]+)$/.exec(line.startsWith(metric) ? line : '') ?? [];
    if (value === undefined || !/^[{ ]/.test(line.slice(metric.length))) continue;
    const labels = Object.fromEntries([...all.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', label = '']) => [name, label]));
    const name = nameOf(labels);
    if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + Number(value));
  }
  return counts;
}
