import type { KubeClient } from '../client.ts';
import { fieldManager } from '../../model/last-update.ts';
import { isKubeError } from '../kube-error.ts';
import { readObject } from '../read-object.ts';
import { isTransient, pause } from '../retry.ts';

/** What the rewrite found: `unchanged` was stored in the storage version already, `gone` was deleted meanwhile. */
export interface Rewrite {
  readonly result: 'rewritten' | 'unchanged' | 'gone';
  /** Of the object as it is stored now, where that is known. */
  readonly resourceVersion?: string;
}

/** The object, and how to wait. */
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
 * Makes the API server store an object in its storage version, by a merge patch that changes nothing. The server writes only where the stored bytes come out
 * different, so an object that is migrated already costs no write. Guarded by resourceVersion: after a conflict it looks again. Throws what the API server
 * answered when it refuses the object, or keeps failing.
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
        // Each conflict was a write of somebody else, which stored the object in the storage version.
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
