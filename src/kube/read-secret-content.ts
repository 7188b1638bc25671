import { PermanentError } from '../model/errors.ts';
import type { SecretRef } from '../model/image-source.ts';
import type { KubeClient } from './client.ts';
import { isKubeError } from './kube-error.ts';
import { readObject } from './read-object.ts';
import { objectPath } from './resource-path.ts';

/** A Secret as it was read; `why` there is none. */
export type SecretRead = { readonly data: Readonly<Record<string, string>>; readonly resourceVersion: string } | { readonly why: string };

interface RawSecret {
  readonly metadata: { readonly resourceVersion: string };
  readonly data?: Readonly<Record<string, string>> | null;
}

/** Reads exactly one Secret; why it has no content, in words for a user, where it is missing or may not be read. */
export async function readSecretContent(client: KubeClient, { namespace, name }: SecretRef): Promise<SecretRead> {
  try {
    const secret = await readObject<RawSecret>(client, objectPath({ apiVersion: 'v1', resource: 'secrets' }, namespace, name));
    if (!secret) return { why: 'does not exist' };
    return { data: secret.data ?? {}, resourceVersion: secret.metadata.resourceVersion };
  } catch (error) {
    if (error instanceof PermanentError) return { why: error.message };
    if (!isKubeError(error, 403)) throw error;
    return { why: `may not be read: grant image-watcher the verb "get" on "secrets" in namespace ${namespace}` };
  }
}
