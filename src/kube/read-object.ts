import type { KubeClient } from './client.ts';
import { isKubeError } from './kube-error.ts';

/** Reads one object as the API server knows it now; undefined where it does not exist. */
export async function readObject<T>(client: KubeClient, path: string, signal?: AbortSignal): Promise<T | undefined> {
  try {
    return await client.request<T>({ method: 'GET', path, signal });
  } catch (error) {
    if (isKubeError(error, 404)) return undefined;
    throw error;
  }
}
