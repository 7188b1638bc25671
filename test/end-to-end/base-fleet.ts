/** Applications on one base in a registry, as Deployments, and what happens to them, as the API server reports it. */
import { inParallel } from '../../src/core/async/in-parallel.ts';
import type { ControlPlane } from '../harness/control-plane.ts';
import { waitFor } from '../harness/wait-for.ts';
import { watchObjects } from '../harness/watch-objects.ts';
import { bothPlatforms, pushReal, type RealBuild } from '../bases/rebase/build.ts';
import { formats } from '../bases/recognize/build-image.ts';

export const basePath = 'library/base-java';
const os = { 'etc/os-release': 'Debian PLATFORM' };
const config = { Env: ['PATH=/opt/java/bin:/usr/bin'], User: 'app', Entrypoint: ['java', '-jar', '/app/main.jar'] };
const amd64 = ['linux/amd64'];

/** Pushes a version of the base; returns its digest. */
export async function pushBase(host: string, version: string): Promise<string> {
  const layers = [os, { 'opt/java/bin/java': `java ${version} PLATFORM` }];
  const { digest } = await pushReal({ host, repository: basePath, tag: version }, { layers, config, created: '2026-01-01T00:00:00Z' });
  return digest;
}

/** The ways in which an image shows its base, and the platforms that it has. */
function buildOf(index: number, host: string, digest: string): Partial<RealBuild> {
  const names = { 'org.opencontainers.image.base.name': `${host}/${basePath}`, 'org.opencontainers.image.base.digest': digest };
  const ways: Partial<RealBuild>[] = [
    { platforms: amd64 },
    { platforms: bothPlatforms },
    { platforms: amd64, annotations: names },
    { platforms: bothPlatforms, indexAnnotations: names },
    { platforms: amd64, format: formats.docker },
  ];
  return ways[index % ways.length] ?? {};
}

/** Pushes applications on the base with this version and digest: `shop/NAME:1.2.3`. */
export async function pushApplications(
  host: string,
  names: readonly string[],
  version: string,
  digest: string,
  tag = '1.2.3',
): Promise<void> {
  const java = { 'opt/java/bin/java': `java ${version} PLATFORM` };
  await all(
    names.map((name, index) => ({ name, index })),
    async ({ name, index }) => {
      const layers = [os, java, { 'app/main.jar': `${name} ${tag} PLATFORM` }];
      await pushReal({ host, repository: `shop/${name}`, tag }, { layers, config, ...buildOf(index, host, digest) });
    },
  );
}

/** Pushes applications on something else. */
export async function pushUnrelated(host: string, names: readonly string[]): Promise<void> {
  await all(names, async (name) => {
    const layers = [{ 'etc/os-release': 'Alpine PLATFORM' }, { 'usr/bin/python': 'python' }, { 'app/main.py': name }];
    await pushReal({ host, repository: `shop/${name}`, tag: '1.2.3' }, { layers, config, platforms: amd64 });
  });
}

/** Does it for each; rejects with the first error. */
export async function all<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  for (const result of await inParallel(items, 8, act)) if (result.status === 'rejected') throw result.reason;
}

interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: { readonly containers: readonly { readonly name: string; readonly image: string }[] };
  readonly status?: { readonly containerStatuses?: readonly unknown[] };
}

const longAgo = '2026-01-01T00:00:00Z';

type Ended = 'Succeeded' | 'Failed';

/**
 * Reports all pods of the namespace: they run, crash where `crashes` says so of their image, or are not started while `holds` says so. Pods of Jobs end as
 * `ends` says of their annotations; until it says so, they are not started.
 */
