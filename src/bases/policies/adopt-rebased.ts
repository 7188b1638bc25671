/** A base that is built on another base is brought to its newer versions by that one's BaseImagePolicy, under a tag of its own: `3.1-base.20261123` is 3.1. */
import { formatRepository } from '../../core/model/image-reference.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import { isRebasedTag, originTag } from '../../core/model/rebased-tag.ts';
import { naturalOrder } from '../../core/select/select-tag.ts';
import type { Registry } from '../../service/reconcile/ports.ts';
import type { FactsReader } from '../recognize/facts-reader.ts';
import type { SelectedBase } from './plan-roll-out.ts';

export interface AdoptPorts {
  readonly registry: Pick<Registry, 'headManifest'>;
  readonly facts: FactsReader;
}

/** How many tags are examined, the newest first. More are there only if somebody else pushes such tags. */
const maxCandidates = 5;
/** How often an image may have been rebased, each time from the one before. */
const maxSteps = 32;

/**
 * The newest image that the selected version was rebased to, or the version itself. It counts only if it says that it was made from the selected digest, so that
 * a tag that was pushed anew is not replaced by what was made from its former image.
 */
export async function adoptRebased(
  { source, tags }: { readonly source: ImageSource; readonly tags: readonly string[] },
  selected: SelectedBase,
  { registry, facts }: AdoptPorts,
  signal: AbortSignal,
): Promise<SelectedBase> {
  const candidates = tags
    .filter((tag) => isRebasedTag(tag) && originTag(tag) === selected.tag)
    .toSorted((a, b) => naturalOrder(b, a))
    .slice(0, maxCandidates);
  for (const tag of candidates) {
    const digest = (await registry.headManifest(source, tag, signal))?.digest;
    if (digest !== undefined && (await descends(source, { digest, from: selected.digest }, facts, signal))) return { tag, digest };
  }
  return selected;
}

/** Whether an image was rebased from another one of its repository, directly or in several steps. */
async function descends(
  source: ImageSource,
  { digest, from }: { readonly digest: string; readonly from: string },
  facts: FactsReader,
  signal: AbortSignal,
): Promise<boolean> {
  let next = digest;
  for (let step = 0; step < maxSteps; step++) {
    const origin = (await facts.read(source, next, signal))?.rebasedFrom;
    if (origin?.repository !== formatRepository(source)) return false;
    if (origin.digest === from) return true;
    next = origin.digest;
  }
  return false;
}
