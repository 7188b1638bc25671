/**
 * The line of a base: the versions that a policy means when it says "older". A repository may have several: 21.0.1 and 21.0.1-alpine, 21.x and 17.x, jre and jdk.
 * An image on a version of another line must not be moved to the selected one. Pure.
 */
import { inSlices } from '../../core/async/in-parallel.ts';
import { originTag } from '../../core/model/rebased-tag.ts';
import type { TagStrategy } from '../../core/model/tag-strategy.ts';
import { naturalOrder } from '../../core/select/select-tag.ts';
import { areOtherTracks } from '../../core/select/tag-track.ts';
import type { KnownBase } from './layers.ts';

/** How a version relates to the selected one. Undefined if its tags do not show it. */
export type LineRelation = 'older' | 'newer' | 'other' | undefined;

/** Which versions of a base are of its line. */
export interface Line {
  /** The selection, for sentences: `the highest version in "21.x"`. */
  readonly description: string;
  readonly relationOf: (version: Pick<KnownBase, 'digest' | 'tags'>) => LineRelation;
}

/** The tags of a line. */
export interface LineTags {
  /** The tags that the selection admits, or `from` names. */
  readonly own: ReadonlySet<string>;
  /** Compares two of them: negative if `a` is older. */
  readonly compare: (a: string, b: string) => number;
}

/** What makes a line. */
export interface LineRules extends LineTags {
  readonly strategy: Pick<TagStrategy, 'description' | 'mutableTag'>;
  readonly selected: { readonly tag: string; readonly digest: string };
  /** All known versions. */
  readonly known: readonly Pick<KnownBase, 'digest' | 'tags'>[];
  /** The digests that were selected before. */
  readonly selectedBefore?: ReadonlySet<string>;
  /** The digest of a newer version that is not used yet. */
  readonly waiting?: string | undefined;
}

/** Makes a line. A version is of the line if the policy selected it before, or if any of its tags is. The event loop goes on between versions. */
export async function lineOf(
  { strategy, selected, known, own, compare, selectedBefore = new Set(), waiting }: LineRules,
  signal: AbortSignal,
): Promise<Line> {
  const { description, mutableTag } = strategy;
  const followed = mutableTag ?? selected.tag;
  const isOwn = (tag: string) => (own.has(tag) ? true : relate(originTag(tag), originTag(followed), mutableTag !== undefined));
  // A version without a tag is of the line if the repository has no other one.
  let isOnly = true;
  await inSlices(known, signal, ({ tags }) => {
    isOnly &&= tags.length === 0 || tags.some((tag) => isOwn(tag) === true);
  });
  const selectedTags = [selected.tag, ...(known.find(({ digest }) => digest === selected.digest)?.tags ?? [])];
  const versions = selectedTags.filter((tag) => (mutableTag === undefined ? own.has(tag) : refines(tag, mutableTag)));
  // The selected version is not the newest while a newer one waits for its age.
  const isNewer = (tag: string) => {
    if (versions.length === 0) return false;
    if (mutableTag === undefined) return own.has(tag) && versions.every((version) => compare(tag, version) > 0);
    return refines(tag, mutableTag) && versions.every((version) => naturalOrder(tag, version) > 0);
  };
  return {
    description,
    relationOf({ digest, tags }) {
      if (digest === waiting) return 'newer';
      if (selectedBefore.has(digest)) return 'older';
      if (tags.length === 0) return isOnly ? 'older' : undefined;
      const found = tags.map(isOwn);
      if (found.includes(true)) return tags.some(isNewer) ? 'newer' : 'older';
      return found.includes(undefined) ? undefined : 'other';
    },
  };
}

const moving = /^(?:latest|stable|edge|main|master|develop|dev|nightly|mainline|current|lts)$/i;
const commit = /^(?:sha-)?(?=[0-9a-f]*[0-9])[0-9a-f]{7,64}$/i;
const number = /^v?[0-9]/i;

/** Whether a tag names neither a version nor a variant. */
function isVague(tag: string): boolean {
  return moving.test(tag) || commit.test(tag);
}

/** Whether a tag that the selection does not admit names a version of the line of the followed tag. Undefined if the names do not show it. */
function relate(tag: string, followed: string, isMutable: boolean): boolean | undefined {
  // 21.0.1 was one of the images of `21`. An image that is only known as `21` may be newer than 21.0.2.
  if (isMutable && refines(tag, followed)) return true;
  if (refines(followed, tag)) return undefined;
  if (areOtherTracks(tag, followed)) return false;
  if (isVague(tag)) return number.test(followed) || isVague(followed) ? undefined : false;
  return isMutable && isVague(followed) && number.test(tag) ? undefined : false;
}

/** Parts of a tag that say which build or version it is, and not which variant: 0, 20240110, v1, b08, 3f2a91c. */
const detail = /^(?:[a-z]?[0-9]+[a-z]?|(?=[0-9a-f]*[0-9])[0-9a-f]{7,40})$/i;

/** Whether a tag names one of the versions of a shorter one: 21.0.1 of 21, and bookworm-20240110-slim of bookworm-slim. */
function refines(longer: string, shorter: string): boolean {
  const [long, short] = [longer, shorter].map((tag) => tag.toLowerCase().split(/[-_.+]/));
  if (long === undefined || short === undefined || long.length <= short.length || long[0] !== short[0]) return false;
  let next = 0;
  for (const part of long) {
    if (part === short[next]) next++;
    else if (!detail.test(part)) return false;
  }
  return next === short.length;
}
