import { stringify } from 'yaml';
import type { z } from 'zod';
import { crdName, group, kind, plural, shortName } from './group.ts';
import { toStructuralSchema } from './structural-schema.ts';
import * as v1 from './v1.ts';
import * as v1alpha1 from '../../conversion/v1alpha1.ts';

/** Where the API server reaches the conversion webhook: a Service of the cluster, or a URL. */
export type ConversionEndpoint =
  | { readonly service: { readonly namespace: string; readonly name: string; readonly port: number } }
  | { readonly url: string };

/** The endpoint of the webhook, and how the API server verifies its certificate: with neither `ca` nor `injectCaFrom`, by the authorities of its system. */
export interface Conversion {
  readonly endpoint: ConversionEndpoint;
  /** PEM. */
  readonly ca?: string;
  /** `namespace/name` of cert-manager's Certificate, whose CA cert-manager writes into the definition. */
  readonly injectCaFrom?: string;
}

/** A variant of the definition. */
export interface CrdShape {
  /** Without it, the API server only rewrites `apiVersion`, which is right only if nothing is stored or written as v1alpha1. */
  readonly conversion?: Conversion | undefined;
  /** The version in which objects are stored from now on; v1 by default. */
  readonly storage?: 'v1' | 'v1alpha1';
  /** Versions that clients cannot use, although objects may be stored in them; none by default. */
  readonly unserved?: readonly string[];
  /** Whether v1alpha1 is left out. */
  readonly v1Only?: boolean;
}

/** The Service of a default installation. */
export const defaultEndpoint: ConversionEndpoint = { service: { namespace: 'image-watcher', name: 'image-watcher-conversion', port: 443 } };

/** The path of the webhook. */
const convertPath = '/convert';

/** The CustomResourceDefinition, generated from the zod schemas. */
export function customResourceDefinition({ conversion, storage = 'v1', unserved = [], v1Only = false }: CrdShape = {}) {
  const versions = [
    versionOf(v1, { image: '.spec.image', status: '.status' }),
    // The status of v1 travels in a field of the older one.
    versionOf(v1alpha1, { image: '.spec.repository', status: '.status.v1' }),
  ];
  const annotations = conversion?.injectCaFrom === undefined ? undefined : { 'cert-manager.io/inject-ca-from': conversion.injectCaFrom };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: crdName, ...(annotations && { annotations }) },
    spec: {
      group,
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase(), shortNames: [shortName] },
      scope: 'Namespaced',
      versions: versions
        .filter(({ name }) => !v1Only || name === v1.version)
        .map((version) => ({ ...version, served: !unserved.includes(version.name), storage: version.name === storage })),
      ...(conversion && { conversion: stanzaOf(conversion) }),
      ...(v1Only && { conversion: { strategy: 'None' } }),
    },
  };
}

function stanzaOf({ endpoint, ca, injectCaFrom }: Conversion) {
  const where = 'url' in endpoint ? { url: endpoint.url } : { service: { ...endpoint.service, path: convertPath } };
  const caBundle = ca === undefined || injectCaFrom !== undefined ? undefined : Buffer.from(ca).toString('base64');
  return {
    strategy: 'Webhook',
    webhook: { clientConfig: { ...where, ...(caBundle !== undefined && { caBundle }) }, conversionReviewVersions: ['v1'] },
  };
}

/** Where a version has what `kubectl get` prints: the image, and the status in the shape of v1. */
interface Shown {
  readonly image: string;
  readonly status: string;
}

const ready = '.status.conditions[?(@.type=="Ready")]';

function versionOf({ version, schema }: { version: string; schema: z.ZodType }, { image, status }: Shown) {
  return {
    name: version,
    served: true,
    storage: false,
    schema: { openAPIV3Schema: withMetadata(toStructuralSchema(schema), kind) },
    subresources: { status: {} },
    // One word each, because kubectl cuts no column; only -o wide prints columns of priority 1.
    additionalPrinterColumns: [
      { name: 'Image', type: 'string', jsonPath: image },
      { name: 'Running', type: 'string', jsonPath: `${status}.running` },
      { name: 'Latest', type: 'string', jsonPath: `${status}.latest.tag` },
      { name: 'Ready', type: 'string', jsonPath: `${ready}.status` },
      { name: 'Reason', type: 'string', jsonPath: `${ready}.reason` },
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      { name: 'Message', type: 'string', jsonPath: `${ready}.message`, priority: 1 },
    ],
  };
}

/** The definition as YAML; without a shape, the content of `crd/imagepolicies.yaml`. */
export function customResourceDefinitionYaml(shape: CrdShape = { conversion: { endpoint: defaultEndpoint } }): string {
  return toYaml(customResourceDefinition(shape));
}

/** A definition as YAML, with a line that says where it comes from. */
export function toYaml(definition: object): string {
  const text = stringify(definition, { lineWidth: 0, aliasDuplicateObjects: false });
  return `# Generated by "image-watcher crd print" from src/service/resources; do not edit.\n${text}`;
}

/** The schema of a resource, with the fields that every resource has. */
export function withMetadata(schema: ReturnType<typeof toStructuralSchema>, kind: string) {
  if (schema === null || typeof schema !== 'object' || Array.isArray(schema)) throw new Error('the schema of a resource must be an object');
  const own = schema['properties'];
  const properties = {
    apiVersion: { type: 'string', description: 'The API version of this object.' },
    kind: { type: 'string', description: `${kind}.` },
    metadata: { type: 'object' },
    ...(own !== null && typeof own === 'object' && !Array.isArray(own) ? own : {}),
  };
  return { ...schema, properties };
}
