/** The parts of a Namespace that decide which policies it has: its labels and its consent annotation. */
import { consentAnnotation } from '../../core/model/consent-annotation.ts';
import { PermanentError } from '../../core/model/errors.ts';
import type { KubeClient } from './client.ts';
import { isKubeError } from './kube-error.ts';
import type { StoredObject } from './object-store.ts';
import { readMetadata } from './watch-events.ts';
import { namespacePath, readObject } from './objects.ts';

/** The part of a Namespace that policies depend on. */
export interface NamespaceState extends StoredObject {
  readonly labels: Readonly<Record<string, string>>;
  /** The value of the Namespace's consent annotation; null if it has none. */
  readonly allowPoliciesFrom: string | null;
}

interface RawNamespace {
  readonly metadata?: {
    readonly uid?: string;
    readonly labels?: Readonly<Record<string, string>> | null;
    readonly annotations?: Readonly<Record<string, string>> | null;
  };
}

export const namespaceResource = { apiVersion: 'v1', resource: 'namespaces' } as const;

/** Raw Namespace, or only its metadata → NamespaceState. */
export function projectNamespace(raw: unknown): NamespaceState {
  const { uid = '', labels, annotations } = (raw as RawNamespace).metadata ?? {};
  return { ...readMetadata(raw), uid, labels: labels ?? {}, allowPoliciesFrom: annotations?.[consentAnnotation] ?? null };
}

/** Reads a Namespace; undefined if it does not exist. */
export async function readNamespace(client: KubeClient, namespace: string, signal?: AbortSignal): Promise<NamespaceState | undefined> {
  const raw = await readObject<unknown>(client, namespacePath(namespace), signal);
  return raw === undefined ? undefined : projectNamespace(raw);
}

/** Reads the current consent of a Namespace; undefined if it does not exist. Throws PermanentError(NoConsent) if Namespaces may not be read. */
export async function readNamespaceConsent(
  client: KubeClient,
  namespace: string,
  signal?: AbortSignal,
): Promise<NamespaceState | undefined> {
  try {
    return await readNamespace(client, namespace, signal);
  } catch (error) {
    if (!isKubeError(error, 403)) throw error;
    const message = `its Namespace may not be read: grant image-watcher the verb "get" on "namespaces": ${error.detail}`;
    throw new PermanentError('NoConsent', message, { cause: error });
  }
}
