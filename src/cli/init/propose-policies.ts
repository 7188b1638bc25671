/** Proposes policies for running images, given the tags in registries, and lists the images that are left out. Pure. */
import { defined } from '../../core/model/defined.ts';
import { kind } from '../../service/resources/group.ts';
import { apiVersion, type Spec } from '../../service/resources/v1.ts';
import { policiesAlone } from '../../service/resources/resource-group.ts';
import { validatePolicy } from '../../service/resources/validate.ts';
import { formatRepository, type ImageReference } from '../../core/model/image-reference.ts';
import { formatWorkload, workloadKey, type ImageList, type WorkloadRef } from '../../core/model/workload.ts';
import { selectTag } from '../../core/select/select-tag.ts';
import { freeName, type WrittenPolicy } from '../../service/command-line/policy-documents.ts';
import { chooseSelection, strategyOf, type Selection } from '../../service/command-line/selection/choose-selection.ts';

/** An image of a workload. */
export interface RunningImage {
  readonly workload: WorkloadRef;
  readonly container: string;
  readonly list: ImageList;
  readonly reference: ImageReference;
  /** The Helm release that the workload is part of, if no other tool runs Helm. */
  readonly release?: HelmRelease;
}

/** A release of Helm. */
export interface HelmRelease {
  readonly name: string;
  readonly namespace: string;
}

/** The images that are left out for a reason. */
export interface LeftOut {
  readonly image: string;
  readonly workloads: readonly string[];
  readonly why: string;
}

/** A proposed policy, what its workloads run, and what it would select now. That is undefined if names of tags do not decide it. */
export interface Proposal extends WrittenPolicy {
  readonly runs: readonly string[];
  readonly selects?: string;
}

/** The proposed policies, and the images that are left out. */
export interface Proposals {
  readonly policies: readonly Proposal[];
  readonly leftOut: readonly LeftOut[];
}

/** The tags of a repository, or why they cannot be read. */
export type TagList = { readonly tags: readonly string[] } | { readonly problem: string };

/** When policies change what runs. */
export type Mode = 'Automatic' | 'Approval' | 'DryRun';

export interface ProposeOptions {
  readonly mode: Mode;
  /** The names of existing policies, as NAMESPACE/NAME. */
  readonly taken: ReadonlySet<string>;
}

/** The key of a repository in the map of tag lists. */
export function repositoryKey({ repository }: ImageReference): string {
  return formatRepository(repository);
}

/** A running image, and how its policy selects. */
interface Planned extends RunningImage {
  readonly selection: Selection;
  readonly isPinned: boolean;
}

/** One policy for all images of a namespace and repository that are selected in the same way. All policies are valid. */
export function proposePolicies(
  running: readonly RunningImage[],
  tagsOf: (reference: ImageReference) => TagList,
  { mode, taken }: ProposeOptions,
): Proposals {
  const leftOut: LeftOut[] = [];
  const planned = running.flatMap((image): Planned[] => {
    const selection = selectionFor(image.reference, tagsOf);
    if ('problem' in selection) leftOut.push(leftOutOf([image], selection.problem));
    else return [{ ...image, selection, isPinned: image.reference.digest !== undefined }];
    return [];
  });
  const groups = Map.groupBy(planned, (image) =>
    JSON.stringify([
      image.workload.namespace,
      repositoryKey(image.reference),
      image.isPinned,
      image.selection.select,
      image.selection.tags,
    ]),
  );
  const names = new Set(taken);
  const policies = [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { targets, apart } = targetsOf(group, running);
    if (apart.length > 0)
      leftOut.push(
        leftOutOf(apart, 'an image volume and a container of this workload run the image in different versions: write this policy by hand'),
      );
    return chunks(targets).flatMap((part): Proposal[] => {
      const written = writePolicy(first, part, { mode, names, list: tagsOf(first.reference) });
      const problems = validatePolicy(written.policy, policiesAlone).map(({ path, message }) => `${path} ${message}`);
      if (problems.length === 0) return [{ ...written, notes: [...written.notes, ...notesOnHelm(group, part)], runs: runsOf(group, part) }];
      leftOut.push(leftOutOf(group, `no valid policy follows from it: ${problems.join('; ')}`));
      return [];
    });
  });
  return { policies, leftOut };
}

function selectionFor(reference: ImageReference, tagsOf: (reference: ImageReference) => TagList): ReturnType<typeof chooseSelection> {
  const { tag, digest } = reference;
  if (tag === undefined && digest !== undefined)
    return { problem: 'it is pinned by its digest only: write a tag before the digest to say which tags may follow' };
  const list = tagsOf(reference);
  return 'problem' in list ? list : chooseSelection(tag ?? 'latest', list.tags);
}

