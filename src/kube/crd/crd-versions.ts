import type { KubeClient } from '../client.ts';
import type { CustomResourceDefinition } from './merge-crd.ts';
import { readObject } from '../read-object.ts';

/** The path of a CustomResourceDefinition; '' for the collection. */
export function crdPath(name: string): string {
  return `/apis/apiextensions.k8s.io/v1/customresourcedefinitions${name && `/${name}`}`;
}

/** Reads a CustomResourceDefinition; undefined where there is none. */
export function readCrd(client: KubeClient, name: string, signal?: AbortSignal): Promise<CustomResourceDefinition | undefined> {
  return readObject(client, crdPath(name), signal);
}

/** Reads one that has to be there. */
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

/** The path below which its objects live in a version. */
export function objectsPath({ spec }: CustomResourceDefinition, version: string, namespace?: string): string {
  const root = `/apis/${spec.group}/${version}`;
  return namespace === undefined ? `${root}/${spec.names.plural}` : `${root}/namespaces/${namespace}/${spec.names.plural}`;
}
