import type { KubeClient } from './client.ts';

/** Which objects, and how many of them at a time. */
export interface ListRequest {
  readonly path: string;
  readonly pageSize: number;
  readonly fieldSelector?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly accept?: string | undefined;
  readonly signal?: AbortSignal;
}

/** One page of a list; `resourceVersion` is the same for all pages. */
export interface ListPage {
  readonly items: readonly unknown[];
  readonly resourceVersion: string;
  /** How many objects follow this page. */
  readonly remaining: number;
}

// A page of large objects through a slow apiserver proxy takes longer than an ordinary answer.
const pageTimeoutMs = 30_000;

/** Lists a collection page by page, as of one moment. Throws KubeError 410 when it took so long that this moment is forgotten: start again. */
export async function* listPages(
  client: KubeClient,
  { path, pageSize, signal, fieldSelector, labelSelector, accept }: ListRequest,
): AsyncGenerator<ListPage> {
  let next: string | undefined;
  do {
    const query = { limit: pageSize, continue: next, fieldSelector, labelSelector };
    const page = await client.request<{
      metadata?: { resourceVersion?: string; continue?: string; remainingItemCount?: number };
      items?: unknown[] | null;
    }>({
      method: 'GET',
      path,
      query,
      timeoutMs: pageTimeoutMs,
      accept,
      signal,
    });
    if (!page?.metadata?.resourceVersion) throw new Error(`GET ${path}: the answer is not a list`);
    yield { items: page.items ?? [], resourceVersion: page.metadata.resourceVersion, remaining: page.metadata.remainingItemCount ?? 0 };
    next = page.metadata.continue;
  } while (next);
}
