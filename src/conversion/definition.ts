/** The CustomResourceDefinition of ImagePolicy with both versions and a webhook. */
import { defined } from '../core/model/defined.ts';
import { definitionOf, policyNames, policyVersion, toYaml, versionOf } from '../service/resources/definitions.ts';
import { policyColumns } from '../service/resources/columns.ts';
import { version as v1 } from '../service/resources/v1.ts';
import * as v1alpha1 from './v1alpha1.ts';

/** The address at which the API server reaches the conversion webhook: a Service of the cluster, or a URL. */
export type ConversionEndpoint =
  | { readonly service: { readonly namespace: string; readonly name: string; readonly port: number } }
  | { readonly url: string };

/** The endpoint of the webhook, and how the API server verifies its certificate: without `ca` and `injectCaFrom`, by the authorities of its system. */
export interface Conversion {
  readonly endpoint: ConversionEndpoint;
  /** The authorities of the webhook's certificate, PEM. */
  readonly ca?: string;
  /** `namespace/name` of cert-manager's Certificate, whose CA cert-manager writes into the definition. */
  readonly injectCaFrom?: string;
}

/** A variant of the definition. */
export interface CrdShape {
  /** The conversion webhook. Without it, the API server only rewrites `apiVersion`, which is right only if nothing is stored or written as v1alpha1. */
  readonly conversion?: Conversion | undefined;
  /** The version in which objects are stored; v1 by default. */
  readonly storage?: 'v1' | 'v1alpha1';
  /** Versions that are not served to clients, although objects may be stored in them; none by default. */
  readonly unserved?: readonly string[];
  /** Whether the definition has no v1alpha1. */
  readonly v1Only?: boolean;
}

/** The Service of a default installation. */
export const defaultEndpoint: ConversionEndpoint = { service: { namespace: 'image-watcher', name: 'image-watcher-conversion', port: 443 } };

/** The path of the webhook. */
const convertPath = '/convert';

/** The CustomResourceDefinition, generated from the zod schemas. */
export function customResourceDefinition({ conversion, storage = v1, unserved = [], v1Only = false }: CrdShape = {}) {
  const versions = [policyVersion(), olderVersion()];
  const annotations = conversion?.injectCaFrom === undefined ? undefined : { 'cert-manager.io/inject-ca-from': conversion.injectCaFrom };
  const { metadata, spec, ...definition } = definitionOf(
    policyNames,
    versions
      .filter(({ name }) => !v1Only || name === v1)
      .map((version) => ({ ...version, served: !unserved.includes(version.name), storage: version.name === storage })),
  );
  return {
    ...definition,
    metadata: { ...metadata, ...defined({ annotations }) },
    spec: {
      ...spec,
      ...(conversion && { conversion: stanzaOf(conversion) }),
      ...(v1Only && { conversion: { strategy: 'None' } }),
    },
  };
}

function olderVersion() {
  const { version, schema } = v1alpha1;
  // The v1alpha1 status has a field that contains the v1 status.
  return versionOf(policyNames.kind, { version, schema, columns: policyColumns({ image: '.spec.repository', status: '.status.v1' }) });
}

function stanzaOf({ endpoint, ca, injectCaFrom }: Conversion) {
  const where = 'url' in endpoint ? { url: endpoint.url } : { service: { ...endpoint.service, path: convertPath } };
  const caBundle = ca === undefined || injectCaFrom !== undefined ? undefined : Buffer.from(ca).toString('base64');
  return {
    strategy: 'Webhook',
    webhook: { clientConfig: { ...where, ...defined({ caBundle }) }, conversionReviewVersions: ['v1'] },
  };
}

/** The definition as YAML; without a shape, the content of `crd/imagepolicies.yaml`. */
export function customResourceDefinitionYaml(shape: CrdShape = { conversion: { endpoint: defaultEndpoint } }): string {
  return toYaml(customResourceDefinition(shape));
}
