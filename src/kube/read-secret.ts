import type { KubeClient } from './client.ts';
import { readObject } from './read-object.ts';
import { objectPath } from './resource-path.ts';

/** The data of one Secret, key → base64, or undefined where there is none; throws KubeError 403 when it may not be read. */
export async function readSecret(
  client: KubeClient,
  { namespace, name }: { namespace: string; name: string },
  signal?: AbortSignal,
): Promise<Readonly<Record<string, string>> | undefined> {
  const path = objectPath({ apiVersion: 'v1', resource: 'secrets' }, namespace, name);
  const secret = await readObject<{ data?: Record<string, string> | null }>(client, path, signal);
  return secret && (secret.data ?? {});
}