/** Makes an entry for images that are left out for one reason. */
export function leftOutOf(images: readonly Pick<RunningImage, 'workload' | 'reference'>[], why: string): LeftOut {
  const image = images[0]?.reference;
  const name =
    image === undefined
      ? ''
      : `${image.name}${image.tag === undefined ? '' : `:${image.tag}`}${image.digest === undefined ? '' : `@${image.digest}`}`;
  return { image: name, workloads: [...new Set(images.map(({ workload }) => formatWorkload(workload)))], why };
}

type Target = Spec['targets'][number];

interface WorkloadTarget {
  readonly target: Target;
  readonly workload: string;
}

/** One target for each workload. It names containers if other containers of the workload run the same repository in another way. */
function targetsOf(group: readonly Planned[], running: readonly RunningImage[]): { targets: WorkloadTarget[]; apart: readonly Planned[] } {
  const apart: Planned[] = [];
  const targets = [...Map.groupBy(group, ({ workload }) => workloadKey(workload))].flatMap(([key, images]): WorkloadTarget[] => {
    const [first] = images;
    if (first === undefined) return [];
    const { workload, reference } = first;
    const same = running.filter((one) => workloadKey(one.workload) === key && repositoryKey(one.reference) === repositoryKey(reference));
    const isPartial = same.length > images.length;
    const inVolumes = images.filter(({ list }) => list === 'volumes');
    // A target cannot name volumes.
    if (isPartial && same.some(({ list }) => list === 'volumes')) {
      apart.push(...images);
      return [];
    }
    const containers = images.filter(({ list }) => list !== 'volumes').map(({ container }) => container);
    const target = {
      kind: workload.kind,
      name: workload.name,
      ...(isPartial && { containers }),
      ...(images.some(({ list }) => list === 'initContainers') && { initContainers: true }),
      ...(inVolumes.length > 0 && { volumes: true }),
    };
    return [{ target, workload: key }];
  });
  return { targets, apart };
}

const maxTargets = 64;

/** Divides targets among policies, each of which may have at most `maxTargets`. */
export function chunks<T>(targets: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(targets.length / maxTargets) }, (_, index) =>
    targets.slice(index * maxTargets, (index + 1) * maxTargets),
  );
}

function runsOf(group: readonly Planned[], part: readonly WorkloadTarget[]): string[] {
  const keys = new Set(part.map(({ workload }) => workload));
  const tags = group.filter(({ workload }) => keys.has(workloadKey(workload))).map(({ reference: { tag = 'latest' } }) => tag);
  return [...new Set(tags)].toSorted();
}

/** What the next upgrade of a Helm release does with an image that a policy has changed. */
function notesOnHelm(group: readonly Planned[], part: readonly WorkloadTarget[]): string[] {
  const keys = new Set(part.map(({ workload }) => workload));
  const ofHelm = group.filter(({ workload, release }) => release !== undefined && keys.has(workloadKey(workload)));
  const byRelease = Map.groupBy(ofHelm, ({ release }) => JSON.stringify(release));
  return [...byRelease.values()].flatMap((images) => {
    const release = images[0]?.release;
    if (release === undefined) return [];
    const { name, namespace } = release;
    const workloads = [...new Set(images.map(({ workload }) => formatWorkload(workload)))];
    const what = workloads.length === 1 ? `${workloads[0]} is` : `${workloads.join(', ')} are`;
    return [
      `${what} of the Helm release ${name}: the next "helm upgrade" puts the image back to that of the release's values, or ends with a conflict (Helm 4). Write the new tag into the values first, often image.tag: "helm get values ${name} --namespace ${namespace} --all" shows them.`,
    ];
  });
}

interface Writing {
  readonly mode: Mode;
  readonly names: Set<string>;
  readonly list: TagList;
}

function writePolicy(first: Planned, part: readonly WorkloadTarget[], { mode, names, list }: Writing): Omit<Proposal, 'runs'> {
  const { selection, reference, isPinned } = first;
  const { namespace } = first.workload;
  const { select, tags, why, notes } = selection;
  const needsPin = isPinned && select.digest === undefined;
  const update = { ...(mode !== 'Automatic' && { mode }), ...(needsPin && { pin: 'Digest' as const }) };
  const repository = reference.repository.path.split('/').at(-1) ?? '';
  const [only] = part.length === 1 ? part.map(({ target }) => target.name ?? '') : [];
  const spec: Spec = {
    image: repositoryKey(reference),
    select,
    ...defined({ tags }),
    targets: part.map(({ target }) => target),
    ...(Object.keys(update).length > 0 && { update }),
  };
  const selects = 'tags' in list && select.newest === undefined ? selectTag(strategyOf(selection), list.tags) : undefined;
  return {
    policy: {
      apiVersion,
      kind,
      metadata: { name: freeName(namespace, [repository, ...(only === undefined ? [] : [only])], names), namespace },
      spec,
    },
    notes: [why, ...notes, ...(needsPin ? ['The digest is written with the tag, as it runs.'] : [])],
    ...defined({ selects }),
  };
}
