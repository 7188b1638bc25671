import type { StoredObject } from './object-store.ts';
import { projectSecretNames } from './project-secret-names.ts';

/** What is kept of a ServiceAccount. */
export interface ServiceAccount extends StoredObject {
  readonly pullSecrets: readonly string[];
}

export const serviceAccountResource = { apiVersion: 'v1', resource: 'serviceaccounts' } as const;

/** Raw object → ServiceAccount; undefined for those without imagePullSecrets, which is most of them. */
export function projectServiceAccount(raw: unknown): ServiceAccount | undefined {
  const { metadata, imagePullSecrets } = raw as { metadata: StoredObject; imagePullSecrets?: unknown };
  const { namespace, name, uid, resourceVersion } = metadata;
  const pullSecrets = projectSecretNames(imagePullSecrets);
  return pullSecrets.length === 0 ? undefined : { namespace, name, uid, resourceVersion, pullSecrets };
}
