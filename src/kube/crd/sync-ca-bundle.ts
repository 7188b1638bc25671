import type { KubeClient } from '../client.ts';
import { fieldManager } from '../../model/last-update.ts';
import { crdPath, readCrd, type CustomResourceDefinition } from './definition.ts';
import { retryOnConflict } from '../retry.ts';

/** Where a conversion webhook is ours: behind this Service, or at a URL with one of these host names. */
export interface ConversionAddress {
  readonly service: { readonly namespace: string; readonly name: string };
  readonly hosts: readonly string[];
}

/** What was found, and done about it. */
export type CaBundleSync =
  /** The API server trusts the bundle now. */
  | 'updated'
  | 'unchanged'
  /** There is no such CustomResourceDefinition. */
  | 'absent'
  /** It does not convert by webhook, or by somebody else's, or cert-manager writes the bundle: not our business. */
  | 'not ours';

interface ClientConfig {
  readonly caBundle?: string;
  readonly url?: string;
  readonly service?: { readonly namespace?: string; readonly name?: string };
}

/**
 * Makes the CustomResourceDefinition trust `caBundle` (PEM) where its conversion webhook is ours. Never switches the conversion, and writes only what
 * differs, guarded by resourceVersion. Throws KubeError as the API server answers, the last 409 after five tries.
 */
export async function syncCaBundle(
  client: KubeClient,
  { name, address, caBundle }: { name: string; address: ConversionAddress; caBundle: string },
  signal?: AbortSignal,
): Promise<CaBundleSync> {
  return retryOnConflict(async () => {
    const crd = await readCrd(client, name, signal);
    if (crd === undefined) return 'absent';
    const clientConfig: ClientConfig | undefined = crd.spec.conversion?.webhook?.clientConfig;
    if (crd.spec.conversion?.strategy !== 'Webhook' || !isOurs(clientConfig, address) || isInjected(crd)) return 'not ours';
    const wanted = Buffer.from(caBundle).toString('base64');
    if (clientConfig?.caBundle === wanted) return 'unchanged';
    const { resourceVersion } = crd.metadata;
    const body = { metadata: { resourceVersion }, spec: { conversion: { webhook: { clientConfig: { caBundle: wanted } } } } };
    await client.request({
      method: 'PATCH',
      path: crdPath(name),
      query: { fieldManager },
      contentType: 'application/merge-patch+json',
      body,
      signal,
    });
    return 'updated';
  });
}

/** With cert-manager's cainjector we would write it against each other for ever. */
function isInjected({ metadata }: CustomResourceDefinition): boolean {
  return Object.keys(metadata.annotations ?? {}).some((key) => key.startsWith('cert-manager.io/inject-'));
}

function isOurs(clientConfig: ClientConfig | undefined, { service, hosts }: ConversionAddress): boolean {
  if (clientConfig?.service !== undefined) {
    return clientConfig.service.namespace === service.namespace && clientConfig.service.name === service.name;
  }
  const url = clientConfig?.url === undefined ? null : URL.parse(clientConfig.url);
  // An IPv6 address is in brackets there.
  return url !== null && hosts.includes(url.hostname.replace(/^\[|\]$/g, ''));
}