export function runPods(cluster: ControlPlane, namespace: string) {
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const kubelet = {
    crashes: (_image: string, _pod: string) => false,
    holds: (_image: string) => false,
    ends: (_annotations: Readonly<Record<string, string>>): Ended | undefined => undefined,
    stop: async () => {},
  };
  const isOfJob = ({ metadata }: Pod) => metadata.labels?.['batch.kubernetes.io/job-name'] !== undefined;
  const endOf = (pod: Pod) => kubelet.ends(pod.metadata.annotations ?? {});
  const endedAs = ({ spec }: Pod, phase: Ended) => {
    const terminated = { exitCode: phase === 'Failed' ? 1 : 0, reason: phase, startedAt: longAgo, finishedAt: longAgo };
    const containerStatuses = spec.containers.map(({ name, image }) => ({
      name,
      image,
      imageID: '',
      ready: false,
      restartCount: 0,
      state: { terminated },
    }));
    return { phase, startTime: longAgo, containerStatuses };
  };
  const statusOf = (pod: Pod) => {
    const end = isOfJob(pod) ? endOf(pod) : undefined;
    if (end !== undefined) return endedAs(pod, end);
    const { metadata, spec } = pod;
    const crashes = spec.containers.some(({ image }) => kubelet.crashes(image, metadata.name));
    const state = crashes
      ? {
          restartCount: 4,
          state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 1m20s restarting failed container' } },
          lastState: { terminated: { reason: 'Error', exitCode: 3, startedAt: longAgo, finishedAt: longAgo } },
        }
      : { restartCount: 0, state: { running: { startedAt: longAgo } } };
    return {
      phase: crashes ? 'Pending' : 'Running',
      startTime: longAgo,
      conditions: [{ type: 'Ready', status: crashes ? 'False' : 'True', lastTransitionTime: longAgo }],
      containerStatuses: spec.containers.map(({ name, image }) => ({ name, image, imageID: '', ready: !crashes, ...state })),
    };
  };
  const report = async () => {
    const { items } = await cluster.request<{ items: Pod[] }>('GET', path);
    const isNew = (pod: Pod) =>
      pod.metadata.deletionTimestamp === undefined &&
      pod.status?.containerStatuses === undefined &&
      (isOfJob(pod) ? endOf(pod) !== undefined : !pod.spec.containers.some(({ image }) => kubelet.holds(image)));
    const started = items.filter(isNew).map(async (pod) => {
      // It may be gone by now.
      await cluster.request('PATCH', `${path}/${pod.metadata.name}/status`, { status: statusOf(pod) }).catch(() => {});
    });
    await Promise.all(started);
  };
  const stopping = new AbortController();
  const never = waitFor('the end of the test', () => report().then(() => false as const), {
    timeoutMs: Number.POSITIVE_INFINITY,
    intervalMs: 100,
    signal: stopping.signal,
  }).catch(() => {});
  kubelet.stop = async () => {
    stopping.abort();
    await never;
  };
  return kubelet;
}

interface Observed {
  readonly metadata: { readonly name: string; readonly generation: number };
  readonly spec: {
    readonly replicas: number;
    readonly template: { readonly spec: { readonly containers: readonly { readonly image: string }[] } };
  };
  readonly status: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly availableReplicas?: number;
  };
}

function isRollingOut({ metadata, spec: { replicas }, status }: Observed): boolean {
  const { observedGeneration = 0, updatedReplicas = 0, availableReplicas = 0, replicas: existing = 0 } = status;
  return observedGeneration < metadata.generation || updatedReplicas < replicas || availableReplicas < replicas || existing !== replicas;
}

/** Follows all Deployments of a namespace from now on by a watch, so that no state is missed. */
export async function observeDeployments(cluster: ControlPlane, namespace: string) {
  const imageOf = ({ spec }: Observed) => spec.template.spec.containers[0]?.image ?? '';
  const images = new Map<string, string>();
  const rollingOut = new Set<string>();
  const onChange = (deployment: Observed) => {
    const { name } = deployment.metadata;
    const image = imageOf(deployment);
    if (images.get(name) !== image) seen.changes.push({ name, image, besides: [...rollingOut].filter((one) => one !== name) });
    images.set(name, image);
    if (isRollingOut(deployment)) rollingOut.add(name);
    else rollingOut.delete(name);
    seen.most = Math.max(seen.most, rollingOut.size);
  };
  const seen = {
    /** In their order: which Deployment runs another image. */
    changes: [] as { readonly name: string; readonly image: string; readonly besides: readonly string[] }[],
    /** How many were rolling out at the same time. */
    most: 0,
    get error() {
      return watch.error;
    },
    changesOf: (name: string) => seen.changes.filter((one) => one.name === name).map(({ image }) => image),
    /** Forgets what was seen. */
    clear: () => {
      seen.changes = [];
      seen.most = rollingOut.size;
    },
    stop: () => watch.stop(),
  };
  const watch = await watchObjects(cluster, `/apis/apps/v1/namespaces/${namespace}/deployments`, onChange);
  for (const one of watch.items) images.set(one.metadata.name, imageOf(one));
  return seen;
}
