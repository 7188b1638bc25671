import { findBuiltIn } from '../../service/kube/targets.ts';
import { fieldsOf } from '../../core/model/untyped.ts';
import type { SourceObject } from './importer.ts';

/** A workload that another updater may change. */
export interface SourceWorkload {
  /** The API version, only for custom resources. */
  readonly apiVersion?: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly containers: readonly NamedImage[];
  readonly initContainers: readonly NamedImage[];
}

/** A container and its image. */
export interface NamedImage {
  readonly name: string;
  readonly image: string;
}

/** Reads an object that has a pod template; undefined if it has none. */
export function readWorkload({ apiVersion, kind, namespace, name, value }: SourceObject): SourceWorkload | undefined {
  const isCustom = !/^(?:apps|batch)\//.test(apiVersion);
  const podSpecPath = isCustom ? ['spec', 'template', 'spec'] : findBuiltIn({ kind })?.podSpecPath;
  if (podSpecPath === undefined) return undefined;
  const podSpec = podSpecPath.reduce<unknown>((found, key) => fieldsOf(found)[key], value);
  const { containers, initContainers } = fieldsOf(podSpec);
  if (!Array.isArray(containers)) return undefined;
  const metadata = fieldsOf(value['metadata']);
  return {
    ...(isCustom && { apiVersion }),
    kind,
    namespace,
    name,
    labels: textsOf(metadata['labels']),
    annotations: textsOf(metadata['annotations']),
    containers: imagesOf(containers),
    initContainers: imagesOf(initContainers),
  };
}

/** The entries of a map whose values are texts: labels, annotations. */
export function textsOf(value: unknown): Record<string, string> {
  return Object.fromEntries(Object.entries(fieldsOf(value)).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

function imagesOf(value: unknown): NamedImage[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((container: unknown) => {
    const { name, image } = fieldsOf(container);
    return typeof name === 'string' && typeof image === 'string' ? [{ name, image }] : [];
  });
}
