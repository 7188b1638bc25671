/** The images that are built on a base, with the workloads that run them now, and what can be done about each. Pure. */
import { baseSteps, type ImageUse, isPinned, nextStepOf } from '../../core/model/base-next-step.ts';
import { isUsableBase, type BaseImagePolicy } from '../../core/model/base-policy.ts';
import type { Dependent } from '../../core/model/base-status.ts';
import type { DependentState, DependentView } from '../../service/api/base-view.ts';
import { type ImagesView, listImages, listVolumes, nameOf, type NamedImage } from '../policies/list-images.ts';
import { joinDependents, type KeptDependents } from '../record/kept-dependents.ts';

/** The dependents of a policy. */
export interface DependentList {
  readonly dependents: readonly Listed[];
  /** Whether all images of the status are listed. */
  readonly isComplete: boolean;
}

/** A dependent, and the namespaces in which it runs. */
export interface Listed {
  readonly view: DependentView;
  readonly namespaces: ReadonlySet<string>;
}

/** The maximum number of workloads that are shown of an image. */
const maxRuns = 20;

/** Lists the dependents by state, those that need attention first, and then by name. */
export function listDependents(policy: BaseImagePolicy, kept: KeptDependents | undefined, view: ImagesView): DependentList {
  const { spec, status } = policy;
  const usable = isUsableBase(spec) ? { ...policy, spec } : undefined;
  const running = new Map(usable && listImages(usable, view).map((image) => [nameOf(image), image]));
  const mounted = new Map(usable && listVolumes(usable, view).map((image) => [nameOf(image), image]));
  const shown = new Set(status.dependents?.map(({ image }) => image));
  const joined = joinDependents(status, kept);
  // What is kept besides the status is left out where it runs no more, or not with the consent of its owners.
  const current = joined.filter(({ image, workloads }) => shown.has(image) || running.has(image) || workloads === 0);
  const dependents = current.map((one) => toListed(one, running.get(one.image), mounted.get(one.image), status.latest?.digest));
  const onlyMounted = [...mounted].flatMap(([image, found]) => (running.has(image) ? [] : [toMounted(image, found)]));
  const { images } = status;
  return {
    dependents: [...dependents, ...onlyMounted].toSorted(byRank),
    isComplete: images !== undefined && joined.length >= images.total - images.unrelated,
  };
}

/** The order of states: what needs attention first. */
const ranks: Readonly<Record<DependentState, number>> = {
  Failed: 0,
  RebuildOverdue: 1,
  Refused: 2,
  Behind: 3,
  Updating: 4,
  Requested: 5,
  Rebased: 6,
  Unknown: 7,
  NotExamined: 8,
  OtherLine: 9,
  Updated: 10,
  Current: 11,
};

/** The place of a dependent in the list. */
export function placeOf({ view: { state, image } }: Listed): { readonly rank: number; readonly image: string } {
  return { rank: ranks[state], image };
}

function byRank(a: Listed, b: Listed): number {
  const [one, other] = [placeOf(a), placeOf(b)];
  return one.rank - other.rank || (one.image < other.image ? -1 : 1);
}

function toListed(
  dependent: Dependent,
  running: NamedImage | undefined,
  mounted: NamedImage | undefined,
  selected: string | undefined,
): Listed {
  const uses = usesOf(running, mounted);
  const step = nextStepOf({ ...dependent, uses }, selected);
  return {
    view: {
      ...dependent,
      isPinned: isPinned(dependent.image),
      uses,
      runs: runsOf(running, mounted),
      ...(step !== undefined && { nextStep: { id: step, text: baseSteps[step] } }),
    },
    namespaces: namespacesOf(running, mounted),
  };
}

/** An image that workloads only mount. */
function toMounted(image: string, mounted: NamedImage): Listed {
  const uses = usesOf(undefined, mounted);
  return {
    view: {
      image,
      state: 'NotExamined',
      workloads: mounted.workloads.length,
      isPinned: isPinned(image),
      uses,
      runs: runsOf(undefined, mounted),
      nextStep: { id: 'ImageVolume', text: baseSteps.ImageVolume },
    },
    namespaces: namespacesOf(undefined, mounted),
  };
}

function usesOf(running: NamedImage | undefined, mounted: NamedImage | undefined): ImageUse[] {
  const uses: [ImageUse, boolean][] = [
    ['Container', running !== undefined && running.isOnlyInit !== true],
    ['InitContainer', running?.workloads.some(({ hasInitContainers }) => hasInitContainers) === true],
    ['ImageVolume', mounted !== undefined],
  ];
  return uses.flatMap(([use, isSo]) => (isSo ? [use] : []));
}

function runsOf(running: NamedImage | undefined, mounted: NamedImage | undefined): DependentView['runs'] {
  const all = [...(running?.workloads ?? []), ...(mounted?.workloads ?? [])].slice(0, maxRuns);
  return all.map(({ workload: { kind, namespace, name }, containers }) => ({ kind, namespace, name, containers }));
}

function namespacesOf(...images: readonly (NamedImage | undefined)[]): ReadonlySet<string> {
  return new Set(images.flatMap((image) => image?.workloads.map(({ workload }) => workload.namespace) ?? []));
}
