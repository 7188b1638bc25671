/** The images that the selected workloads run, from the caches. Pure. */
import type { BaseWorkloads } from '../../core/model/base-policy.ts';
import { formatRepository, type RegistryAliases, type Repository, tryParseImageReference } from '../../core/model/image-reference.ts';
import { type LabelSelector, matchesSelector } from '../../core/model/label-selector.ts';
import type { WorkloadView } from '../../core/model/resolve-target.ts';
import { maxLengths } from '../../core/model/status-fields.ts';
import { runningTag } from '../../core/model/running-image.ts';
import { cut } from '../../core/model/text.ts';
import { refOf, workloadKey, type Workload, type WorkloadContainer } from '../../core/model/workload.ts';
import { consentTo, isNamespaceOpen, type ConsentRules } from '../../core/plan/consent.ts';
import type { TaggedImage, UsableBasePolicy, WorkloadImages } from './act.ts';

/** What is known about namespaces and workloads. */
export interface ImagesView extends WorkloadView, ConsentRules {
  /** The names of the Namespaces that a selector matches. */
  readonly namespacesWith: (selector: LabelSelector) => readonly string[];
  readonly aliases: RegistryAliases;
}

/** An image as workloads name it, and the workloads that run it. */
export interface NamedImage {
  readonly repository: Repository;
  /** The tag of the image. Undefined where workloads name it by its digest alone, and do not record the tag from which it was pinned. */
  readonly tag: string | undefined;
  readonly digest: string | undefined;
  readonly workloads: readonly WorkloadImages[];
  /** Whether only init containers run it. */
  readonly isOnlyInit?: boolean;
}

/**
 * Lists the images of containers and init containers, each once, sorted by name. Workloads of other namespaces are listed only with the consent of their
 * owners. Without consent, not even their number is known.
 */
export function listImages(policy: UsableBasePolicy, view: ImagesView): NamedImage[] {
  return collect(selectPermitted(policy, view), 'containers', view);
}

/** Lists the images that the same workloads mount as volumes. They are not examined, because they do not have to be able to run. */
export function listVolumes(policy: UsableBasePolicy, view: ImagesView): NamedImage[] {
  return collect(selectPermitted(policy, view), 'volumes', view);
}

/** Whether any of the workloads names an image, by its tag or by its digest, whatever a policy selects and its owners consent to. */
export function isImageInUse(listEvery: () => Iterable<Workload>, view: Pick<ImagesView, 'aliases'>): (image: TaggedImage) => boolean {
  let names: ReadonlySet<string> | undefined;
  const listNames = () => {
    const workloads = [...listEvery()];
    const images = [...collect(workloads, 'containers', view), ...collect(workloads, 'volumes', view)];
    return new Set(images.flatMap(({ repository, tag, digest }) => namesOf(repository, tag, digest)));
  };
  return ({ repository, tag, digest }) => {
    const known = (names ??= listNames());
    return namesOf(repository, tag, digest).some((name) => known.has(name));
  };
}

function namesOf(repository: Repository, tag: string | undefined, digest: string | undefined): string[] {
  const name = formatRepository(repository);
  return [...(tag === undefined ? [] : [`${name}:${tag}`]), ...(digest === undefined ? [] : [`${name}@${digest}`])];
}

/** The other namespaces that the policy selects, and in which nobody has consented, neither for the namespace nor for a workload. Only for those who may list namespaces. */
export function listWithoutConsent(policy: UsableBasePolicy, view: ImagesView): string[] {
  if (view.crossNamespace === 'deny') return [];
  const selected = new Set(
    policy.spec.workloads.flatMap(({ namespaceSelector }) =>
      namespaceSelector === undefined ? [] : [...view.namespacesWith(namespaceSelector)],
    ),
  );
  const consenting = new Set(selectPermitted(policy, view).map(({ namespace }) => namespace));
  return [...selected]
    .filter((namespace) => namespace !== policy.namespace && !isNamespaceOpen(namespace, policy, view) && !consenting.has(namespace))
    .toSorted();
}

