/** What the tests of the conversion webhook share: a cluster whose CustomResourceDefinition points at a process of ours. */
import assert from 'node:assert/strict';
import { request as httpsRequest } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { customResourceDefinition } from '../../src/conversion/definition.ts';
import { crdName, group, kind, plural } from '../../src/service/resources/group.ts';
import type { ControlPlane } from '../harness/control-plane.ts';
import { waitFor } from '../harness/wait-for.ts';

const collection = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const crdPath = `${collection}/${crdName}`;

/** Nobody listens there. */
export const nowhere = { redisUrl: 'redis://127.0.0.1:1', server: 'https://127.0.0.1:1' };

/** The answer of a listener, and the certificate that it showed. */
export interface TlsAnswer {
  readonly status: number;
  readonly text: string;
  readonly certificate: { readonly subject: string; readonly issuer: string; readonly fingerprint: string };
}

/** Posts to a listener over a connection of its own; trusts `ca`, or whatever it shows. */
export function post(url: string, body: string | Buffer, { ca, path }: { ca?: string; path?: string } = {}): Promise<TlsAnswer> {
  const trust = ca === undefined ? { rejectUnauthorized: false } : { ca };
  return new Promise((resolve, reject) => {
    const options = { method: 'POST', agent: false, timeout: 30_000, headers: { 'content-type': 'application/json' }, ...trust } as const;
    const call = httpsRequest(path === undefined ? url : new URL(path, url), options, (response) => {
      const { subject, issuer, fingerprint256 } = (response.socket as TLSSocket).getPeerCertificate();
      const certificate = { subject: String(subject.CN), issuer: String(issuer.CN), fingerprint: fingerprint256 };
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text, certificate }));
      response.on('error', reject);
    });
    call.on('error', reject);
    call.on('timeout', () => call.destroy(new Error(`no answer from ${url}`)));
    call.end(body);
  });
}

/** A policy of the older shape. */
export function olderPolicy(name: string): object {
  return {
    apiVersion: `${group}/v1alpha1`,
    kind,
    metadata: { name },
    spec: {
      repository: `harbor.example.com/shop/${name}`,
      tagPolicy: { strategy: 'SemVer', pattern: '>=1.4 <2' },
      updateTarget: { kind: 'Deployment', name, namespace: 'shop' },
    },
  };
}

/** A ConversionReview of some policies of the older shape. */
export function reviewOf(count: number): string {
  const objects = Array.from({ length: count }, (_, index) => olderPolicy(`web-${index}`));
  const request = { uid: 'one', desiredAPIVersion: `${group}/v1`, objects };
  return JSON.stringify({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', request });
}

/** How many objects of an answer are converted; fails unless it is a success. */
export function convertedIn({ status, text }: TlsAnswer): number {
  assert.equal(status, 200, text);
  const { response } = JSON.parse(text) as {
    response: { result: { status: string; message?: string }; convertedObjects: { apiVersion: string }[] };
  };
  assert.equal(response.result.status, 'Success', response.result.message);
  assert.ok(response.convertedObjects.every(({ apiVersion }) => apiVersion === `${group}/v1`));
  return response.convertedObjects.length;
}

/** The cluster as these tests see it. */
export function conversionCluster(cluster: ControlPlane) {
  const listPath = (version: string, namespace: string) => `/apis/${group}/${version}/namespaces/${namespace}/${plural}`;
  /** The authority in the Secret, once there is one. */
  const waitForAuthority = (): Promise<string> =>
    waitFor('the Secret with the authority', async () => {
      const { data } = await cluster.request('GET', '/api/v1/namespaces/default/secrets/image-watcher-conversion');
      return Buffer.from(data['ca.crt'], 'base64').toString();
    });
  /** Lets the API server convert at `url`, and store as `storage`. */
  const applyCrd = async (url: string, storage: 'v1' | 'v1alpha1', caBundle?: string): Promise<void> => {
    const { spec, ...rest } = customResourceDefinition();
    const clientConfig = { url, ...(caBundle !== undefined && { caBundle: Buffer.from(caBundle).toString('base64') }) };
    const conversion = { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig } };
    const versions = spec.versions.map((version) => ({ ...version, storage: version.name === storage }));
    const body = { ...rest, spec: { ...spec, versions, conversion } };
    // The service and the API server itself write it too.
    const write = async () => {
      const existing = await cluster.request('GET', crdPath).catch(() => undefined);
      if (existing === undefined) await cluster.request('POST', collection, body);
      else await cluster.request('PUT', crdPath, { ...body, metadata: existing.metadata });
      return true;
    };
    await waitFor('the definition to be written', write);
    await waitFor('the resource to be served', () => cluster.request('GET', `/apis/${group}/v1`));
  };
  return {
    listPath,
    waitForAuthority,
    applyCrd,
    readCaBundle: async (): Promise<string> => {
      const crd = await cluster.request('GET', crdPath);
      return Buffer.from(crd.spec.conversion.webhook?.clientConfig.caBundle ?? '', 'base64').toString();
    },
    /** Stores policies of the older shape, and only then makes v1 what is stored; returns their names. */
    async storeOlder(url: string, namespace: string, count: number): Promise<string[]> {
      const ca = await waitForAuthority();
      await applyCrd(url, 'v1alpha1', ca);
      const names = Array.from({ length: count }, (_, index) => `web-${index}`);
      const [first = '', ...left] = names;
      const create = (name: string) => cluster.request('POST', listPath('v1alpha1', namespace), olderPolicy(name));
      await waitFor('the first policy', () => create(first));
      const createSome = async () => {
        for (let name = left.pop(); name !== undefined; name = left.pop()) await create(name);
      };
      await Promise.all(Array.from({ length: 16 }, createSome));
      await applyCrd(url, 'v1', ca);
      return names;
    },
    async list(version: string, namespace: string): Promise<{ metadata: { name: string }; spec: Record<string, unknown> }[]> {
      return (await cluster.request('GET', listPath(version, namespace))).items;
    },
  };
}
