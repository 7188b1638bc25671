/** The images of the workloads in a cluster, and the digests that their pods run. */
import { defined } from '../../../core/model/defined.ts';
import type { KubeClient } from '../../../service/kube/client.ts';
import { isKubeError } from '../../../service/kube/kube-error.ts';
import { listPages, listPath } from '../../../service/kube/objects.ts';
import { isWanted, projectWorkload } from '../../../service/kube/project-workload.ts';
import type { TargetKind } from '../../../service/kube/targets.ts';
import { type ImageReference, isDigest, type RegistryAliases, tryParseImageReference } from '../../../core/model/image-reference.ts';
import { type LabelSelector, matchesSelector } from '../../../core/model/label-selector.ts';
import { formatWorkload, imagesOf } from '../../../core/model/workload.ts';

export interface Where {
  readonly kinds: readonly TargetKind[];
  /** The namespace of the workloads; undefined for all namespaces. */
  readonly namespace: string | undefined;
  /** A label selector for workloads, in the syntax of the API server. */
  readonly selector: string | undefined;
}

/** An image of one container of a workload. `digests` are those that its pods run, if the reference has none. */
export interface ListedImage {
  readonly reference: ImageReference;
  readonly workload: string;
  readonly owner: WorkloadOwner;
  readonly digests: readonly string[];
}

/** Whose workload it is: its namespace, and its own consent annotation. */
export interface WorkloadOwner {
  readonly namespace: string;
  readonly allowPoliciesFrom?: string | undefined;
}

interface Container {
  readonly reference: ImageReference;
  readonly workload: string;
  readonly owner: WorkloadOwner;
  readonly selector: LabelSelector | undefined;
  /** The key that identifies the container among those of the pods. */
  readonly key: string;
}

interface RunningContainer {
  readonly labels: Readonly<Record<string, string>>;
  readonly digest: string;
}

const pageSize = 500;

interface Reading {
  readonly aliases: RegistryAliases;
  readonly signal: AbortSignal;
}

/** Lists the images. Rejects if there are no workloads. `note` says why the digests of pods are not known. */
export async function listImages(
  client: KubeClient,
  where: Where,
  { aliases, signal }: Reading,
): Promise<{ readonly images: readonly ListedImage[]; readonly note?: string }> {
  const containers: Container[] = [];
  let workloads = 0;
  for (const kind of where.kinds) {
    const request = { path: listPath(kind, where.namespace), labelSelector: where.selector, pageSize, signal };
    for await (const { items } of listPages(client, request)) {
      for (const raw of items.filter((item) => isWanted(kind, item))) {
        workloads++;
        containers.push(...containersOf(kind, raw, aliases));
      }
    }
  }
  if (workloads === 0) throw new Error(describeNone(where));
  const open = new Set(containers.flatMap(({ reference, key }) => (reference.digest === undefined ? [key] : [])));
  const { running, note } =
    open.size === 0 ? { running: new Map<string, RunningContainer[]>() } : await listRunning(client, where, { open, signal });
  const images = containers.map(({ reference, workload, owner, selector, key }) => {
    const same = (running.get(key) ?? []).filter(({ labels }) => selector === undefined || matchesSelector(selector, labels));
    return { reference, workload, owner, digests: [...new Set(same.map(({ digest }) => digest))] };
  });
  return { images, ...defined({ note }) };
}

function describeNone({ kinds, namespace, selector }: Where): string {
  const what = kinds.length === 1 ? `no ${kinds[0]?.kind}s` : 'no workloads';
  const where = namespace === undefined ? '' : ` in the namespace ${namespace}: choose another one with --namespace, or all with -A`;
  return `there are ${what}${selector === undefined ? '' : ` with the labels ${selector}`}${where}`;
}

function containersOf(kind: TargetKind, raw: unknown, aliases: RegistryAliases): Container[] {
  const workload = projectWorkload(kind, raw);
  const { spec } = raw as { readonly spec?: { readonly selector?: LabelSelector } };
  return imagesOf(workload)
    .filter(({ position }) => position.list !== 'volumes')
    .flatMap(({ container: { name, image } }) => {
      const reference = tryParseImageReference(image, aliases);
      const { namespace, allowPoliciesFrom } = workload;
      const owner = { namespace, allowPoliciesFrom };
      const key = keyOf(namespace, name, image);
      return reference === undefined ? [] : [{ reference, workload: formatWorkload(workload), owner, selector: spec?.selector, key }];
    });
}

function keyOf(namespace: string, container: string, image: string): string {
  return `${namespace} ${container} ${image}`;
}

interface RawPod {
  readonly metadata?: { readonly namespace?: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: { readonly containers?: readonly RawContainer[]; readonly initContainers?: readonly RawContainer[] };
  readonly status?: { readonly containerStatuses?: readonly RawStatus[]; readonly initContainerStatuses?: readonly RawStatus[] };
}

interface RawContainer {
  readonly name?: string;
  readonly image?: string;
}

interface RawStatus {
  readonly name?: string;
  /** The image as the kubelet reports it: `harbor.example.com/shop/web@sha256:…`, with containerd the digest of the index. */
  readonly imageID?: string;
}

/** The digests that pods run, by container. Without the permission to list pods there are none. */
async function listRunning(
  client: KubeClient,
  { namespace }: Where,
  { open, signal }: { readonly open: ReadonlySet<string>; readonly signal: AbortSignal },
): Promise<{ readonly running: ReadonlyMap<string, readonly RunningContainer[]>; readonly note?: string }> {
  const running = new Map<string, RunningContainer[]>();
  try {
    for await (const { items } of listPages(client, {
      path: listPath({ apiVersion: 'v1', resource: 'pods' }, namespace),
      pageSize,
      signal,
    })) {
      for (const pod of items as readonly RawPod[]) {
        for (const [key, digest] of digestsOf(pod)) {
          if (!open.has(key)) continue;
          const found = running.get(key);
          const container = { labels: pod.metadata?.labels ?? {}, digest };
          if (found === undefined) running.set(key, [container]);
          else found.push(container);
        }
      }
    }
    return { running };
  } catch (error) {
    if (!isKubeError(error, 403)) throw error;
    return { running: new Map(), note: 'you may not list pods: the image of a tag is taken to be the one that the registry has now' };
  }
}

function digestsOf({ metadata, spec, status }: RawPod): [key: string, digest: string][] {
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  return containers.flatMap(({ name = '', image = '' }): [string, string][] => {
    const id = statuses.find((one) => one.name === name)?.imageID ?? '';
    // An id without a repository is the digest of the configuration.
    const digest = id.includes('@') ? id.slice(id.indexOf('@') + 1) : '';
    return isDigest(digest) ? [[keyOf(metadata?.namespace ?? '', name, image), digest]] : [];
  });
}
