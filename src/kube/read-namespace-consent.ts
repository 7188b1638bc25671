import { consentAnnotation } from '../core/consent.ts';
import { PermanentError } from '../core/errors.ts';
import type { KubeClient } from './client.ts';
import { isKubeError } from './kube-error.ts';
import { readObject } from './read-object.ts';
import { namespacePath } from './resource-path.ts';

interface RawNamespace {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> | null };
}

/** The annotation of consent of a Namespace; undefined where it has none. Throws PermanentError(NoConsent) where Namespaces may not be read. */
export async function readNamespaceConsent(client: KubeClient, namespace: string, signal?: AbortSignal): Promise<string | undefined> {
  try {
    const raw = await readObject<RawNamespace>(client, namespacePath(namespace), signal);
    return raw?.metadata?.annotations?.[consentAnnotation];
  } catch (error) {
    if (!isKubeError(error, 403)) throw error;
    const message = `its Namespace may not be read: grant image-watcher the verb "get" on "namespaces": ${error.detail}`;
    throw new PermanentError('NoConsent', message, { cause: error });
  }
}
