import type { KubeClient } from './client.ts';
import { isKubeError } from './kube-error.ts';
import { objectPath } from './resource-path.ts';

/** The data of one Secret, key → base64, or undefined where there is none; throws KubeError 403 when it may not be read. */
export async function readSecret(
  client: KubeClient,
  { namespace, name }: { namespace: string; name: string },
  signal?: AbortSignal,
): Promise<Readonly<Record<string, string>> | undefined> {
  try {
    const path = objectPath({ apiVersion: 'v1', resource: 'secrets' }, namespace, name);
    const secret = await client.request<{ data?: Record<string, string> | null }>({ method: 'GET', path, signal });
    return secret.data ?? {};
  } catch (error) {
    if (isKubeError(error, 404)) return undefined;
    throw error;
  }
}
