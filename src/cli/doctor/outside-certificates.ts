/** The certificates under which registries reach the receivers: those of the chart's Ingresses, and of the Gateways that its HTTPRoutes name. */
import type { OtherCertificate } from '../../service/doctor/checks/certificates.ts';
import type { KubeClient } from '../../service/kube/client.ts';
import { isKubeError } from '../../service/kube/kube-error.ts';
import { describeError } from '../../core/model/errors.ts';

/** The maximum number of objects of a kind to read. Installations have one or two. */
const maxObjects = 50;

/** The label selector of the objects that the chart creates. */
export const ours = 'app.kubernetes.io/name=image-watcher';

/** Lists the objects of a kind that the chart creates. */
export async function listOurs<T>(client: KubeClient, path: string): Promise<readonly T[]> {
  const query = { labelSelector: ours, limit: maxObjects };
  const { items } = await client.request<{ items?: readonly T[] | null }>({ method: 'GET', path, query });
  return items ?? [];
}

interface ObjectName {
  readonly namespace: string;
  readonly name: string;
}

interface Ingress {
  readonly metadata: ObjectName;
  readonly spec?: { readonly tls?: readonly { readonly secretName?: string }[] };
}

interface Reference {
  readonly group?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name: string;
  readonly sectionName?: string;
}

interface HttpRoute {
  readonly metadata: ObjectName;
  readonly spec?: { readonly parentRefs?: readonly Reference[] };
}

interface Gateway {
  readonly spec?: {
    readonly listeners?: readonly { readonly name: string; readonly tls?: { readonly certificateRefs?: readonly Reference[] } }[];
  };
}

/** Reads the certificates of all Ingresses and Gateways, as far as the caller may. */
export async function readOutsideCertificates(client: KubeClient): Promise<OtherCertificate[]> {
  return (await Promise.all([readIngressCertificates(client), readGatewayCertificates(client)])).flat();
}

async function readIngressCertificates(client: KubeClient): Promise<OtherCertificate[]> {
  const line = 'ingress' as const;
  let ingresses: readonly Ingress[];
  try {
    ingresses = await listOurs<Ingress>(client, '/apis/networking.k8s.io/v1/ingresses');
  } catch (error) {
    return [{ line, name: 'the list of Ingresses', pem: { why: describeError(error) } }];
  }
  const secrets = ingresses.flatMap(({ metadata: { namespace }, spec }) =>
    (spec?.tls ?? []).flatMap(({ secretName: name }) => (name === undefined ? [] : [{ namespace, name }])),
  );
  return readSecrets(client, line, secrets);
}

const gatewayApi = '/apis/gateway.networking.k8s.io/v1';

async function readGatewayCertificates(client: KubeClient): Promise<OtherCertificate[]> {
  const line = 'gateway' as const;
  let routes: readonly HttpRoute[];
  try {
    routes = await listOurs<HttpRoute>(client, `${gatewayApi}/httproutes`);
  } catch (error) {
    // A cluster without the Gateway API has no routes.
    return isKubeError(error, 404) ? [] : [{ line, name: 'the list of HTTPRoutes', pem: { why: describeError(error) } }];
  }
  const parents = routes.flatMap(({ metadata, spec }) =>
    (spec?.parentRefs ?? [])
      .filter(({ kind = 'Gateway' }) => kind === 'Gateway')
      .map(({ namespace = metadata.namespace, name, sectionName }) => ({ namespace, name, sectionName })),
  );
  const found = await Promise.all(
    parents.slice(0, maxObjects).map(async ({ namespace, name, sectionName }): Promise<OtherCertificate[]> => {
      try {
        const path = `${gatewayApi}/namespaces/${encodeURIComponent(namespace)}/gateways/${encodeURIComponent(name)}`;
        const { spec } = await client.request<Gateway>({ method: 'GET', path });
        const listeners = (spec?.listeners ?? []).filter((listener) => sectionName === undefined || listener.name === sectionName);
        const references = listeners.flatMap(({ tls }) => tls?.certificateRefs ?? []).filter(({ kind = 'Secret' }) => kind === 'Secret');
        return await readSecrets(
          client,
          line,
          references.map((secret) => ({ namespace: secret.namespace ?? namespace, name: secret.name })),
        );
      } catch (error) {
        const why = isKubeError(error, 404) ? 'it does not exist' : describeError(error);
        return [{ line, name: `Gateway ${namespace}/${name}`, pem: { why } }];
      }
    }),
  );
  return found.flat();
}

/** Reads the Secrets, each once. */
async function readSecrets(
  client: KubeClient,
  line: OtherCertificate['line'],
  secrets: readonly ObjectName[],
): Promise<OtherCertificate[]> {
  const { readSecretContent } = await import('../../service/kube/secrets.ts');
  const unique = new Map(secrets.map((secret) => [`${secret.namespace}/${secret.name}`, secret]));
  return Promise.all(
    [...unique].slice(0, maxObjects).map(async ([key, secret]): Promise<OtherCertificate> => {
      const name = `Secret ${key}`;
      try {
        const content = await readSecretContent(client, secret);
        return { line, name, pem: 'data' in content ? firstCertificate(content.data['tls.crt']) : { why: content.why } };
      } catch (error) {
        return { line, name, pem: { why: describeError(error) } };
      }
    }),
  );
}

/** The first certificate of a chain, which is that of the host. The authority is responsible for the others. */
function firstCertificate(encoded = ''): string {
  const chain = Buffer.from(encoded, 'base64').toString();
  return /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.exec(chain)?.[0] ?? chain;
}
