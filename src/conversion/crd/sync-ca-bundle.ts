import type { KubeClient } from '../../service/kube/client.ts';
import { fieldManager } from '../../core/model/last-update.ts';
import { type ConversionClient, crdPath, readCrd, type CustomResourceDefinition } from '../../service/kube/crd/definition.ts';
import { retryOnConflict } from '../../service/kube/retry.ts';

/** The addresses of our own conversion webhook: this Service, or a URL with one of these host names. */
export interface ConversionAddress {
  readonly service: { readonly namespace: string; readonly name: string };
  readonly hosts: readonly string[];
}

/** The result of writing the bundle. */
export type CaBundleSync =
  /** The bundle was written. */
  | 'updated'
  | 'unchanged'
  /** The CustomResourceDefinition does not exist. */
  | 'absent'
  /** The definition has no conversion webhook, or somebody else's, or cert-manager writes its bundle. */
  | 'not ours';

/**
 * Writes `caBundle` (PEM) into the CustomResourceDefinition if the conversion webhook is ours. Changes nothing else. Writes only a different bundle, guarded by
 * resourceVersion. Throws KubeError with the API server's answer; a 409 after five tries.
 */
export async function syncCaBundle(
  client: KubeClient,
  { name, address, caBundle }: { name: string; address: ConversionAddress; caBundle: string },
  signal?: AbortSignal,
): Promise<CaBundleSync> {
  return retryOnConflict(async () => {
    const crd = await readCrd(client, name, signal);
    if (crd === undefined) return 'absent';
    const clientConfig: ConversionClient | undefined = crd.spec.conversion?.webhook?.clientConfig;
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

/** Whether cert-manager's cainjector maintains the bundle. It would overwrite ours again and again. */
function isInjected({ metadata }: CustomResourceDefinition): boolean {
  return Object.keys(metadata.annotations ?? {}).some((key) => key.startsWith('cert-manager.io/inject-'));
}

function isOurs(clientConfig: ConversionClient | undefined, { service, hosts }: ConversionAddress): boolean {
  if (clientConfig?.service !== undefined) {
    return clientConfig.service.namespace === service.namespace && clientConfig.service.name === service.name;
  }
  const url = clientConfig?.url === undefined ? null : URL.parse(clientConfig.url);
  // In a URL, an IPv6 address is enclosed in brackets.
  return url !== null && hosts.includes(url.hostname.replace(/^\[|\]$/g, ''));
}
