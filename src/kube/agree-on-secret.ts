import type { KubeClient } from './client.ts';
import { fieldManager } from '../model/last-update.ts';
import { readObject } from './read-object.ts';
import { listPath, objectPath } from './resource-path.ts';
import { retryOnConflict } from './retry.ts';

/** The data of a Secret as text. */
export type SecretText = Readonly<Record<string, string>>;

export interface SharedSecret {
  readonly namespace: string;
  readonly name: string;
  /** Of a new one. */
  readonly type: string;
}

interface RawSecret {
  readonly metadata: { readonly resourceVersion: string };
  readonly data?: Readonly<Record<string, string>> | null;
}

const resource = { apiVersion: 'v1', resource: 'secrets' };

/**
 * Reads the Secret and writes what `update` makes of it (undefined: it is good as it is), so that all who do so at once end with the same data: only one
 * of them creates it, a change is guarded by resourceVersion, and who comes second reads again. Other keys stay. Returns the data that all have. Throws
 * KubeError as the API server answers, the last 409 after five tries.
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
