import { defined } from '../../core/model/defined.ts';
import { describeError } from '../../core/model/errors.ts';
import type { KubeClient } from '../../service/kube/client.ts';
import { isKubeError, KubeError } from '../../service/kube/kube-error.ts';
import { listPages, readObject } from '../../service/kube/objects.ts';
import { isTransient, pause } from '../../service/kube/retry.ts';
import { fieldManager } from '../../core/model/last-update.ts';

/** An object that could not be rewritten, and the API server's message. */
export interface RefusedObject {
  readonly namespace: string;
  readonly name: string;
  readonly message: string;
}

/** The progress of a pass over all objects; `total` is the best known number of them. */
export interface RewriteCounts {
  readonly total: number;
  readonly rewritten: number;
  readonly unchanged: number;
  readonly gone: number;
  readonly refused: readonly RefusedObject[];
}

export interface RewriteOptions {
  /** The objects of all namespaces, in the version through which they are written. */
  readonly listPath: string;
  readonly pathOf: (namespace: string, name: string) => string;
  /** The objects that are known to be in the storage version, by uid, with their resourceVersion. They are skipped; rewritten ones are added. */
  readonly known: Map<string, string>;
  readonly concurrency: number;
  readonly onProgress: (counts: RewriteCounts) => void;
  readonly random?: () => number;
  readonly pageSize?: number;
  readonly signal?: AbortSignal | undefined;
}

interface Listed {
  readonly metadata: { readonly namespace: string; readonly name: string; readonly uid: string; readonly resourceVersion: string };
}

const maxListTries = 7;
const maxFailuresInARow = 20;

/**
 * Rewrites every stored object once, in pages; known objects are not counted. A refused object does not stop the others. Throws when the API server cannot
 * list them, or fails for so many in a row that the objects are not the cause; rewritten objects stay rewritten.
 */
export async function rewriteAll(client: KubeClient, options: RewriteOptions): Promise<RewriteCounts> {
  const { listPath, pathOf, known, concurrency, onProgress, random = Math.random, pageSize = 500, signal } = options;
  const done = new Set<string>();
  const counts = { total: 0, rewritten: 0, unchanged: 0, gone: 0, refused: [] as RefusedObject[] };
  let failuresInARow = 0;

  const rewrite = async ({ metadata: { namespace, name, uid, resourceVersion } }: Listed) => {
    try {
      const rewrite = await rewriteObject(client, { path: pathOf(namespace, name), resourceVersion, random, signal });
      counts[rewrite.result] += 1;
      if (rewrite.resourceVersion !== undefined) known.set(uid, rewrite.resourceVersion);
      failuresInARow = 0;
    } catch (error) {
      signal?.throwIfAborted();
      counts.refused.push({ namespace, name, message: error instanceof KubeError ? error.detail : describeError(error) });
      failuresInARow = isTransient(error) ? failuresInARow + 1 : 0;
      if (failuresInARow >= maxFailuresInARow)
        throw new Error(`the API server failed for ${failuresInARow} objects in a row`, { cause: error });
    }
    done.add(uid);
    onProgress(counts);
  };

  for (let attempt = 0; ; attempt++) {
    const doneBefore = done.size;
    try {
      for await (const { items, remaining } of listPages(client, { path: listPath, pageSize, ...defined({ signal }) })) {
        const page = (items as readonly Listed[]).filter(
          ({ metadata: { uid, resourceVersion } }) => !done.has(uid) && known.get(uid) !== resourceVersion,
        );
        counts.total = Math.max(counts.total, done.size + page.length + remaining);
        await eachOf(page, concurrency, rewrite);
      }
      return counts;
    } catch (error) {
      // A 410 means that the list took so long that its snapshot expired. A new list starts from the beginning, but objects that are done are skipped.
      const isForList = error instanceof KubeError && (isKubeError(error, 410) || isTransient(error));
      if (!isForList) throw error;
      if (done.size > doneBefore) attempt = 0;
      else if (attempt + 1 >= maxListTries) throw error;
      if (!isKubeError(error, 410)) await pause(error, attempt, { random, signal });
    }
  }
}

/** Calls the work for at most `concurrency` items at a time. After an error it starts no more, and throws the first error when the others have finished. */
async function eachOf<T>(items: readonly T[], concurrency: number, run: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  const errors: unknown[] = [];
  const work = async () => {
    for (const item of left) {
      if (errors.length > 0) return;
      await run(item).catch((error: unknown) => void errors.push(error));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  if (errors.length > 0) throw errors[0];
}

/** The result. `unchanged`: the object already was in the storage version · `gone`: it was deleted before it was rewritten. */
export interface Rewrite {
  readonly result: 'rewritten' | 'unchanged' | 'gone';
  /** The resourceVersion of the stored object, if known. */
  readonly resourceVersion?: string;
}

/** The object, and how to pause between retries. */
export interface RewriteRequest {
  readonly path: string;
  readonly resourceVersion: string;
  readonly random: () => number;
  readonly signal?: AbortSignal | undefined;
}

interface Versioned {
  readonly metadata: { readonly resourceVersion: string };
}

const maxTries = 7;

/**
 * Makes the API server store an object in its storage version, by a merge patch that changes nothing. The API server writes only if the stored bytes differ, so
 * an object that is already migrated costs no write. Guarded by resourceVersion: after a conflict the object is read again. Throws the API server's error when
 * it refuses the object, or keeps failing.
 */
export async function rewriteObject(client: KubeClient, { path, random, signal, ...request }: RewriteRequest): Promise<Rewrite> {
  let { resourceVersion } = request;
  for (let attempt = 0; ; attempt++) {
    try {
      const { metadata } = await client.request<Versioned>({
        method: 'PATCH',
        path,
        query: { fieldManager },
        contentType: 'application/merge-patch+json',
        body: { metadata: { resourceVersion } },
        signal,
      });
      return {
        result: metadata.resourceVersion === resourceVersion ? 'unchanged' : 'rewritten',
        resourceVersion: metadata.resourceVersion,
      };
    } catch (error) {
      if (isKubeError(error, 404)) return { result: 'gone' };
      if (attempt + 1 >= maxTries) {
        // Each conflict was a write by somebody else, which stored the object in the storage version.
        if (isKubeError(error, 409)) return { result: 'unchanged' };
        throw error;
      }
      if (isKubeError(error, 409)) {
        const current = await readObject<Versioned>(client, path, signal);
        if (!current) return { result: 'gone' };
        resourceVersion = current.metadata.resourceVersion;
      } else {
        if (!isTransient(error)) throw error;
        await pause(error, attempt, { random, signal });
      }
    }
  }
}
