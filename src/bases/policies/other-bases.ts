/** The bases of other BaseImagePolicies, as far as they matter for the images of this one: bases are built on one another. */
import { inParallel } from '../../core/async/in-parallel.ts';
import { type BaseImagePolicy, type BasePolicySpec, isActiveBase } from '../../core/model/base-policy.ts';
import type { BaseStatus } from '../../core/model/base-status.ts';
import { formatRepository, sameRepository } from '../../core/model/image-reference.ts';
import { consentTo } from '../../core/plan/consent.ts';
import { type BaseIndex, type FoundBase, indexBases } from '../recognize/base-index.ts';
import type { BuildFacts } from '../recognize/facts.ts';
import { chainsOf } from '../recognize/layers.ts';
import { type Line, lineOf } from '../recognize/line.ts';
import { tagsOfLine } from '../recognize/read-versions.ts';
import type { SeenVersion } from '../record/seen-version.ts';
import type { UsableBasePolicy } from './act.ts';
import type { ExaminedImage } from './examine-images.ts';
import type { BasePorts } from './ports.ts';
import { selectsWorkload } from './selects-workload.ts';

/** An active policy that has selected a version of its base. */
export type OtherPolicy = BaseImagePolicy & {
  readonly spec: BasePolicySpec;
  readonly status: BaseStatus & Required<Pick<BaseStatus, 'latest'>>;
};

/** A policy and all versions of its base. */
export interface OtherBase {
  readonly policy: OtherPolicy;
  readonly index: BaseIndex;
  /** Which versions it brings its images from, and to. */
  readonly line: Line;
}

export type OtherPorts = Pick<BasePorts, 'basePolicies' | 'records' | 'facts' | 'cluster'>;

const parallelReads = 8;

/** Reads the bases of other policies; `among`: only of these. */
export async function readOthers(
  policy: UsableBasePolicy,
  { basePolicies, records }: OtherPorts,
  signal: AbortSignal,
  among: Iterable<BaseImagePolicy> = basePolicies.all(),
): Promise<OtherBase[]> {
  const others = [...among].filter(isOther(policy));
  const read = await inParallel(others, parallelReads, async (other): Promise<OtherBase> => {
    const versions = await records.read(other, signal, { atLeast: other.status.versions?.known ?? 0 });
    const index = await indexOf(versions, formatRepository(other.spec.base.repository), signal);
    return { policy: other, index, line: await readLine(other, versions, signal) };
  });
  return read.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

/** A base may have thousands of versions, which are indexed once for each time that they were read. */
const indexes = new WeakMap<readonly SeenVersion[], BaseIndex>();

async function indexOf(versions: readonly SeenVersion[], repository: string, signal: AbortSignal): Promise<BaseIndex> {
  const found =
    indexes.get(versions) ??
    (await indexBases(
      versions.map((version) => ({ repository, ...version })),
      signal,
    ));
  indexes.set(versions, found);
  return found;
}

/** The lines of policies, computed once for each selection and each time that the versions were read. */
const lines = new WeakMap<readonly SeenVersion[], { readonly key: string; readonly line: Line }>();

async function readLine({ generation, spec, status }: OtherPolicy, versions: readonly SeenVersion[], signal: AbortSignal): Promise<Line> {
  const { from, base } = spec;
  const { latest, waiting } = status;
  const { strategy } = base;
  const key = `${generation} ${latest.digest} ${waiting?.digest}`;
  const known = lines.get(versions);
  if (known?.key === key) return known.line;
  const order = await tagsOfLine(new Set([latest.tag, ...versions.flatMap(({ tags }) => tags)]), { strategy, from }, signal);
  const selectedBefore = new Set(versions.flatMap(({ selected, digest }) => (selected === true ? [digest] : [])));
  const line = await lineOf({ strategy, selected: latest, known: versions, ...order, selectedBefore, waiting: waiting?.digest }, signal);
  lines.set(versions, { key, line });
  return line;
}

function isOther(policy: UsableBasePolicy) {
  return (other: BaseImagePolicy): other is OtherPolicy =>
    other.uid !== policy.uid &&
    isActiveBase(other) &&
    other.status.latest !== undefined &&
    other.spec.base.mode !== 'DryRun' &&
    !sameRepository(other.spec.base.repository, policy.spec.base.repository);
}

/** The facts about images; none for one that cannot be read now. */
export async function readFactsOf(
  images: readonly ExaminedImage[],
  { facts }: Pick<OtherPorts, 'facts'>,
  signal: AbortSignal,
): Promise<ReadonlyMap<ExaminedImage, BuildFacts>> {
  const read = await inParallel(images, parallelReads, async (image) => {
    const found = image.digest === undefined ? undefined : await facts.read(image.source, image.digest, signal);
    return found === undefined ? [] : [[image, found] as const];
  });
  signal.throwIfAborted();
  return new Map(read.flatMap((result) => (result.status === 'fulfilled' ? result.value : [])));
}

/** The layers of an image of one platform, as `countBaseLayers` takes them. */
export interface Layers {
  readonly platform: string;
  readonly chains: readonly string[];
}

/** The layers on each platform on which they are known. They are computed once for an image, because it may have thousands, and is compared with many bases. */
export function layersOf({ platforms }: BuildFacts): readonly Layers[] {
  return platforms.flatMap(({ platform, diffIds }) => (diffIds === undefined ? [] : [{ platform, chains: chainsOf(diffIds) }]));
}

/** The version of another base that an image begins with on each of its platforms, that of the first platform; undefined if there is none. */
export function versionIn(
  images: readonly Layers[],
  { longest }: BaseIndex,
  isEnough: (image: Layers, found: FoundBase) => boolean = () => true,
) {
  const found = images.map((image) => {
    const version = longest(image);
    return version !== undefined && isEnough(image, version) ? version.base : undefined;
  });
  return found.includes(undefined) ? undefined : found[0];
}

/**
 * Whether the other policy selects all workloads that run the image, with the consent of their owners. What anybody else says of a base must neither keep images
 * behind nor stop them.
 */
export function selectsAll({ policy }: OtherBase, { image: { workloads } }: ExaminedImage, cluster: OtherPorts['cluster']): boolean {
  return workloads.every(({ workload: ref }) => {
    const workload = cluster.findWorkload(ref);
    return (
      workload !== undefined && selectsWorkload(policy, workload, cluster.namespaceMatches) && consentTo(workload, policy, cluster).granted
    );
  });
}
