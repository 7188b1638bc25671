import { PermanentError } from '../../core/model/errors.ts';
import type { OnAnswered } from '../../core/model/server-clock.ts';
import type { KubeClient } from './client.ts';
import { isKubeError } from './kube-error.ts';
import { readDate } from './server-time.ts';

/** A kind of object as the API server's URLs name it. */
export interface Resource {
  /** `v1` or `group/version`, as in manifests. */
  readonly apiVersion: string;
  /** The plural of the kind. */
  readonly resource: string;
}

/** The path of all objects of a resource, in one namespace or (undefined) everywhere: `/apis/apps/v1/namespaces/shop/deployments`. */
export function listPath({ apiVersion, resource }: Resource, namespace?: string): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return namespace === undefined ? `${root}/${resource}` : `${root}/namespaces/${segment(namespace)}/${resource}`;
}

/** The path of one namespaced object. Throws PermanentError(InvalidPolicy) for an invalid name, because names come from users' policies. */
export function objectPath(resource: Resource, namespace: string, name: string): string {
  return `${listPath(resource, namespace)}/${segment(name)}`;
}

/** The path of one Namespace. Throws PermanentError(InvalidPolicy) for an invalid name. */
export function namespacePath(namespace: string): string {
  return `/api/v1/namespaces/${segment(namespace)}`;
}

/** A segment of a path. A name that is a path (`..`, `a/b`, empty) would address another object than the one that was checked. */
function segment(name: string): string {
  if (/^[A-Za-z0-9](?:[A-Za-z0-9.:_-]*[A-Za-z0-9])?$/.test(name) && name.length <= 253) return encodeURIComponent(name);
  throw new PermanentError('InvalidPolicy', `"${name.slice(0, 100)}" cannot be the name of a Kubernetes object`);
}

/** The media types to request only metadata: of a list, and of one object or its changes. */
export const metadataForms = {
  list: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
  object: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
} as const;

/** Reads the current state of one object; undefined if it does not exist. */
export function readObject<T>(client: KubeClient, path: string, signal?: AbortSignal, onAnswered?: OnAnswered): Promise<T | undefined> {
  return unlessMissing(client.request<T>({ method: 'GET', path, signal, ...readDate(onAnswered) }));
}

/** Reads only the metadata of an object; undefined if it does not exist. */
export function readMetadataOnly(client: KubeClient, path: string, timeoutMs: number): Promise<object | undefined> {
  return unlessMissing(client.request<object>({ method: 'GET', path, accept: metadataForms.object, timeoutMs }));
}

async function unlessMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isKubeError(error, 404)) return undefined;
    throw error;
  }
}

/** Which objects to list, and how many per page. */
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
  /** The number of objects after this page. */
  readonly remaining: number;
}

// The timeout of a page. A page of large objects through a slow API server proxy takes longer than an ordinary response.
const pageTimeoutMs = 30_000;

/**
 * Lists a collection page by page, as one snapshot. The next page is requested while the caller works on the last one, because either takes as long. Throws
 * KubeError 410 if the snapshot expires before the end; start again then.
 */
export async function* listPages(client: KubeClient, { pageSize, ...request }: ListRequest): AsyncGenerator<ListPage> {
  const readAhead = (next?: string) => {
    const page = readPage(client, { pageSize, ...request }, next);
    // An early error is handled when the page is awaited. Nobody awaits it while the caller works, or if the caller stops.
    page.catch(() => undefined);
    return page;
  };
  for (let ahead: Promise<PageWithNext> | undefined = readAhead(); ahead !== undefined;) {
    const { next, ...page }: PageWithNext = await ahead;
    ahead = next === undefined ? undefined : readAhead(next);
    yield page;
  }
}

interface PageWithNext extends ListPage {
  readonly next: string | undefined;
}

async function readPage(
  client: KubeClient,
  { path, pageSize, signal, fieldSelector, labelSelector, accept }: ListRequest,
  next: string | undefined,
): Promise<PageWithNext> {
  const page = await client.request<{
    metadata?: { resourceVersion?: string; continue?: string; remainingItemCount?: number };
    items?: unknown[] | null;
  }>({
    method: 'GET',
    path,
    query: { limit: pageSize, continue: next, fieldSelector, labelSelector },
    timeoutMs: pageTimeoutMs,
    accept,
    signal,
  });
  if (!page?.metadata?.resourceVersion) throw new Error(`GET ${path}: the answer is not a list`);
  const { resourceVersion, continue: more, remainingItemCount: remaining = 0 } = page.metadata;
  return { items: page.items ?? [], resourceVersion, remaining, next: more || undefined };
}
