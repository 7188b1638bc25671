/** The images that the selected workloads run, from the caches. Pure. */
import type { BaseWorkloads } from '../../core/model/base-policy.ts';
import { formatRepository, type RegistryAliases, type Repository, tryParseImageReference } from '../../core/model/image-reference.ts';
import { type LabelSelector, matchesSelector } from '../../core/model/label-selector.ts';
import type { WorkloadView } from '../../core/model/resolve-target.ts';
import { runningTag } from '../../core/model/running-image.ts';
import { refOf, workloadKey, type Workload, type WorkloadContainer } from '../../core/model/workload.ts';
import { consentTo, isNamespaceOpen, type ConsentRules } from '../../core/plan/consent.ts';
import type { UsableBasePolicy, WorkloadImages } from './act.ts';

/** What is known about namespaces and workloads. */
export interface ImagesView extends WorkloadView, ConsentRules {
  /** The names of the Namespaces that a selector matches. */
  readonly namespacesWith: (selector: LabelSelector) => readonly string[];
  readonly aliases: RegistryAliases;
}

/** An image as workloads name it, and who runs it. */
export interface NamedImage {
  readonly repository: Repository;
  /** Undefined where they name it by its digest alone, and do not record the tag that it was applied as. */
  readonly tag: string | undefined;
  readonly digest: string | undefined;
  readonly workloads: readonly WorkloadImages[];
}

/**
 * Lists the images of containers and init containers, in the order of their names, each once. Workloads of other namespaces are listed only with the consent
 * of their owners; without it, not even their number is known.
 */
export function listImages(policy: UsableBasePolicy, view: ImagesView): NamedImage[] {
  const workloads = new Map<string, Workload>();
  for (const entry of policy.spec.workloads) {
    for (const workload of selectWorkloads(entry, policy, view)) workloads.set(workloadKey(workload), workload);
  }
  const permitted = [...workloads.values()].filter((workload) => consentTo(workload, policy, view).granted);
  const images = new Map<string, { image: Omit<NamedImage, 'workloads'>; workloads: Map<string, Mutable> }>();
  for (const workload of permitted) {
    for (const [container, isInit] of containersOf(workload)) {
      const reference = tryParseImageReference(container.image, view.aliases);
      if (reference === undefined) continue;
      const { repository, digest } = reference;
      const tag = runningTag(reference, { workload, container: container.name });
      const name = `${formatRepository(repository)}:${tag ?? ''}@${digest ?? ''}`;
      const entry = images.get(name) ?? {
        image: { repository, tag, digest },
        workloads: new Map<string, Mutable>(),
      };
      images.set(name, entry);
      const key = workloadKey(workload);
      const found = entry.workloads.get(key) ?? { workload: refOf(workload), containers: [], hasInitContainers: false };
      found.containers.push(container.name);
      found.hasInitContainers ||= isInit;
      entry.workloads.set(key, found);
    }
  }
  const sorted = [...images].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([, { image, workloads }]) => ({ ...image, workloads: [...workloads.values()] }));
}

interface Mutable {
  readonly workload: WorkloadImages['workload'];
  readonly containers: string[];
  hasInitContainers: boolean;
}

/** A namespace without any consent costs nothing, however many workloads it has. */
function* selectWorkloads(
  { namespaceSelector, selector, kinds }: BaseWorkloads,
  policy: UsableBasePolicy,
  view: ImagesView,
): Generator<Workload> {
  const namespaces = namespaceSelector === undefined ? [policy.namespace] : view.namespacesWith(namespaceSelector);
  for (const namespace of namespaces) {
    const isOpen = namespace === policy.namespace || isNamespaceOpen(namespace, policy, view);
    for (const kind of kinds) {
      const listed = view.listWorkloads({ kind }, namespace, selector ?? {}, ...(isOpen ? [] : (['annotated'] as const)));
      for (const workload of listed) {
        const isSelected = selector === undefined || matchesSelector(selector, workload.labels);
        if (isSelected && workload.isDeleted !== true) yield workload;
      }
    }
  }
}

function containersOf({ containers, initContainers = [] }: Workload): [WorkloadContainer, boolean][] {
  return [
    ...containers.map((one): [WorkloadContainer, boolean] => [one, false]),
    ...initContainers.map((one): [WorkloadContainer, boolean] => [one, true]),
  ];
}
