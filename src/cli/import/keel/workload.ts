import type { KubeClient } from '../../../kube/client.ts';
import { listPages, listPath } from '../../../kube/objects.ts';
import { cronJob, daemonSet, deployment, statefulSet } from '../../../kube/targets.ts';

/** The parts of a workload that Keel reads. */
export interface KeelWorkload {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly containers: readonly NamedImage[];
  readonly initContainers: readonly NamedImage[];
}

/** A container and what it runs. */
export interface NamedImage {
  readonly name: string;
  readonly image: string;
}

/** Reads an object of the API server whose pod spec is at a path; undefined if it is not a workload. */
export function readWorkload(raw: unknown, kind: string, podSpecPath: readonly string[]): KeelWorkload | undefined {
  const metadata = field(raw, 'metadata');
  const namespace = field(metadata, 'namespace');
  const name = field(metadata, 'name');
  if (typeof namespace !== 'string' || typeof name !== 'string') return undefined;
  const podSpec = podSpecPath.reduce(field, raw);
  return {
    kind,
    namespace,
    name,
    labels: textsOf(field(metadata, 'labels')),
    annotations: textsOf(field(metadata, 'annotations')),
    containers: imagesOf(field(podSpec, 'containers')),
    initContainers: imagesOf(field(podSpec, 'initContainers')),
  };
}

function field(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
}

function textsOf(value: unknown): Record<string, string> {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

function imagesOf(value: unknown): NamedImage[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((container: unknown) => {
    const name = field(container, 'name');
    const image = field(container, 'image');
    return typeof name === 'string' && typeof image === 'string' ? [{ name, image }] : [];
  });
}

/** The kinds that Keel updates. */
const kinds = [deployment, statefulSet, daemonSet, cronJob];

/** All workloads of a namespace, or of the cluster, by kind, namespace and name. */
export async function listWorkloads(client: KubeClient, namespace: string | undefined): Promise<KeelWorkload[]> {
  const found: KeelWorkload[] = [];
  for (const target of kinds) {
    for await (const { items } of listPages(client, { path: listPath(target, namespace), pageSize: 500 })) {
      found.push(...items.flatMap((item) => readWorkload(item, target.kind, target.podSpecPath) ?? []));
    }
  }
  return found;
}