/** The repositories of the images that the containers and init containers of a workload run, as `registry/path`. */
export function repositoriesOf(workload: Workload, aliases: RegistryAliases): readonly string[] {
  return containersOf(workload).flatMap(([{ image }]) => {
    const reference = tryParseImageReference(image, aliases);
    return reference === undefined ? [] : [formatRepository(reference.repository)];
  });
}

/** The name of an image as the status and the API show it. */
export function nameOf({ repository, tag, digest }: Pick<NamedImage, 'repository' | 'tag' | 'digest'>): string {
  const name = `${formatRepository(repository)}${tag === undefined ? '' : `:${tag}`}${digest === undefined ? '' : `@${digest}`}`;
  return cut(name, maxLengths.image);
}

function selectPermitted(policy: UsableBasePolicy, view: ImagesView): Workload[] {
  const workloads = new Map<string, Workload>();
  for (const entry of policy.spec.workloads) {
    for (const workload of selectWorkloads(entry, policy, view)) workloads.set(workloadKey(workload), workload);
  }
  return [...workloads.values()].filter((workload) => consentTo(workload, policy, view).granted);
}

function collect(workloads: readonly Workload[], where: keyof WorkloadParts, { aliases }: Pick<ImagesView, 'aliases'>): NamedImage[] {
  const images = new Map<string, { image: PartImage; workloads: Map<string, Mutable>; isOnlyInit: boolean }>();
  for (const workload of workloads) {
    for (const { name, image, workload: ref, container, isInit } of partsOf(workload, aliases)[where]) {
      const entry = images.get(name) ?? { image, workloads: new Map<string, Mutable>(), isOnlyInit: true };
      entry.isOnlyInit &&= isInit;
      images.set(name, entry);
      const key = workloadKey(ref);
      const found = entry.workloads.get(key) ?? { workload: ref, containers: [], hasInitContainers: false };
      found.containers.push(container);
      found.hasInitContainers ||= isInit;
      entry.workloads.set(key, found);
    }
  }
  const sorted = [...images].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([, { image, workloads, isOnlyInit }]) => ({
    ...image,
    workloads: [...workloads.values()],
    ...(isOnlyInit && { isOnlyInit }),
  }));
}

type PartImage = Pick<NamedImage, 'repository' | 'tag' | 'digest'>;

/** A container or a volume of a workload, and its image. */
interface NamedPart {
  /** The name of the image, which is the same for all that run it. */
  readonly name: string;
  readonly image: PartImage;
  readonly workload: WorkloadImages['workload'];
  readonly container: string;
  readonly isInit: boolean;
}

interface WorkloadParts {
  readonly containers: readonly NamedPart[];
  readonly volumes: readonly NamedPart[];
}

/** The parts of workloads. Many policies list the same workloads, at each reconcile and push, so the names of images are parsed once for each state of a workload. */
const knownParts = new WeakMap<Workload, WorkloadParts & Pick<ImagesView, 'aliases'>>();

function partsOf(workload: Workload, aliases: RegistryAliases): WorkloadParts {
  const known = knownParts.get(workload);
  if (known?.aliases === aliases) return known;
  const ref = refOf(workload);
  const nameParts = (parts: readonly [WorkloadContainer, boolean][]) =>
    parts.flatMap(([container, isInit]): NamedPart[] => {
      const reference = tryParseImageReference(container.image, aliases);
      if (reference === undefined) return [];
      const { repository, digest } = reference;
      const tag = runningTag(reference, { workload, container: container.name });
      const name = `${formatRepository(repository)}:${tag ?? ''}@${digest ?? ''}`;
      return [{ name, image: { repository, tag, digest }, workload: ref, container: container.name, isInit }];
    });
  const parts = { containers: nameParts(containersOf(workload)), volumes: nameParts(volumesOf(workload)), aliases };
  knownParts.set(workload, parts);
  return parts;
}

interface Mutable {
  readonly workload: WorkloadImages['workload'];
  readonly containers: string[];
  hasInitContainers: boolean;
}

/** A namespace without any consent is skipped as a whole, however many workloads it has. */
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

function volumesOf({ volumes = [] }: Workload): [WorkloadContainer, boolean][] {
  return volumes.map((one): [WorkloadContainer, boolean] => [one, false]);
}
