import { defined } from '../../../core/model/defined.ts';
import type { KubeClient } from '../client.ts';
import { readObject } from '../objects.ts';

/** The parts of a CustomResourceDefinition (apiextensions.k8s.io/v1) that are read. All others are preserved. */
export interface CustomResourceDefinition {
  readonly metadata: CrdMetadata & Record<string, unknown>;
  readonly spec: CrdSpec & Record<string, unknown>;
  readonly status?: { readonly conditions?: readonly CrdCondition[]; readonly storedVersions?: readonly string[] };
}

interface CrdSpec {
  readonly group: string;
  readonly names: { readonly plural: string } & Record<string, unknown>;
  readonly versions: readonly CrdVersion[];
  readonly conversion?: CrdConversion;
}

/** One version of a CustomResourceDefinition. */
export interface CrdVersion {
  readonly name: string;
  readonly served?: boolean;
  readonly storage?: boolean;
}

interface CrdMetadata {
  readonly name: string;
  readonly generation?: number;
  readonly resourceVersion?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** How objects are converted between versions. */
export interface CrdConversion {
  readonly strategy: string;
  readonly webhook?: { readonly clientConfig?: ConversionClient & Record<string, unknown> } & Record<string, unknown>;
}

/** The address of the conversion webhook; `caBundle` is base64 of PEM. */
export interface ConversionClient {
  readonly url?: string;
  readonly service?: { readonly namespace: string; readonly name: string; readonly port?: number; readonly path?: string };
  readonly caBundle?: string;
}

/** One condition of the status of a CustomResourceDefinition. */
export interface CrdCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

/**
 * The manifest that replaces the existing definition. It keeps labels and annotations of others, a conversion that the manifest does not mention, and an
 * injected CA. Throws if it would remove a version in which objects may still be stored, because they would become unreadable.
 */
export function mergeCustomResourceDefinition(
  existing: CustomResourceDefinition | undefined,
  manifest: CustomResourceDefinition,
): CustomResourceDefinition {
  if (!existing) return manifest;
  const offered = manifest.spec.versions.map(({ name }) => name);
  const lost = (existing.status?.storedVersions ?? []).filter((version) => !offered.includes(version));
  if (lost.length > 0) {
    throw new Error(
      `the CustomResourceDefinition ${manifest.metadata.name} still has objects stored as ${lost.join(', ')}, which the new one does not have: ` +
        'migrate the objects and remove the version from status.storedVersions first',
    );
  }
  const conversion = mergeConversion(existing.spec.conversion, manifest.spec.conversion);
  return {
    ...manifest,
    metadata: {
      ...existing.metadata,
      labels: { ...existing.metadata.labels, ...manifest.metadata.labels },
      annotations: { ...existing.metadata.annotations, ...manifest.metadata.annotations },
    },
    spec: { ...manifest.spec, ...defined({ conversion }) },
  };
}

function mergeConversion(existing: CrdConversion | undefined, wanted: CrdConversion | undefined): CrdConversion | undefined {
  const caBundle = existing?.webhook?.clientConfig?.caBundle;
  if (!wanted) return existing;
  if (!wanted.webhook || wanted.webhook.clientConfig?.caBundle || !caBundle) return wanted;
  return { ...wanted, webhook: { ...wanted.webhook, clientConfig: { ...wanted.webhook.clientConfig, caBundle } } };
}

/** The path of a CustomResourceDefinition; with the name '', the path of the collection. */
export function crdPath(name: string): string {
  return `/apis/apiextensions.k8s.io/v1/customresourcedefinitions${name && `/${name}`}`;
}

/** Reads a CustomResourceDefinition; undefined if it does not exist. */
export function readCrd(client: KubeClient, name: string, signal?: AbortSignal): Promise<CustomResourceDefinition | undefined> {
  return readObject(client, crdPath(name), signal);
}

/** Reads a CustomResourceDefinition that must exist. */
export async function requireCrd(client: KubeClient, name: string, signal?: AbortSignal): Promise<CustomResourceDefinition> {
  const crd = await readCrd(client, name, signal);
  if (!crd) throw new Error(`the cluster has no CustomResourceDefinition ${name}: run "crd apply" first`);
  return crd;
}

/** The version in which the API server stores objects. */
export function storageVersionOf({ metadata, spec }: CustomResourceDefinition): string {
  const version = spec.versions.find(({ storage }) => storage)?.name;
  if (version === undefined) throw new Error(`the CustomResourceDefinition ${metadata.name} has no storage version`);
  return version;
}

/** The path of the objects of a CustomResourceDefinition in a version. */
export function objectsPath({ spec }: CustomResourceDefinition, version: string, namespace?: string): string {
  const root = `/apis/${spec.group}/${version}`;
  return namespace === undefined ? `${root}/${spec.names.plural}` : `${root}/namespaces/${namespace}/${spec.names.plural}`;
}
