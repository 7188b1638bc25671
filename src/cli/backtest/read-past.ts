/** Reads the past of a repository: the tags that its registry holds, with the times at which their images were created, and the recorded pushes. */
import { inParallel } from '../../core/async/in-parallel.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import { naturalOrder } from '../../core/select/select-tag.ts';
import type { EventView } from '../../service/api/event-view.ts';
import { ofRegistry } from '../../service/command-line/user-registry.ts';
import type { Registry } from '../../service/reconcile/ports.ts';
import type { RegistryClient } from '../../service/registry/client.ts';
import { standInDigest, type PastImage } from './past-image.ts';

/** The most tags that are read, each with up to three requests. */
const maxTags = 2_000;
const parallelReads = 8;

/** What was read, and what a user should know about it. */
export interface ReadPast {
  readonly images: readonly PastImage[];
  readonly notes: readonly string[];
}

interface Readers {
  readonly registry: RegistryClient;
  readonly readRevision?: Registry['readRevision'] | undefined;
  readonly readImageList?: Registry['readImageList'] | undefined;
}

/** Reads the images of a repository. `onRead` is called with the number of images so far, and of all. Rejects if the registry does not answer. */
export async function readFromRegistry(
  { registry, readRevision, readImageList }: Readers,
  source: ImageSource,
  signal: AbortSignal,
  onRead: (count: number, of: number) => void,
): Promise<ReadPast> {
  const name = formatRepository(source);
  const listed = await ofRegistry(registry.listTags(source, signal), signal);
  if (listed === undefined) throw new Error(`the registry does not know ${name}`);
  // If not all are read, the last by name are probably the newest.
  const tags = listed.toSorted((a, b) => naturalOrder(b, a)).slice(0, maxTags);
  let done = 0;
  const read = await inParallel(tags, parallelReads, async (tag) => {
    const facts = await ofRegistry(registry.readImage(source, tag, signal), signal);
    onRead(++done, tags.length);
    if (facts === undefined) return undefined;
    const { digest } = facts;
    return { tag, facts, revision: await readRevision?.(source, digest, signal), list: await readImageList?.(source, digest, signal) };
  });
  const images: PastImage[] = [];
  let unknown = 0;
  for (const one of read) {
    if (one.status === 'rejected') throw one.reason;
    if (one.value === undefined) continue;
    const { tag, facts, revision, list } = one.value;
    const { digest, created, platforms } = facts;
    if (created === undefined) unknown++;
    else images.push({ repository: source, tag, digest, pushedAt: created.getTime(), created, platforms, revision, list });
  }
  const others = listed.length - tags.length;
  return {
    images: sorted(images),
    notes: [
      `a registry does not say when a tag was pushed: the time at which the image of ${name} was created stands for it`,
      ...(others > 0 ? [`${others} tags of ${name} were not read`] : []),
      ...(unknown > 0 ? [`${unknown} tags of ${name} were left out: their images do not say when they were created`] : []),
    ],
  };
}

/** The images with the recorded pushes, whose times are exact, instead of those that the registry shows for the same digests. */
export function withRecorded(images: readonly PastImage[], events: readonly EventView[]): PastImage[] {
  const byDigest = new Map(images.map((image) => [image.digest, image]));
  const pushes = events.flatMap(({ registry, repository: path, tag, digest, receivedAt, outcome }): PastImage[] => {
    if (registry === undefined || path === undefined || tag === undefined || outcome === 'ignored') return [];
    const repository = { registry, path };
    const known = digest === undefined ? images.find((image) => image.tag === tag) : byDigest.get(digest);
    const pushedAt = Date.parse(receivedAt);
    const stated = digest ?? known?.digest ?? standInDigest(repository, tag, pushedAt);
    return [
      {
        repository,
        tag,
        digest: stated,
        pushedAt,
        created: known?.created ?? new Date(pushedAt),
        platforms: known?.platforms,
        revision: known?.revision,
        list: known?.list,
      },
    ];
  });
  const recorded = new Set(pushes.map(({ tag, digest }) => `${tag}@${digest}`));
  return sorted([...images.filter(({ tag, digest }) => !recorded.has(`${tag}@${digest}`)), ...pushes]);
}

function sorted(images: readonly PastImage[]): PastImage[] {
  return images.toSorted((a, b) => a.pushedAt - b.pushedAt);
}
