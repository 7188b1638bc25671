/** Reads versions of a base: the digests of tags, and the layers of those that are not known yet. */
import { inParallel, inSlices, slicesUntil, sortInSlices } from '../../core/async/in-parallel.ts';
import { describeError } from '../../core/model/errors.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import { originTag } from '../../core/model/rebased-tag.ts';
import { matchesText } from '../../core/model/repository-pattern.ts';
import type { TagStrategy } from '../../core/model/tag-strategy.ts';
import { compareTags, naturalOrder } from '../../core/select/select-tag.ts';
import type { FactsReader } from './facts-reader.ts';
import { knownBase, type KnownBase } from './layers.ts';
import type { LineTags } from './line.ts';

export interface ReadVersionsMeans {
  readonly registry: {
    headManifest(source: ImageSource, tag: string, signal: AbortSignal): Promise<{ readonly digest: string } | undefined>;
  };
  readonly reader: FactsReader;
  readonly signal: AbortSignal;
}

/** A tag whose image could not be read. */
export interface UnreadTag {
  readonly tag: string;
  readonly why: string;
}

export interface ReadVersions {
  /** The images of the tags, each with those of the tags that it has. Tags without an image are left out. */
  readonly bases: readonly KnownBase[];
  readonly unread: readonly UnreadTag[];
}

const parallelReads = 8;

/** Reads the images that tags have now. An image that is among the known ones is not read again. */
export async function readVersions(
  source: ImageSource,
  tags: readonly string[],
  known: ReadonlyMap<string, KnownBase>,
  { registry, reader, signal }: ReadVersionsMeans,
): Promise<ReadVersions> {
  const unread: UnreadTag[] = [];
  const fail = (tag: string, error: unknown) => void unread.push({ tag, why: describeError(error) });
  const heads = await inParallel(tags, parallelReads, (tag) => registry.headManifest(source, tag, signal));
  const tagsOf = new Map<string, string[]>();
  for (const [index, tag] of tags.entries()) {
    const head = heads[index];
    if (head?.status === 'rejected') fail(tag, head.reason);
    else if (head?.value !== undefined) tagsOf.set(head.value.digest, [...(tagsOf.get(head.value.digest) ?? []), tag]);
  }
  const repository = formatRepository(source);
  const found = [...tagsOf];
  const read = await inParallel(found, parallelReads, async ([digest, tags]): Promise<KnownBase[]> => {
    const before = known.get(digest);
    if (before !== undefined) return [{ ...before, tags }];
    const facts = await reader.read(source, digest, signal);
    return facts === undefined || facts.platforms.length === 0 ? [] : [knownBase(facts, { repository, tags })];
  });
  signal.throwIfAborted();
  for (const [index, result] of read.entries()) {
    const [, [tag] = []] = found[index] ?? [];
    if (result.status === 'rejected' && tag !== undefined) fail(tag, result.reason);
  }
  return { bases: read.flatMap((result) => (result.status === 'fulfilled' ? result.value : [])), unread };
}

/** Which of the tags are of the line. A pattern of `from` may be expensive for thousands of tags, so the event loop goes on in between. */
export async function tagsOfLine(
  tags: Iterable<string>,
  { strategy, from = [] }: { readonly strategy: TagStrategy; readonly from?: readonly string[] },
  signal: AbortSignal,
): Promise<LineTags> {
  const own = new Set<string>();
  await inSlices(tags, signal, (tag) => {
    // A version on a newer version of its own base is the same version.
    const version = originTag(tag);
    if (strategy.reject(version) === undefined || from.some((pattern) => matchesText(pattern, version))) own.add(tag);
  });
  return { own, compare: (a, b) => compareTags(strategy, originTag(a), originTag(b)) };
}

/** Tags in the order in which they are read: first those of the line, the newest first, then all others. */
export function orderTags(tags: readonly string[], order: LineTags, signal: AbortSignal): Promise<string[]> {
  return sortInSlices(tags, (a, b) => newestFirst(a, b, order), slicesUntil(signal));
}

/** Versions in the order in which they are compared: the selected one, then those of the line, the newest first, then all others. */
export async function orderVersions<V extends Pick<KnownBase, 'digest' | 'tags'>>(
  versions: readonly V[],
  selected: string,
  order: LineTags,
  signal: AbortSignal,
): Promise<V[]> {
  const ordered: V[] = [];
  await inSlices(versions, signal, (version) => {
    ordered.push({ ...version, tags: version.tags.toSorted((a, b) => newestFirst(a, b, order)) });
  });
  const isSelected = ({ digest }: V) => Number(digest === selected);
  return sortInSlices(
    ordered,
    (a, b) => isSelected(b) - isSelected(a) || newestFirst(a.tags[0] ?? '', b.tags[0] ?? '', order),
    slicesUntil(signal),
  );
}

function newestFirst(a: string, b: string, { own, compare }: LineTags): number {
  if (own.has(a) && own.has(b)) return compare(b, a) || naturalOrder(b, a);
  return Number(own.has(b)) - Number(own.has(a)) || naturalOrder(b, a);
}
