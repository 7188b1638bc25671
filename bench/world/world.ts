/** Redis with AOF always, etcd with fsync, an API server and a registry, all real and on loopback: what floor and product share. */
import { randomUUID } from 'node:crypto';
import { customResourceDefinition } from '../../src/conversion/definition.ts';
import { startControlPlane, type ControlPlane } from '../../test/harness/control-plane.ts';
import { startRedis, type Redis } from '../../test/harness/redis.ts';
import { startRegistry, type Registry } from '../../test/harness/registry.ts';
import { asInImage } from '../../test/harness/image-start.ts';
import { startService, type Service } from '../../test/harness/service.ts';
import { waitFor } from '../../test/harness/wait-for.ts';
import type { ThreadTimes } from './thread-times.ts';

/** What Harbor sends as its `Authorization`. */
export const secret = 'a-secret-of-the-benchmark';

export interface BenchWorld {
  readonly redis: Redis;
  readonly cluster: ControlPlane;
  readonly registry: Registry;
  /** Starts the product with a part of Redis of its own, and ends it with the world if not before. */
  startProduct(options?: ProductOptions): Promise<Product>;
  /** Ends with the world. */
  keep<T extends { stop(): Promise<void> }>(started: T): T;
  /** Ends what was started in the world, and leaves its servers to what comes next. */
  clear(): Promise<void>;
  stop(): Promise<void>;
}

export type Product = Service & { readonly prefix: string };

export interface ProductOptions {
  readonly roles?: string;
  /** Of Redis: another one's, to go on where it ended. */
  readonly prefix?: string;
  /** Of registries besides the world's own, over plain http. */
  readonly registryHosts?: readonly string[];
  /** Of a process with nothing but the dashboard: where the API of the others is. */
  readonly dashboardApi?: string;
  /** Resolves before it is ready. */
  readonly untilReady?: boolean;
  /** Records for how long its main thread is taken. */
  readonly threadTimes?: ThreadTimes;
}

export interface WorldOptions {
  /** A folder for CPU profiles of the product, written when it ends. */
  readonly profile?: string | undefined;
  /** More options of Node for the product. */
  readonly nodeOptions?: readonly string[];
}

/** Starts it all. */
export async function startBenchWorld({ profile, nodeOptions = [] }: WorldOptions = {}): Promise<BenchWorld> {
  const [redis, cluster, registry] = await Promise.all([startRedis({ fsync: true }), startControlPlane(), startRegistry()]);
  const options = [...nodeOptions, ...(profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`])];
  const started: { stop(): Promise<void> }[] = [];
  const keep = <T extends { stop(): Promise<void> }>(one: T): T => {
    started.unshift(one);
    return one;
  };
  const clear = async () => {
    for (const one of started.splice(0)) await one.stop();
  };
  await cluster.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', customResourceDefinition());
  await waitFor('the resource to be served', () => cluster.request('GET', '/apis/operator.technomad.dev/v1/imagepolicies'));
  return {
    redis,
    cluster,
    registry,
    keep,
    clear,
    async startProduct({
      roles = 'receive,work',
      prefix = `{bench-${randomUUID().slice(0, 8)}}`,
      registryHosts = [],
      dashboardApi,
      untilReady = true,
      threadTimes,
    } = {}) {
      const asImage = await asInImage([...options, ...(threadTimes?.nodeOptions ?? [])]);
      const service = await startService({
        redisUrl: redis.url,
        kubeconfig: cluster.kubeconfigPath,
        roles,
        untilReady,
        ...asImage,
        // And nobody is to be refused for being fast.
        env: { ...asImage.env, ...threadTimes?.env, WEBHOOK_SECRET: secret, LOG_LEVEL: 'info' },
        config: {
          redis: { url: redis.url, prefix },
          receivers: [{ name: 'harbor', provider: 'harbor', secrets: [{ env: 'WEBHOOK_SECRET' }], requestsPerMinute: 100_000_000 }],
          registries: [registry.host, ...registryHosts].map((host) => ({ host, insecure: true })),
          ...(dashboardApi !== undefined && { dashboard: { api: dashboardApi } }),
        },
      });
      return keep(Object.assign(service, { prefix }));
    },
    async stop() {
      await clear();
      await Promise.all([redis.stop(), cluster.stop(), registry.stop()]);
    },
  };
}
