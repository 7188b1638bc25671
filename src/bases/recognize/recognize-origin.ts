/**
 * Recognizes a base that a rebased image had before. The application `web` is built on a framework, which is built on Java. When its Java was replaced directly,
 * its layers do not begin with those of any version of the framework, but those of the image that it was made from do.
 */
import { formatRepository } from '../../core/model/image-reference.ts';
import { type BaseIndex, countBaseLayers } from './base-index.ts';
import type { BuildFacts, PlatformFacts } from './facts.ts';
import type { KnownSettings } from './contested-versions.ts';
import type { FactsReader } from './facts-reader.ts';
import { chainsOf, type KnownBase } from './layers.ts';
import { recognizeBase, type Recognition } from './recognize-base.ts';
import type { RunningImage } from './recognize-images.ts';

/** The base of an earlier image, and the digest of that image, from which the running one can be made anew on a newer base. */
export interface RecognizedOrigin {
  readonly recognition: Recognition & { readonly kind: 'recognized' };
  readonly origin: string;
}

/** How often an image may have been rebased, each time from the one before. */
const maxSteps = 16;

/** What an image names as its origin is untrusted: it must be of the same repository, and the image must end with all layers that the origin has above its base. */
export async function recognizeOrigin(
  { source }: RunningImage,
  facts: BuildFacts,
  index: BaseIndex,
  { reader, learn, signal }: { readonly reader: FactsReader; readonly learn: KnownSettings['learn']; readonly signal: AbortSignal },
): Promise<RecognizedOrigin | undefined> {
  let { rebasedFrom } = facts;
  for (let step = 0; step < maxSteps && rebasedFrom?.repository === formatRepository(source); step++) {
    const { digest } = rebasedFrom;
    const origin = await reader.read(source, digest, signal);
    if (origin === undefined) return undefined;
    await learn([origin], index);
    const recognition = recognizeBase(origin, index);
    if (recognition.kind === 'recognized') {
      const base = index.known.find((version) => version.digest === recognition.base.digest);
      const isSame = base !== undefined && facts.platforms.length > 0 && facts.platforms.every((image) => endsWith(image, origin, base));
      return isSame ? { recognition: { ...recognition, by: 'Origin' }, origin: digest } : undefined;
    }
    ({ rebasedFrom } = origin);
  }
  return undefined;
}

/** Whether the image of a platform ends with the layers that its origin has above the base. */
function endsWith({ platform, diffIds = [] }: PlatformFacts, { platforms }: BuildFacts, base: KnownBase): boolean {
  const before = platforms.find((one) => one.platform === platform)?.diffIds ?? [];
  const below = countBaseLayers(base, { platform, chains: chainsOf(before) }) ?? 0;
  const own = below === 0 ? [] : before.slice(below);
  return (
    own.length > 0 && own.length < diffIds.length && own.every((layer, index) => layer === diffIds[diffIds.length - own.length + index])
  );
}
