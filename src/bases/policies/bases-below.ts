/**
 * Bases below: the selected version of a framework may be built on an older Java than the one to which another BaseImagePolicy has brought its applications. They
 * wait until the framework is on that Java as well, because they would lose what it has patched.
 */
import { inSlices } from '../../core/async/in-parallel.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import type { KnownBase } from '../recognize/layers.ts';
import type { ImageState, UsableBasePolicy } from './act.ts';
import { formatVersion } from './bases-between.ts';
import type { ExaminedImage } from './examine-images.ts';
import { layersOf, type OtherPolicy, type OtherPorts, readFactsOf, readOthers, selectsAll, versionIn } from './other-bases.ts';
import type { SelectedBase } from './plan-roll-out.ts';

/** What an image would lose. */
export interface BaseBelow {
  /** The policy that has brought the image forward. */
  readonly policy: OtherPolicy;
  /** The version of its base that the image is built on, which is the selected one. */
  readonly has: KnownBase;
  /** The version that the image would be built on. */
  readonly wouldHave: KnownBase;
}

/** What each of these images would lose on the selected version; none for those that lose nothing. */
export async function findBelow(
  policy: UsableBasePolicy,
  images: readonly ExaminedImage[],
  { selected, source, signal }: { readonly selected: SelectedBase; readonly source: ImageSource; readonly signal: AbortSignal },
  ports: OtherPorts,
): Promise<ReadonlyMap<ExaminedImage, BaseBelow>> {
  const found = new Map<ExaminedImage, BaseBelow>();
  const others = images.length === 0 ? [] : await readOthers(policy, ports, signal);
  const own = others.length === 0 ? undefined : await ports.facts.read(source, selected.digest, signal);
  if (own === undefined) return found;
  const read = await readFactsOf(images, ports, signal);
  const ownLayers = layersOf(own);
  const behind = others.flatMap((other) => {
    const wouldHave = versionIn(ownLayers, other.index);
    return wouldHave === undefined || wouldHave.digest === other.policy.status.latest.digest ? [] : [{ other, wouldHave }];
  });
  await inSlices(behind.length === 0 ? [] : read, signal, ([image, facts]) => {
    const layers = layersOf(facts);
    for (const { other, wouldHave } of behind) {
      const has = versionIn(layers, other.index);
      const isBack = has?.digest === other.policy.status.latest.digest;
      if (isBack && selectsAll(other, image, ports.cluster)) found.set(image, { policy: other.policy, has, wouldHave });
    }
  });
  return found;
}

/** Why an image stays on the older version for now. */
export function describeBelow({ policy, has, wouldHave }: BaseBelow, { tag }: SelectedBase): ImageState {
  const until = `it waits until BaseImagePolicy ${policy.namespace}/${policy.name} has brought ${tag} forward, or ${tag} is rebuilt`;
  const message = `it is built on ${formatVersion(has)}, and ${tag} on ${formatVersion(wouldHave)}: ${until}`;
  return { state: 'Behind', reason: 'BaseBetween', message };
}
