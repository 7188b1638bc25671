/**
 * Bases in between: an application may be built on a framework that is itself built on this base, and the framework may have a BaseImagePolicy of its own. Then
 * the framework is brought to the new version first, and its own policy brings its applications to that.
 */
import { inSlices } from '../../core/async/in-parallel.ts';
import { formatRepository, sameRepository } from '../../core/model/image-reference.ts';
import { countBaseLayers } from '../recognize/base-index.ts';
import type { KnownBase } from '../recognize/layers.ts';
import type { ImageState, UsableBasePolicy } from './act.ts';
import { actionFor } from './action-for.ts';
import type { ExaminedImage } from './examine-images.ts';
import type { NamedImage } from './list-images.ts';
import { layersOf, type OtherPolicy, type OtherPorts, readFactsOf, readOthers, selectsAll, versionIn } from './other-bases.ts';

/** The base through which an image is built on this one. */
export interface BaseBetween {
  /** The policy that brings its applications to its newer versions. */
  readonly policy: OtherPolicy;
  /** The version of it that the image is built on. */
  readonly version: Pick<KnownBase, 'repository' | 'tags' | 'digest'>;
  /** The number of its layers. */
  readonly count: number;
}

interface BetweenRequest {
  /** The versions of this base. */
  readonly known: readonly KnownBase[];
  /** The policies whose bases count; by default all. */
  readonly among?: readonly OtherPolicy[];
  readonly signal: AbortSignal;
}

/** The base in between for each image that has one; of several, the lowest, on which the others are built. It counts if its policy acts on the image, wherever that runs. */
export async function findBetween(
  policy: UsableBasePolicy,
  images: readonly ExaminedImage[],
  ports: OtherPorts,
  { known, among, signal }: BetweenRequest,
): Promise<ReadonlyMap<ExaminedImage, BaseBetween>> {
  const found = new Map<ExaminedImage, BaseBetween>();
  const others = policy.spec.basesBetween === 'Skip' || images.length === 0 ? [] : await readOthers(policy, ports, signal, among);
  if (others.length === 0) return found;
  const byDigest = new Map(known.map((version) => [version.digest, version]));
  // A restart brings whatever the tag has.
  const own = images.filter((image) => actionFor(image, policy.spec.onNewBase).kind !== 'restart');
  await inSlices(await readFactsOf(own, ports, signal), signal, ([image, facts]) => {
    const { recognition, source } = image;
    const below = recognition.kind === 'recognized' ? byDigest.get(recognition.base.digest) : undefined;
    if (below === undefined) return;
    const layers = layersOf(facts);
    for (const other of others) {
      const { spec } = other.policy;
      // An image is no base of its own. What is only reported would stay where it is.
      if (sameRepository(source, spec.base.repository) || actionFor({ source }, spec.onNewBase).kind === 'report') continue;
      const version = versionIn(layers, other.index, (image, { layers: count }) => {
        const own = countBaseLayers(below, image) ?? 0;
        return own > 0 && count > own;
      });
      // An image on another line is not brought anywhere by that policy.
      const relation = version && other.line.relationOf(version);
      if (version === undefined || relation === undefined || relation === 'other' || !selectsAll(other, image, ports.cluster)) continue;
      const count = Math.max(...layers.map((one) => countBaseLayers(version, one) ?? 0));
      if (count < (found.get(image)?.count ?? Infinity)) found.set(image, { policy: other.policy, version, count });
    }
  });
  return found;
}

/** The selected versions of these bases, each once however many policies select it, as images without workloads: they are examined and brought forward like those that run. */
export function listBetween(between: ReadonlyMap<ExaminedImage, BaseBetween>): NamedImage[] {
  const selected = [...between.values()].map(
    ({ policy }) => [`${formatRepository(policy.spec.base.repository)}@${policy.status.latest.digest}`, policy] as const,
  );
  return [...new Map(selected).values()].map(({ spec, status: { latest } }) => ({
    repository: spec.base.repository,
    tag: latest.tag,
    digest: latest.digest,
    workloads: [],
  }));
}

/** Why nothing is done about an image itself. */
export function describeBetween({ policy, version }: BaseBetween): ImageState {
  const how = `BaseImagePolicy ${policy.namespace}/${policy.name} brings it forward when ${formatRepository(policy.spec.base.repository)} is`;
  const message = `it is built on ${formatVersion(version)}: ${how}; with basesBetween: Skip it is brought forward directly`;
  return { state: 'Behind', reason: 'BaseBetween', message };
}

/** A version by its tag, or its digest. */
export function formatVersion({ repository, tags: [tag], digest }: BaseBetween['version']): string {
  return tag === undefined ? `${repository}@${digest}` : `${repository}:${tag}`;
}
