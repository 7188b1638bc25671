/** An API server that is not there: its lists are generated page by page, and its watches stay silent, so that a cluster may be of any size. */
import type { KubeClient, KubeRequest } from '../../src/service/kube/client.ts';
import { bulkPair, type FillOptions } from '../world/fill-cluster.ts';

/** A client of a cluster with this many Deployments and policies. Each page is parsed from text, as a real one would be. */
export function createGeneratedCluster(count: number, options: FillOptions): KubeClient {
  return {
    request<T>({ path, query = {} }: KubeRequest): Promise<T> {
      const start = Number(query['continue'] ?? 0);
      const end = Math.min(count, start + Number(query['limit'] ?? count));
      const of = path.endsWith('/imagepolicies') ? 'policy' : 'workload';
      const items = Array.from({ length: end - start }, (_, index) => withVersion(bulkPair(start + index, options)[of], start + index));
      const more = end < count ? { continue: String(end), remainingItemCount: count - end } : {};
      return Promise.resolve(JSON.parse(JSON.stringify({ metadata: { resourceVersion: String(10 * count), ...more }, items })) as T);
    },
    // eslint-disable-next-line require-yield
    async *streamLines({ signal, onOpen }) {
      onOpen?.();
      await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }));
    },
    close: () => Promise.resolve(),
  };
}

function withVersion(object: object, index: number): object {
  const { metadata } = object as { metadata: object };
  return { ...object, metadata: { ...metadata, resourceVersion: String(1_000 + index) } };
}
