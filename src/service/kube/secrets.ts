/** Reads a Secret, writes one that several processes share, and finds the names of those that pods use. */
import { PermanentError } from '../../core/model/errors.ts';
import type { SecretRef } from '../../core/model/image-source.ts';
import { fieldManager } from '../../core/model/last-update.ts';
import type { KubeClient } from './client.ts';
import { isKubeError } from './kube-error.ts';
import type { StoredObject } from './object-store.ts';
import { listPath, objectPath, readObject } from './objects.ts';
import { retryOnConflict } from './retry.ts';

const resource = { apiVersion: 'v1', resource: 'secrets' };

interface RawSecret {
  readonly metadata: { readonly resourceVersion: string };
  readonly data?: Readonly<Record<string, string>> | null;
}

/** The content of a Secret (key → base64), or why there is none. */
export type SecretRead = { readonly data: Readonly<Record<string, string>>; readonly resourceVersion: string } | { readonly why: string };

/** Reads one Secret. A missing or forbidden Secret has no content; `why` explains this to users. */
export async function readSecretContent(client: KubeClient, { namespace, name }: SecretRef): Promise<SecretRead> {
  try {
    const secret = await readObject<RawSecret>(client, objectPath(resource, namespace, name));
    if (!secret) return { why: 'does not exist' };
    return { data: secret.data ?? {}, resourceVersion: secret.metadata.resourceVersion };
  } catch (error) {
    if (error instanceof PermanentError) return { why: error.message };
    if (!isKubeError(error, 403)) throw error;
    return { why: `may not be read: grant image-watcher the verb "get" on "secrets" in namespace ${namespace}` };
  }
}

/** The data of a Secret as text. */
export type SecretText = Readonly<Record<string, string>>;

/** A Secret that several processes write, and how to change it. */
export interface SharedSecret {
  readonly namespace: string;
  readonly name: string;
  /** The type with which the Secret is created. */
  readonly type: string;
}

/**
 * Reads the Secret and writes what `update` returns (undefined: no change is needed). Processes that do this at the same time end with the same data: only one
 * creates the Secret, each change is guarded by resourceVersion, and the others read again. Other keys are unchanged. Returns the resulting data. Throws
 * KubeError with the API server's answer; a 409 after five tries.
 */
export async function agreeOnSecret(
  client: KubeClient,
  secret: SharedSecret,
  update: (data: SecretText | undefined) => Promise<SecretText | undefined>,
  signal?: AbortSignal,
): Promise<SecretText> {
  const path = objectPath(resource, secret.namespace, secret.name);
  return retryOnConflict(async () => {
    const existing = await readObject<RawSecret>(client, path, signal);
    const known = existing && decode(existing);
    const wanted = await update(known);
    if (known !== undefined && wanted === undefined) return known;
    return decode(await write(client, { secret, path, existing, data: encode(wanted ?? {}) }, signal));
  });
}

interface Write {
  readonly secret: SharedSecret;
  readonly path: string;
  readonly existing: RawSecret | undefined;
  readonly data: SecretText;
}

function write(client: KubeClient, { secret, path, existing, data }: Write, signal: AbortSignal | undefined): Promise<RawSecret> {
  const query = { fieldManager };
  if (existing === undefined) {
    const { namespace, name, type } = secret;
    const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name }, type, data };
    return client.request({ method: 'POST', path: listPath(resource, namespace), query, body, signal });
  }
  const body = { metadata: { resourceVersion: existing.metadata.resourceVersion }, data };
  return client.request({ method: 'PATCH', path, query, contentType: 'application/merge-patch+json', body, signal });
}

function encode(data: SecretText): SecretText {
  return Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]));
}

function decode({ data }: RawSecret): SecretText {
  return Object.fromEntries(Object.entries(data ?? {}).map(([key, text]) => [key, Buffer.from(text, 'base64').toString('utf8')]));
}

/** The identity and version of an object, without its content. */
export function projectMetadata(raw: unknown): StoredObject {
  const { namespace, name, uid, resourceVersion } = (raw as { metadata: StoredObject }).metadata;
  return { namespace, name, uid, resourceVersion };
}

/** The names in a list of references to Secrets, such as imagePullSecrets; invalid entries are skipped. */
export function projectSecretNames(references: unknown): string[] {
  if (!Array.isArray(references)) return [];
  return references.flatMap((reference: unknown) => {
    const name = typeof reference === 'object' && reference !== null && 'name' in reference ? reference.name : undefined;
    return typeof name === 'string' && name !== '' ? [name] : [];
  });
}

/** The parts of a ServiceAccount that are cached. */
export interface ServiceAccount extends StoredObject {
  readonly pullSecrets: readonly string[];
}

export const serviceAccountResource = { apiVersion: 'v1', resource: 'serviceaccounts' } as const;

/** Raw object → ServiceAccount; undefined without imagePullSecrets, as for most of them. */
export function projectServiceAccount(raw: unknown): ServiceAccount | undefined {
  const { imagePullSecrets } = raw as { imagePullSecrets?: unknown };
  const pullSecrets = projectSecretNames(imagePullSecrets);
  return pullSecrets.length === 0 ? undefined : { ...projectMetadata(raw), pullSecrets };
}
